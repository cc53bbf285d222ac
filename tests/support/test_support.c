#include "support/test_support.h"

#include "support/mend_test.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- Data ---- */

char *mend_test_read_path(const char *path, size_t *ret_len) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  char *text = NULL;
  size_t len = 0, capacity = 4096, got;
  do {
    capacity *= 2;
    char *larger = realloc(text, capacity);
    if (larger == NULL) abort();
    text = larger;
    got = fread(text + len, 1, capacity - len - 1, file);
    len += got;
  } while (len == capacity - 1);
  bool broken = ferror(file) != 0;
  fclose(file);
  if (broken) {
    free(text);
    return NULL;
  }
  text[len] = '\0';
  if (ret_len != NULL) *ret_len = len;
  return text;
}

char *mend_test_read(const char *name, size_t *ret_len) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", MEND_TEST_DATA, name);
  char *text = mend_test_read_path(path, ret_len);
  cr_assert_not_null(text, "cannot read %s", path);
  return text;
}

static bool ends_in(const char *name, const char *suffix) {
  size_t len = strlen(name), end = strlen(suffix);
  return len >= end && strcmp(name + len - end, suffix) == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

size_t mend_test_each(const char *folder, const char *suffix, void (*visit)(void *ctx, const char *name), void *ctx) {
  char path[4096];
  struct dirent **entries = NULL;
  size_t visited = 0;
  snprintf(path, sizeof path, "%s/%s", MEND_TEST_DATA, folder);
  int count = scandir(path, &entries, NULL, by_bytes);
  cr_assert(count >= 0, "cannot read the folder %s", path);
  for (int i = 0; i < count; i++) {
    if (entries[i]->d_name[0] != '.' && ends_in(entries[i]->d_name, suffix)) {
      snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
      visit(ctx, path);
      visited++;
    }
    free(entries[i]);
  }
  free(entries);
  return visited;
}

/* ---- Memory ---- */

static bool is_refused(mend_test_allocator *allocator) {
  size_t call = atomic_fetch_add(&allocator->calls, 1) + 1;
  if (allocator->fail_at == 0) return false;
  return call == allocator->fail_at || (allocator->fail_after && call > allocator->fail_at);
}

static void *test_reallocate(void *ctx, void *pointer, size_t size) {
  mend_test_allocator *allocator = ctx;
  if (is_refused(allocator)) return NULL;
  void *result = realloc(pointer, size);
  if (result != NULL && pointer == NULL) atomic_fetch_add(&allocator->blocks, 1);
  return result;
}

static void *test_allocate(void *ctx, size_t size) { return test_reallocate(ctx, NULL, size); }

static void test_release(void *ctx, void *pointer) {
  mend_test_allocator *allocator = ctx;
  atomic_fetch_sub(&allocator->blocks, 1);
  free(pointer);
}

void mend_test_allocator_init(mend_test_allocator *allocator) {
  allocator->base = (mend_allocator){.size = sizeof(mend_allocator),
                                     .ctx = allocator,
                                     .allocate = test_allocate,
                                     .reallocate = test_reallocate,
                                     .release = test_release};
  atomic_init(&allocator->blocks, 0);
  mend_test_allocator_arm(allocator, 0, false);
}

void mend_test_allocator_arm(mend_test_allocator *allocator, size_t fail_at, bool fail_after) {
  atomic_store(&allocator->calls, 0);
  allocator->fail_at = fail_at;
  allocator->fail_after = fail_after;
}

bool mend_test_allocator_failed(const mend_test_allocator *allocator) {
  return allocator->fail_at != 0 && atomic_load(&allocator->calls) >= allocator->fail_at;
}

/* ---- What this process holds ---- */

static size_t count_entries(const char *folder) {
  size_t count = 0;
  DIR *entries = opendir(folder);
  cr_assert_not_null(entries, "cannot read %s", folder);
  for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    if (entry->d_name[0] != '.') count++;
  }
  closedir(entries);
  return count;
}

size_t mend_test_open_files(void) { return count_entries("/proc/self/fd") - 1; /* the folder being read */ }

size_t mend_test_threads(void) { return count_entries("/proc/self/task"); }

static void *count_others(void *ret_count) {
  *(size_t *)ret_count = mend_test_threads() - 1;
  return NULL;
}

size_t mend_test_threads_before(void) {
  pthread_t thread;
  size_t count;
  cr_assert_eq(pthread_create(&thread, NULL, count_others, &count), 0);
  pthread_join(thread, NULL);
  return count;
}

bool mend_test_threads_are(size_t count) {
  const struct timespec moment = {.tv_nsec = 1000000};
  for (int waited_ms = 0; waited_ms < 2000; waited_ms++) {
    if (mend_test_threads() == count) return true;
    nanosleep(&moment, NULL);
  }
  return false;
}

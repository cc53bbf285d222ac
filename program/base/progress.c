#include "program/base/progress.h"

#include "mend/clock.h"

#include <stdio.h>
#include <sys/stat.h>

static const uint64_t STEP_BYTES = 4 * 1024 * 1024;
static const uint64_t STEP_NS = MEND_SECOND_NS / 4;

static uint64_t now_ns(void) { return mend_clock_now(mend_clock_real()).mono_ns; }

uint64_t progress_size_of(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 ? (uint64_t)about.st_size : 0;
}

void progress_begin(progress_line *of, size_t files, uint64_t size) {
  *of = (progress_line){.files = files, .size = size, .begun_ns = now_ns()};
  atomic_init(&of->next_at, STEP_BYTES);
  pthread_mutex_init(&of->lock, NULL);
}

static void write_line(progress_line *of) {
  const uint64_t bytes = atomic_load(&of->bytes);
  fputc('\r', stderr);
  if (of->files > 1) fprintf(stderr, "%zu of %zu files, ", atomic_load(&of->done), of->files);
  if (of->size > 0) {
    const unsigned percent = bytes < of->size ? (unsigned)(bytes * 100 / of->size) : 100;
    fprintf(stderr, "%3u %% of %llu MiB ", percent, (unsigned long long)of->size >> 20);
  } else {
    fprintf(stderr, "%llu MiB ", (unsigned long long)bytes >> 20);
  }
  fflush(stderr);
  of->shown = true;
}

static void show(progress_line *of) {
  if (pthread_mutex_trylock(&of->lock) != 0) return; /* somebody else shows it */
  const uint64_t now = now_ns();
  if (now - of->begun_ns >= MEND_SECOND_NS && now - of->last_ns >= STEP_NS) {
    of->last_ns = now;
    write_line(of);
  }
  pthread_mutex_unlock(&of->lock);
}

void progress_add(progress_line *of, uint64_t bytes) {
  if (of == NULL) return;
  const uint64_t sum = atomic_fetch_add_explicit(&of->bytes, bytes, memory_order_relaxed) + bytes;
  if (sum < atomic_load_explicit(&of->next_at, memory_order_relaxed)) return;
  atomic_store_explicit(&of->next_at, sum + STEP_BYTES, memory_order_relaxed);
  show(of);
}

void progress_file_done(progress_line *of) {
  if (of == NULL) return;
  atomic_fetch_add(&of->done, 1);
  if (of->files > 1) show(of);
}

void progress_hide(progress_line *of) {
  if (of == NULL) return;
  pthread_mutex_lock(&of->lock);
  if (of->shown) fprintf(stderr, "\r%60s\r", "");
  if (of->shown) fflush(stderr);
  of->shown = false;
  pthread_mutex_unlock(&of->lock);
}

void progress_end(progress_line *of) {
  if (of == NULL) return;
  progress_hide(of);
  pthread_mutex_destroy(&of->lock);
}

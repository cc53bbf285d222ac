#include "torture/memory.h"

#include <event2/event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static struct {
  atomic_size_t blocks, calls, failures;
  size_t fail_at;
  bool onwards;
} memory;

static bool is_refused(void) {
  const size_t call = atomic_fetch_add(&memory.calls, 1) + 1;
  const bool refused = memory.fail_at != 0 && (call == memory.fail_at || (memory.onwards && call > memory.fail_at));
  if (refused) atomic_fetch_add(&memory.failures, 1);
  return refused;
}

static void *reallocate(void *pointer, size_t size) {
  if (is_refused()) return NULL;
  void *result = realloc(pointer, size);
  if (result != NULL && pointer == NULL) atomic_fetch_add(&memory.blocks, 1);
  return result;
}

static void *allocate(size_t size) { return reallocate(NULL, size); }

static void release(void *pointer) {
  if (pointer == NULL) return;
  atomic_fetch_sub(&memory.blocks, 1);
  free(pointer);
}

static void *allocate_for_mend(void *ctx, size_t size) {
  (void)ctx;
  return allocate(size);
}

static void *reallocate_for_mend(void *ctx, void *pointer, size_t size) {
  (void)ctx;
  return reallocate(pointer, size);
}

static void release_for_mend(void *ctx, void *pointer) {
  (void)ctx;
  release(pointer);
}

const mend_allocator memory_allocator = {.size = sizeof(mend_allocator),
                                         .allocate = allocate_for_mend,
                                         .reallocate = reallocate_for_mend,
                                         .release = release_for_mend};

void memory_give_to_libevent(void) { event_set_mem_functions(allocate, reallocate, release); }

void memory_arm(size_t fail_at, bool onwards) {
  memory.fail_at = fail_at;
  memory.onwards = onwards;
  atomic_store(&memory.calls, 0);
  atomic_store(&memory.failures, 0);
}

bool memory_has_failed(void) { return atomic_load(&memory.failures) > 0; }

size_t memory_blocks(void) { return atomic_load(&memory.blocks); }

bool memory_blocks_are(size_t blocks) {
  const struct timespec moment = {.tv_nsec = 1000000};
  for (int waited_ms = 0; waited_ms < 2000; waited_ms++) {
    if (memory_blocks() == blocks) return true;
    nanosleep(&moment, NULL);
  }
  return false;
}

#include "program/stage/metered.h"

#include "core/memory.h"

#include <stddef.h>

/* Before each block: how long it is. */
typedef union block_head {
  size_t len;
  max_align_t alignment;
} block_head;

static void *reallocate(void *ctx, void *pointer, size_t size) {
  metered *of = ctx;
  block_head *old = pointer != NULL ? (block_head *)pointer - 1 : NULL;
  const size_t old_len = old != NULL ? old->len : 0;
  if (size > SIZE_MAX - sizeof *old) return NULL;
  block_head *block = mend__realloc(NULL, old, sizeof *block + size);
  if (block == NULL) return NULL;
  block->len = size;
  of->bytes += size - old_len;
  return block + 1;
}

static void *allocate(void *ctx, size_t size) { return reallocate(ctx, NULL, size); }

static void release(void *ctx, void *pointer) {
  metered *of = ctx;
  block_head *block = (block_head *)pointer - 1;
  of->bytes -= block->len;
  mend__free(NULL, block);
}

void metered_init(metered *of) {
  *of = (metered){.allocator = {sizeof of->allocator, of, allocate, reallocate, release}};
}

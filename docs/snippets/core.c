/* What docs/api/core.md quotes. */
#include <mend/bus.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static void *count_allocate(void *ctx, size_t size) {
  atomic_size_t *blocks = ctx;
  void *block = malloc(size);
  if (block != NULL) atomic_fetch_add(blocks, 1);
  return block;
}

static void *count_reallocate(void *ctx, void *block, size_t size) {
  return block == NULL ? count_allocate(ctx, size) : realloc(block, size);
}

static void count_release(void *ctx, void *block) {
  atomic_size_t *blocks = ctx;
  free(block);
  atomic_fetch_sub(blocks, 1);
}

static void print_log(void *ctx, mend_log_level level, const char *message) {
  fprintf(ctx, "%s%s\n", level >= MEND_LOG_WARNING ? "attention: " : "", message);
}

int main(void) {
  atomic_size_t blocks = 0;
  const mend_allocator counting = {sizeof counting, &blocks, count_allocate, count_reallocate, count_release};
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = &counting;
  options.log = print_log;
  options.log_ctx = stderr;
  options.nesting_limit = 5000; /* too much */

  mend_bus *bus = NULL;
  mend_error error = MEND_ERROR_INIT;
  const mend_status status = mend_bus_new(&options, &bus, &error);
  if (status != MEND_OK) fprintf(stderr, "%s: %s\n", mend_status_name(status), mend_error_sentence(&error, status));
  mend_bus_release(bus);
  printf("%zu blocks are left\n", atomic_load(&blocks));
  return 0;
}

/* Memory that is counted. */
#include "core/memory.h"
#include "program/stage/metered.h"
#include "support/mend_test.h"

Test(metered, what_is_out) {
  static const struct {
    int place;
    size_t size; /* 0: it is released */
    size_t bytes;
  } steps[] = {{0, 100, 100}, {1, 1, 101}, {0, 5000, 5001}, {2, 24, 5025},
               {0, 10, 35},   {1, 0, 34},  {0, 0, 24},      {2, 0, 0}};
  metered memory;
  char *blocks[3] = {NULL, NULL, NULL};
  metered_init(&memory);
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    char **block = &blocks[steps[i].place];
    if (steps[i].size == 0) {
      mend__free(&memory.allocator, *block);
    } else {
      *block = mend__realloc(&memory.allocator, *block, steps[i].size);
      cr_assert_not_null(*block);
      memset(*block, 'x', steps[i].size);
    }
    cr_assert_eq(memory.bytes, steps[i].bytes, "step %zu: %zu", i, memory.bytes);
  }
}

Test(metered, what_there_is_not) {
  metered memory;
  metered_init(&memory);
  char *block = mend__alloc(&memory.allocator, 8);
  cr_assert_not_null(block);
  cr_assert_null(mend__alloc(&memory.allocator, SIZE_MAX));
  cr_assert_null(mend__realloc(&memory.allocator, block, SIZE_MAX - 4));
  cr_assert_eq(memory.bytes, (size_t)8, "as before");
  mend__free(&memory.allocator, block);
  cr_assert_eq(memory.bytes, (size_t)0);
}

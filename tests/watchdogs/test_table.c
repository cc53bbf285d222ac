/* The table of stalls' calls and loops' pairs, beside a plain array that holds the same. */
#include "support/mend_test.h"
#include "support/test_support.h"
#include "watchdogs/table.h"

typedef struct item {
  mend_hash key;
  uint32_t value;
} item;

/* Few keys, so that many are there already, and many with one home. */
enum { KEYS = 40, STEPS = 20000 };

static mend_hash key_of(unsigned number) { return (mend_hash){number % 2, (uint64_t)(number / 2 + 1) << 61 | number}; }

static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525 + 1013904223;
  return *seed >> 8;
}

static void check_against(const mend__table *table, const uint32_t values[KEYS], size_t count) {
  cr_assert_eq(table->count, count);
  for (unsigned i = 0; i < KEYS; i++) {
    const item *found = mend__table_find(table, sizeof *found, key_of(i));
    cr_assert_eq(found != NULL, values[i] != 0, "key %u", i);
    if (found == NULL) continue;
    cr_assert(mend_hash_equal(found->key, key_of(i)));
    cr_assert_eq(found->value, values[i], "key %u", i);
  }
}

static void add_or_take(mend__table *table, uint32_t *value, mend_hash key, uint32_t step) {
  item *found = mend__table_find(table, sizeof *found, key);
  if (found != NULL) {
    mend__table_take(table, sizeof *found, found);
    *value = 0;
    return;
  }
  cr_assert_eq(mend__table_reserve(table, sizeof *found, NULL), MEND_OK);
  found = mend__table_add(table, sizeof *found, key);
  cr_assert_eq(found->value, 0u);
  found->value = *value = step;
}

Test(watchdog_table, holds_what_an_array_holds) {
  mend__table table = {.items = NULL};
  uint32_t values[KEYS] = {0}, seed = 1;
  size_t count = 0;
  for (uint32_t step = 1; step <= STEPS; step++) {
    const unsigned number = next_random(&seed) % KEYS;
    const bool was_there = values[number] != 0;
    add_or_take(&table, &values[number], key_of(number), step);
    count = was_there ? count - 1 : count + 1;
    if (step % 16 == 0) check_against(&table, values, count);
  }
  check_against(&table, values, count);
  cr_assert(table.capacity >= count && table.capacity <= 64, "%zu", table.capacity);
  mend__free(NULL, table.items);
}

Test(watchdog_table, stays_as_it_is_without_memory) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  mend__table table = {.items = NULL};
  uint32_t values[KEYS] = {0};
  for (unsigned i = 0; i < KEYS; i++) {
    mend_test_allocator_arm(&memory, 1, true);
    const mend_status status = mend__table_reserve(&table, sizeof(item), &memory.base);
    cr_assert_eq(status, mend_test_allocator_failed(&memory) ? MEND_ENOMEM : MEND_OK);
    check_against(&table, values, i);
    mend_test_allocator_arm(&memory, 0, false);
    cr_assert_eq(mend__table_reserve(&table, sizeof(item), &memory.base), MEND_OK);
    item *added = mend__table_add(&table, sizeof *added, key_of(i));
    added->value = values[i] = i + 1;
  }
  mend__free(&memory.base, table.items);
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
}

#include "core/strmap.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdint.h>
#include <stdio.h>

enum { KEYS = 500, STEPS = 100000 };

static struct item {
  char text[24];
  mend_str key;
  bool in;
} items[KEYS];

static void name_items(void) {
  for (size_t i = 0; i < KEYS; i++) {
    const int len = snprintf(items[i].text, sizeof items[i].text, "key.%zu", i * i);
    items[i].key = (mend_str){items[i].text, (size_t)len};
    items[i].in = false;
  }
}

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static void check_iteration(const mend__strmap *map) {
  size_t position = 0, seen = 0, expected = 0;
  for (struct item *item; (item = mend__strmap_next(map, &position)) != NULL; seen++)
    cr_assert(item->in);
  for (size_t i = 0; i < KEYS; i++)
    expected += items[i].in;
  cr_assert_eq(seen, expected);
  cr_assert_eq(map->count, expected);
}

static void step(mend__strmap *map, uint64_t *seed, size_t keys) {
  struct item *item = &items[next_random(seed) % keys];
  cr_assert_eq(mend__strmap_get(map, item->key), item->in ? item : NULL);
  if (next_random(seed) % 2 == 0) {
    cr_assert_eq(mend__strmap_put(map, item->key, item), item->in ? MEND_EEXIST : MEND_OK);
    item->in = true;
  } else {
    cr_assert_eq(mend__strmap_remove(map, item->key), item->in ? item : NULL);
    item->in = false;
  }
}

Test(strmap, same_as_a_model) {
  static const size_t key_counts[] = {1, 5, 6, 40, KEYS};
  for (size_t i = 0; i < sizeof key_counts / sizeof key_counts[0]; i++) {
    mend__strmap map;
    mend__strmap_init(&map, NULL);
    name_items();
    uint64_t seed = 7;
    for (size_t j = 0; j < STEPS; j++) {
      step(&map, &seed, key_counts[i]);
      if (j % 1000 == 0) check_iteration(&map);
    }
    for (size_t j = 0; j < KEYS; j++)
      cr_assert_eq(mend__strmap_get(&map, items[j].key), items[j].in ? &items[j] : NULL);
    cr_assert(map.capacity <= 1024, "removed entries leave nothing behind, but capacity is %zu", map.capacity);
    mend__strmap_free(&map);
    cr_assert_null(mend__strmap_get(&map, items[0].key));
  }
}

Test(strmap, keys_of_all_kinds) {
  int values[4];
  mend__strmap map;
  mend__strmap_init(&map, NULL);
  cr_assert_null(mend__strmap_remove(&map, MEND_STR("x")));
  cr_assert_eq(mend__strmap_put(&map, MEND_STR(""), &values[0]), MEND_OK);
  cr_assert_eq(mend__strmap_get(&map, (mend_str){NULL, 0}), &values[0], "absent equals empty");
  cr_assert_eq(mend__strmap_put(&map, (mend_str){"a\0b", 3}, &values[1]), MEND_OK);
  cr_assert_eq(mend__strmap_put(&map, (mend_str){"a\0c", 3}, &values[2]), MEND_OK);
  cr_assert_eq(mend__strmap_put(&map, MEND_STR("a"), &values[3]), MEND_OK);
  cr_assert_eq(mend__strmap_get(&map, (mend_str){"a\0b", 3}), &values[1]);
  cr_assert_eq(mend__strmap_get(&map, (mend_str){"a\0c", 3}), &values[2]);
  cr_assert_eq(mend__strmap_get(&map, MEND_STR("a")), &values[3]);
  cr_assert_eq(mend__strmap_put(&map, MEND_STR("a"), &values[0]), MEND_EEXIST);
  cr_assert_eq(mend__strmap_get(&map, MEND_STR("a")), &values[3], "nothing changed");
  mend__strmap_free(&map);
}

Test(strmap, out_of_memory_changes_nothing) {
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  mend__strmap map;
  mend__strmap_init(&map, &allocator.base);
  name_items();
  size_t refused = 0;
  for (size_t i = 0; i < KEYS; i++) {
    const size_t count = map.count;
    mend_test_allocator_arm(&allocator, 1, true);
    mend_status status = mend__strmap_put(&map, items[i].key, &items[i]);
    mend_test_allocator_arm(&allocator, 0, false);
    if (status == MEND_ENOMEM) {
      refused++;
      cr_assert_eq(map.count, count);
      for (size_t j = 0; j < i; j++)
        cr_assert_eq(mend__strmap_get(&map, items[j].key), &items[j]);
      status = mend__strmap_put(&map, items[i].key, &items[i]);
    }
    cr_assert_eq(status, MEND_OK);
  }
  cr_assert_eq(refused, 8u, "one for each size from 8 to 1024");
  mend__strmap_free(&map);
  cr_assert_eq(allocator.blocks, 0u);
}

#include "core/strmap.h"

#include "core/memory.h"

#include <xxhash.h>

/* Linear probing in a table at most three quarters full; removing shifts the entries behind it back, so there are no
 * tombstones and a table that lives long does not get slower. */
enum { FIRST_CAPACITY = 8 };

static uint64_t hash_of(mend_str key) { return XXH3_64bits(key.len != 0 ? key.ptr : "", key.len); }

static size_t home_of(const mend__strmap *map, uint64_t hash) { return (size_t)hash & (map->capacity - 1); }

static size_t after(const mend__strmap *map, size_t slot) { return (slot + 1) & (map->capacity - 1); }

/* The slot that holds `key`, or the free one where it would go. There is always a free one. */
static size_t find_slot(const mend__strmap *map, mend_str key, uint64_t hash) {
  size_t slot = home_of(map, hash);
  for (; map->entries[slot].value != NULL; slot = after(map, slot)) {
    if (map->entries[slot].hash == hash && mend_str_equal(map->entries[slot].key, key)) break;
  }
  return slot;
}

void mend__strmap_init(mend__strmap *map, const mend_allocator *allocator) {
  *map = (mend__strmap){.allocator = allocator};
}

void mend__strmap_free(mend__strmap *map) {
  mend__free(map->allocator, map->entries);
  mend__strmap_init(map, map->allocator);
}

void *mend__strmap_get(const mend__strmap *map, mend_str key) {
  if (map->count == 0) return NULL;
  return map->entries[find_slot(map, key, hash_of(key))].value;
}

static mend_status grow(mend__strmap *map) {
  const size_t capacity = map->capacity != 0 ? map->capacity * 2 : FIRST_CAPACITY;
  if (capacity > SIZE_MAX / sizeof(mend__strmap_entry)) return MEND_ENOMEM;
  mend__strmap larger = {.allocator = map->allocator, .count = map->count, .capacity = capacity};
  larger.entries = mend__alloc_zero(map->allocator, capacity * sizeof(mend__strmap_entry));
  if (larger.entries == NULL) return MEND_ENOMEM;
  for (size_t i = 0; i < map->capacity; i++) {
    const mend__strmap_entry *entry = &map->entries[i];
    if (entry->value != NULL) larger.entries[find_slot(&larger, entry->key, entry->hash)] = *entry;
  }
  mend__free(map->allocator, map->entries);
  *map = larger;
  return MEND_OK;
}

mend_status mend__strmap_put(mend__strmap *map, mend_str key, void *value) {
  const uint64_t hash = hash_of(key);
  if (map->count != 0 && map->entries[find_slot(map, key, hash)].value != NULL) return MEND_EEXIST;
  if (map->count >= map->capacity / 4 * 3) {
    const mend_status status = grow(map);
    if (status != MEND_OK) return status;
  }
  map->entries[find_slot(map, key, hash)] = (mend__strmap_entry){key, hash, value};
  map->count++;
  return MEND_OK;
}

/* Fills the hole with the next entry behind it that may stand there, and so on until the row ends. */
static void close_hole(mend__strmap *map, size_t hole) {
  for (size_t slot = after(map, hole); map->entries[slot].value != NULL; slot = after(map, slot)) {
    const size_t mask = map->capacity - 1;
    const size_t from_home = (slot - home_of(map, map->entries[slot].hash)) & mask;
    const size_t from_hole = (slot - hole) & mask;
    if (from_home < from_hole) continue;
    map->entries[hole] = map->entries[slot];
    hole = slot;
  }
  map->entries[hole] = (mend__strmap_entry){.value = NULL};
}

void *mend__strmap_remove(mend__strmap *map, mend_str key) {
  if (map->count == 0) return NULL;
  const size_t slot = find_slot(map, key, hash_of(key));
  void *value = map->entries[slot].value;
  if (value == NULL) return NULL;
  close_hole(map, slot);
  map->count--;
  return value;
}

void *mend__strmap_next(const mend__strmap *map, size_t *position) {
  while (*position < map->capacity) {
    void *value = map->entries[(*position)++].value;
    if (value != NULL) return value;
  }
  return NULL;
}

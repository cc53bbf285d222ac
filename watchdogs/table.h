/* Private to watchdogs/: a hash table of items that have one size and begin with their key. Open addressing, linear
 * probing. All of it is inline, so that where it is used the size is a constant. An item is where it is until the next
 * one is added or taken out. */
#ifndef MEND_WATCHDOGS_TABLE_H
#define MEND_WATCHDOGS_TABLE_H

#include "core/memory.h"

typedef struct mend__table {
  void *items;
  size_t count, capacity; /* capacity is 0 or a power of two */
} mend__table;

/* An item's key, with which it begins; none: the place is free. */
static inline mend_hash *mend__table_at(const mend__table *table, size_t item_size, size_t place) {
  return (mend_hash *)(void *)((char *)table->items + place * item_size);
}

static inline size_t mend__table_home(const mend__table *table, mend_hash key) {
  const uint64_t mixed = (key.lo ^ key.lo >> 32) * UINT64_C(0x9E3779B97F4A7C15);
  return (size_t)(mixed >> 32) & (table->capacity - 1);
}

static inline size_t mend__table_after(const mend__table *table, size_t place) {
  return (place + 1) & (table->capacity - 1);
}

/* Where the key is, or the free place where it belongs. There is a free one. */
static inline mend_hash *mend__table_place(const mend__table *table, size_t item_size, mend_hash key) {
  size_t place = mend__table_home(table, key);
  mend_hash *there = mend__table_at(table, item_size, place);
  while (!mend_hash_is_none(*there) && !mend_hash_equal(*there, key)) {
    place = mend__table_after(table, place);
    there = mend__table_at(table, item_size, place);
  }
  return there;
}

/* The item with this key, which is not none; NULL when it is not there. */
static inline void *mend__table_find(const mend__table *table, size_t item_size, mend_hash key) {
  if (table->count == 0) return NULL;
  mend_hash *there = mend__table_place(table, item_size, key);
  return mend_hash_is_none(*there) ? NULL : there;
}

/* Makes room for one more. At least a quarter of the table stays free. */
static inline mend_status mend__table_reserve(mend__table *table, size_t item_size, const mend_allocator *allocator) {
  if (table->count < table->capacity - (table->capacity + 3) / 4) return MEND_OK;
  mend__table larger = {.count = table->count, .capacity = table->capacity == 0 ? 2 : table->capacity * 2};
  larger.items = mend__alloc_zero(allocator, larger.capacity * item_size);
  if (larger.items == NULL) return MEND_ENOMEM;
  for (size_t i = 0; i < table->capacity; i++) {
    const mend_hash *item = mend__table_at(table, item_size, i);
    if (!mend_hash_is_none(*item)) memcpy(mend__table_place(&larger, item_size, *item), item, item_size);
  }
  mend__free(allocator, table->items);
  *table = larger;
  return MEND_OK;
}

/* Adds an item that is not there yet, in room that was made; all but its key is zero. */
static inline void *mend__table_add(mend__table *table, size_t item_size, mend_hash key) {
  mend_hash *item = mend__table_place(table, item_size, key);
  memset(item, 0, item_size);
  *item = key;
  table->count++;
  return item;
}

/* Takes an item out, and moves up those behind it that it kept from their home. */
static inline void mend__table_take(mend__table *table, size_t item_size, void *item) {
  const size_t mask = table->capacity - 1;
  size_t place = (size_t)((char *)item - (char *)table->items) / item_size;
  size_t next = mend__table_after(table, place);
  for (const mend_hash *there; there = mend__table_at(table, item_size, next), !mend_hash_is_none(*there);
       next = mend__table_after(table, next)) {
    const size_t distance = (next - mend__table_home(table, *there)) & mask;
    if (distance < ((next - place) & mask)) continue;
    memcpy(mend__table_at(table, item_size, place), there, item_size);
    place = next;
  }
  memset(mend__table_at(table, item_size, place), 0, item_size); /* what it held has another place now */
  table->count--;
}

#endif

/* House header: a map from strings to pointers (open addressing, XXH3). Keys are borrowed: they must live as long as
 * their entry, usually inside the value. */
#ifndef MEND_CORE_STRMAP_H
#define MEND_CORE_STRMAP_H

#include "mend/core.h"

typedef struct mend__strmap_entry {
  mend_str key;
  uint64_t hash;
  void *value; /* NULL: free */
} mend__strmap_entry;

typedef struct mend__strmap {
  const mend_allocator *allocator;
  mend__strmap_entry *entries;
  size_t count, capacity; /* capacity is 0 or a power of two */
} mend__strmap;

void mend__strmap_init(mend__strmap *map, const mend_allocator *allocator);
/* Frees the map, not the values. */
void mend__strmap_free(mend__strmap *map);
void *mend__strmap_get(const mend__strmap *map, mend_str key);
/* value is not NULL. MEND_EEXIST when the key is there (nothing changed), MEND_ENOMEM. */
mend_status mend__strmap_put(mend__strmap *map, mend_str key, void *value);
/* Returns the removed value, NULL when there was none. */
void *mend__strmap_remove(mend__strmap *map, mend_str key);
/* Iterates: start with *position 0; NULL at the end. Not while the map changes. */
void *mend__strmap_next(const mend__strmap *map, size_t *position);

#endif

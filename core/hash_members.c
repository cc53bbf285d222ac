/* The members of an object: kept in the order of their keys as they come, so that nothing is left to do when the object
 * ends and its hash is waited for. That costs the square of their number: more than a few are sorted at the end. */
#include "core/hash_internal.h"

enum { FEW = 24 };

static inline bool key_precedes(mend_hash a, mend_hash b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }

/* ---- Few ---- */

/* Word by word: a vector would wait until the words that were stored last have left for the cache. */
static inline void copy(mend__hash_member *to, const mend__hash_member *from) {
  to->key.hi = from->key.hi;
  to->key.lo = from->key.lo;
  to->value.hi = from->value.hi;
  to->value.lo = from->value.lo;
  to->position = from->position;
}

/* The member of this key: there already, or a new one. */
static inline mend__hash_member *insert(mend__hasher *tree, mend__hash_member *first, mend_hash key) {
  mend__hash_member *place = tree->members;
  while (place > first && key_precedes(key, place[-1].key))
    place--;
  if (place > first && mend_hash_equal(key, place[-1].key)) return place - 1;
  for (mend__hash_member *to = tree->members++; to > place; to--)
    copy(to, to - 1);
  place->key = key;
  place->position = 0;
  return place;
}

/* ---- Many ---- */

static bool precedes(const mend__hash_member *a, const mend__hash_member *b) {
  if (mend_hash_equal(a->key, b->key)) return a->position < b->position;
  return key_precedes(a->key, b->key);
}

static void sift_down(mend__hash_member *heap, size_t hole, size_t count) {
  mend__hash_member moving = heap[hole];
  for (size_t child; (child = 2 * hole + 1) < count; hole = child) {
    if (child + 1 < count && precedes(&heap[child], &heap[child + 1])) child++;
    if (!precedes(&moving, &heap[child])) break;
    heap[hole] = heap[child];
  }
  heap[hole] = moving;
}

static void heap_sort(mend__hash_member *members, size_t count) {
  for (size_t i = count / 2; i > 0; i--)
    sift_down(members, i - 1, count);
  for (size_t left = count - 1; left > 0; left--) {
    mend__hash_member largest = members[0];
    members[0] = members[left];
    members[left] = largest;
    sift_down(members, 0, left);
  }
}

/* Of equal keys all but the last, and members without a value. Returns how many are left. */
static size_t drop_void(mend__hash_member *members, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (i + 1 < count && mend_hash_equal(members[i].key, members[i + 1].key)) continue;
    if (mend_hash_is_none(members[i].value)) continue;
    members[kept] = members[i];
    members[kept++].position = 0;
  }
  return kept;
}

/* ---- All ---- */

void mend__hash_open_member(mend__hasher *tree, mend_hash key) {
  mend__hash_level *level = tree->level;
  const size_t count = (size_t)(tree->members - level->first);
  if (count < FEW) {
    level->open = insert(tree, level->first, key);
  } else {
    level->open = tree->members++;
    level->open->key = key;
    level->open->position = count;
  }
  level->open->value = (mend_hash){0, 0};
}

/* Nothing, on most machines. */
static void make_little_endian(mend__hash_member *members, size_t count) {
  for (size_t i = 0; i < count; i++) {
    members[i].key.hi = mend__little_endian(members[i].key.hi);
    members[i].key.lo = mend__little_endian(members[i].key.lo);
    members[i].value.hi = mend__little_endian(members[i].value.hi);
    members[i].value.lo = mend__little_endian(members[i].value.lo);
  }
}

mend_hash mend__hash_members(mend__hash_member *members, size_t count, bool absent) {
  if (count > FEW) heap_sort(members, count);
  if (count > FEW || absent) count = drop_void(members, count);
  make_little_endian(members, count);
  return mend__hash_with(MEND__HASH_OBJECT, members, count * sizeof *members);
}

#include "core/hash_internal.h"

static bool precedes(const mend__hash_member *a, const mend__hash_member *b) {
  if (a->key.hi != b->key.hi) return a->key.hi < b->key.hi;
  if (a->key.lo != b->key.lo) return a->key.lo < b->key.lo;
  return a->position < b->position;
}

static void insertion_sort(mend__hash_member *members, size_t count) {
  for (size_t i = 1; i < count; i++) {
    if (precedes(&members[i - 1], &members[i])) continue;
    mend__hash_member moving = members[i];
    size_t hole = i;
    for (; hole > 0 && precedes(&moving, &members[hole - 1]); hole--)
      members[hole] = members[hole - 1];
    members[hole] = moving;
  }
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

void mend__hash_sort_members(mend__hash_member *members, size_t count) {
  if (count <= 24) {
    insertion_sort(members, count);
  } else {
    heap_sort(members, count);
  }
}

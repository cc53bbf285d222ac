/* House header: an intrusive pairing heap of deadlines: the earliest first, those of one time by their order. Nothing
 * here allocates or fails; push is O(1), remove is O(log n) amortised. */
#ifndef MEND_CORE_HEAP_H
#define MEND_CORE_HEAP_H

#include "mend/clock.h"

/* A node's children are a list through `next`, each due when the node is or later; `previous` is the left sibling, or
 * of a first child the parent. */
typedef struct mend__heap {
  mend_deadline *root;
} mend__heap;

/* Whether `a` comes out before `b`. */
static inline bool mend__deadline_precedes(const mend_deadline *a, const mend_deadline *b) {
  return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

/* Places it by its due_ns and order, which stay as they are until it is taken out. */
void mend__heap_push(mend__heap *heap, mend_deadline *deadline);
/* NULL when empty. */
mend_deadline *mend__heap_min(const mend__heap *heap);
void mend__heap_remove(mend__heap *heap, mend_deadline *deadline);

#endif

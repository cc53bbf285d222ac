#include "core/heap.h"

static mend_deadline *meld(mend_deadline *a, mend_deadline *b) {
  if (a == NULL) return b;
  if (b == NULL) return a;
  mend_deadline *parent = mend__deadline_precedes(b, a) ? b : a;
  mend_deadline *child = parent == a ? b : a;
  child->next = parent->child;
  child->previous = parent;
  if (parent->child != NULL) parent->child->previous = child;
  parent->child = child;
  return parent;
}

static mend_deadline *detach_first(mend_deadline **list) {
  mend_deadline *first = *list;
  if (first == NULL) return NULL;
  *list = first->next;
  first->next = NULL;
  first->previous = NULL;
  return first;
}

/* The two passes of a pairing heap: siblings in pairs from the left, then the pairs from the right. */
static mend_deadline *meld_siblings(mend_deadline *list) {
  mend_deadline *pairs = NULL;
  while (list != NULL) {
    mend_deadline *left = detach_first(&list);
    mend_deadline *pair = meld(left, detach_first(&list));
    pair->next = pairs;
    pairs = pair;
  }
  mend_deadline *root = NULL;
  while (pairs != NULL)
    root = meld(root, detach_first(&pairs));
  return root;
}

void mend__heap_push(mend__heap *heap, mend_deadline *deadline) {
  deadline->child = NULL;
  deadline->next = NULL;
  deadline->previous = NULL;
  heap->root = meld(heap->root, deadline);
}

mend_deadline *mend__heap_min(const mend__heap *heap) { return heap->root; }

/* Takes a node with all its children out of its parent's list. */
static void cut(mend_deadline *deadline) {
  if (deadline->previous->child == deadline) {
    deadline->previous->child = deadline->next;
  } else {
    deadline->previous->next = deadline->next;
  }
  if (deadline->next != NULL) deadline->next->previous = deadline->previous;
}

void mend__heap_remove(mend__heap *heap, mend_deadline *deadline) {
  mend_deadline *children = meld_siblings(deadline->child);
  if (deadline == heap->root) {
    heap->root = children;
  } else {
    cut(deadline);
    heap->root = meld(heap->root, children);
  }
  deadline->child = NULL;
  deadline->next = NULL;
  deadline->previous = NULL;
}

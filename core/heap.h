/* House header: an intrusive pairing heap, smallest key first; nothing here allocates or fails. Push and decrease are O(1),
 * pop and remove O(log n) amortised. Equal keys come out in the order they were pushed only if their keys say so. */
#ifndef MEND_CORE_HEAP_H
#define MEND_CORE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mend__heap_node {
  uint64_t key;
  struct mend__heap_node *child, *next, *previous; /* previous: the left sibling, or the parent of a first child */
} mend__heap_node;

typedef struct mend__heap {
  mend__heap_node *root;
  size_t count;
} mend__heap;

void mend__heap_push(mend__heap *heap, mend__heap_node *node, uint64_t key);
mend__heap_node *mend__heap_min(const mend__heap *heap);
mend__heap_node *mend__heap_pop(mend__heap *heap);
void mend__heap_remove(mend__heap *heap, mend__heap_node *node);

#endif

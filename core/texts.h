/* House header: the texts that a public struct holds in its members: a list of blocks, one a text, that hangs on the
 * struct's private pointer. Each knows its allocator, which may be another for every text. */
#ifndef MEND_CORE_TEXTS_H
#define MEND_CORE_TEXTS_H

#include "mend/core.h"

typedef struct mend__text_block {
  struct mend__text_block *next;
  const mend_allocator *allocator;
  void *memory;     /* what is freed for it */
  const char *text; /* which member it is of */
} mend__text_block;

/* A copy with a NUL behind. NULL when there is no memory. */
mend__text_block *mend__text_block_new(mend_str text, const mend_allocator *allocator);
void mend__text_block_free(mend__text_block *block);

/* The list frees it. */
void mend__texts_take(void **texts, mend__text_block *block);
/* Copies `text` and lets *member point to the copy; absent stays absent. Frees what the member held, which `text` may
 * be a piece of. MEND_ENOMEM leaves everything as it was. */
mend_status mend__texts_set(void **texts, const mend_allocator *allocator, mend_str *member, mend_str text);
/* Frees them all; the members are the caller's to forget. */
void mend__texts_free(void **texts);

#endif

/* House header: the texts that a public struct holds in its members, each a block of its own in a list that hangs
 * on the struct's private pointer. A block knows its allocator, which may be another for every text. */
#ifndef MEND_CORE_TEXTS_H
#define MEND_CORE_TEXTS_H

#include "mend/core.h"

/* Copies `text`, with a NUL behind, and lets *member point to the copy; absent stays absent. Frees what the member
 * held, which `text` may be a piece of. MEND_ENOMEM leaves everything as it was. */
mend_status mend__texts_set(void **texts, const mend_allocator *allocator, mend_str *member, mend_str text);
/* Frees them all; the members are the caller's to forget. */
void mend__texts_free(void **texts);

#endif

/* House header: every allocation of the library goes through here. A NULL allocator is malloc. */
#ifndef MEND_CORE_MEMORY_H
#define MEND_CORE_MEMORY_H

#include "mend/core.h"

void *mend__alloc(const mend_allocator *allocator, size_t size);
void *mend__alloc_zero(const mend_allocator *allocator, size_t size);
void *mend__realloc(const mend_allocator *allocator, void *pointer, size_t size);
/* NULL is allowed. */
void mend__free(const mend_allocator *allocator, void *pointer);
/* A NUL-terminated copy, NULL when out of memory. */
char *mend__str_copy(const mend_allocator *allocator, mend_str text);

/* How many of the first `limit` bytes of `text` can be kept without cutting a UTF-8 character in two. */
size_t mend__utf8_cut(mend_str text, size_t limit);

#endif

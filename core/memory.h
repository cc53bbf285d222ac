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

/* Copies the text to *place with a NUL behind, and moves the place behind that; absent stays absent. */
mend_str mend__keep_text(char **place, mend_str text);
/* What a text that is to be kept needs. */
static inline size_t mend__room_for(mend_str text) { return text.ptr != NULL ? text.len + 1 : 0; }

bool mend__is_zero(const void *bytes, size_t len);

/* The struct that a pointer to one of its members points into. */
#define MEND__CONTAINER(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* How many of the first `limit` bytes of `text` can be kept without cutting a UTF-8 character in two. */
size_t mend__utf8_cut(mend_str text, size_t limit);

#endif

/* A list of texts in flat memory. */
#ifndef MEND_PROGRAM_FAULT_SERVER_TEXT_LIST_H
#define MEND_PROGRAM_FAULT_SERVER_TEXT_LIST_H

#include "core/buffer.h"

typedef struct text_list {
  mend__buffer bytes;
  mend__buffer ends; /* a size_t each: where in bytes a text ends */
  bool is_full;      /* a text was one too many or too long; from then on none is taken */
} text_list;
enum { TEXT_LIST_BYTES_MAX = 32 * 1024 * 1024, TEXT_LIST_COUNT_MAX = 250000 };

void text_list_init(text_list *list);
void text_list_free(text_list *list);
/* Copied. Running out of memory is remembered: text_list_failed. */
void text_list_add(text_list *list, mend_str text);
bool text_list_failed(const text_list *list);
size_t text_list_count(const text_list *list);
/* index is below the count. Valid until a text is added. */
mend_str text_list_get(const text_list *list, size_t index);

/* What a buffer holds so far. */
mend_str text_of(const mend__buffer *buffer);

#endif

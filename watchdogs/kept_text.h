/* Private to watchdogs/: short texts kept beyond their event. */
#ifndef MEND_WATCHDOGS_KEPT_TEXT_H
#define MEND_WATCHDOGS_KEPT_TEXT_H

#include "mend/core.h"

/* Up to two texts, one behind the other. Zero it before first use. Those of usual length (a call's id, a tool's name)
 * need no memory of their own, and memory once gotten is used again. */
typedef struct mend__kept_text {
  char *allocated; /* NULL: they are in `inside` */
  uint32_t first_len, second_len;
  uint32_t capacity;
  char inside[44];
} mend__kept_text;

/* False when out of memory; the texts are then unchanged. */
bool mend__kept_text_set(mend__kept_text *kept, mend_str first, mend_str second, const mend_allocator *allocator);
/* Absent for a text that was empty. */
mend_str mend__kept_text_first(const mend__kept_text *kept);
mend_str mend__kept_text_second(const mend__kept_text *kept);
void mend__kept_text_free(mend__kept_text *kept, const mend_allocator *allocator);

/* A call's id as text: its foreign name where it has one, else its number, written into `digits`. Absent for call 0. */
#define MEND__CALL_DIGITS 21
mend_str mend__call_text(uint64_t call, mend_str name, char digits[MEND__CALL_DIGITS]);

#endif

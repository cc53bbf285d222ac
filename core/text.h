/* House header: characters: UTF-8, what JSON strings escape, digits. */
#ifndef MEND_CORE_TEXT_H
#define MEND_CORE_TEXT_H

#include "mend/core.h"

/* The longest beginning of a text that is one well-formed item (a character, an escape) or could become one with more
 * text. Not whole and as long as the text: it was merely cut off. */
typedef struct mend__prefix {
  size_t len;
  bool whole;
} mend__prefix;

mend__prefix mend__utf8_prefix(const char *text, size_t available);
/* code is a Unicode scalar value. Returns the number of bytes written. */
size_t mend__utf8_encode(uint32_t code, char ret_bytes[4]);
#define MEND__UTF8_REPLACEMENT 0xFFFDu

/* The first character that a JSON string does not hold as it is or that is not ASCII: a quote, a backslash, a control
 * character, a byte from 0x80; `end` when there is none. */
const char *mend__skip_plain(const char *place, const char *end);

static inline bool mend__is_digit(char c) { return c >= '0' && c <= '9'; }
/* 0 to 15, or -1. */
int mend__hex_value(char digit);
/* The lower-case digit of the lowest four bits. */
static inline char mend__hex_digit(uint64_t value) { return "0123456789abcdef"[value & 15]; }

#endif

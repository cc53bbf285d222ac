/* House header: characters: UTF-8, what JSON strings escape, digits, lines. */
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

/* ---- Writing JSON strings: runs of what stays as it is, and between them single characters ---- */

/* How many bytes at the front a JSON string holds as they are. */
size_t mend__json_plain_len(mend_str text);
/* Takes what is no plain character from the front and gives the escape sequence to write for it, or U+FFFD for what is
 * not UTF-8. Returns the number of bytes written. */
#define MEND__JSON_ESCAPE_MAX 6
size_t mend__json_escape_first(mend_str *rest, char ret_bytes[MEND__JSON_ESCAPE_MAX]);
/* How many bytes the first character has; what is not UTF-8 counts as the one character that is written for it. The text
 * is not empty. */
size_t mend__character_len(mend_str text);

/* ---- Digits and lines ---- */

static inline bool mend__is_digit(char c) { return c >= '0' && c <= '9'; }
/* 0 to 15, or -1. */
int mend__hex_value(char digit);
/* The lower-case digit of the lowest four bits. */
static inline char mend__hex_digit(uint64_t value) { return "0123456789abcdef"[value & 15]; }

/* A place in a text: moves line and column, both from 0, over a piece of it. A column counts bytes. */
void mend__count_lines(mend_str piece, unsigned *line, unsigned *column);
/* Adds to an error (which may be NULL) the place right behind `before`, the beginning of a text. */
void mend__error_place(mend_error *error, mend_str before);

#endif

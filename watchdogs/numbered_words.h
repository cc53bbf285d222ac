/* House header: where a text has words with numbers in them, found 64 bytes at a time. */
#ifndef MEND_WATCHDOGS_NUMBERED_WORDS_H
#define MEND_WATCHDOGS_NUMBERED_WORDS_H

#include "core/text.h"

/* Words are of letters, digits and '_', as in every language of programs. */
static inline bool mend__is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || mend__is_digit(c) || c == '_';
}

enum { MEND__WORDS_BLOCK = 64 };

/* A bit, the lowest for the first byte, for the first digit of each word of the block at `place` that begins with a
 * hexadecimal digit, or behind a backslash. *may_go_on: whether a word that began before the block may be such a one,
 * false at the first block; it is set for the next. */
uint64_t mend__numbered_words(mend_str text, size_t place, bool *may_go_on);

#endif

/* House header: characters: UTF-8, what JSON strings escape, digits, lines. */
#ifndef MEND_CORE_TEXT_H
#define MEND_CORE_TEXT_H

#include "core/block.h"
#include "mend/core.h"

/* The longest beginning of a text that is one well-formed item (a character, an escape) or could become one with more
 * text. Not whole and as long as the text: it was merely cut off. */
typedef struct mend__prefix {
  size_t len;
  bool whole;
} mend__prefix;

mend__prefix mend__utf8_prefix(const char *text, size_t available);
/* Of one well-formed character, which is all of the text. */
uint32_t mend__utf8_decode(mend_str character);
/* code is a Unicode scalar value. Returns the number of bytes written. */
size_t mend__utf8_encode(uint32_t code, char ret_bytes[4]);
#define MEND__UTF8_REPLACEMENT 0xFFFDu

/* ---- Plain characters: ASCII that a JSON string holds as it is. Inline: the scanner lives on them ---- */

#define MEND__REPEATED(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline uint64_t mend__load_little_endian(const char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

/* Sets the top bit of each byte that a string may not simply contain: quote, backslash, control, beyond ASCII. A borrow
 * can mark bytes above such a one wrongly; the lowest mark is right. */
static inline uint64_t mend__mark_special(uint64_t word) {
  uint64_t control = word - MEND__REPEATED(0x20);
  uint64_t quote = (word ^ MEND__REPEATED('"')) - MEND__REPEATED(1);
  uint64_t backslash = (word ^ MEND__REPEATED('\\')) - MEND__REPEATED(1);
  return (control | quote | backslash | word) & MEND__REPEATED(0x80);
}

/* One bit a byte. Below 0 is what is beyond ASCII; with that bit turned, the quote is below the controls' end. */
static inline uint32_t mend__special_bits(mend__block block) {
  const mend__block plain = (mend__block)((mend__signed_block)(block ^ 2) > 0x20) & ~mend__block_is(block, '\\');
  return mend__block_bits(plain) ^ 0xFFFF;
}

static inline bool mend__is_special(char c) {
  return (unsigned char)c < 0x20 || (unsigned char)c >= 0x80 || c == '"' || c == '\\';
}

/* The first character that is not plain: a quote, a backslash, a control character, a byte from 0x80; `end` when there
 * is none. */
static inline const char *mend__skip_plain(const char *place, const char *end) {
  for (; end - place >= MEND__BLOCK_SIZE; place += MEND__BLOCK_SIZE) {
    const uint32_t bits = mend__special_bits(mend__block_at(place));
    if (bits != 0) return place + __builtin_ctz(bits);
  }
  if (end - place >= 8) {
    uint64_t marks = mend__mark_special(mend__load_little_endian(place));
    if (marks != 0) return place + __builtin_ctzll(marks) / 8;
    place += 8;
  }
  while (place < end && !mend__is_special(*place))
    place++;
  return place;
}

/* ---- Writing JSON strings: runs of what stays as it is, and between them single characters ---- */

/* How many bytes at the front a JSON string holds as they are. */
size_t mend__json_plain_len(mend_str text);
/* Takes what is no plain character from the front and gives the escape sequence to write for it, or U+FFFD for what is
 * not UTF-8. Returns the number of bytes written. */
#define MEND__JSON_ESCAPE_MAX 12
size_t mend__json_escape_first(mend_str *rest, char ret_bytes[MEND__JSON_ESCAPE_MAX]);
/* How many bytes the first character has; what is not UTF-8 counts as the one character that is written for it. The
 * text is not empty. */
size_t mend__character_len(mend_str text);

/* Whether terminals and logs show it as it is: no control character (C0, DEL, C1), none that changes the direction of
 * text or has no width, no line or paragraph separator, no byte order mark, no tag, no code that is no character. */
bool mend__shows_as_itself(uint32_t code);
/* Whether it is UTF-8 of nothing but such characters. */
bool mend__is_printable(mend_str text);
/* The escape sequence of JSON for a character, or the two of one beyond U+FFFF. Returns the number of bytes. */
size_t mend__escape_code(uint32_t code, char ret_bytes[MEND__JSON_ESCAPE_MAX]);
/* As mend__json_escape_first, for what does not show as itself too. */
size_t mend__escape_first(mend_str *rest, char ret_bytes[MEND__JSON_ESCAPE_MAX]);

/* ---- Beginnings and ends ---- */

static inline bool mend__begins_with(mend_str text, mend_str beginning) {
  return beginning.len <= text.len && (beginning.len == 0 || memcmp(text.ptr, beginning.ptr, beginning.len) == 0);
}
static inline bool mend__ends_with(mend_str text, mend_str end) {
  return end.len <= text.len && (end.len == 0 || memcmp(text.ptr + text.len - end.len, end.ptr, end.len) == 0);
}

/* ---- ASCII ---- */

static inline char mend__lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }
/* Whether a text begins with `lower`, which has no capitals; of its own letters the case does not matter. */
static inline bool mend__begins_in_any_case(mend_str text, mend_str lower) {
  size_t same = 0;
  while (same < lower.len && same < text.len && mend__lower(text.ptr[same]) == lower.ptr[same])
    same++;
  return same == lower.len;
}
static inline bool mend__is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
/* Without the blanks at its beginning, and without those at its end too. */
mend_str mend__skip_blanks(mend_str text);
mend_str mend__trim(mend_str text);

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

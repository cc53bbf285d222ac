#include "core/text.h"

/* How many bytes a character with this lead byte has; 0 when none begins with it. */
static size_t character_size(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

mend__prefix mend__utf8_prefix(const char *text, size_t available) {
  const unsigned char *bytes = (const unsigned char *)text;
  if (available == 0) return (mend__prefix){0, false};
  unsigned char lead = bytes[0];
  size_t size = character_size(lead);
  if (size == 0) return (mend__prefix){0, false};
  /* The second byte's range is what keeps out overlong forms, surrogates and everything beyond U+10FFFF. */
  unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  size_t len = 1;
  while (len < size && len < available && bytes[len] >= low && bytes[len] <= high) {
    len++;
    low = 0x80;
    high = 0xBF;
  }
  return (mend__prefix){len, len == size};
}

size_t mend__utf8_encode(uint32_t code, char ret_bytes[4]) {
  if (code < 0x80) {
    ret_bytes[0] = (char)code;
    return 1;
  }
  size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = size - 1; i > 0; i--) {
    ret_bytes[i] = (char)(0x80u | (code & 0x3Fu));
    code >>= 6;
  }
  const unsigned char lead_marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
  ret_bytes[0] = (char)(lead_marks[size] | code);
  return size;
}

int mend__hex_value(char digit) {
  if (mend__is_digit(digit)) return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

/* ---- Writing JSON strings ---- */

size_t mend__json_plain_len(mend_str text) {
  const char *place = text.ptr, *end = text.ptr + text.len;
  for (;;) {
    place = mend__skip_plain(place, end);
    if (place == end || (unsigned char)*place < 0x80) break;
    mend__prefix character = mend__utf8_prefix(place, (size_t)(end - place));
    if (!character.whole) break;
    place += character.len;
  }
  return (size_t)(place - text.ptr);
}

size_t mend__character_len(mend_str text) {
  size_t len = mend__utf8_prefix(text.ptr, text.len).len;
  return len > 0 ? len : 1;
}

uint32_t mend__utf8_decode(mend_str character) {
  const unsigned char first = (unsigned char)character.ptr[0];
  uint32_t code = character.len == 1 ? first : first & (0x7Fu >> character.len);
  for (size_t i = 1; i < character.len; i++)
    code = code << 6 | ((unsigned char)character.ptr[i] & 0x3F);
  return code;
}

bool mend__shows_as_itself(uint32_t code) {
  static const struct {
    uint32_t first, last;
  } hidden[] = {
      {0, 0x1F},        {0x7F, 0x9F},       /* controls */
      {0x61C, 0x61C},   {0x200B, 0x200F},   /* marks of direction, and what has no width */
      {0x2028, 0x202E},                     /* separators of lines and paragraphs, directions */
      {0x2060, 0x206F}, {0xFEFF, 0xFEFF},   /* directions again, a byte order mark */
      {0xFFFE, 0xFFFF}, {0xE0000, 0xE007F}, /* no characters, tags */
  };
  for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
    if (code >= hidden[i].first && code <= hidden[i].last) return false;
  }
  return true;
}

bool mend__is_printable(mend_str text) {
  while (text.len > 0) {
    const mend__prefix character = mend__utf8_prefix(text.ptr, text.len);
    if (!character.whole || !mend__shows_as_itself(mend__utf8_decode((mend_str){text.ptr, character.len})))
      return false;
    text = (mend_str){text.ptr + character.len, text.len - character.len};
  }
  return true;
}

static size_t escape_unit(uint32_t unit, char *ret_bytes) {
  memcpy(ret_bytes, "\\u", 2);
  for (unsigned i = 0; i < 4; i++)
    ret_bytes[2 + i] = mend__hex_digit(unit >> (12 - 4 * i));
  return 6;
}

size_t mend__escape_code(uint32_t code, char ret_bytes[MEND__JSON_ESCAPE_MAX]) {
  if (code < 0x10000) return escape_unit(code, ret_bytes);
  const size_t high = escape_unit(0xD800 + ((code - 0x10000) >> 10), ret_bytes);
  return high + escape_unit(0xDC00 + (code & 0x3FF), ret_bytes + high);
}

size_t mend__escape_first(mend_str *rest, char ret_bytes[MEND__JSON_ESCAPE_MAX]) {
  const mend__prefix character = mend__utf8_prefix(rest->ptr, rest->len);
  if (!character.whole || character.len == 1) return mend__json_escape_first(rest, ret_bytes);
  const uint32_t code = mend__utf8_decode((mend_str){rest->ptr, character.len});
  *rest = (mend_str){rest->ptr + character.len, rest->len - character.len};
  return mend__escape_code(code, ret_bytes);
}

mend_str mend__skip_blanks(mend_str text) {
  while (text.len > 0 && mend__is_blank(text.ptr[0]))
    text = (mend_str){text.ptr + 1, text.len - 1};
  return text;
}

mend_str mend__trim(mend_str text) {
  text = mend__skip_blanks(text);
  while (text.len > 0 && mend__is_blank(text.ptr[text.len - 1]))
    text.len--;
  return text;
}

static size_t escape(char c, char ret_bytes[MEND__JSON_ESCAPE_MAX]) {
  static const char special[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
  const char *found = memchr(special, c, sizeof special - 1);
  ret_bytes[0] = '\\';
  if (found != NULL) {
    ret_bytes[1] = names[found - special];
    return 2;
  }
  return escape_unit((unsigned char)c, ret_bytes);
}

size_t mend__json_escape_first(mend_str *rest, char ret_bytes[MEND__JSON_ESCAPE_MAX]) {
  const char first = rest->ptr[0];
  size_t len = mend__character_len(*rest);
  rest->ptr += len;
  rest->len -= len;
  return (unsigned char)first < 0x80 ? escape(first, ret_bytes) : mend__utf8_encode(MEND__UTF8_REPLACEMENT, ret_bytes);
}

/* ---- Lines ---- */

void mend__count_lines(mend_str piece, unsigned *line, unsigned *column) {
  const char *end = piece.ptr + piece.len;
  const char *feed;
  while (piece.ptr < end && (feed = memchr(piece.ptr, '\n', (size_t)(end - piece.ptr))) != NULL) {
    piece.ptr = feed + 1;
    ++*line;
    *column = 0;
  }
  *column += (unsigned)(end - piece.ptr);
}

void mend__error_place(mend_error *error, mend_str before) {
  if (error == NULL) return;
  unsigned line = 0, column = 0;
  mend__count_lines(before, &line, &column);
  error->line = line + 1;
  error->column = column + 1;
}

#include "core/json_internal.h"
#include "core/memory.h"
#include "core/text.h"

/* The four digits after \u as a UTF-16 code unit; -1 when they are not there. */
static int32_t utf16_unit(mend_str text) {
  if (text.len < 6 || text.ptr[0] != '\\' || text.ptr[1] != 'u') return -1;
  int32_t unit = 0;
  for (size_t i = 2; i < 6; i++) {
    int digit = mend__hex_value(text.ptr[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

static bool is_high_surrogate(int32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
static bool is_low_surrogate(int32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

static void drop(mend_str *text, size_t len) {
  text->ptr += len;
  text->len -= len;
}

/* Takes \uXXXX, or the two of a surrogate pair, from the front; -1 when there is none. */
static int32_t take_unicode_escape(mend_str *rest) {
  int32_t unit = utf16_unit(*rest);
  if (unit < 0) return -1;
  drop(rest, 6);
  if (is_low_surrogate(unit)) return MEND__UTF8_REPLACEMENT;
  if (!is_high_surrogate(unit)) return unit;
  int32_t low = utf16_unit(*rest);
  if (!is_low_surrogate(low)) return MEND__UTF8_REPLACEMENT;
  drop(rest, 6);
  return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
}

/* Takes the escape at the front. In a slice no scanner checked, a backslash without an escape stands for itself. */
static int32_t take_escape(mend_str *rest) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  int32_t code = take_unicode_escape(rest);
  if (code >= 0) return code;
  const char *name = rest->len > 1 ? memchr(names, rest->ptr[1], sizeof names - 1) : NULL;
  drop(rest, name != NULL ? 2 : 1);
  return name != NULL ? values[name - names] : '\\';
}

size_t mend__json_unescape_part(mend_str *rest, char *buffer, size_t capacity) {
  size_t written = 0;
  while (rest->len > 0 && capacity - written >= 4) {
    if (rest->ptr[0] == '\\') {
      int32_t code = take_escape(rest);
      written += mend__utf8_encode((uint32_t)code, buffer + written);
      continue;
    }
    size_t room = capacity - written;
    size_t run = rest->len < room ? rest->len : room;
    const char *backslash = memchr(rest->ptr, '\\', run);
    if (backslash != NULL) run = (size_t)(backslash - rest->ptr);
    memmove(buffer + written, rest->ptr, run);
    written += run;
    drop(rest, run);
  }
  return written;
}

size_t mend_json_unescape(mend_str slice, char *buffer) { return mend__json_unescape_part(&slice, buffer, SIZE_MAX); }

bool mend_json_is(const mend_json *json, mend_str text) {
  if (!json->escaped) return mend_str_equal(json->slice, text);
  mend_str rest = json->slice;
  while (rest.len > 0) {
    char part[64];
    size_t len = mend__json_unescape_part(&rest, part, sizeof part);
    if (len > text.len || memcmp(part, text.ptr, len) != 0) return false;
    drop(&text, len);
  }
  return text.len == 0;
}

/* ---- Quoting ---- */

typedef struct quoter {
  char *buffer;
  size_t room; /* what may be written before the closing quote */
  size_t written, needed;
  bool full;
} quoter;

/* Nothing of an item that does not fit is written, nor of what comes after it. */
static void quote_item(quoter *q, const char *item, size_t len) {
  q->needed += len;
  q->full |= len > q->room - q->written;
  if (q->full) return;
  memcpy(q->buffer + q->written, item, len);
  q->written += len;
}

static void quote_plain(quoter *q, mend_str run) {
  size_t fitting = q->full ? 0 : mend__utf8_cut(run, q->room - q->written);
  quote_item(q, run.ptr, fitting);
  quote_item(q, run.ptr + fitting, run.len - fitting);
}

size_t mend_json_quote(mend_str text, char *buffer, size_t size) {
  char nowhere[3];
  if (size < sizeof nowhere) {
    if (size > 0) buffer[0] = '\0';
    buffer = nowhere;
    size = sizeof nowhere;
  }
  quoter q = {.buffer = buffer, .room = size - 2};
  quote_item(&q, "\"", 1);
  while (text.len > 0) {
    char escape[MEND__JSON_ESCAPE_MAX];
    mend_str plain = {text.ptr, mend__json_plain_len(text)};
    quote_plain(&q, plain);
    drop(&text, plain.len);
    if (text.len > 0) quote_item(&q, escape, mend__json_escape_first(&text, escape));
  }
  memcpy(buffer + q.written, "\"", 2);
  return q.needed + 1;
}

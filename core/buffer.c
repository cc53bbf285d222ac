#include "core/buffer.h"
#include "core/double_text.h"
#include "core/memory.h"
#include "core/text.h"
#include "mend/clock.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mend__buffer_init(mend__buffer *buffer, const mend_allocator *allocator) {
  *buffer = (mend__buffer){.allocator = allocator};
}

void mend__buffer_free(mend__buffer *buffer) {
  mend__free(buffer->allocator, buffer->data);
  mend__buffer_init(buffer, buffer->allocator);
}

void mend__buffer_clear(mend__buffer *buffer) {
  buffer->len = 0;
  buffer->failed = false;
}

static bool grow(mend__buffer *buffer, size_t more) {
  if (more > SIZE_MAX / 2 - buffer->len) return false;
  size_t capacity = buffer->capacity < 64 ? 64 : buffer->capacity;
  while (capacity < buffer->len + more)
    capacity *= 2;
  char *data = mend__realloc(buffer->allocator, buffer->data, capacity);
  if (data == NULL) return false;
  buffer->data = data;
  buffer->capacity = capacity;
  return true;
}

bool mend__buffer_reserve(mend__buffer *buffer, size_t more) {
  if (buffer->failed) return false;
  if (more <= buffer->capacity - buffer->len) return true;
  buffer->failed = !grow(buffer, more);
  return !buffer->failed;
}

mend_status mend__buffer_take(mend__buffer *buffer, char **ret_text, size_t *ret_len) {
  mend__buffer_char(buffer, '\0');
  if (buffer->failed) {
    mend__buffer_free(buffer);
    return MEND_ENOMEM;
  }
  *ret_text = buffer->data;
  if (ret_len != NULL) *ret_len = buffer->len - 1;
  mend__buffer_init(buffer, buffer->allocator);
  return MEND_OK;
}

void mend__buffer_bytes(mend__buffer *buffer, const char *bytes, size_t len) {
  if (len == 0 || !mend__buffer_reserve(buffer, len)) return;
  memcpy(buffer->data + buffer->len, bytes, len);
  buffer->len += len;
}

void mend__buffer_str(mend__buffer *buffer, mend_str text) { mend__buffer_bytes(buffer, text.ptr, text.len); }

void mend__buffer_char(mend__buffer *buffer, char c) {
  if (mend__buffer_reserve(buffer, 1)) buffer->data[buffer->len++] = c;
}

void mend__buffer_printf(mend__buffer *buffer, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int len = vsnprintf(NULL, 0, format, arguments);
  if (len < 0) {
    buffer->failed = true;
  } else if (mend__buffer_reserve(buffer, (size_t)len + 1)) {
    vsnprintf(buffer->data + buffer->len, (size_t)len + 1, format, again);
    buffer->len += (size_t)len;
  }
  va_end(again);
  va_end(arguments);
}

/* ---- JSON strings ------------------------------------------------------------------------------------------ */

static mend_str without_first(mend_str text, size_t len) { return (mend_str){text.ptr + len, text.len - len}; }

static void write_characters(mend__buffer *buffer, mend_str text) {
  while (text.len > 0) {
    char escape[MEND__JSON_ESCAPE_MAX];
    size_t len = mend__json_plain_len(text);
    mend__buffer_bytes(buffer, text.ptr, len);
    text = without_first(text, len);
    if (text.len > 0) mend__buffer_bytes(buffer, escape, mend__json_escape_first(&text, escape));
  }
}

void mend__buffer_json_string(mend__buffer *buffer, mend_str text) {
  mend__buffer_char(buffer, '"');
  write_characters(buffer, text);
  mend__buffer_char(buffer, '"');
}

void mend__buffer_json_text(mend__buffer *buffer, mend_str text) {
  if (text.ptr != NULL) {
    mend__buffer_json_string(buffer, text);
  } else {
    mend__buffer_str(buffer, MEND_STR("null"));
  }
}

/* The bytes of the first max_chars characters. */
static size_t characters_len(mend_str text, size_t max_chars) {
  size_t len = 0;
  for (; max_chars > 0 && len < text.len; max_chars--)
    len += mend__character_len(without_first(text, len));
  return len;
}

void mend__buffer_json_string_cut(mend__buffer *buffer, mend_str text, size_t max_chars) {
  size_t len = characters_len(text, max_chars);
  mend__buffer_char(buffer, '"');
  write_characters(buffer, (mend_str){text.ptr, len});
  if (len < text.len) mend__buffer_bytes(buffer, "...", 3);
  mend__buffer_char(buffer, '"');
}

static bool is_quoted_as_is(mend_str character) {
  return mend__json_plain_len(character) == character.len && mend__is_printable(character);
}

void mend__buffer_quoted(mend__buffer *buffer, mend_str text) {
  mend__buffer_char(buffer, '"');
  while (text.len > 0) {
    const mend_str character = {text.ptr, mend__character_len(text)};
    char escaped[MEND__JSON_ESCAPE_MAX];
    if (is_quoted_as_is(character)) {
      mend__buffer_str(buffer, character);
      text = without_first(text, character.len);
    } else {
      mend__buffer_bytes(buffer, escaped, mend__escape_first(&text, escaped));
    }
  }
  mend__buffer_char(buffer, '"');
}

/* ---- Numbers ----------------------------------------------------------------------------------------------- */

/* Writes at least min_digits digits. */
static void write_decimal(mend__buffer *buffer, uint64_t value, unsigned min_digits) {
  char digits[20];
  char *end = digits + sizeof digits, *first = end;
  while (value > 0 || end - first < (ptrdiff_t)min_digits) {
    *--first = (char)('0' + value % 10);
    value /= 10;
  }
  mend__buffer_bytes(buffer, first, (size_t)(end - first));
}

void mend__buffer_u64(mend__buffer *buffer, uint64_t value) { write_decimal(buffer, value, 1); }

void mend__buffer_f64(mend__buffer *buffer, double value) {
  if (!isfinite(value)) {
    mend__buffer_str(buffer, MEND_STR("null"));
    return;
  }
  if (value > 0 && value < 1e15 && value == (double)(uint64_t)value) {
    mend__buffer_u64(buffer, (uint64_t)value);
    return;
  }
  char text[MEND__DOUBLE_TEXT_SIZE];
  mend__buffer_bytes(buffer, text, mend__double_text(value, text));
}

void mend__buffer_seconds(mend__buffer *buffer, uint64_t ns) {
  mend__buffer_u64(buffer, ns / MEND_SECOND_NS);
  mend__buffer_char(buffer, '.');
  uint64_t fraction = ns % MEND_SECOND_NS;
  unsigned digits = 9;
  for (; digits > 1 && fraction % 10 == 0; digits--)
    fraction /= 10;
  write_decimal(buffer, fraction, digits);
}

void mend__buffer_time(mend__buffer *buffer, uint64_t mono_ns) {
  if (mono_ns == MEND_NEVER) {
    mend__buffer_str(buffer, MEND_STR("never"));
    return;
  }
  mend__buffer_seconds(buffer, mono_ns);
  mend__buffer_str(buffer, MEND_STR(" s"));
}

void mend__buffer_hex(mend__buffer *buffer, const uint8_t *bytes, size_t len) {
  if (len > SIZE_MAX / 2 || !mend__buffer_reserve(buffer, 2 * len)) {
    buffer->failed = true;
    return;
  }
  for (size_t i = 0; i < len; i++) {
    mend__buffer_char(buffer, mend__hex_digit(bytes[i] >> 4));
    mend__buffer_char(buffer, mend__hex_digit(bytes[i]));
  }
}

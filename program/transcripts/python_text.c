#include "program/transcripts/python_text.h"

#include "core/text.h"
#include "program/base/json_fields.h"

enum { DEPTH_MAX = 32 };

/* What is left to read, and what was made of the rest. */
typedef struct cursor {
  mend_str rest;
  mend__buffer *json;
  bool failed;
} cursor;

static char peek(const cursor *at) { return at->rest.len > 0 ? at->rest.ptr[0] : '\0'; }

static char take(cursor *at) {
  const char c = peek(at);
  if (at->rest.len == 0) {
    at->failed = true;
  } else {
    at->rest = (mend_str){at->rest.ptr + 1, at->rest.len - 1};
  }
  return c;
}

static bool accept(cursor *at, char c) {
  at->rest = mend__skip_blanks(at->rest);
  if (at->rest.len == 0 || at->rest.ptr[0] != c) return false;
  take(at);
  return true;
}

/* ---- Strings ----------------------------------------------------------------------------------------------- */

/* \xe9, \u20ac and \U0001f600. */
static void take_code(cursor *at, int digits) {
  uint32_t code = 0;
  for (int i = 0; i < digits; i++) {
    const int value = mend__hex_value(take(at));
    at->failed |= value < 0;
    code = code << 4 | (uint32_t)(value & 15);
  }
  char bytes[4];
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  if (code > 0x10FFFF || surrogate) at->failed = true;
  if (at->failed) return;
  if (code < 0x20 || code == '"' || code == '\\') {
    mend__buffer_printf(at->json, "\\u%04x", (unsigned)code);
  } else {
    mend__buffer_bytes(at->json, bytes, mend__utf8_encode(code, bytes));
  }
}

static void take_escape(cursor *at) {
  const char c = take(at);
  switch (c) {
  case '\'': mend__buffer_char(at->json, c); break;
  case '"':
  case '\\':
  case 'n':
  case 'r':
  case 't':
    mend__buffer_char(at->json, '\\');
    mend__buffer_char(at->json, c);
    break;
  case 'x': take_code(at, 2); break;
  case 'u': take_code(at, 4); break;
  case 'U': take_code(at, 8); break;
  default: at->failed = true;
  }
}

static void take_string(cursor *at) {
  const char quote = take(at);
  at->failed |= quote != '\'' && quote != '"';
  mend__buffer_char(at->json, '"');
  while (!at->failed) {
    const char c = take(at);
    if (c == quote) break;
    if (c == '\\') {
      take_escape(at);
    } else if (c == '"') {
      mend__buffer_str(at->json, MEND_STR("\\\""));
    } else if ((unsigned char)c < 0x20) {
      at->failed = true; /* Python would have escaped it */
    } else {
      mend__buffer_char(at->json, c);
    }
  }
  mend__buffer_char(at->json, '"');
}

/* ---- Values ------------------------------------------------------------------------------------------------ */

static void take_value(cursor *at, int depth);

/* Up to the closing bracket; a comma may stand before it. */
static void take_items(cursor *at, char close, int depth) {
  take(at);
  mend__buffer_char(at->json, close == '}' ? '{' : '[');
  for (bool first = true; !at->failed && !accept(at, close); first = false) {
    if (!first) {
      at->failed |= !accept(at, ',');
      if (accept(at, close)) break;
      mend__buffer_char(at->json, ',');
    }
    if (close == '}') {
      at->rest = mend__skip_blanks(at->rest);
      take_string(at);
      at->failed |= !accept(at, ':');
      mend__buffer_char(at->json, ':');
    }
    take_value(at, depth + 1);
  }
  mend__buffer_char(at->json, close == '}' ? '}' : ']');
}

static void take_word(cursor *at) {
  size_t len = 0;
  while (len < at->rest.len && strchr(",:]}) \t\r\n", at->rest.ptr[len]) == NULL)
    len++;
  const mend_str word = {at->rest.ptr, len};
  at->rest = (mend_str){at->rest.ptr + len, at->rest.len - len};
  if (mend_str_equal(word, MEND_STR("True"))) {
    mend__buffer_str(at->json, MEND_STR("true"));
  } else if (mend_str_equal(word, MEND_STR("False"))) {
    mend__buffer_str(at->json, MEND_STR("false"));
  } else if (mend_str_equal(word, MEND_STR("None"))) {
    mend__buffer_str(at->json, MEND_STR("null"));
  } else {
    at->failed |= !mend__json_is_number(word) || mend_json_check(word, 1, NULL) != MEND_OK;
    mend__buffer_str(at->json, word);
  }
}

static void take_value(cursor *at, int depth) {
  at->rest = mend__skip_blanks(at->rest);
  at->failed |= depth == DEPTH_MAX || at->rest.len == 0;
  if (at->failed) return;
  switch (peek(at)) {
  case '{': take_items(at, '}', depth); break;
  case '[': take_items(at, ']', depth); break;
  case '(': take_items(at, ')', depth); break;
  case '\'':
  case '"': take_string(at); break;
  default: take_word(at);
  }
}

bool python_text_to_json(mend_str text, mend__buffer *json) {
  cursor at = {.rest = mend__skip_blanks(text), .json = json, .failed = false};
  at.failed = peek(&at) != '{';
  take_value(&at, 0);
  return !at.failed && mend__skip_blanks(at.rest).len == 0 && !json->failed;
}

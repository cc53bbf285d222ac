#include "program/reports/markup.h"

#include "program/base/plain.h"

static const char *entity_of(char c) {
  switch (c) {
  case '&': return "&amp;";
  case '<': return "&lt;";
  case '>': return "&gt;";
  case '"': return "&quot;";
  case '\'': return "&#39;";
  default: return NULL;
  }
}

/* U+FFFE and U+FFFF are characters of UTF-8 and not of XML. */
static bool is_no_character(const char *place, size_t left) {
  return left >= 3 && memcmp(place, "\xEF\xBF", 2) == 0 && (unsigned char)place[2] >= 0xBE;
}

void markup_plain(mend__buffer *buffer, mend_str plain) {
  size_t copied = 0;
  for (size_t at = 0; at < plain.len; at++) {
    const bool none = is_no_character(plain.ptr + at, plain.len - at);
    const char *entity = none ? "&#xFFFD;" : entity_of(plain.ptr[at]);
    if (entity == NULL) continue;
    mend__buffer_bytes(buffer, plain.ptr + copied, at - copied);
    mend__buffer_str(buffer, mend_str_from(entity));
    if (none) at += 2;
    copied = at + 1;
  }
  mend__buffer_bytes(buffer, plain.ptr + copied, plain.len - copied);
}

void markup_text(mend__buffer *buffer, mend_str text, size_t max_chars) {
  mend__buffer plain;
  mend__buffer_init(&plain, buffer->allocator);
  plain_text(&plain, text, max_chars);
  buffer->failed |= plain.failed;
  markup_plain(buffer, mend__buffer_text(&plain));
  mend__buffer_free(&plain);
}

#include "program/base/plain.h"

#include "core/memory.h"
#include "core/text.h"
#include "mend/clock.h"
#include "mend/json.h"

#include <stdio.h>
#include <time.h>

/* ---- Safe text --------------------------------------------------------------------------------------------- */

static void escape(mend__buffer *buffer, uint32_t code) {
  switch (code) {
  case '\n': mend__buffer_str(buffer, MEND_STR("\\n")); break;
  case '\r': mend__buffer_str(buffer, MEND_STR("\\r")); break;
  case '\t': mend__buffer_str(buffer, MEND_STR("\\t")); break;
  default:
    mend__buffer_printf(buffer, code < 0x100 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)code);
  }
}

void plain_text(mend__buffer *buffer, mend_str text, size_t max_chars) {
  size_t shown = 0;
  for (size_t at = 0; at < text.len; shown++) {
    if (shown == max_chars) {
      mend__buffer_str(buffer, MEND_STR("..."));
      return;
    }
    const mend__prefix character = mend__utf8_prefix(text.ptr + at, text.len - at);
    const size_t len = character.len > 0 ? character.len : 1;
    const uint32_t code = character.whole ? mend__utf8_decode((mend_str){text.ptr + at, len}) : MEND__UTF8_REPLACEMENT;
    if (!character.whole) {
      mend__buffer_str(buffer, MEND_STR("\xEF\xBF\xBD"));
    } else if (!mend__shows_as_itself(code)) {
      escape(buffer, code);
    } else {
      mend__buffer_bytes(buffer, text.ptr + at, len);
    }
    at += len;
  }
}

void plain_unquote(mend__buffer *buffer, mend_str value) {
  if (value.len < 2 || value.ptr[0] != '"') {
    mend__buffer_str(buffer, value);
    return;
  }
  const bool cut = value.ptr[value.len - 1] != '"';
  const mend_str inside = {value.ptr + 1, value.len - (cut ? 1 : 2)};
  if (!mend__buffer_reserve(buffer, inside.len + 1)) return;
  buffer->len += mend_json_unescape(inside, buffer->data + buffer->len);
}

void plain_json(mend__buffer *buffer, mend_str value, size_t max_chars) {
  mend__buffer text;
  mend__buffer_init(&text, buffer->allocator);
  plain_unquote(&text, value);
  buffer->failed |= text.failed;
  plain_text(buffer, mend__buffer_text(&text), max_chars);
  mend__buffer_free(&text);
}

void plain_sentences(mend__buffer *buffer, const char *before, mend_str sentences) {
  enum { LONGEST = 2048 };
  mend__buffer_str(buffer, mend_str_from(before));
  for (;;) {
    const char *feed = sentences.len > 0 ? memchr(sentences.ptr, '\n', sentences.len) : NULL;
    const size_t len = feed != NULL ? (size_t)(feed - sentences.ptr) : sentences.len;
    plain_text(buffer, (mend_str){sentences.ptr, len}, LONGEST);
    mend__buffer_char(buffer, '\n');
    if (feed == NULL) return;
    sentences = (mend_str){feed + 1, sentences.len - len - 1};
  }
}

void plain_keep(char *to, size_t size, mend_str text) {
  const size_t len = mend__utf8_cut(text, size - 1);
  for (size_t i = 0; i < len; i++)
    to[i] = text.ptr[i] != '\0' ? text.ptr[i] : '?'; /* it ends no name */
  to[len] = '\0';
}

void plain_json_escaped(mend__buffer *buffer, mend_str json) {
  size_t copied = 0;
  for (size_t at = 0, len; at < json.len; at += len) {
    len = mend__utf8_prefix(json.ptr + at, json.len - at).len;
    if (len == 0) len = 1;
    const uint32_t code = mend__utf8_decode((mend_str){json.ptr + at, len});
    if (code < 0x7F || mend__shows_as_itself(code)) continue;
    mend__buffer_bytes(buffer, json.ptr + copied, at - copied);
    char escaped[MEND__JSON_ESCAPE_MAX];
    mend__buffer_bytes(buffer, escaped, mend__escape_code(code, escaped));
    copied = at + len;
  }
  mend__buffer_bytes(buffer, json.ptr + copied, json.len - copied);
}

/* ---- Lines ------------------------------------------------------------------------------------------------- */

static bool begins_character(char byte) { return ((unsigned char)byte & 0xC0) != 0x80; }

/* How many bytes fit into `columns`, breaking after a blank where there is one. */
static size_t line_length(mend_str text, size_t columns) {
  size_t at = 0, used = 0, blank = 0;
  for (; at < text.len; at++) {
    if (begins_character(text.ptr[at]) && used++ == columns) break;
    if (text.ptr[at] == ' ') blank = at;
  }
  if (at == text.len) return at;
  if (text.ptr[at] == ' ') return at;
  return blank > 0 ? blank : at;
}

void plain_wrap(mend__buffer *buffer, mend_str plain, size_t width, size_t column, size_t indent) {
  size_t room = column < width ? width - column : 1;
  for (;;) {
    const size_t len = line_length(plain, room);
    mend__buffer_bytes(buffer, plain.ptr, len);
    mend__buffer_char(buffer, '\n');
    plain = (mend_str){plain.ptr + len, plain.len - len};
    while (plain.len > 0 && plain.ptr[0] == ' ')
      plain = (mend_str){plain.ptr + 1, plain.len - 1};
    if (plain.len == 0) return;
    mend__buffer_printf(buffer, "%*s", (int)indent, "");
    room = indent < width ? width - indent : 1;
  }
}

mend_status plain_write(const mend__buffer *buffer, FILE *out) {
  if (buffer->failed) return MEND_ENOMEM;
  const bool written = fwrite(buffer->data, 1, buffer->len, out) == buffer->len && fflush(out) == 0;
  return written ? MEND_OK : MEND_ECLOSED;
}

/* ---- Times and numbers ------------------------------------------------------------------------------------- */

static struct tm utc(uint64_t wall_ns) {
  const time_t seconds = (time_t)(wall_ns / MEND_SECOND_NS);
  struct tm result = {0};
  gmtime_r(&seconds, &result);
  return result;
}

void plain_clock(mend__buffer *buffer, uint64_t wall_ns) {
  const struct tm at = utc(wall_ns);
  mend__buffer_printf(buffer, "%02d:%02d:%02d", at.tm_hour, at.tm_min, at.tm_sec);
}

void plain_date(mend__buffer *buffer, uint64_t wall_ns) {
  const struct tm at = utc(wall_ns);
  mend__buffer_printf(buffer, "%04d-%02d-%02d", at.tm_year + 1900, at.tm_mon + 1, at.tm_mday);
}

static void two_units(mend__buffer *buffer, uint64_t big, const char *big_name, uint64_t small,
                      const char *small_name) {
  mend__buffer_printf(buffer, "%llu %s", (unsigned long long)big, big_name);
  if (small > 0) mend__buffer_printf(buffer, " %llu %s", (unsigned long long)small, small_name);
}

void plain_duration(mend__buffer *buffer, uint64_t ns) {
  const uint64_t s = ns / MEND_SECOND_NS;
  if (s < 10 && ns % MEND_SECOND_NS != 0) {
    const unsigned tenths = (unsigned)(ns / (MEND_SECOND_NS / 10));
    mend__buffer_printf(buffer, "%u.%u s", tenths / 10, tenths % 10);
  } else if (s < 60) {
    mend__buffer_printf(buffer, "%u s", (unsigned)s);
  } else if (s < 3600) {
    two_units(buffer, s / 60, "min", s % 60, "s");
  } else if (s < 86400) {
    two_units(buffer, s / 3600, "h", s % 3600 / 60, "min");
  } else {
    two_units(buffer, s / 86400, "d", s % 86400 / 3600, "h");
  }
}

void plain_number(mend__buffer *buffer, uint64_t number) {
  char digits[24];
  const int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
  for (int i = 0; i < len; i++) {
    if (i > 0 && (len - i) % 3 == 0) mend__buffer_char(buffer, ',');
    mend__buffer_char(buffer, digits[i]);
  }
}

void plain_count(mend__buffer *buffer, uint64_t count, const char *one) {
  plain_number(buffer, count);
  mend__buffer_printf(buffer, " %s%s", one, count == 1 ? "" : "s");
}

void plain_money(mend__buffer *buffer, double usd) {
  char digits[32];
  if (!(usd < 1e12)) usd = 1e12;
  /* In cents, small amounts with up to six decimals; no printf of a double: its point is the locale's. */
  const uint64_t parts = usd >= 0.095 ? 100 : 1000000;
  const uint64_t units = (uint64_t)(usd * (double)parts + 0.5);
  snprintf(digits, sizeof digits, parts == 100 ? "%02llu" : "%06llu", (unsigned long long)(units % parts));
  size_t len = strlen(digits);
  while (parts > 100 && len > 2 && digits[len - 1] == '0')
    len--;
  plain_number(buffer, units / parts);
  mend__buffer_printf(buffer, ".%.*s USD", (int)len, digits);
}

#include "program/reports/page_record.h"

#include "core/memory.h"
#include "program/base/plain.h"
#include "program/reports/headline.h"

void page_record_begin(mend__buffer *record) { mend__buffer_str(record, MEND_STR(",\n")); }

/* ---- Values ------------------------------------------------------------------------------------------------ */

/* What stands for a character of a plain text; NULL for itself. Without "<" no text can end the element. */
static const char *escape_of(char c) {
  switch (c) {
  case '"': return "\\\"";
  case '\\': return "\\\\";
  case '\n': return "\\n";
  case '<': return "\\u003c";
  default: return NULL;
  }
}

static void append_plain(mend__buffer *record, mend_str plain) {
  size_t copied = 0;
  for (size_t at = 0; at < plain.len; at++) {
    const char *escape = escape_of(plain.ptr[at]);
    if (escape == NULL) continue;
    mend__buffer_bytes(record, plain.ptr + copied, at - copied);
    mend__buffer_str(record, mend_str_from(escape));
    copied = at + 1;
  }
  if (copied < plain.len) mend__buffer_bytes(record, plain.ptr + copied, plain.len - copied);
}

void page_plain(mend__buffer *record, const mend__buffer *plain) {
  record->failed |= plain->failed;
  mend__buffer_char(record, '"');
  append_plain(record, mend__buffer_text(plain));
  mend__buffer_char(record, '"');
}

/* Line by line: everywhere else a line feed is made visible. */
static void append_lines(mend__buffer *plain, mend_str text) {
  for (;;) {
    const char *feed = text.len > 0 ? memchr(text.ptr, '\n', text.len) : NULL;
    const size_t len = feed != NULL ? (size_t)(feed - text.ptr) : text.len;
    plain_text(plain, (mend_str){text.ptr, len}, len);
    if (feed == NULL) return;
    mend__buffer_char(plain, '\n');
    text = (mend_str){feed + 1, text.len - len - 1};
  }
}

void page_text(mend__buffer *record, mend_str text, size_t max_bytes) {
  mend__buffer plain;
  mend__buffer_init(&plain, NULL);
  const size_t len = mend__utf8_cut(text, max_bytes);
  append_lines(&plain, (mend_str){text.ptr, len});
  if (len < text.len) mend__buffer_str(&plain, MEND_STR("..."));
  page_plain(record, &plain);
  mend__buffer_free(&plain);
}

void page_json(mend__buffer *record, mend_str value, size_t max_bytes) {
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  plain_unquote(&text, value);
  record->failed |= text.failed;
  page_text(record, mend__buffer_text(&text), max_bytes);
  mend__buffer_free(&text);
}

/* ---- Members ----------------------------------------------------------------------------------------------- */

static void add_key(mend__buffer *record, const char *key) { mend__buffer_printf(record, ",\"%s\":", key); }

void page_add_text(mend__buffer *record, const char *key, mend_str text, size_t max_bytes) {
  if (text.len == 0) return;
  add_key(record, key);
  page_text(record, text, max_bytes);
}

void page_add_plain(mend__buffer *record, const char *key, const mend__buffer *plain) {
  record->failed |= plain->failed;
  if (plain->len == 0) return;
  add_key(record, key);
  page_plain(record, plain);
}

void page_add_count(mend__buffer *record, const char *key, uint64_t count) {
  add_key(record, key);
  mend__buffer_u64(record, count);
}

void page_add_fraction(mend__buffer *record, const char *key, double number) {
  add_key(record, key);
  mend__buffer_f64(record, (double)(unsigned)(number * 1e4 + 0.5) / 1e4);
}

void page_add_seconds(mend__buffer *record, const char *key, uint64_t ns) {
  add_key(record, key);
  mend__buffer_seconds(record, ns);
}

void page_add_flag(mend__buffer *record, const char *key, bool is) {
  add_key(record, key);
  mend__buffer_str(record, is ? MEND_STR("true") : MEND_STR("false"));
}

void page_add_use(mend__buffer *record, const char *key, const replay_use *use) {
  mend__buffer words;
  mend__buffer_init(&words, NULL);
  headline_write_use(&words, use);
  add_key(record, key);
  mend__buffer_printf(record, "{\"calls\":%llu,\"tokens\":%llu,\"usd\":", (unsigned long long)use->calls,
                      (unsigned long long)use->tokens);
  mend__buffer_f64(record, use->cost_usd);
  page_add_seconds(record, "s", use->ns);
  page_add_plain(record, "words", &words);
  mend__buffer_char(record, '}');
  mend__buffer_free(&words);
}

#include "program/replay/otlp_line.h"

#include "mend.h"

#include <math.h>

enum { SPANS_A_LINE = 512 };

/* A line that grew beyond this is written although there is room for more spans. */
static const size_t LINE_ENOUGH = 256 * 1024;

static void begin_line(mend__buffer *text) {
  mend__buffer_str(text, MEND_STR("{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
                                  "\"value\":{\"stringValue\":\"mend\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":"
                                  "\"mend\",\"version\":\"" MEND_VERSION "\"},\"spans\":["));
}

void otlp_line_begin_span(otlp_line *of) {
  if (of->spans == 0) {
    begin_line(&of->text);
  } else {
    mend__buffer_char(&of->text, ',');
  }
}

mend_status otlp_line_end_span(otlp_line *of) {
  if (of->text.failed) return MEND_ENOMEM;
  of->count++;
  of->spans++;
  return of->spans >= SPANS_A_LINE || of->text.len > LINE_ENOUGH ? otlp_line_flush(of) : MEND_OK;
}

mend_status otlp_line_flush(otlp_line *of) {
  mend__buffer *text = &of->text;
  if (of->spans == 0) return MEND_OK;
  mend__buffer_str(text, MEND_STR("]}]}]}\n"));
  if (text->failed) return MEND_ENOMEM;
  const bool written = fwrite(text->data, 1, text->len, of->out) == text->len && fflush(of->out) == 0;
  mend__buffer_clear(text);
  of->spans = 0;
  return written ? MEND_OK : MEND_ECLOSED;
}

/* ---- Attributes -------------------------------------------------------------------------------------------- */

static void add_attribute(mend__buffer *text, const char *key) {
  if (text->data[text->len - 1] != '[') mend__buffer_char(text, ',');
  mend__buffer_printf(text, "{\"key\":\"%s\",\"value\":{", key);
}

void otlp_add_string(mend__buffer *text, const char *key, mend_str value) {
  if (value.len == 0 || text->failed) return;
  add_attribute(text, key);
  mend__buffer_str(text, MEND_STR("\"stringValue\":"));
  mend__buffer_json_string(text, value);
  mend__buffer_str(text, MEND_STR("}}"));
}

void otlp_add_integer(mend__buffer *text, const char *key, uint64_t value) {
  if (value == 0 || text->failed) return;
  add_attribute(text, key);
  mend__buffer_printf(text, "\"intValue\":\"%llu\"}}", (unsigned long long)value);
}

void otlp_add_double(mend__buffer *text, const char *key, double value) {
  if (!(value > 0) || isinf(value) || text->failed) return;
  add_attribute(text, key);
  mend__buffer_str(text, MEND_STR("\"doubleValue\":"));
  mend__buffer_f64(text, value);
  mend__buffer_str(text, MEND_STR("}}"));
}

void otlp_add_message(mend__buffer *text, const char *key, const char *role, mend_str said, mend_str finish_reason) {
  if (said.len == 0) return;
  mend__buffer messages;
  mend__buffer_init(&messages, NULL);
  mend__buffer_printf(&messages, "[{\"role\":\"%s\",\"parts\":[{\"type\":\"text\",\"content\":", role);
  mend__buffer_json_string(&messages, said);
  mend__buffer_str(&messages, MEND_STR("}]"));
  if (finish_reason.len > 0) {
    mend__buffer_str(&messages, MEND_STR(",\"finish_reason\":"));
    mend__buffer_json_string(&messages, finish_reason);
  }
  mend__buffer_str(&messages, MEND_STR("}]"));
  text->failed |= messages.failed;
  otlp_add_string(text, key, mend__buffer_text(&messages));
  mend__buffer_free(&messages);
}

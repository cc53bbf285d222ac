#include "core/buffer.h"
#include "core/options_size.h"
#include "mend/workbench.h"

#include <math.h>

static void write_hex(mend__buffer *out, const char *key, const uint8_t *bytes, size_t len) {
  mend__buffer_printf(out, "\"%s\":\"", key);
  mend__buffer_hex(out, bytes, len);
  mend__buffer_char(out, '"');
}

static void write_ids(mend__buffer *out, const mend_span *span) {
  static const uint8_t none[sizeof span->parent_span_id];
  write_hex(out, "trace_id", span->trace_id, sizeof span->trace_id);
  mend__buffer_char(out, ',');
  write_hex(out, "span_id", span->span_id, sizeof span->span_id);
  if (memcmp(span->parent_span_id, none, sizeof none) == 0) return;
  mend__buffer_char(out, ',');
  write_hex(out, "parent_span_id", span->parent_span_id, sizeof span->parent_span_id);
}

static void write_text(mend__buffer *out, const char *key, mend_str text) {
  if (text.ptr == NULL) return;
  mend__buffer_printf(out, ",\"%s\":", key);
  mend__buffer_json_string(out, text);
}

static void write_number(mend__buffer *out, const char *key, uint64_t number) {
  mend__buffer_printf(out, ",\"%s\":", key);
  mend__buffer_u64(out, number);
}

static void write_seconds(mend__buffer *out, const char *key, uint64_t ns) {
  mend__buffer_printf(out, ",\"%s\":", key);
  mend__buffer_seconds(out, ns);
}

static void write_times(mend__buffer *out, const mend_span *span) {
  write_seconds(out, "started_at", span->start_ns);
  if (span->end_ns != 0) write_seconds(out, "ended_at", span->end_ns);
  if (!isfinite(span->duration_ms)) return;
  mend__buffer_str(out, MEND_STR(",\"duration_ms\":"));
  mend__buffer_f64(out, span->duration_ms);
}

static void write_span(mend__buffer *out, const mend_span *span) {
  mend__buffer_char(out, '{');
  write_ids(out, span);
  write_text(out, "kind", mend_str_from(span->kind));
  write_text(out, "name", span->name);
  write_text(out, "run_id", span->run_id);
  if (span->call != 0) write_number(out, "call", span->call);
  write_times(out, span);
  if (span->call != 0) write_number(out, "attempts", span->attempts);
  write_text(out, "status", span->status);
  write_number(out, "detections", span->detections);
  mend__buffer_char(out, '}');
}

mend_status mend_span_to_json(const mend_span *span, const mend_allocator *allocator, char **ret_json,
                              size_t *ret_len) {
  if (span == NULL || ret_json == NULL) return MEND_EINVAL;
  mend_span known = {.size = sizeof known};
  const mend_status status = mend__options_take(&known, span, "mend_span", NULL);
  if (status != MEND_OK) return status;
  if (known.kind == NULL) return MEND_EINVAL;
  mend__buffer out;
  mend__buffer_init(&out, allocator);
  write_span(&out, &known);
  return mend__buffer_take(&out, ret_json, ret_len);
}

#include "program/replay/otlp_open_spans.h"

void otlp_open_spans_init(otlp_open_spans *of) {
  of->bytes = 0;
  mend__strmap_init(&of->by_key, NULL);
}

void otlp_open_spans_free(otlp_open_spans *of) {
  size_t position = 0;
  for (otlp_span *span; (span = mend__strmap_next(&of->by_key, &position)) != NULL;)
    otlp_span_free(span);
  mend__strmap_free(&of->by_key);
}

otlp_span *otlp_open_spans_find(const otlp_open_spans *of, const uint8_t trace_id[16], const uint8_t span_id[8]) {
  char key[OTLP_SPAN_KEY_SIZE];
  otlp_span_key(key, trace_id, span_id);
  return mend__strmap_get(&of->by_key, (mend_str){key, OTLP_SPAN_KEY_SIZE});
}

mend_status otlp_open_spans_add(otlp_open_spans *of, otlp_span *span) {
  if (span == NULL) return MEND_ENOMEM;
  const mend_status status = mend__strmap_put(&of->by_key, (mend_str){span->key, OTLP_SPAN_KEY_SIZE}, span);
  if (status == MEND_OK) {
    of->bytes += span->text.len;
  } else {
    otlp_span_free(span);
  }
  return status;
}

mend_status otlp_open_spans_close(otlp_open_spans *of, otlp_span *span, otlp_line *line, const otlp_span_end *end) {
  mend__strmap_remove(&of->by_key, (mend_str){span->key, OTLP_SPAN_KEY_SIZE});
  of->bytes -= span->text.len;
  const mend_status status = otlp_span_write(line, span, end);
  otlp_span_free(span);
  return status;
}

mend_status otlp_open_spans_close_all(otlp_open_spans *of, otlp_line *line, const otlp_span_end *end, uint64_t end_ns) {
  mend_status status = MEND_OK;
  size_t position = 0;
  for (otlp_span *span; (span = mend__strmap_next(&of->by_key, &position)) != NULL && status == MEND_OK;) {
    if (span->run != NULL) span->run->is_at_work = true;
    if (span->run != NULL || span->is_at_work) span->end_ns = end_ns;
    if (!span->ended) status = otlp_span_write(line, span, end);
  }
  otlp_open_spans_free(of);
  otlp_open_spans_init(of);
  return status;
}

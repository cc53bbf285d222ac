/* Spans of OTLP that have begun and not ended. */
#ifndef MEND_PROGRAM_REPLAY_OTLP_OPEN_SPANS_H
#define MEND_PROGRAM_REPLAY_OTLP_OPEN_SPANS_H

#include "core/strmap.h"
#include "program/replay/otlp_span.h"

/* By their trace and span ids. */
typedef struct otlp_open_spans {
  mend__strmap by_key;
  size_t bytes; /* of their texts; what people said is not counted */
} otlp_open_spans;

void otlp_open_spans_init(otlp_open_spans *of);
void otlp_open_spans_free(otlp_open_spans *of);
otlp_span *otlp_open_spans_find(const otlp_open_spans *of, const uint8_t trace_id[16], const uint8_t span_id[8]);
/* Takes the span over, which may be NULL. MEND_ENOMEM; it is freed then. */
mend_status otlp_open_spans_add(otlp_open_spans *of, otlp_span *span);
/* Writes a span and forgets it. Errors of otlp_line_end_span, here and below. */
mend_status otlp_open_spans_close(otlp_open_spans *of, otlp_span *span, otlp_line *line, const otlp_span_end *end);
/* All of them but those of runs that ended, which were written before. They end at end_ns; a run that did not say when
 * its agent was at work, and waits for no call, at its last event. */
mend_status otlp_open_spans_close_all(otlp_open_spans *of, otlp_line *line, const otlp_span_end *end, uint64_t end_ns);

#endif

/* Spans of OTLP, from their beginning to the line that tells of them. */
#ifndef MEND_PROGRAM_REPLAY_OTLP_SPAN_H
#define MEND_PROGRAM_REPLAY_OTLP_SPAN_H

#include "program/replay/otlp_line.h"

enum { OTLP_SPAN_KEY_SIZE = 24 };

/* What a span knows from its beginning. */
enum { OTLP_SPAN_NAME, OTLP_SPAN_RUN, OTLP_SPAN_CALL, OTLP_SPAN_ARGUMENTS, OTLP_SPAN_TEXTS };

/* A span that has begun. */
typedef struct otlp_span {
  char key[OTLP_SPAN_KEY_SIZE]; /* trace and span id */
  uint8_t id[8], parent[8];
  bool ended; /* of a run: it is written, and begins again with what comes next */
  uint64_t begin_ns, end_ns;
  uint64_t input_tokens, output_tokens;
  double cost_usd;
  struct otlp_span *run; /* of a call's span */
  mend__buffer said;     /* by people, in a run: the span's events as JSON */
  const char *operation;
  mend__buffer text; /* all its texts: `ends` tells where each ends */
  size_t ends[OTLP_SPAN_TEXTS];
} otlp_span;

/* How a span ended. */
typedef struct otlp_span_end {
  mend_str result;     /* of a tool, or what a model said */
  mend_str error_type; /* absent when it went well */
  mend_str message;
  mend_str finish_reason;
} otlp_span_end;

/* `operation` is static; texts are copied. NULL when out of memory. */
otlp_span *otlp_span_new(const char *operation, const uint8_t span_id[8], const uint8_t trace_id[16], uint64_t begin_ns,
                         const mend_str texts[OTLP_SPAN_TEXTS]);
void otlp_span_free(otlp_span *span);
void otlp_span_key(char key[OTLP_SPAN_KEY_SIZE], const uint8_t trace_id[16], const uint8_t span_id[8]);
/* Errors of otlp_line_end_span. */
mend_status otlp_span_write(otlp_line *line, const otlp_span *span, const otlp_span_end *end);

#endif

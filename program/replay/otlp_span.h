/* Spans of OTLP, from their beginning to the line that tells of them. */
#ifndef MEND_PROGRAM_REPLAY_OTLP_SPAN_H
#define MEND_PROGRAM_REPLAY_OTLP_SPAN_H

#include "mend/bus.h"
#include "program/replay/otlp_line.h"

enum { OTLP_SPAN_KEY_SIZE = 24 };

/* Whose work it is. */
typedef enum otlp_work { OTLP_AGENT_WORK, OTLP_TOOL_WORK, OTLP_MODEL_WORK } otlp_work;

/* What a span knows from its beginning. */
typedef enum otlp_span_text {
  OTLP_SPAN_NAME, /* of the agent, the tool or the model */
  OTLP_SPAN_SESSION,
  OTLP_SPAN_RUN, /* ids: its run's, that run's parent's, and of the call that started the run */
  OTLP_SPAN_PARENT_RUN,
  OTLP_SPAN_PARENT_CALL,
  OTLP_SPAN_CALL,
  OTLP_SPAN_ARGUMENTS,
  OTLP_SPAN_TEXTS
} otlp_span_text;

/* A span that has begun. */
typedef struct otlp_span {
  char key[OTLP_SPAN_KEY_SIZE]; /* trace and span id, by which it is found */
  uint8_t id[8], parent[8];
  otlp_work work;
  bool ended;          /* of a run: it is written, and begins again with what comes next */
  bool is_at_work;     /* of a run: its agent said so, or a call is open at the end */
  bool was_asked_for;  /* of a model: it begins with the request */
  bool was_lively;     /* meanwhile more was told of it than a span holds; likewise of a run */
  uint64_t asked_ns;   /* of a run: when a model was asked in no call; 0: it has answered */
  mend_hash args_hash; /* of a tool: of arguments that are not known themselves */
  uint64_t begin_ns, end_ns;
  uint64_t input_tokens, output_tokens;
  double cost_usd;
  struct otlp_span *run;        /* of a call's span */
  mend__buffer said;            /* by people, in a run: the span's events as JSON */
  mend__buffer text;            /* all its texts: `ends` tells where each ends */
  size_t ends[OTLP_SPAN_TEXTS]; /* see otlp_span_text */
} otlp_span;

/* How a span ended. */
typedef struct otlp_span_end {
  mend_str result;     /* of a tool, or what a model said */
  mend_str error_type; /* absent when it went well */
  mend_str message;
  mend_str finish_reason;
  bool is_no_error; /* although error_type says how it ended, which readers other than mend take for one */
} otlp_span_end;

/* How the event says that a call of a tool or of a model ended. */
otlp_span_end otlp_span_end_of(const mend_any_event *any);

/* Begins a span of the run; `name`, `call` and `arguments` are copied and may be absent. NULL when out of memory. */
otlp_span *otlp_span_new(otlp_work of, const mend_run *run, const uint8_t trace_id[16], const uint8_t span_id[8],
                         mend_str name, mend_str call, mend_str arguments);
void otlp_span_free(otlp_span *span);
void otlp_span_key(char key[OTLP_SPAN_KEY_SIZE], const uint8_t trace_id[16], const uint8_t span_id[8]);
/* Errors of otlp_line_end_span. */
mend_status otlp_span_write(otlp_line *line, const otlp_span *span, const otlp_span_end *end);

#endif

/* What the attributes of a span mean: OpenTelemetry's own names for generative AI, and those of OpenInference,
 * OpenLLMetry, Pydantic AI, Vercel's AI SDK and mend itself. */
#ifndef MEND_PROGRAM_TRANSCRIPTS_OTLP_ATTRIBUTES_H
#define MEND_PROGRAM_TRANSCRIPTS_OTLP_ATTRIBUTES_H

#include "program/stage/stage.h"

typedef enum otlp_meaning {
  OTLP_OPERATION,
  OTLP_TOOL,
  OTLP_CALL,
  OTLP_ARGUMENTS,
  OTLP_RESULT,
  OTLP_MODEL,
  OTLP_INPUT_TOKENS,
  OTLP_OUTPUT_TOKENS,
  OTLP_COST,
  OTLP_MESSAGES, /* what a model said, as messages with parts */
  OTLP_SAID,     /* the same as a text */
  OTLP_CONTENT,  /* what a person said, of a span's event */
  OTLP_SESSION,
  OTLP_RUN, /* whose span it is, where a trace holds several runs; that run's parent, and the call that started it */
  OTLP_PARENT_RUN,
  OTLP_PARENT_CALL,
  OTLP_AGENT,
  OTLP_MESSAGE, /* of an error */
  OTLP_ERROR_TYPE,
  OTLP_ARGUMENTS_HASH, /* of arguments that are not there, as mend writes the following, too */
  OTLP_ASKED,          /* "silent": a model was asked when the span began; "streaming": it was, and replied in pieces */
  OTLP_ENDED,          /* "cancelled", "skipped", "aborted" or "unfinished": no error, though the status says so */
  OTLP_MEANING_COUNT
} otlp_meaning;

/* The values by their meaning, as AnyValue; absent where nothing is said. */
typedef struct otlp_attributes {
  mend_str value[OTLP_MEANING_COUNT];
  int rank[OTLP_MEANING_COUNT];
} otlp_attributes;

typedef enum otlp_span_kind { OTLP_OTHER_SPAN, OTLP_TOOL_SPAN, OTLP_MODEL_SPAN, OTLP_AGENT_SPAN } otlp_span_kind;

/* Adds what an array of {"key", "value"} says; `to` begins as zeros. */
void otlp_attributes_read(mend_str array, otlp_attributes *to);
/* By its operation; without one, a span with a call's id is a tool's. */
otlp_span_kind otlp_kind_of(const otlp_attributes *of);
/* A string, unescaped; absent for other values. */
mend_str otlp_text(stage *on, const otlp_attributes *of, otlp_meaning meaning);
/* The value as JSON, and what a string holds when that is JSON. Valid until the next one is asked for. */
mend_str otlp_json(stage *on, const otlp_attributes *of, otlp_meaning meaning);

#endif

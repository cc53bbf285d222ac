/* Lines of OTLP JSON: a line is one export of spans, and a span has attributes. */
#ifndef MEND_PROGRAM_REPLAY_OTLP_LINE_H
#define MEND_PROGRAM_REPLAY_OTLP_LINE_H

#include "core/buffer.h"

#include <stdio.h>

/* The line being put together. */
typedef struct otlp_line {
  FILE *out; /* borrowed */
  mend__buffer text;
  size_t spans;   /* in it */
  uint64_t count; /* in all lines */
} otlp_line;

/* What a span says goes to of->text between these. Ending it writes the line when it is full:
 * MEND_ENOMEM, MEND_ECLOSED when that fails (errno kept). */
void otlp_line_begin_span(otlp_line *of);
mend_status otlp_line_end_span(otlp_line *of);
/* Writes what there is. Errors as above. */
mend_status otlp_line_flush(otlp_line *of);

/* Attributes, after the '[' of their array: nothing is added for a text without bytes, nor for 0 or infinity. */
void otlp_add_string(mend__buffer *text, const char *key, mend_str value);
void otlp_add_integer(mend__buffer *text, const char *key, uint64_t value);
void otlp_add_double(mend__buffer *text, const char *key, double value);
/* What somebody said, as an array of one message of the conventions for generative AI. */
void otlp_add_message(mend__buffer *text, const char *key, const char *role, mend_str said, mend_str finish_reason);

#endif

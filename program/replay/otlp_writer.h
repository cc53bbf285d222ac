/* Events as OpenTelemetry spans, in OTLP JSON: a line is one export of up to 512 spans. */
#ifndef MEND_PROGRAM_REPLAY_OTLP_WRITER_H
#define MEND_PROGRAM_REPLAY_OTLP_WRITER_H

#include "mend.h"
#include "program/reports/tally.h"

#include <stdio.h>

/* Spans of runs (invoke_agent; what people say are its events), of calls of tools (execute_tool) and of models (chat),
 * with the attributes of the semantic conventions for generative AI. A run that goes on after its agent stopped has
 * several spans. */
typedef struct otlp_writer otlp_writer;

/* `out` is borrowed. NULL when out of memory. */
otlp_writer *otlp_writer_new(FILE *out);
/* NULL is allowed; what was not finished is lost. */
void otlp_writer_free(otlp_writer *writer);
/* For a recording without a clock, before the first event: a millisecond lies between two events. */
void otlp_writer_make_up_times(otlp_writer *writer);
/* Takes an event, on one thread. MEND_ENOMEM, MEND_ECLOSED when a line cannot be written (errno kept). */
mend_status otlp_writer_event(void *writer, const mend_event *event);
/* The recording went on until then, without events. */
void otlp_writer_until(otlp_writer *writer, uint64_t wall_ns);
/* Ends what is open at the last time, and writes all there is. Errors as above. */
mend_status otlp_writer_finish(otlp_writer *writer);
/* Spans written so far. */
uint64_t otlp_writer_count(const otlp_writer *writer);
/* Runs that did not say when their agent began; as spans it was at work from first to last. */
uint64_t otlp_writer_unannounced(const otlp_writer *writer);
/* The events that spans have no place for, by topic. */
const tally *otlp_writer_lost(const otlp_writer *writer);

#endif

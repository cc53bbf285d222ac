/* House header: events as JSON, both ways, from the field tables that mend/events.def gives. */
#ifndef MEND_BUS_EVENT_JSON_H
#define MEND_BUS_EVENT_JSON_H

#include "core/buffer.h"
#include "mend/bus.h"

/* Appends the JSON view of `event` (no line feed). Out of memory shows in buffer->failed. */
void mend__event_write(mend__buffer *buffer, const mend_event *event, bool content);

/* A line of a journal, or the payload given to mend_run_emit. Strings are slices of the text where it has no escapes, else
 * of `scratch`; all are valid until the text goes or scratch is used again. */
typedef struct mend__event_line {
  mend_str topic; /* absent when the text has none */
  bool has_ts;
  uint64_t ts_ns;
  uint64_t seq;
  mend_str run_id, parent_run_id, parent_call, agent, session_id, project_id;
  bool custom; /* the topic is no built-in one: event is only its head */
  mend_any_event event;
} mend__event_line;

/* Reads one JSON object. `topic`: which topic it is when the text need not say so (mend_run_emit); absent: the text must.
 * The case files' short names are taken as aliases: event (topic), tool (tool_name), error (error_message), result; args
 * of any JSON type; a result that is a JSON value of any type. args_hash is computed when args are there and no hash is;
 * call is mend_call_from_name(call_id). Of unknown members nothing is kept; a known one of the wrong type is
 * MEND_EINVAL with its name, place and what was expected, or, when `lenient` is set (journals), absent and counted in
 * *ret_ignored. */
mend_status mend__event_read(mend_str text, mend_str topic, bool lenient, mend__buffer *scratch, mend__event_line *ret_line,
                             uint64_t *ret_ignored, mend_error *error);

#endif

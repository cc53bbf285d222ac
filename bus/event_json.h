/* House header: events as JSON, both ways, from the field tables that mend/events.def gives. */
#ifndef MEND_BUS_EVENT_JSON_H
#define MEND_BUS_EVENT_JSON_H

#include "core/buffer.h"
#include "mend/bus.h"

/* Whether size and kind go together. An event of a newer program may be longer than what is known of its kind here. */
bool mend__event_fits(const mend_event *event);

/* Appends the JSON view of `event`, which fits and has a run (no line feed). The text is valid JSON whatever the event
 * holds: a JSON field that is not well-formed becomes a string. Out of memory shows in buffer->failed. */
void mend__event_write(mend__buffer *buffer, const mend_event *event, bool content);

/* A line of a journal, or the payload given to mend_run_emit. Strings are slices of the text where it has no escapes,
 * else of `scratch`; all are valid until the text goes or scratch is used again. */
typedef struct mend__event_line {
  mend_str topic; /* absent when the text has none */
  bool has_ts;
  uint64_t ts_ns;
  uint64_t seq;
  mend_str run_id, parent_run_id, parent_call, agent, session_id, project_id;
  uint64_t unknown;       /* how many members a built-in topic does not have */
  mend_str first_unknown; /* the first one's name; absent when there is none */
  bool custom;            /* the topic is no built-in one: the event's payload is the whole text */
  mend_any_event event;   /* with seq, wall_ns, trace_id and span_id as the text has them; without run */
} mend__event_line;

/* Reads one JSON object. `topic`: which topic it is when the text need not say so (mend_run_emit); absent: the text
 * must. The case files' short names are taken as aliases: event (topic), tool (tool_name), error (error_message),
 * result; args of any JSON type; a result that is a JSON value of any type; an id may be a number. null is absent.
 * args_hash is computed when args are there and no hash is; call is mend_call_from_name(call_id), and call_name is
 * set when the id is no number. A member the topic does not have is MEND_EINVAL with its name, its place and the name
 * that was probably meant, or, when `lenient` is set (journals), counted in the line and not kept. One of the wrong
 * type is MEND_EINVAL with its name, place and what was expected, or, when `lenient` is set, absent and counted in
 * *ret_ignored (which may be NULL). Also MEND_ESYNTAX, MEND_EINVAL for what is no object or has no topic,
 * MEND_ENOMEM. *ret_line is unspecified after an error. */
mend_status mend__event_read(mend_str text, mend_str topic, bool lenient, mend__buffer *scratch,
                             mend__event_line *ret_line, uint64_t *ret_ignored, mend_error *error);

#endif

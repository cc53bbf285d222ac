/* The open calls of a run being played, for what the report says about them. */
#ifndef MEND_PROGRAM_STAGE_CALLS_H
#define MEND_PROGRAM_STAGE_CALLS_H

#include "core/buffer.h"
#include "core/strmap.h"
#include "program/reports/facts.h"

typedef struct open_call {
  struct open_call *previous, *next; /* in the order they began; of spare ones only next */
  mend__buffer text;                 /* holds the strings below */
  mend_str id, tool, args;
  mend_hash args_hash;
  uint64_t row, since_ns;
  uint64_t incident; /* under which it was reported as a stall, 0 for none */
} open_call;

typedef struct open_calls {
  mend__strmap by_id;
  open_call *first, *last;
} open_calls;

void open_calls_init(open_calls *calls);
/* Moves all calls to the spare ones. */
void open_calls_free(open_calls *calls, open_call **spare);
size_t open_calls_count(const open_calls *calls);
open_call *open_calls_find(const open_calls *calls, mend_str id);
/* The one that the event belongs to. */
open_call *open_calls_of(const open_calls *calls, const mend_event *event);
/* A call begins; one that is open already begins again, as part of the same incident. `args_max` bytes of its arguments
 * are kept. MEND_ELIMIT when there are too many, MEND_ENOMEM. */
mend_status open_calls_add(open_calls *calls, open_call **spare, const mend_tool_before_event *event, mend_str id,
                           size_t args_max, open_call **ret_call);
void open_calls_remove(open_calls *calls, open_call **spare, open_call *call);
void spare_calls_free(open_call **spare);

/* A call that is among no others; NULL when out of memory. */
open_call *open_call_new(open_call **spare, const mend_tool_before_event *event, mend_str id, size_t args_max);
/* NULL is allowed. */
void open_call_drop(open_call **spare, open_call *call);

/* Appends at most `max` bytes of a JSON value or a plain text, and "..." when it is longer, which is returned; cut
 * between characters and, in a JSON string, between escapes. */
bool append_excerpt(mend__buffer *buffer, mend_str value, size_t max);

/* Where an id that is only a number is written. */
enum { CALL_ID_SIZE = 24 };
/* The id an event's call goes by: its name, else its number, else absent. */
mend_str call_id_of(const mend_event *event, char buffer[CALL_ID_SIZE]);

#endif

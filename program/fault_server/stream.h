/* A reply as server-sent events, with everything that is wrong with it: where it breaks off, how its lines look. */
#ifndef MEND_PROGRAM_FAULT_SERVER_STREAM_H
#define MEND_PROGRAM_FAULT_SERVER_STREAM_H

#include "program/fault_server/gzip.h"
#include "program/fault_server/plan.h"

struct reply_facts;

/* What an event is to a reader. */
typedef enum event_kind {
  EVENT_FRAME,   /* comes before, between or behind contents and is none */
  EVENT_CONTENT, /* text, reasoning, a piece of a tool call */
  EVENT_FINISH,  /* says why the reply ended, or that it is over */
  EVENT_EXTRA    /* comments, pings, errors: whatever was asked for */
} event_kind;

typedef struct stream {
  const struct reply_facts *facts;
  const fault_plan *plan; /* the facts' */
  delivery *to;
  mend__buffer event; /* being written */
  bool chunked;
  bool over; /* it broke off: nothing is written any more */
  unsigned contents;
  uint64_t sequence; /* of the next event, for dialects that number them */
  gzip packed;
} stream;

/* Writes the whole stream behind a head. */
void stream_write(const struct reply_facts *facts, delivery *to);

/* For dialects: one event, from a template as json_put takes it. name: NULL: none. */
void stream_put(stream *to, event_kind kind, const char *name, const char *template, ...);
/* The same with its data as it is. */
void stream_put_text(stream *to, event_kind kind, const char *name, mend_str data);

#endif

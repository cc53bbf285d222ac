/* Private to the room: the tables made from mend/events.def, and the names every event's JSON view begins with. */
#ifndef MEND_BUS_EVENT_INTERNAL_H
#define MEND_BUS_EVENT_INTERNAL_H

#include "bus/room.h"
#include "core/buffer.h"
#include "core/memory.h"
#include "mend/json.h"

typedef enum mend__field_type {
  MEND__FIELD_STR,
  MEND__FIELD_JSON,
  MEND__FIELD_U64,
  MEND__FIELD_F64,
  MEND__FIELD_RATIO,
  MEND__FIELD_FLAG,
  MEND__FIELD_HASH
} mend__field_type;

typedef struct mend__field {
  mend_str name;
  mend_str key; /* as it is written: ,"name": */
  mend__field_type type;
  size_t offset; /* in the event's struct */
} mend__field;

typedef struct mend__kind {
  mend_str topic;
  size_t size;
  const void *absent; /* the event with every field absent */
  const mend__field *fields;
  size_t field_count;
} mend__kind;

/* Of each kind's struct, for those who need no more of its table. */
extern const uint16_t mend__event_sizes[MEND_EVENT_KIND_COUNT];

/* NULL for a number that is no kind. MEND_EVENT_CUSTOM is one: its field is the payload. */
const mend__kind *mend__kind_get(mend_event_kind kind);

/* The members that say whose event it is and when. MEND__HEAD_EVENT is the case files' name of the topic. */
typedef enum mend__head {
  MEND__HEAD_NONE,
  MEND__HEAD_TS,
  MEND__HEAD_SEQ,
  MEND__HEAD_TOPIC,
  MEND__HEAD_EVENT,
  MEND__HEAD_RUN_ID,
  MEND__HEAD_AGENT,
  MEND__HEAD_CALL_ID,
  MEND__HEAD_PARENT_CALL_ID,
  MEND__HEAD_PARENT_RUN_ID,
  MEND__HEAD_SESSION_ID,
  MEND__HEAD_PROJECT_ID,
  MEND__HEAD_TRACE_ID,
  MEND__HEAD_SPAN_ID
} mend__head;
#define MEND__HEAD_COUNT (MEND__HEAD_SPAN_ID + 1)
mend__head mend__head_from_name(mend_str name);
/* The inverse, NUL-terminated; absent for MEND__HEAD_NONE. */
mend_str mend__head_name(mend__head head);

/* The KEY just read, unescaped. A name longer than any known one stays as it is: it equals none. */
#define MEND__KEY_ROOM 256
mend_str mend__key_name(const mend_json *json, char room[MEND__KEY_ROOM]);

/* What mend_event_clone makes, one block: this, the rest of the event's struct right behind it, then what its texts
 * point to. */
typedef struct mend__event_clone {
  const mend_allocator *allocator;
  size_t bytes;                   /* of the block */
  struct mend__event_clone *next; /* for whoever keeps several */
  mend_event event;
} mend__event_clone;
static inline mend__event_clone *mend__event_clone_of(mend_event *event) {
  return MEND__CONTAINER(event, mend__event_clone, event);
}
/* How large a block the clone of an event that fits its kind will be. */
size_t mend__event_clone_size(const mend_event *event);

/* ---- shown.c: JSON that was given, as the JSON view shows it ---- */

/* One less than a reader takes, for the line is an object around every value. */
#define MEND__VALUE_DEPTH (MEND_JSON_DEPTH_MAX - 1)

#define MEND__SHOW_WHOLE SIZE_MAX
/* Without its white space, so that it stays on one line, strings cut to max_chars. What is not JSON is shown as a
 * string. */
void mend__show_json(mend__buffer *buffer, mend_str text, size_t max_chars);
/* The KEY of a scanner, still escaped. */
void mend__show_key(mend__buffer *buffer, mend_str key);
/* How much of a result a preview is, in characters. */
#define MEND__PREVIEW_MAX 400
/* Of a string its text, of another value its JSON. */
void mend__show_preview(mend__buffer *buffer, mend_str result);
/* In bytes: of a string's text, of another value's JSON. Uses the memory behind the buffer's contents. */
size_t mend__result_len(mend__buffer *buffer, mend_str result);

#endif

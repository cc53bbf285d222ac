#include "bus/event_internal.h"

#include "bus/event_json.h"

#define LITERAL(text)                                                                                                  \
  { "" text, sizeof(text) - 1 }

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* EVENT is a typedef of the block the table stands in, because a field of the .def file does not tell whose it is. */
#define FIELD(TYPE, name, doc) {LITERAL(#name), LITERAL(",\"" #name "\":"), MEND__FIELD_##TYPE, offsetof(EVENT, name)},

#define KIND_CASE(KIND, kind, topic, doc)                                                                              \
  case MEND_EVENT_##KIND: {                                                                                            \
    typedef mend_##kind##_event EVENT;                                                                                 \
    static const EVENT absent = MEND_##KIND##_EVENT_INIT;                                                              \
    static const mend__field fields[] = {MEND_FIELDS_##kind(FIELD)};                                                   \
    static const mend__kind result = {LITERAL(topic), sizeof(EVENT), &absent, fields, COUNT(fields)};                  \
    return &result;                                                                                                    \
  }

#define MEND_FIELDS_custom(F) F(JSON, payload, "a JSON object")

const mend__kind *mend__kind_get(mend_event_kind kind) {
  switch (kind) {
    MEND_EVENTS(KIND_CASE)
    KIND_CASE(CUSTOM, custom, "", "")
  case MEND_EVENT_KIND_COUNT: break;
  }
  return NULL;
}

#define SIZE(KIND, kind, topic, doc) sizeof(mend_##kind##_event),
const uint16_t mend__event_sizes[MEND_EVENT_KIND_COUNT] = {sizeof(mend_custom_event), MEND_EVENTS(SIZE)};

/* In the order of the kinds. */
#define TOPIC(KIND, kind, topic, doc) LITERAL(topic),
static const mend_str topics[] = {MEND_EVENTS(TOPIC)};

/* The frequent topics come first in the list and lengths tell most others apart, so walking costs less than hashing. */
mend_event_kind mend__kind_from_topic(mend_str topic) {
  for (size_t i = 0; i < COUNT(topics); i++) {
    if (topics[i].len == topic.len && memcmp(topics[i].ptr, topic.ptr, topic.len) == 0) {
      return (mend_event_kind)(MEND_EVENT_CUSTOM + 1 + i);
    }
  }
  return MEND_EVENT_CUSTOM;
}

static const mend_str head_names[MEND__HEAD_COUNT] = {
    [MEND__HEAD_TS] = LITERAL("ts"),
    [MEND__HEAD_SEQ] = LITERAL("seq"),
    [MEND__HEAD_TOPIC] = LITERAL("topic"),
    [MEND__HEAD_EVENT] = LITERAL("event"),
    [MEND__HEAD_RUN_ID] = LITERAL("run_id"),
    [MEND__HEAD_AGENT] = LITERAL("agent"),
    [MEND__HEAD_CALL_ID] = LITERAL("call_id"),
    [MEND__HEAD_PARENT_CALL_ID] = LITERAL("parent_call_id"),
    [MEND__HEAD_PARENT_RUN_ID] = LITERAL("parent_run_id"),
    [MEND__HEAD_SESSION_ID] = LITERAL("session_id"),
    [MEND__HEAD_PROJECT_ID] = LITERAL("project_id"),
    [MEND__HEAD_TRACE_ID] = LITERAL("trace_id"),
    [MEND__HEAD_SPAN_ID] = LITERAL("span_id"),
};

mend_str mend__head_name(mend__head head) { return head_names[head]; }

static bool is(mend_str name, mend__head head) { return memcmp(name.ptr, head_names[head].ptr, name.len) == 0; }

mend__head mend__head_from_name(mend_str name) {
  switch (name.len) {
  case 2: return is(name, MEND__HEAD_TS) ? MEND__HEAD_TS : MEND__HEAD_NONE;
  case 3: return is(name, MEND__HEAD_SEQ) ? MEND__HEAD_SEQ : MEND__HEAD_NONE;
  case 5:
    if (is(name, MEND__HEAD_TOPIC)) return MEND__HEAD_TOPIC;
    if (is(name, MEND__HEAD_EVENT)) return MEND__HEAD_EVENT;
    return is(name, MEND__HEAD_AGENT) ? MEND__HEAD_AGENT : MEND__HEAD_NONE;
  case 6: return is(name, MEND__HEAD_RUN_ID) ? MEND__HEAD_RUN_ID : MEND__HEAD_NONE;
  case 7:
    if (is(name, MEND__HEAD_CALL_ID)) return MEND__HEAD_CALL_ID;
    return is(name, MEND__HEAD_SPAN_ID) ? MEND__HEAD_SPAN_ID : MEND__HEAD_NONE;
  case 8: return is(name, MEND__HEAD_TRACE_ID) ? MEND__HEAD_TRACE_ID : MEND__HEAD_NONE;
  case 10:
    if (is(name, MEND__HEAD_SESSION_ID)) return MEND__HEAD_SESSION_ID;
    return is(name, MEND__HEAD_PROJECT_ID) ? MEND__HEAD_PROJECT_ID : MEND__HEAD_NONE;
  case 13: return is(name, MEND__HEAD_PARENT_RUN_ID) ? MEND__HEAD_PARENT_RUN_ID : MEND__HEAD_NONE;
  case 14: return is(name, MEND__HEAD_PARENT_CALL_ID) ? MEND__HEAD_PARENT_CALL_ID : MEND__HEAD_NONE;
  default: return MEND__HEAD_NONE;
  }
}

mend_str mend__key_name(const mend_json *json, char room[MEND__KEY_ROOM]) {
  if (!json->escaped || json->slice.len > MEND__KEY_ROOM) return json->slice;
  return (mend_str){room, mend_json_unescape(json->slice, room)};
}

mend_str mend_event_kind_topic(mend_event_kind kind) {
  const mend__kind *known = kind != MEND_EVENT_CUSTOM ? mend__kind_get(kind) : NULL;
  return known != NULL ? known->topic : (mend_str){NULL, 0};
}

mend_status mend_event_init(mend_any_event *ret_event, mend_event_kind kind) {
  const mend__kind *known = mend__kind_get(kind);
  if (known == NULL) return MEND_EINVAL;
  memcpy(ret_event, known->absent, known->size);
  return MEND_OK;
}

bool mend__event_fits(const mend_event *event) {
  return (unsigned)event->kind < MEND_EVENT_KIND_COUNT && event->size >= mend__event_sizes[event->kind];
}

uint64_t mend_call_from_name(mend_str name) {
  const uint64_t top_bit = UINT64_C(1) << 63;
  if (name.len == 0) return 0;
  uint64_t number;
  bool plain = name.ptr[0] >= '1' && name.ptr[0] <= '9' && name.len <= 19;
  for (size_t i = 1; plain && i < name.len; i++)
    plain = name.ptr[i] >= '0' && name.ptr[i] <= '9';
  if (plain && mend_json_uint64(name, &number) == MEND_OK && number < top_bit) return number;
  return mend_hash_bytes(name).lo | top_bit;
}

#include "bus/event_json.h"

#include "bus/event_internal.h"
#include "bus/values_internal.h"
#include "core/json_hash.h"
#include "core/json_kind.h"
#include "core/nearest.h"

#include <stdio.h>

/* How much of an unknown name an error shows, in bytes. */
#define SHOWN_MAX 40
/* Room for the names of fields in an error, so that the sentence is whole with a long topic and a long value. */
#define FIELDS_SHOWN_MAX 140

typedef struct event_reader {
  mend__values values;
  mend__event_line *line;
  mend_event head;            /* until all is read: its place in the line is overwritten when the topic comes */
  const mend__kind *kind;     /* NULL until the topic is known */
  size_t next_field;          /* where the next member is expected in kind->fields: writers keep their order */
  bool topic_is_final;        /* given by the caller or by a member called topic; a member called event is none then */
  bool payload_seen;          /* a member that is not of the head has passed */
  bool payload_misunderstood; /* before its topic was known */
  const char *unknown_place;  /* of the first member the topic does not have */
} event_reader;

/* ---- The topic ---- */

static void take_topic(event_reader *reader, mend_str topic) {
  mend_event_kind number = mend__kind_from_topic(topic);
  const mend__kind *kind = mend__kind_get(number);
  reader->line->topic = number != MEND_EVENT_CUSTOM ? kind->topic : topic;
  if (kind == reader->kind) return;
  reader->kind = kind;
  reader->next_field = 0;
  reader->payload_misunderstood = reader->payload_seen;
  reader->line->unknown = 0;
  reader->line->first_unknown = (mend_str){NULL, 0};
  memcpy(&reader->line->event, kind->absent, kind->size);
}

static mend_status read_topic(event_reader *reader, mend_str name, bool final) {
  mend_json *json = &reader->values.json;
  mend_json_token token = mend_json_next(json);
  if (reader->topic_is_final) {
    mend_json_skip(json);
    return MEND_OK;
  }
  if (token != MEND_JSON_STRING || json->slice.len == 0)
    return mend__value_refuse(&reader->values, name, "the name of a topic");
  take_topic(reader, mend__value_text(&reader->values));
  reader->topic_is_final = final;
  return MEND_OK;
}

/* ---- Members ---- */

static mend_status read_head(event_reader *reader, mend__head head, mend_str name) {
  mend__values *values = &reader->values;
  mend__event_line *line = reader->line;
  switch (head) {
  case MEND__HEAD_TS: return mend__value_time(values, name, &line->ts_ns, &line->has_ts);
  case MEND__HEAD_SEQ: return mend__value_u64(values, name, &line->seq);
  case MEND__HEAD_TOPIC: return read_topic(reader, name, true);
  case MEND__HEAD_EVENT: return read_topic(reader, name, false);
  case MEND__HEAD_RUN_ID: return mend__value_id(values, name, &line->run_id);
  case MEND__HEAD_AGENT: return mend__value_string(values, name, &line->agent);
  case MEND__HEAD_CALL_ID: return mend__value_id(values, name, &reader->head.call_name);
  case MEND__HEAD_PARENT_CALL_ID: return mend__value_id(values, name, &line->parent_call);
  case MEND__HEAD_PARENT_RUN_ID: return mend__value_id(values, name, &line->parent_run_id);
  case MEND__HEAD_SESSION_ID: return mend__value_id(values, name, &line->session_id);
  case MEND__HEAD_PROJECT_ID: return mend__value_id(values, name, &line->project_id);
  case MEND__HEAD_TRACE_ID: return mend__value_hex(values, name, reader->head.trace_id, sizeof(reader->head.trace_id));
  case MEND__HEAD_SPAN_ID: return mend__value_hex(values, name, reader->head.span_id, sizeof(reader->head.span_id));
  case MEND__HEAD_NONE: break;
  }
  return MEND_OK;
}

static const mend__field *find_field(event_reader *reader, mend_str name) {
  const mend__kind *kind = reader->kind;
  for (size_t tried = 0; tried < kind->field_count; tried++) {
    if (reader->next_field == kind->field_count) reader->next_field = 0;
    const mend__field *field = &kind->fields[reader->next_field++];
    if (mend_str_equal(field->name, name)) return field;
  }
  return NULL;
}

static const mend__field *find_field_or_alias(event_reader *reader, mend_str name) {
  const mend__field *field = find_field(reader, name);
  if (field == NULL && mend_str_equal(name, MEND_STR("tool"))) field = find_field(reader, MEND_STR("tool_name"));
  if (field == NULL && mend_str_equal(name, MEND_STR("error"))) field = find_field(reader, MEND_STR("error_message"));
  return field;
}

static mend_status read_field(event_reader *reader, const mend__field *field) {
  mend__values *values = &reader->values;
  void *at = (char *)&reader->line->event + field->offset;
  switch (field->type) {
  case MEND__FIELD_STR: return mend__value_string(values, field->name, at);
  case MEND__FIELD_JSON: mend_json_value(&values->json, at); break; /* an error stays in the scanner */
  case MEND__FIELD_U64: return mend__value_u64(values, field->name, at);
  case MEND__FIELD_F64: return mend__value_f64(values, field->name, at);
  case MEND__FIELD_RATIO: return mend__value_ratio(values, field->name, at);
  case MEND__FIELD_FLAG: return mend__value_flag(values, field->name, at);
  case MEND__FIELD_HASH: return mend__value_hash(values, field->name, at);
  }
  return MEND_OK;
}

/* The KEY just read is none of the topic's. */
static void pass_unknown(event_reader *reader) {
  mend__event_line *line = reader->line;
  if (line->unknown++ == 0) {
    reader->unknown_place = reader->values.json.slice.ptr - 1;
    line->first_unknown = mend__value_text(&reader->values);
  }
}

static mend_status read_named(event_reader *reader, mend_str name) {
  const mend__head head = mend__head_from_name(name);
  if (head != MEND__HEAD_NONE) return read_head(reader, head, name);
  reader->payload_seen = true;
  const bool built_in = reader->kind != NULL && reader->line->event.event.kind != MEND_EVENT_CUSTOM;
  const mend__field *field = built_in ? find_field_or_alias(reader, name) : NULL;
  if (field != NULL) return read_field(reader, field);
  if (built_in) pass_unknown(reader);
  mend_json_skip(&reader->values.json);
  return MEND_OK;
}

static mend_status read_member(event_reader *reader) {
  char room[MEND__KEY_ROOM];
  const mend_str name = mend__key_name(&reader->values.json, room);
  const mend_status status = read_named(reader, name);
  if (status != MEND_OK || reader->values.json.token != MEND_JSON_ERROR) return status;
  return mend__value_broken(&reader->values, name);
}

/* ---- Members the topic does not have ---- */

/* NULL when none is near. */
static const char *nearest_member(const mend__kind *kind, mend_str name) {
  mend__nearest nearest = mend__nearest_to(name);
  for (size_t i = 0; i < kind->field_count; i++)
    mend__nearest_consider(&nearest, kind->fields[i].name, kind->fields[i].name.ptr);
  for (int head = MEND__HEAD_NONE + 1; head < MEND__HEAD_COUNT; head++) {
    mend_str known = mend__head_name((mend__head)head);
    mend__nearest_consider(&nearest, known, known.ptr);
  }
  return nearest.answer;
}

/* "tool_name, args, ...": as many of a topic's fields as fit. */
static void list_fields(const mend__kind *kind, char list[FIELDS_SHOWN_MAX]) {
  static const char more[] = ", ...";
  size_t len = 0;
  for (size_t i = 0; i < kind->field_count; i++) {
    mend_str name = kind->fields[i].name;
    const char *separator = i == 0 ? "" : ", ";
    bool fits = len + strlen(separator) + name.len + sizeof more <= FIELDS_SHOWN_MAX;
    len += (size_t)snprintf(list + len, FIELDS_SHOWN_MAX - len, "%s%s", fits ? separator : more, fits ? name.ptr : "");
    if (!fits) return;
  }
}

static mend_status refuse_unknown(const event_reader *reader) {
  const char *topic = reader->kind->topic.ptr;
  mend_str name = reader->line->first_unknown;
  const char *nearest = nearest_member(reader->kind, name);
  name.len = mend__utf8_cut(name, SHOWN_MAX);
  if (nearest != NULL) {
    mend_error_set(reader->values.error, MEND_EINVAL, "%s has no field \"%.*s\"; did you mean %s?", topic,
                   MEND_STR_ARG(name), nearest);
  } else {
    char fields[FIELDS_SHOWN_MAX] = "";
    list_fields(reader->kind, fields);
    mend_error_set(reader->values.error, MEND_EINVAL, "%s has no field \"%.*s\"; it has %s", topic, MEND_STR_ARG(name),
                   fields);
  }
  return mend__value_place(&reader->values, reader->unknown_place);
}

/* ---- The whole ---- */

static mend_status out_of_memory(mend_error *error) {
  return mend_error_set(error, MEND_ENOMEM, "%s", mend_status_message(MEND_ENOMEM));
}

static mend_status refuse_other_than_object(const mend_json *json, mend_error *error) {
  const mend_status status = mend_json_check(json->text, MEND_JSON_DEPTH_MAX, error);
  if (status != MEND_OK) return status;
  return mend_error_set_at(error, MEND_EINVAL, 1, 1, "an event is a JSON object, not %s",
                           mend__json_kind_name(json->token));
}

static mend_status scan(event_reader *reader, mend_str text) {
  mend_json *json = &reader->values.json;
  mend_json_init(json, text, MEND_JSON_DEPTH_MAX);
  if (mend_json_next(json) != MEND_JSON_OBJECT) return refuse_other_than_object(json, reader->values.error);
  while (mend_json_next(json) == MEND_JSON_KEY) {
    mend_status status = read_member(reader);
    if (status != MEND_OK) return status;
  }
  if (json->token != MEND_JSON_OBJECT_END || mend_json_next(json) != MEND_JSON_END) {
    return mend_json_error(json, reader->values.error);
  }
  return MEND_OK;
}

/* Forgets all but the topic, which is now known. */
static void start_again(event_reader *reader) {
  mend_str topic = reader->kind->topic;
  mend__buffer_clear(reader->values.scratch);
  memset(reader->line, 0, offsetof(mend__event_line, event));
  memset(&reader->head, 0, sizeof(reader->head));
  reader->values.ignored = 0;
  reader->payload_seen = false;
  reader->kind = NULL;
  take_topic(reader, topic);
  reader->topic_is_final = true;
}

static mend_status complete_hash(const event_reader *reader, mend_tool_before_event *before) {
  if (before->args.ptr == NULL || !mend_hash_is_none(before->args_hash)) return MEND_OK;
  mend_json_hash_result result;
  const mend_status status = mend__json_hash_alloc(before->args, reader->values.scratch->allocator, &result);
  if (status != MEND_OK) return out_of_memory(reader->values.error);
  before->args_hash = result.hash;
  return MEND_OK;
}

static mend_status finish(event_reader *reader) {
  mend__event_line *line = reader->line;
  if (reader->kind == NULL) {
    return mend_error_set_at(reader->values.error, MEND_EINVAL, 1, 1,
                             "no topic: a member called topic or event is missing");
  }
  mend_event *event = &line->event.event;
  line->custom = event->kind == MEND_EVENT_CUSTOM;
  event->call = mend_call_from_name(reader->head.call_name);
  const bool is_number = event->call >> 63 == 0;
  event->call_name = is_number ? (mend_str){NULL, 0} : reader->head.call_name;
  event->seq = line->seq;
  event->wall_ns = line->ts_ns;
  memcpy(event->trace_id, reader->head.trace_id, sizeof(event->trace_id));
  memcpy(event->span_id, reader->head.span_id, sizeof(event->span_id));
  if (line->custom) line->event.custom.payload = reader->values.json.text;
  return event->kind == MEND_EVENT_TOOL_BEFORE ? complete_hash(reader, &line->event.tool_before) : MEND_OK;
}

/* Room for all strings with escapes at once, so that what points into scratch stays where it is. */
static bool reserve_scratch(mend__buffer *scratch, mend_str text) {
  const bool has_escapes = text.len > 0 && memchr(text.ptr, '\\', text.len) != NULL;
  mend__buffer_clear(scratch);
  return mend__buffer_reserve(scratch, has_escapes ? text.len : 0);
}

mend_status mend__event_read(mend_str text, mend_str topic, bool lenient, mend__buffer *scratch,
                             mend__event_line *ret_line, uint64_t *ret_ignored, mend_error *error) {
  if (!reserve_scratch(scratch, text)) return out_of_memory(error);
  event_reader reader = {.values = {.scratch = scratch, .error = error, .lenient = lenient}, .line = ret_line};
  memset(ret_line, 0, offsetof(mend__event_line, event));
  if (topic.len > 0) {
    take_topic(&reader, topic);
    reader.topic_is_final = true;
    const bool is_own = reader.line->event.event.kind == MEND_EVENT_CUSTOM;
    if (is_own) reader.values.lenient = true; /* it takes any object */
  }
  mend_status status = scan(&reader, text);
  if (status == MEND_OK && reader.payload_misunderstood && reader.line->event.event.kind != MEND_EVENT_CUSTOM) {
    start_again(&reader);
    status = scan(&reader, text);
  }
  if (status == MEND_OK && !lenient && ret_line->unknown > 0) status = refuse_unknown(&reader);
  if (status == MEND_OK) status = finish(&reader);
  if (status == MEND_OK && ret_ignored != NULL) *ret_ignored = reader.values.ignored;
  return status;
}

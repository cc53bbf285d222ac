#include "bus/event_internal.h"

#include "bus/event_json.h"
#include "core/json_kind.h"
#include "core/memory.h"
#include "core/nearest.h"
#include "core/text.h"

#include <stdio.h>

/* How much of a wrong value an error shows, in bytes. */
#define SHOWN_MAX 40
/* Room for the names of fields in an error, so that the sentence is whole with a long topic and a long value. */
#define FIELDS_SHOWN_MAX 140

typedef struct event_reader {
  mend_json json;
  mend_str text;
  mend__buffer *scratch;
  mend__event_line *line;
  mend_error *error;
  bool lenient;
  uint64_t ignored;
  mend_event head;            /* until all is read: its place in the line is overwritten when the topic comes */
  const mend__kind *kind;     /* NULL until the topic is known */
  size_t next_field;          /* where the next member is expected in kind->fields: writers keep their order */
  bool topic_is_final;        /* given by the caller or by a member called topic; a member called event is none then */
  bool payload_seen;          /* a member that is not of the head has passed */
  bool payload_misunderstood; /* before its topic was known */
  const char *unknown_place;  /* of the first member the topic does not have */
} event_reader;

/* ---- Values ---- */

/* Adds to the sentence just written where in the text that is. */
static mend_status add_place(const event_reader *reader, const char *at) {
  mend__error_place(reader->error, (mend_str){reader->text.ptr, (size_t)(at - reader->text.ptr)});
  return MEND_EINVAL;
}

/* "bytes: expected an integer, not "many"", with the value's place. */
static mend_status wrong_value(const event_reader *reader, mend_str name, const char *expected) {
  const mend_json *json = &reader->json;
  const char *quote = json->token == MEND_JSON_STRING ? "\"" : "";
  const char *value = json->slice.ptr - strlen(quote);
  bool shown = json->token == MEND_JSON_STRING || json->token == MEND_JSON_NUMBER;
  mend_str got = shown ? json->slice : mend_str_from(mend__json_kind_name(json->token));
  got.len = mend__utf8_cut(got, SHOWN_MAX);
  mend_error_set(reader->error, MEND_EINVAL, "%.*s: expected %s, not %s%.*s%s", MEND_STR_ARG(name), expected, quote,
                 MEND_STR_ARG(got), quote);
  return add_place(reader, value);
}

/* The value just begun is not what `name` takes. null is as good as no value; a syntax error stays in the scanner. */
static mend_status refuse(event_reader *reader, mend_str name, const char *expected) {
  mend_json *json = &reader->json;
  if (json->token == MEND_JSON_ERROR || json->token == MEND_JSON_NULL) return MEND_OK;
  if (!reader->lenient) return wrong_value(reader, name, expected);
  reader->ignored++;
  mend_json_skip(json);
  return MEND_OK;
}

/* The STRING just read. What has escapes goes to scratch, which has room for all of the text. */
static mend_str take_string(event_reader *reader) {
  mend_str slice = reader->json.slice;
  if (!reader->json.escaped) return slice;
  mend__buffer *scratch = reader->scratch;
  mend_str result = {scratch->data + scratch->len, mend_json_unescape(slice, scratch->data + scratch->len)};
  scratch->len += result.len;
  return result;
}

static mend_status read_string(event_reader *reader, mend_str name, mend_str *ret_string) {
  if (mend_json_next(&reader->json) != MEND_JSON_STRING) return refuse(reader, name, "a string");
  *ret_string = take_string(reader);
  return MEND_OK;
}

static mend_status read_id(event_reader *reader, mend_str name, mend_str *ret_id) {
  mend_json_token token = mend_json_next(&reader->json);
  mend_str id;
  if (token == MEND_JSON_STRING) {
    id = take_string(reader);
  } else if (token == MEND_JSON_NUMBER) {
    id = reader->json.slice;
  } else {
    return refuse(reader, name, "a string or a number");
  }
  *ret_id = id.len > 0 ? id : (mend_str){NULL, 0};
  return MEND_OK;
}

static mend_status read_u64(event_reader *reader, mend_str name, uint64_t *ret_value) {
  mend_json_token token = mend_json_next(&reader->json);
  if (token == MEND_JSON_NUMBER && mend_json_uint64(reader->json.slice, ret_value) == MEND_OK) return MEND_OK;
  return refuse(reader, name, "an integer from 0 to 2^64 - 1");
}

static mend_status read_f64(event_reader *reader, mend_str name, double *ret_value) {
  if (mend_json_next(&reader->json) != MEND_JSON_NUMBER) return refuse(reader, name, "a number");
  *ret_value = mend_json_double(reader->json.slice);
  return MEND_OK;
}

static mend_status read_flag(event_reader *reader, mend_str name, bool *ret_value) {
  mend_json_token token = mend_json_next(&reader->json);
  if (token != MEND_JSON_TRUE && token != MEND_JSON_FALSE) return refuse(reader, name, "true or false");
  *ret_value = token == MEND_JSON_TRUE;
  return MEND_OK;
}

static mend_status read_hash(event_reader *reader, mend_str name, mend_hash *ret_value) {
  mend_json_token token = mend_json_next(&reader->json);
  if (token == MEND_JSON_STRING && mend_hash_parse(reader->json.slice, ret_value) == MEND_OK) return MEND_OK;
  return refuse(reader, name, "32 hexadecimal digits");
}

static mend_status read_seconds(event_reader *reader, mend_str name) {
  mend__event_line *line = reader->line;
  if (mend_json_next(&reader->json) == MEND_JSON_NUMBER &&
      mend_json_seconds_ns(reader->json.slice, &line->ts_ns) == MEND_OK) {
    line->has_ts = true;
    return MEND_OK;
  }
  return refuse(reader, name, "seconds since 1970");
}

static mend_status read_hex(event_reader *reader, mend_str name, uint8_t *ret_bytes, size_t len) {
  bool fits = mend_json_next(&reader->json) == MEND_JSON_STRING && reader->json.slice.len == 2 * len;
  mend_str text = reader->json.slice;
  for (size_t i = 0; fits && i < len; i++) {
    int high = mend__hex_value(text.ptr[2 * i]), low = mend__hex_value(text.ptr[2 * i + 1]);
    fits = high >= 0 && low >= 0;
    if (fits) ret_bytes[i] = (uint8_t)(high << 4 | low);
  }
  return fits ? MEND_OK : refuse(reader, name, len == 8 ? "16 hexadecimal digits" : "32 hexadecimal digits");
}

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
  mend_json *json = &reader->json;
  mend_json_token token = mend_json_next(json);
  if (reader->topic_is_final) {
    mend_json_skip(json);
    return MEND_OK;
  }
  if (token != MEND_JSON_STRING || json->slice.len == 0) return refuse(reader, name, "the name of a topic");
  take_topic(reader, take_string(reader));
  reader->topic_is_final = final;
  return MEND_OK;
}

/* ---- Members ---- */

static mend_status read_head(event_reader *reader, mend__head head, mend_str name) {
  mend__event_line *line = reader->line;
  switch (head) {
  case MEND__HEAD_TS: return read_seconds(reader, name);
  case MEND__HEAD_SEQ: return read_u64(reader, name, &line->seq);
  case MEND__HEAD_TOPIC: return read_topic(reader, name, true);
  case MEND__HEAD_EVENT: return read_topic(reader, name, false);
  case MEND__HEAD_RUN_ID: return read_id(reader, name, &line->run_id);
  case MEND__HEAD_AGENT: return read_string(reader, name, &line->agent);
  case MEND__HEAD_CALL_ID: return read_id(reader, name, &reader->head.call_name);
  case MEND__HEAD_PARENT_CALL_ID: return read_id(reader, name, &line->parent_call);
  case MEND__HEAD_PARENT_RUN_ID: return read_id(reader, name, &line->parent_run_id);
  case MEND__HEAD_SESSION_ID: return read_id(reader, name, &line->session_id);
  case MEND__HEAD_PROJECT_ID: return read_id(reader, name, &line->project_id);
  case MEND__HEAD_TRACE_ID: return read_hex(reader, name, reader->head.trace_id, sizeof(reader->head.trace_id));
  case MEND__HEAD_SPAN_ID: return read_hex(reader, name, reader->head.span_id, sizeof(reader->head.span_id));
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
  void *at = (char *)&reader->line->event + field->offset;
  switch (field->type) {
  case MEND__FIELD_STR: return read_string(reader, field->name, at);
  case MEND__FIELD_JSON: mend_json_value(&reader->json, at); break; /* an error stays in the scanner */
  case MEND__FIELD_U64: return read_u64(reader, field->name, at);
  case MEND__FIELD_F64: return read_f64(reader, field->name, at);
  case MEND__FIELD_FLAG: return read_flag(reader, field->name, at);
  case MEND__FIELD_HASH: return read_hash(reader, field->name, at);
  }
  return MEND_OK;
}

/* The KEY just read is none of the topic's. */
static void pass_unknown(event_reader *reader) {
  mend__event_line *line = reader->line;
  if (line->unknown++ == 0) {
    reader->unknown_place = reader->json.slice.ptr - 1;
    line->first_unknown = take_string(reader);
  }
}

static mend_status read_member(event_reader *reader) {
  char room[MEND__KEY_ROOM];
  mend_str name = mend__key_name(&reader->json, room);
  mend__head head = mend__head_from_name(name);
  if (head != MEND__HEAD_NONE) return read_head(reader, head, name);
  reader->payload_seen = true;
  bool built_in = reader->kind != NULL && reader->line->event.event.kind != MEND_EVENT_CUSTOM;
  const mend__field *field = built_in ? find_field_or_alias(reader, name) : NULL;
  if (field != NULL) return read_field(reader, field);
  if (built_in) pass_unknown(reader);
  mend_json_skip(&reader->json);
  return MEND_OK;
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
    mend_error_set(reader->error, MEND_EINVAL, "%s has no field \"%.*s\"; did you mean %s?", topic, MEND_STR_ARG(name),
                   nearest);
  } else {
    char fields[FIELDS_SHOWN_MAX] = "";
    list_fields(reader->kind, fields);
    mend_error_set(reader->error, MEND_EINVAL, "%s has no field \"%.*s\"; it has %s", topic, MEND_STR_ARG(name),
                   fields);
  }
  return add_place(reader, reader->unknown_place);
}

/* ---- The whole ---- */

static mend_status refuse_other_than_object(const event_reader *reader) {
  mend_status status = mend_json_check(reader->text, MEND_JSON_DEPTH_MAX, reader->error);
  if (status != MEND_OK) return status;
  return mend_error_set_at(reader->error, MEND_EINVAL, 1, 1, "an event is a JSON object, not %s",
                           mend__json_kind_name(reader->json.token));
}

static mend_status scan(event_reader *reader) {
  mend_json *json = &reader->json;
  mend_json_init(json, reader->text, MEND_JSON_DEPTH_MAX);
  if (mend_json_next(json) != MEND_JSON_OBJECT) return refuse_other_than_object(reader);
  while (mend_json_next(json) == MEND_JSON_KEY) {
    mend_status status = read_member(reader);
    if (status != MEND_OK) return status;
  }
  if (json->token != MEND_JSON_OBJECT_END || mend_json_next(json) != MEND_JSON_END) {
    return mend_json_error(json, reader->error);
  }
  return MEND_OK;
}

/* Forgets all but the topic, which is now known. */
static void start_again(event_reader *reader) {
  mend_str topic = reader->kind->topic;
  mend__buffer_clear(reader->scratch);
  memset(reader->line, 0, offsetof(mend__event_line, event));
  memset(&reader->head, 0, sizeof(reader->head));
  reader->ignored = 0;
  reader->payload_seen = false;
  reader->kind = NULL;
  take_topic(reader, topic);
  reader->topic_is_final = true;
}

static mend_status finish(event_reader *reader) {
  mend__event_line *line = reader->line;
  if (reader->kind == NULL) {
    return mend_error_set_at(reader->error, MEND_EINVAL, 1, 1, "no topic: a member called topic or event is missing");
  }
  mend_event *event = &line->event.event;
  line->custom = event->kind == MEND_EVENT_CUSTOM;
  event->call = mend_call_from_name(reader->head.call_name);
  bool is_number = event->call >> 63 == 0;
  event->call_name = is_number ? (mend_str){NULL, 0} : reader->head.call_name;
  event->seq = line->seq;
  event->wall_ns = line->ts_ns;
  memcpy(event->trace_id, reader->head.trace_id, sizeof(event->trace_id));
  memcpy(event->span_id, reader->head.span_id, sizeof(event->span_id));
  if (line->custom) line->event.custom.payload = reader->text;
  mend_tool_before_event *before = event->kind == MEND_EVENT_TOOL_BEFORE ? &line->event.tool_before : NULL;
  if (before != NULL && mend_hash_is_none(before->args_hash)) {
    before->args_hash = mend__hash_beside(reader->scratch, before->args);
  }
  return MEND_OK;
}

mend_status mend__event_read(mend_str text, mend_str topic, bool lenient, mend__buffer *scratch,
                             mend__event_line *ret_line, uint64_t *ret_ignored, mend_error *error) {
  /* Once for everything, so that what points into scratch stays where it is. */
  mend__buffer_clear(scratch);
  if (!mend__buffer_reserve(scratch, text.len + MEND__HASH_ROOM)) {
    return mend_error_set(error, MEND_ENOMEM, "%s", mend_status_message(MEND_ENOMEM));
  }
  event_reader reader = {.text = text, .scratch = scratch, .line = ret_line, .error = error, .lenient = lenient};
  memset(ret_line, 0, offsetof(mend__event_line, event));
  if (topic.len > 0) {
    take_topic(&reader, topic);
    reader.topic_is_final = true;
    if (reader.line->event.event.kind == MEND_EVENT_CUSTOM)
      reader.lenient = true; /* one's own topic takes any object */
  }
  mend_status status = scan(&reader);
  if (status == MEND_OK && reader.payload_misunderstood && reader.line->event.event.kind != MEND_EVENT_CUSTOM) {
    start_again(&reader);
    status = scan(&reader);
  }
  if (status == MEND_OK && !lenient && ret_line->unknown > 0) status = refuse_unknown(&reader);
  if (status == MEND_OK) status = finish(&reader);
  if (status == MEND_OK && ret_ignored != NULL) *ret_ignored = reader.ignored;
  return status;
}

#include "bus/event_json.h"

#include "bus/event_internal.h"
#include "core/json_hash.h"
#include "core/options_size.h"
#include "core/redact.h"

#include <math.h>

/* What strings in arguments are cut to when content is off, in characters. */
#define ARGUMENT_MAX 120

/* Most views take less, in bytes, so that their buffer need not grow. */
#define USUAL_SIZE 1024

static void write_literal(mend__buffer *buffer, const char *text) { mend__buffer_bytes(buffer, text, strlen(text)); }

/* ---- The head ---- */

static void write_id(mend__buffer *buffer, const char *key, mend_str id) {
  if (id.len == 0) return;
  write_literal(buffer, key);
  mend__buffer_json_string(buffer, id);
}

static void write_hex(mend__buffer *buffer, const char *key, const uint8_t *bytes, size_t len) {
  if (mend__is_zero(bytes, len)) return;
  write_literal(buffer, key);
  mend__buffer_char(buffer, '"');
  mend__buffer_hex(buffer, bytes, len);
  mend__buffer_char(buffer, '"');
}

static void write_call_id(mend__buffer *buffer, const mend_event *event) {
  static const char key[] = ",\"call_id\":";
  write_id(buffer, key, event->call_name);
  if (event->call_name.len > 0 || event->call == 0) return;
  write_literal(buffer, key);
  mend__buffer_char(buffer, '"');
  mend__buffer_u64(buffer, event->call);
  mend__buffer_char(buffer, '"');
}

static mend_str topic_of(const mend_event *event) {
  if (event->kind != MEND_EVENT_CUSTOM) return mend_event_kind_topic(event->kind);
  return mend_bus_topic_name(mend_run_bus(event->run), event->topic);
}

static void write_head(mend__buffer *buffer, const mend_event *event) {
  write_literal(buffer, "\"ts\":");
  mend__buffer_seconds(buffer, event->wall_ns);
  write_literal(buffer, ",\"seq\":");
  mend__buffer_u64(buffer, event->seq);
  write_id(buffer, ",\"topic\":", topic_of(event));
  write_id(buffer, ",\"run_id\":", mend_run_id(event->run));
  write_id(buffer, ",\"agent\":", mend_run_agent(event->run));
  write_call_id(buffer, event);
  write_id(buffer, ",\"parent_call_id\":", mend_run_parent_call(event->run));
  write_id(buffer, ",\"parent_run_id\":", mend_run_parent_id(event->run));
  write_id(buffer, ",\"session_id\":", mend_run_session_id(event->run));
  write_id(buffer, ",\"project_id\":", mend_run_project_id(event->run));
  write_hex(buffer, ",\"trace_id\":", event->trace_id, sizeof(event->trace_id));
  write_hex(buffer, ",\"span_id\":", event->span_id, sizeof(event->span_id));
}

/* ---- The payload ---- */

typedef struct event_view {
  mend__buffer *buffer;
  const mend_event *event;
  bool content;
} event_view;

static const void *field_at(const event_view *view, const mend__field *field) {
  return (const char *)view->event + field->offset;
}

static mend_str text_of(const event_view *view, const mend__field *field) {
  return *(const mend_str *)field_at(view, field);
}

static bool is_absent(const event_view *view, const mend__field *field) {
  const void *at = field_at(view, field);
  switch (field->type) {
  case MEND__FIELD_STR:
  case MEND__FIELD_JSON: return ((const mend_str *)at)->ptr == NULL;
  case MEND__FIELD_U64: return *(const uint64_t *)at == MEND_NONE;
  case MEND__FIELD_F64:
  case MEND__FIELD_RATIO: return !isfinite(*(const double *)at);
  case MEND__FIELD_FLAG: return !*(const bool *)at;
  case MEND__FIELD_HASH: return mend_hash_is_none(*(const mend_hash *)at);
  }
  return true;
}

static void write_hash(mend__buffer *buffer, mend_hash hash) {
  char text[MEND_HASH_TEXT_SIZE];
  mend_hash_format(hash, text);
  mend__buffer_char(buffer, '"');
  write_literal(buffer, text);
  mend__buffer_char(buffer, '"');
}

static void write_field(const event_view *view, const mend__field *field) {
  if (is_absent(view, field)) return;
  const void *at = field_at(view, field);
  mend__buffer_str(view->buffer, field->key);
  switch (field->type) {
  case MEND__FIELD_STR: mend__buffer_json_string(view->buffer, *(const mend_str *)at); break;
  case MEND__FIELD_JSON: mend__show_json(view->buffer, *(const mend_str *)at, MEND__SHOW_WHOLE); break;
  case MEND__FIELD_U64: mend__buffer_u64(view->buffer, *(const uint64_t *)at); break;
  case MEND__FIELD_F64:
  case MEND__FIELD_RATIO: mend__buffer_f64(view->buffer, *(const double *)at); break;
  case MEND__FIELD_FLAG: write_literal(view->buffer, "true"); break;
  case MEND__FIELD_HASH: write_hash(view->buffer, *(const mend_hash *)at); break;
  }
}

/* Without content: the arguments cut, and of a result only its preview, made here when the publisher gave none. */
static void write_tool_before_field(const event_view *view, const mend__field *field) {
  if (field->offset != offsetof(mend_tool_before_event, args)) {
    write_field(view, field);
  } else if (!is_absent(view, field)) {
    mend__buffer_str(view->buffer, field->key);
    mend__show_json(view->buffer, text_of(view, field), ARGUMENT_MAX);
  }
}

static void write_tool_after_field(const event_view *view, const mend__field *field) {
  mend_str result = ((const mend_tool_after_event *)view->event)->result;
  if (field->offset == offsetof(mend_tool_after_event, result)) return;
  if (field->offset != offsetof(mend_tool_after_event, result_preview)) {
    write_field(view, field);
  } else if (!is_absent(view, field)) {
    mend__buffer_str(view->buffer, field->key);
    mend__buffer_json_string_cut(view->buffer, text_of(view, field), MEND__PREVIEW_MAX);
  } else if (result.ptr != NULL) {
    mend__buffer_str(view->buffer, field->key);
    mend__show_preview(view->buffer, result);
  }
}

static void write_tool_skipped_field(const event_view *view, const mend__field *field) {
  if (field->offset != offsetof(mend_tool_skipped_event, result)) write_field(view, field);
}

static void write_fields(const event_view *view) {
  const mend__kind *kind = mend__kind_get(view->event->kind);
  void (*write)(const event_view *, const mend__field *) = write_field;
  if (!view->content) {
    switch (view->event->kind) {
    case MEND_EVENT_TOOL_BEFORE: write = write_tool_before_field; break;
    case MEND_EVENT_TOOL_AFTER: write = write_tool_after_field; break;
    case MEND_EVENT_TOOL_SKIPPED: write = write_tool_skipped_field; break;
    default: break;
    }
  }
  for (size_t i = 0; i < kind->field_count; i++)
    write(view, &kind->fields[i]);
}

/* The members of a payload of one's own, but for those that are named like the head's. */
static bool write_members(mend__buffer *buffer, mend_str payload) {
  mend_json json;
  mend_json_init(&json, payload, MEND__VALUE_DEPTH);
  if (mend_json_next(&json) != MEND_JSON_OBJECT) return false;
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    mend_str key = json.slice, value;
    char room[MEND__KEY_ROOM];
    mend__head head = mend__head_from_name(mend__key_name(&json, room));
    if (mend_json_value(&json, &value) != MEND_OK) return false;
    if (head != MEND__HEAD_NONE && head != MEND__HEAD_EVENT) continue;
    mend__buffer_char(buffer, ',');
    mend__show_key(buffer, key);
    mend__buffer_char(buffer, ':');
    mend__show_json(buffer, value, MEND__SHOW_WHOLE);
  }
  return json.token == MEND_JSON_OBJECT_END && mend_json_next(&json) == MEND_JSON_END;
}

static void write_custom(mend__buffer *buffer, mend_str payload) {
  size_t start = buffer->len;
  if (payload.ptr == NULL || write_members(buffer, payload) || buffer->failed) return;
  buffer->len = start;
  write_literal(buffer, ",\"payload\":");
  mend__show_json(buffer, payload, MEND__SHOW_WHOLE);
}

static mend_hash hash_of(mend__buffer *buffer, mend_str json,
                         mend_status (*hash)(mend_str, const mend_allocator *, mend_json_hash_result *)) {
  mend_json_hash_result result = {.hash = {0, 0}};
  if (json.ptr != NULL && hash(json, buffer->allocator, &result) != MEND_OK) buffer->failed = true;
  return result.hash;
}

static void complete_tool_before(mend_tool_before_event *before, mend__buffer *buffer, bool content) {
  if (mend_hash_is_none(before->args_hash)) before->args_hash = hash_of(buffer, before->args, mend__json_hash_alloc);
  if (!content && mend_hash_is_none(before->args_hash_loose)) {
    before->args_hash_loose = hash_of(buffer, before->args, mend__json_hash_loose_alloc);
  }
}

static void complete_tool_after(mend_tool_after_event *after, mend__buffer *buffer, bool content) {
  if (content || after->result.ptr == NULL) return;
  if (mend_hash_is_none(after->result_hash)) after->result_hash = hash_of(buffer, after->result, mend__json_hash_alloc);
  if (after->result_len == MEND_NONE) after->result_len = mend__result_len(buffer, after->result);
}

/* Fills in, in a copy of the event, what its publisher left to the JSON view. */
static void complete(mend_any_event *event, mend__buffer *buffer, bool content) {
  switch (event->event.kind) {
  case MEND_EVENT_TOOL_BEFORE: complete_tool_before(&event->tool_before, buffer, content); break;
  case MEND_EVENT_TOOL_AFTER: complete_tool_after(&event->tool_after, buffer, content); break;
  default: break;
  }
}

static void write_payload(mend__buffer *buffer, const mend_event *event, bool content) {
  if (event->kind == MEND_EVENT_CUSTOM) {
    write_custom(buffer, ((const mend_custom_event *)event)->payload);
  } else {
    mend_any_event whole;
    memcpy(&whole, event, mend__kind_get(event->kind)->size);
    complete(&whole, buffer, content);
    write_fields(&(event_view){buffer, &whole.event, content});
  }
}

void mend__event_write(mend__buffer *buffer, const mend_event *event, bool content) {
  mend__buffer_char(buffer, '{');
  write_head(buffer, event);
  const size_t begin = buffer->len;
  write_payload(buffer, event, content);
  if (!content && !buffer->failed) {
    buffer->len = begin + mend__redact_json(buffer->data + begin, buffer->len - begin);
  }
  mend__buffer_char(buffer, '}');
}

mend_status mend_event_to_json(const mend_event *event, const mend_json_view_options *options,
                               const mend_allocator *allocator, char **ret_json, size_t *ret_len) {
  if (event == NULL) return MEND_EINVAL;
  mend_json_view_options view = MEND_JSON_VIEW_OPTIONS_INIT;
  mend_status status = mend__options_take(&view, options, "mend_json_view_options", NULL);
  if (status != MEND_OK) return status;
  if (event->run == NULL || !mend__event_fits(event)) return MEND_EINVAL;
  mend__buffer buffer;
  mend__buffer_init(&buffer, allocator);
  mend__buffer_reserve(&buffer, USUAL_SIZE);
  mend__event_write(&buffer, event, view.content);
  char *json;
  size_t len;
  status = mend__buffer_take(&buffer, &json, &len);
  if (status != MEND_OK) return status;
  char *fitting = mend__realloc(allocator, json, len + 1);
  *ret_json = fitting != NULL ? fitting : json;
  if (ret_len != NULL) *ret_len = len;
  return MEND_OK;
}

#include "fallback/json_fields.h"

#include "core/text.h"
#include "mend/events.h"

#include <stdarg.h>

static bool is_null(mend_str value) { return mend__json_begins_with(value, 'n'); }

bool mend__json_fields_read(mend_str object, mend__json_member *fields, size_t count) {
  mend_json json = {.token = MEND_JSON_ERROR};
  for (size_t i = 0; i < count; i++)
    fields[i].value = (mend_str){NULL, 0};
  if (mend__json_is_object(object)) {
    mend_json_init(&json, object, MEND_JSON_DEPTH_MAX);
    mend_json_next(&json);
    mend__json_members_take(&json, fields, count);
  }
  const bool is_whole = json.token == MEND_JSON_OBJECT_END;
  for (size_t i = 0; i < count; i++) {
    if (!is_whole || is_null(fields[i].value)) fields[i].value = (mend_str){NULL, 0};
  }
  return is_whole;
}

mend_str mend__json_find(mend_str object, const char *name, ...) {
  va_list names;
  va_start(names, name);
  for (; name != NULL; name = va_arg(names, const char *)) {
    mend__json_member field = {.name = mend_str_from(name)};
    mend__json_fields_read(object, &field, 1);
    object = field.value;
  }
  va_end(names);
  return object;
}

mend_str mend__json_first(mend_str text) {
  mend_str first = mend__skip_blanks(text);
  mend__json_items items = mend__json_items_of(first);
  mend__json_items_next(&items, &first);
  return first;
}

bool mend__json_says(mend_str value, const char *text) {
  return mend__json_is_string(value) && mend_str_equal(mend__json_inside(value), mend_str_from(text));
}

uint64_t mend__json_count(mend_str value) {
  uint64_t count;
  return mend__json_is_number(value) && mend_json_uint64(value, &count) == MEND_OK ? count : MEND_NONE;
}

int64_t mend__json_index(mend_str value) {
  int64_t index;
  return mend__json_is_number(value) && mend_json_int64(value, &index) == MEND_OK && index >= 0 ? index : -1;
}

/* ---- Writing ---- */

void mend__json_comma(mend__buffer *json) {
  if (json->len > 0 && strchr("{[", json->data[json->len - 1]) == NULL) mend__buffer_char(json, ',');
}

void mend__json_key(mend__buffer *json, const char *name) {
  mend__json_comma(json);
  mend__buffer_json_string(json, mend_str_from(name));
  mend__buffer_char(json, ':');
}

void mend__json_string(mend__buffer *json, const char *name, mend_str text) {
  mend__json_key(json, name);
  mend__buffer_json_string(json, text);
}

void mend__json_raw(mend__buffer *json, const char *name, mend_str value) {
  mend__json_key(json, name);
  mend__buffer_str(json, value);
}

void mend__json_true(mend__buffer *json, const char *name) { mend__json_raw(json, name, MEND_STR("true")); }

void mend__json_open(mend__buffer *json, const char *name, char bracket) {
  mend__json_key(json, name);
  mend__buffer_char(json, bracket);
}

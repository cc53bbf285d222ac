#include "program/replay/json_fields.h"

static json_field *find(const mend_json *json, json_field *fields, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (mend_json_is(json, fields[i].name)) return &fields[i];
  }
  return NULL;
}

mend_status json_fields_read(mend_str text, json_field *fields, size_t count, mend_error *error) {
  mend_json json;
  mend_json_init(&json, text, MEND_JSON_DEPTH_MAX);
  if (mend_json_next(&json) != MEND_JSON_OBJECT) {
    if (json.token == MEND_JSON_ERROR) return mend_json_error(&json, error);
    return mend_error_set(error, MEND_EINVAL, "not a row: a row is a JSON object");
  }
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    json_field *field = find(&json, fields, count);
    if (field == NULL) {
      mend_json_skip(&json);
    } else if (mend_json_value(&json, &field->value) != MEND_OK) {
      break;
    }
  }
  if (json.token != MEND_JSON_ERROR) mend_json_next(&json);
  return json.token == MEND_JSON_END ? MEND_OK : mend_json_error(&json, error);
}

/* The value of the KEY just read, as far as it is there; absent for one of which nothing can be told. */
static mend_str peek_value(mend_json *json) {
  const mend_json_token token = mend_json_next(json);
  if (token <= MEND_JSON_END) return (mend_str){NULL, 0};
  const char *begin = token == MEND_JSON_STRING ? json->slice.ptr - 1 : json->slice.ptr;
  if (mend_json_skip(json) == MEND_JSON_MORE)
    return (mend_str){begin, (size_t)(json->text.ptr + json->text.len - begin)};
  return (mend_str){begin, (size_t)(json->text.ptr + json->at - begin)};
}

void json_fields_peek(mend_str text, json_field *fields, size_t count) {
  mend_json json;
  mend_json_init(&json, text, MEND_JSON_DEPTH_MAX);
  json.partial = json.stream = true;
  if (mend_json_next(&json) != MEND_JSON_OBJECT) return;
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    json_field *field = find(&json, fields, count);
    const mend_str value = peek_value(&json);
    if (field != NULL) field->value = value;
    if (json.token <= MEND_JSON_END) return;
  }
}

static bool begins_with(mend_str value, char c) { return value.len > 0 && value.ptr[0] == c; }
bool json_is_string(mend_str value) { return begins_with(value, '"'); }
bool json_is_array(mend_str value) { return begins_with(value, '['); }
bool json_is_object(mend_str value) { return begins_with(value, '{'); }
bool json_is_number(mend_str value) { return value.len > 0 && memchr("-0123456789", value.ptr[0], 11) != NULL; }
bool json_is_true(mend_str value) { return begins_with(value, 't'); }

mend_str json_string_inside(mend_str value) {
  if (!json_is_string(value)) return (mend_str){NULL, 0};
  return (mend_str){value.ptr + 1, value.len - 2};
}

bool json_string_is(mend_str value, mend_str text) {
  return json_is_string(value) && mend_str_equal(json_string_inside(value), text);
}

json_elements json_elements_of(mend_str array) {
  json_elements elements = {.done = true};
  mend_json_init(&elements.json, array, MEND_JSON_DEPTH_MAX);
  elements.done = mend_json_next(&elements.json) != MEND_JSON_ARRAY;
  return elements;
}

bool json_elements_next(json_elements *elements, mend_str *ret_element) {
  if (elements->done) return false;
  elements->done = mend_json_value(&elements->json, ret_element) != MEND_OK;
  return !elements->done;
}

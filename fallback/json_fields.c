#include "fallback/json_fields.h"

#include "core/text.h"
#include "mend/events.h"

#include <stdarg.h>

static mend__json_field *find(const mend_json *key, mend__json_field *fields, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (mend_json_is(key, mend_str_from(fields[i].name))) return &fields[i];
  }
  return NULL;
}

static void forget(mend__json_field *fields, size_t count) {
  for (size_t i = 0; i < count; i++)
    fields[i].value = (mend_str){NULL, 0};
}

static bool read_members(mend_json *json, mend__json_field *fields, size_t count) {
  while (mend_json_next(json) == MEND_JSON_KEY) {
    mend__json_field *field = find(json, fields, count);
    mend_str value;
    if (mend_json_value(json, &value) != MEND_OK) return false;
    if (field != NULL) field->value = value.ptr[0] == 'n' ? (mend_str){NULL, 0} : value;
  }
  return json->token == MEND_JSON_OBJECT_END;
}

bool mend__json_fields_read(mend_str object, mend__json_field *fields, size_t count) {
  mend_json json;
  forget(fields, count);
  if (!mend__json_is_object(object)) return false;
  mend_json_init(&json, object, MEND_JSON_DEPTH_MAX);
  mend_json_next(&json);
  if (read_members(&json, fields, count)) return true;
  forget(fields, count);
  return false;
}

mend_str mend__json_find(mend_str object, const char *name, ...) {
  va_list names;
  va_start(names, name);
  for (; name != NULL; name = va_arg(names, const char *)) {
    mend__json_field field = {name, {NULL, 0}};
    mend__json_fields_read(object, &field, 1);
    object = field.value;
  }
  va_end(names);
  return object;
}

mend__json_elements mend__json_elements_of(mend_str array) {
  mend__json_elements elements = {.ended = !mend__json_is_array(array)};
  mend_json_init(&elements.json, array, MEND_JSON_DEPTH_MAX);
  mend_json_next(&elements.json);
  return elements;
}

bool mend__json_elements_next(mend__json_elements *elements, mend_str *ret_element) {
  if (!elements->ended) elements->ended = mend_json_value(&elements->json, ret_element) != MEND_OK;
  return !elements->ended;
}

mend_str mend__json_trim(mend_str text) {
  while (text.len > 0 && memchr(" \t\r\n", text.ptr[0], 4) != NULL)
    text = (mend_str){text.ptr + 1, text.len - 1};
  return text;
}

mend_str mend__json_first(mend_str text) {
  mend_str first = mend__json_trim(text);
  mend__json_elements elements = mend__json_elements_of(first);
  mend__json_elements_next(&elements, &first);
  return first;
}

mend_str mend__json_inside(mend_str value) {
  if (!mend__json_is_string(value)) return (mend_str){NULL, 0};
  return (mend_str){value.ptr + 1, value.len - 2};
}

bool mend__json_says(mend_str value, const char *text) {
  return mend__json_is_string(value) && mend_str_equal(mend__json_inside(value), mend_str_from(text));
}

void mend__json_append(mend__buffer *text, mend_str value) {
  const mend_str inside = mend__json_inside(value);
  if (inside.len > 0 && mend__buffer_reserve(text, inside.len))
    text->len += mend_json_unescape(inside, text->data + text->len);
}

static bool is_number(mend_str value) { return value.len > 0 && (mend__is_digit(value.ptr[0]) || value.ptr[0] == '-'); }

uint64_t mend__json_count(mend_str value) {
  uint64_t count;
  return is_number(value) && mend_json_uint64(value, &count) == MEND_OK ? count : MEND_NONE;
}

int64_t mend__json_index(mend_str value) {
  int64_t index;
  return is_number(value) && mend_json_int64(value, &index) == MEND_OK && index >= 0 ? index : -1;
}

double mend__json_number(mend_str value) { return is_number(value) ? mend_json_double(value) : MEND_NAN; }

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

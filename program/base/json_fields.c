#include "program/base/json_fields.h"
#include "core/text.h"

static void forget(json_field *fields, size_t count) {
  for (size_t i = 0; i < count; i++)
    fields[i].value = (mend_str){NULL, 0};
}

/* ---- Whole objects ----------------------------------------------------------------------------------------- */

/* After OBJECT, to its end: its text. */
static mend_str take_object(mend_json *json, json_field *fields, size_t count) {
  const char *begin = json->slice.ptr;
  mend__json_members_take(json, fields, count);
  return (mend_str){begin, (size_t)(json->text.ptr + json->at - begin)};
}

/* The same for a value of any kind, whose first token was just read. */
static mend_str take_value(mend_json *json, json_field *fields, size_t count) {
  if (json->token == MEND_JSON_OBJECT) return take_object(json, fields, count);
  const char *begin = json->token == MEND_JSON_STRING ? json->slice.ptr - 1 : json->slice.ptr;
  mend_json_skip(json);
  return (mend_str){begin, (size_t)(json->text.ptr + json->at - begin)};
}

static mend_status begin_row(mend_json *json, mend_str text, mend_error *error) {
  mend_json_init(json, text, MEND_JSON_DEPTH_MAX);
  if (mend_json_next(json) == MEND_JSON_OBJECT) return MEND_OK;
  if (json->token == MEND_JSON_ERROR) return mend_json_error(json, error);
  return mend_error_set(error, MEND_EINVAL, "not a row: a row is a JSON object");
}

static mend_status end_row(mend_json *json, mend_error *error) {
  if (json->token != MEND_JSON_ERROR) mend_json_next(json);
  return json->token == MEND_JSON_END ? MEND_OK : mend_json_error(json, error);
}

mend_status json_fields_read(mend_str text, json_field *fields, size_t count, mend_error *error) {
  mend_json json;
  const mend_status status = begin_row(&json, text, error);
  if (status != MEND_OK) return status;
  mend__json_members_take(&json, fields, count);
  return end_row(&json, error);
}

mend_status json_fields_read_inside(mend_str text, json_field *fields, size_t count, size_t outer, json_field *inside,
                                    size_t inside_count, mend_error *error) {
  mend_json json;
  const mend_status status = begin_row(&json, text, error);
  if (status != MEND_OK) return status;
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    json_field *field = mend__json_members_find(&json, fields, count);
    if (field == &fields[outer]) {
      forget(inside, inside_count);
      if (mend_json_next(&json) > MEND_JSON_END) field->value = take_value(&json, inside, inside_count);
    } else if (field != NULL) {
      mend_json_value(&json, &field->value); /* an error stays in the scanner */
    } else {
      mend_json_skip(&json);
    }
  }
  return end_row(&json, error);
}

/* ---- The beginning of an object ---------------------------------------------------------------------------- */

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
    json_field *field = mend__json_members_find(&json, fields, count);
    const mend_str value = peek_value(&json);
    if (field != NULL) field->value = value;
    if (json.token <= MEND_JSON_END) return;
  }
}

/* ---- Values ------------------------------------------------------------------------------------------------ */

mend_str json_member(mend_str value, mend_str name) {
  json_field field = {name, {NULL, 0}};
  if (mend__json_is_object(value)) json_fields_read(value, &field, 1, NULL);
  return field.value;
}

bool json_string_is(mend_str value, mend_str text) {
  return mend__json_is_string(value) && mend_str_equal(mend__json_inside(value), text);
}

bool json_string_ends_with(mend_str value, mend_str end) { return mend__ends_with(mend__json_inside(value), end); }

bool json_string_is_any_of(mend_str value, const char *const *texts) {
  for (; *texts != NULL; texts++) {
    if (json_string_is(value, mend_str_from(*texts))) return true;
  }
  return false;
}

bool json_string_begins_with_any_of(mend_str value, const char *const *beginnings) {
  const mend_str inside = mend__json_inside(value);
  for (; *beginnings != NULL; beginnings++) {
    if (mend__begins_with(inside, mend_str_from(*beginnings))) return true;
  }
  return false;
}

uint64_t json_count(mend_str value) {
  uint64_t count = 0;
  return mend__json_is_number(value) && mend_json_uint64(value, &count) == MEND_OK ? count : 0;
}

double json_amount(mend_str value) {
  const double amount = mend__json_is_number(value) ? mend_json_double(value) : 0;
  return amount > 0 ? amount : 0;
}

bool json_items_next_fields(mend__json_items *items, json_field *fields, size_t count, mend_str *ret_element) {
  mend_json *json = &items->json;
  forget(fields, count);
  if (items->ended) return false;
  items->ended = mend_json_next(json) <= MEND_JSON_END || json->token == MEND_JSON_ARRAY_END;
  if (items->ended) return false;
  *ret_element = take_value(json, fields, count);
  items->ended = json->token == MEND_JSON_ERROR;
  return !items->ended;
}

mend_str json_first_text(mend_str content) {
  mend__json_items parts = mend__json_items_of(content);
  mend_str part;
  return mend__json_items_next(&parts, &part) ? json_member(part, MEND_STR("text")) : content;
}

#include "program/base/json_fields.h"

static json_field *find(const mend_json *json, json_field *fields, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const bool may_be = json->escaped || json->slice.len == fields[i].name.len;
    if (may_be && mend_json_is(json, fields[i].name)) return &fields[i];
  }
  return NULL;
}

/* What is read on the way. */
typedef struct tables {
  json_field *fields, *outer, *inside; /* outer: whose members `inside` is of; NULL for none */
  size_t count, inside_count;
} tables;

/* The text from where the value whose first token was just read begins, to its end. */
static mend_str take_value(mend_json *json) {
  const bool is_text = json->token == MEND_JSON_STRING;
  const char *begin = is_text ? json->slice.ptr - 1 : json->slice.ptr;
  mend_json_skip(json);
  return (mend_str){begin, (size_t)(json->text.ptr + json->at - begin)};
}

static void forget(json_field *fields, size_t count) {
  for (size_t i = 0; i < count; i++)
    fields[i].value = (mend_str){NULL, 0};
}

static mend_str read_object(mend_json *json, const tables *of);

static void read_member(mend_json *json, const tables *of) {
  json_field *field = find(json, of->fields, of->count);
  if (field == NULL) {
    mend_json_skip(json);
    return;
  }
  const bool is_outer = field == of->outer;
  if (is_outer) forget(of->inside, of->inside_count);
  if (mend_json_next(json) <= MEND_JSON_END) return;
  const tables inside = {.fields = of->inside, .count = of->inside_count};
  field->value = is_outer && json->token == MEND_JSON_OBJECT ? read_object(json, &inside) : take_value(json);
}

/* After OBJECT, to its end. */
static mend_str read_object(mend_json *json, const tables *of) {
  const char *begin = json->slice.ptr;
  while (mend_json_next(json) == MEND_JSON_KEY)
    read_member(json, of);
  return (mend_str){begin, (size_t)(json->text.ptr + json->at - begin)};
}

static mend_status read_text(mend_str text, const tables *of, mend_error *error) {
  mend_json json;
  mend_json_init(&json, text, MEND_JSON_DEPTH_MAX);
  if (mend_json_next(&json) != MEND_JSON_OBJECT) {
    if (json.token == MEND_JSON_ERROR) return mend_json_error(&json, error);
    return mend_error_set(error, MEND_EINVAL, "not a row: a row is a JSON object");
  }
  read_object(&json, of);
  if (json.token != MEND_JSON_ERROR) mend_json_next(&json);
  return json.token == MEND_JSON_END ? MEND_OK : mend_json_error(&json, error);
}

mend_status json_fields_read(mend_str text, json_field *fields, size_t count, mend_error *error) {
  return read_text(text, &(tables){.fields = fields, .count = count}, error);
}

mend_status json_fields_read_inside(mend_str text, json_field *fields, size_t count, size_t outer, json_field *inside,
                                    size_t inside_count, mend_error *error) {
  return read_text(text, &(tables){fields, &fields[outer], inside, count, inside_count}, error);
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

mend_str json_member(mend_str value, mend_str name) {
  json_field field = {name, {NULL, 0}};
  if (json_is_object(value)) json_fields_read(value, &field, 1, NULL);
  return field.value;
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

bool json_string_ends_with(mend_str value, mend_str end) {
  const mend_str inside = json_string_inside(value);
  return inside.len >= end.len && memcmp(inside.ptr + inside.len - end.len, end.ptr, end.len) == 0;
}

bool json_string_is_any_of(mend_str value, const char *const *texts) {
  for (; *texts != NULL; texts++) {
    if (json_string_is(value, mend_str_from(*texts))) return true;
  }
  return false;
}

bool json_string_begins_with_any_of(mend_str value, const char *const *beginnings) {
  const mend_str inside = json_string_inside(value);
  for (; *beginnings != NULL; beginnings++) {
    const size_t len = strlen(*beginnings);
    if (inside.len >= len && memcmp(inside.ptr, *beginnings, len) == 0) return true;
  }
  return false;
}

uint64_t json_count(mend_str value) {
  uint64_t count = 0;
  return json_is_number(value) && mend_json_uint64(value, &count) == MEND_OK ? count : 0;
}

double json_amount(mend_str value) {
  const double amount = json_is_number(value) ? mend_json_double(value) : 0;
  return amount > 0 ? amount : 0;
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

bool json_elements_next_fields(json_elements *elements, json_field *fields, size_t count, mend_str *ret_element) {
  mend_json *json = &elements->json;
  forget(fields, count);
  if (elements->done) return false;
  elements->done = mend_json_next(json) <= MEND_JSON_END || json->token == MEND_JSON_ARRAY_END;
  if (elements->done) return false;
  const tables of = {.fields = fields, .count = count};
  *ret_element = json->token == MEND_JSON_OBJECT ? read_object(json, &of) : take_value(json);
  elements->done = json->token == MEND_JSON_ERROR;
  return !elements->done;
}

mend_str json_first_text(mend_str content) {
  json_elements parts = json_elements_of(content);
  mend_str part;
  return json_elements_next(&parts, &part) ? json_member(part, MEND_STR("text")) : content;
}

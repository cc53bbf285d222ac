#include "program/fault_server/given.h"

#include "core/nearest.h"

mend_str given_unknown_member(mend_str object, const json_field *fields, size_t count) {
  mend_json json;
  mend_json_init(&json, object, MEND_JSON_DEPTH_MAX);
  mend_json_next(&json);
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    bool is_known = false;
    for (size_t i = 0; i < count; i++)
      is_known |= mend_json_is(&json, fields[i].name);
    if (!is_known) return json.slice;
    mend_json_skip(&json);
  }
  return (mend_str){NULL, 0};
}

/* A mistake, and where it is. */
typedef struct mistake {
  mend_str place;
  mend_error *error;
} mistake;

static mend_status wrong(mistake *found, mend_str place, const char *sentence) {
  found->place = place;
  return mend_error_set(found->error, MEND_EINVAL, "reply: %s", sentence);
}

/* Absent is fine. */
static mend_status check_string(mistake *found, mend_str value, const char *sentence) {
  return value.ptr == NULL || mend__json_is_string(value) ? MEND_OK : wrong(found, value, sentence);
}

static mend_status check_members(mistake *found, mend_str object, const json_field *fields, size_t count) {
  const mend_str unknown = given_unknown_member(object, fields, count);
  if (unknown.ptr == NULL) return MEND_OK;
  mend__nearest search = mend__nearest_to(unknown);
  for (size_t i = 0; i < count; i++)
    mend__nearest_consider(&search, fields[i].name, fields[i].name.ptr);
  found->place = unknown;
  return mend_error_set(found->error, MEND_EINVAL, "reply: unknown member \"%.*s\"%s%s%s", MEND_STR_ARG(unknown),
                        search.answer != NULL ? "; did you mean \"" : "", search.answer != NULL ? search.answer : "",
                        search.answer != NULL ? "\"?" : "");
}

static mend_status check_call(mistake *found, mend_str call) {
  enum { NAME, ARGS, ID, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("name"), JSON_FIELD("args"), JSON_FIELD("id")};
  if (!mend__json_is_object(call)) return wrong(found, call, "tool_calls: expected objects");
  json_fields_read(call, fields, COUNT, NULL);
  mend_status status = check_members(found, call, fields, COUNT);
  if (status == MEND_OK && !mend__json_is_string(fields[NAME].value))
    status = wrong(found, fields[NAME].value.ptr != NULL ? fields[NAME].value : call,
                   "tool_calls: a call needs a \"name\", a string (\"\" for one without)");
  if (status != MEND_OK) return status;
  return check_string(found, fields[ID].value, "tool_calls: expected \"id\" as a string");
}

static mend_status check_texts(mistake *found, mend_str texts) {
  mend__json_items each = mend__json_items_of(texts);
  mend_str text;
  mend_status status = MEND_OK;
  if (texts.ptr != NULL && !mend__json_is_array(texts))
    return wrong(found, texts, "texts: expected an array of strings");
  while (status == MEND_OK && mend__json_items_next(&each, &text))
    status = check_string(found, text, "texts: expected an array of strings");
  return status;
}

static mend_status check_calls(mistake *found, mend_str calls) {
  mend__json_items each = mend__json_items_of(calls);
  mend_str call;
  mend_status status = MEND_OK;
  if (calls.ptr != NULL && !mend__json_is_array(calls))
    return wrong(found, calls, "tool_calls: expected an array of objects");
  while (status == MEND_OK && mend__json_items_next(&each, &call))
    status = check_call(found, call);
  return status;
}

static mend_status check(mistake *found, mend_str given) {
  enum { TEXT, TEXTS, THINKING, CALLS, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("text"), JSON_FIELD("texts"), JSON_FIELD("thinking"),
                              JSON_FIELD("tool_calls")};
  if (!mend__json_is_object(given)) return wrong(found, given, "expected an object");
  json_fields_read(given, fields, COUNT, NULL);
  mend_status status = check_members(found, given, fields, COUNT);
  if (status == MEND_OK) status = check_string(found, fields[TEXT].value, "text: expected a string");
  if (status == MEND_OK) status = check_string(found, fields[THINKING].value, "thinking: expected a string");
  if (status == MEND_OK) status = check_texts(found, fields[TEXTS].value);
  return status == MEND_OK ? check_calls(found, fields[CALLS].value) : status;
}

mend_status given_check(mend_str given, mend_str *ret_place, mend_error *error) {
  mistake found = {.error = error};
  mend_status status = mend_json_check(given, MEND_JSON_DEPTH_MAX, error);
  if (status != MEND_OK) return status;
  status = check(&found, given);
  if (status != MEND_OK) *ret_place = found.place;
  return status;
}

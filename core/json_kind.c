#include "core/json_kind.h"

mend_json_token mend__json_kind(mend_str text) {
  mend_json json;
  mend_json_init(&json, text, 1);
  return mend_json_next(&json);
}

const char *mend__json_kind_name(mend_json_token kind) {
  switch (kind) {
  case MEND_JSON_OBJECT: return "an object";
  case MEND_JSON_ARRAY: return "an array";
  case MEND_JSON_STRING: return "a string";
  case MEND_JSON_NUMBER: return "a number";
  case MEND_JSON_TRUE: return "true";
  case MEND_JSON_FALSE: return "false";
  default: return "null";
  }
}

mend_status mend__json_check_object(mend_str text, const char *what, mend_error *error) {
  mend_error found = MEND_ERROR_INIT;
  if (mend_json_check(text, MEND_JSON_DEPTH_MAX, &found) != MEND_OK) {
    return mend_error_set_at(error, MEND_EINVAL, found.line, found.column, "%s, line %u, column %u: %s", what,
                             found.line, found.column, found.message);
  }
  if (mend__json_kind(text) == MEND_JSON_OBJECT) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL, "%s: expected a JSON object", what);
}

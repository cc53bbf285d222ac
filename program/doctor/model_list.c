#include "program/doctor/model_list.h"

#include "core/text.h"
#include "program/base/json_fields.h"

/* ---- What it is ---- */

static const char *instead_of_json(mend_str text) {
  if (text.len == 0) return "an empty body";
  return text.ptr[0] == '<' ? "an HTML page" : "text that is no JSON";
}

/* OpenAI and Anthropic have the list as "data", Google as "models"; some have nothing around it. */
const char *model_list_instead(mend_str body) {
  enum { DATA, MODELS, FAILURE, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("data"), JSON_FIELD("models"), JSON_FIELD("error")};
  const mend_str text = mend__trim(body);
  if (mend_json_check(text, MEND_JSON_DEPTH, NULL) != MEND_OK) return instead_of_json(text);
  if (mend__json_is_array(text)) return NULL;
  if (!mend__json_is_object(text)) return "JSON that is no list of models";
  json_fields_read(text, fields, COUNT, NULL);
  if (mend__json_is_array(fields[DATA].value) || mend__json_is_array(fields[MODELS].value)) return NULL;
  return fields[FAILURE].value.ptr != NULL ? "an error" : "JSON that is no list of models";
}

/* ---- What is in it ---- */

/* Whether a string is the model's id, as it is or in a path: "models/gemini-2.5-pro". */
static bool names(const mend_json *json, const char *id) {
  const mend_str text = json->slice, end = mend_str_from(id);
  if (!mend__ends_with(text, end)) return false;
  return text.len == end.len || text.ptr[text.len - end.len - 1] == '/';
}

bool model_list_may_have(mend_str body, const char *id) {
  mend_json json;
  bool goes_on = false;
  mend_json_init(&json, body, MEND_JSON_DEPTH);
  for (mend_json_next(&json); json.token > MEND_JSON_END; mend_json_next(&json)) {
    if (json.token == MEND_JSON_STRING && names(&json, id)) return true;
    if (json.token == MEND_JSON_TRUE) goes_on = true;
    if (json.token == MEND_JSON_KEY && mend_json_is(&json, MEND_STR("nextPageToken"))) goes_on = true;
  }
  return goes_on;
}

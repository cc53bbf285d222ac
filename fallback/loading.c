#include "fallback/loading.h"

#include "core/text.h"

const char *mend__token_place(const mend_json *json) {
  const bool is_quoted = json->token == MEND_JSON_STRING || json->token == MEND_JSON_KEY;
  return json->slice.ptr != NULL ? json->slice.ptr - is_quoted : json->text.ptr;
}

mend_status mend__refuse_at(const mend_json *json, const char *place, mend_status status, mend_error *error) {
  mend__error_place(error, (mend_str){json->text.ptr, (size_t)(place - json->text.ptr)});
  return status;
}

mend_status mend__refuse_token(const mend_json *json, mend_status status, mend_error *error) {
  return mend__refuse_at(json, mend__token_place(json), status, error);
}

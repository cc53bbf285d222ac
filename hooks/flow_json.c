/* Texts in the JSON that flows read and write. */
#include "core/json_kind.h"
#include "hooks/flows_internal.h"

mend_json_token mend__json_read_text(mend_json *json, mend__buffer *text) {
  const mend_json_token kind = mend_json_next(json);
  if (kind == MEND_JSON_STRING) {
    mend__buffer_clear(text);
    if (mend__buffer_reserve(text, json->slice.len)) text->len = mend_json_unescape(json->slice, text->data);
  }
  mend_json_skip(json);
  return kind;
}

mend_status mend__call_refuse_redirect(mend_call *call, const char *member, const char *expected,
                                       mend_json_token found) {
  mend_error error = MEND_ERROR_INIT;
  mend_error_set(&error, MEND_EFAILED, "the redirect's %s: expected %s, found %s", member, expected,
                 mend__json_kind_name(found));
  mend_call_fail(call, MEND_STR("bad_redirect"), mend_str_from(error.message));
  return MEND_EFAILED;
}

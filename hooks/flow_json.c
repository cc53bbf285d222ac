/* Texts in the JSON that flows read and write. */
#include "hooks/flows_internal.h"

void mend__json_read_text(mend_json *json, mend__buffer *text) {
  if (mend_json_next(json) == MEND_JSON_STRING) {
    mend__buffer_clear(text);
    if (mend__buffer_reserve(text, json->slice.len)) text->len = mend_json_unescape(json->slice, text->data);
  }
  mend_json_skip(json);
}

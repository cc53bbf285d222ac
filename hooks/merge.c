#include "hooks/hooks_internal.h"

#include <jansson.h>

static json_t *load(mend_str text, const char *what, mend_status *ret_status, mend_error *error) {
  json_error_t failure;
  json_t *value = json_loadb(text.ptr, text.len, 0, &failure);
  if (json_is_object(value)) return value;
  if (value != NULL) {
    json_decref(value);
    *ret_status = mend_error_set(error, MEND_EINVAL, "%s are no object, nothing can be merged", what);
  } else if (json_error_code(&failure) == json_error_out_of_memory) {
    *ret_status = mend_error_set(error, MEND_ENOMEM, "%s: out of memory", what);
  } else {
    *ret_status = mend_error_set(error, MEND_EINVAL, "%s cannot be merged: %s", what, failure.text);
  }
  return NULL;
}

static int append(const char *bytes, size_t len, void *ctx) {
  mend__buffer *buffer = ctx;
  mend__buffer_bytes(buffer, bytes, len);
  return buffer->failed ? -1 : 0;
}

static mend_status merge(json_t *into, json_t *more, mend__buffer *merged, mend_error *error) {
  if (json_object_update(into, more) != 0 || json_dump_callback(into, append, merged, JSON_COMPACT) != 0) {
    return mend_error_set(error, MEND_ENOMEM, "merging the arguments: out of memory");
  }
  return MEND_OK;
}

mend_status mend__merge_args(mend_str args, mend_str more, mend__buffer *merged, mend_error *error) {
  mend_status status = MEND_OK;
  json_t *into = load(args, "the call's arguments", &status, error);
  json_t *over = into != NULL ? load(more, "the redirect's arguments", &status, error) : NULL;
  if (over != NULL) status = merge(into, over, merged, error);
  json_decref(into);
  json_decref(over);
  return status;
}

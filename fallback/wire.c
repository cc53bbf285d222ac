/* What is sent: path, headers, body. */
#include "core/memory.h"
#include "fallback/dialect.h"
#include "fallback/json_fields.h"

void mend__wire_init(mend__wire *wire, const mend_allocator *allocator) {
  *wire = (mend__wire){.header_count = 0};
  mend__buffer_init(&wire->path, allocator);
  mend__buffer_init(&wire->body, allocator);
}

static void wipe(mend__buffer *secret) {
  if (secret->data != NULL) explicit_bzero(secret->data, secret->capacity);
  mend__buffer_free(secret);
}

void mend__wire_free(mend__wire *wire) {
  mend__buffer_free(&wire->path);
  mend__buffer_free(&wire->body);
  for (size_t i = 0; i < wire->header_count; i++)
    wipe(&wire->headers[i].value);
  wire->header_count = 0;
}

void mend__wire_header_add(mend__wire *wire, const char *name, const char *before, const char *value) {
  mend__wire_header *header = &wire->headers[wire->header_count++];
  header->name = name;
  mend__buffer_init(&header->value, wire->body.allocator);
  /* At once: what a buffer outgrows is not wiped. */
  if (!mend__buffer_reserve(&header->value, strlen(before) + strlen(value) + 1)) return;
  mend__buffer_str(&header->value, mend_str_from(before));
  mend__buffer_str(&header->value, mend_str_from(value));
}

/* ---- Putting one JSON object over another ---- */

static bool merge(mend__buffer *json, mend_str below, mend_str above);

/* The value of `key`, which was just read, in another object; also when it is null. */
static mend_str find(mend_str object, const mend_json *key) {
  mend_str found = {NULL, 0}, value;
  mend_json json;
  mend_json_init(&json, object, MEND_JSON_DEPTH_MAX);
  mend_json_next(&json);
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    const bool same = mend_str_equal(json.slice, key->slice);
    if (mend_json_value(&json, &value) == MEND_OK && same) found = value;
  }
  return found;
}

static bool merge_member(mend__buffer *json, mend_str key, mend_str below, mend_str above) {
  if (above.ptr != NULL && above.ptr[0] == 'n') return true;
  mend__json_comma(json);
  mend__buffer_bytes(json, key.ptr - 1, key.len + 2);
  mend__buffer_char(json, ':');
  return merge(json, below, above);
}

/* Goes through both: what only `above` has is added behind. */
static bool merge_members(mend__buffer *json, mend_str object, mend_str other_object, bool is_below) {
  mend_json members;
  mend_str value;
  mend_json_init(&members, object, MEND_JSON_DEPTH_MAX);
  mend_json_next(&members);
  while (mend_json_next(&members) == MEND_JSON_KEY) {
    const mend_str key = members.slice, other = find(other_object, &members);
    if (mend_json_value(&members, &value) != MEND_OK) return false;
    if (is_below && !merge_member(json, key, value, other)) return false;
    if (!is_below && other.ptr == NULL && !merge_member(json, key, other, value)) return false;
  }
  return members.token == MEND_JSON_OBJECT_END;
}

/* False: one of them is deeper than what can be read. */
static bool merge(mend__buffer *json, mend_str below, mend_str above) {
  if (!mend__json_is_object(above) || !mend__json_is_object(below)) {
    mend__buffer_str(json, above.ptr != NULL ? above : below);
    return true;
  }
  mend__buffer_char(json, '{');
  const bool merged = merge_members(json, below, above, true) && merge_members(json, above, below, false);
  mend__buffer_char(json, '}');
  return merged;
}

static mend_status put_over(mend__buffer *body, mend_str extra, mend_error *error) {
  mend__buffer merged;
  if (!mend__json_is_object(extra)) {
    return mend_error_set(error, MEND_EINVAL, "extra is \"%.*s\", expected a JSON object", MEND_STR_ARG(extra));
  }
  mend__buffer_init(&merged, body->allocator);
  if (!merge(&merged, mend__buffer_text(body), extra)) {
    mend__buffer_free(&merged);
    return mend_error_set(error, MEND_EINVAL, "extra cannot be put over a request that is nested so deeply");
  }
  mend__buffer_free(body);
  *body = merged;
  return MEND_OK;
}

static bool any_failed(const mend__wire *wire) {
  for (size_t i = 0; i < wire->header_count; i++) {
    if (wire->headers[i].value.failed) return true;
  }
  return wire->body.failed || wire->path.failed;
}

mend_status mend__wire_finish(mend__wire *wire, mend_str extra, mend_error *error) {
  mend_status status = MEND_OK;
  if (!any_failed(wire) && extra.ptr != NULL) status = put_over(&wire->body, extra, error);
  if (status != MEND_OK) return status;
  return any_failed(wire) ? mend_error_set(error, MEND_ENOMEM, "writing the request: out of memory") : MEND_OK;
}

#include "core/memory.h"
#include "core/option_internal.h"
#include "core/strmap.h"
#include "mend/json.h"

#include <math.h>

/* The texts walked here are well-formed JSON, so every open array and object has its end. */

/* A KEY's or STRING's text with its quotes. */
static mend_str with_quotes(const mend_json *json) { return (mend_str){json->slice.ptr - 1, json->slice.len + 2}; }

/* What begins at the token at hand: a string with its quotes, an array or object as a whole. */
static mend_str text_at(mend_json *json) {
  if (json->token == MEND_JSON_STRING) return with_quotes(json);
  if (json->token != MEND_JSON_OBJECT && json->token != MEND_JSON_ARRAY) return json->slice;
  const char *start = json->slice.ptr;
  mend_json_skip(json);
  return (mend_str){start, (size_t)(json->text.ptr + json->at - start)};
}

static mend__option_fault refuse(mend_json *json, const char *problem) {
  return mend__option_refuse(text_at(json), problem);
}

static mend__option_fault check_name(mend_json *json) {
  if (json->token != MEND_JSON_STRING) return refuse(json, "not a string");
  return json->slice.len != 0 ? MEND__OPTION_FINE : refuse(json, "empty");
}

static mend__option_fault check_names(mend_json *json) {
  if (json->token != MEND_JSON_ARRAY) return refuse(json, "not an array");
  mend__option_fault fault = MEND__OPTION_FINE;
  while (fault.status == MEND_OK && mend_json_next(json) != MEND_JSON_ARRAY_END)
    fault = check_name(json);
  return fault;
}

static mend__option_fault check_seconds(mend_json *json) {
  if (json->token != MEND_JSON_NUMBER) return refuse(json, "not a number");
  const double seconds = mend_json_double(json->slice);
  return isfinite(seconds) && seconds > 0 ? MEND__OPTION_FINE : refuse(json, "out of range");
}

static mend__option_fault check_count(mend_json *json) {
  if (json->token != MEND_JSON_NUMBER) return refuse(json, "not a number");
  uint64_t count;
  const mend_status status = mend_json_uint64(json->slice, &count);
  if (status == MEND_EINVAL) return refuse(json, "not an integer");
  return status == MEND_OK && count > 0 ? MEND__OPTION_FINE : refuse(json, "out of range");
}

/* Keys are compared unescaped: their copies go, one after the other, to `room`. */
static mend__option_fault check_key(const mend_json *json, mend__strmap *seen, char **room) {
  if (json->slice.len == 0) return mend__option_refuse(with_quotes(json), "empty");
  const mend_str key = {*room, mend_json_unescape(json->slice, *room)};
  *room += key.len;
  switch (mend__strmap_put(seen, key, *room)) {
  case MEND_OK: return MEND__OPTION_FINE;
  case MEND_EEXIST: return mend__option_refuse(with_quotes(json), "there twice");
  default: return (mend__option_fault){.status = MEND_ENOMEM};
  }
}

static mend__option_fault check_members(mend_json *json, const mend_allocator *allocator,
                                        mend__option_fault (*check_value)(mend_json *json)) {
  mend__strmap seen;
  mend__strmap_init(&seen, allocator);
  char *keys = mend__alloc(allocator, json->text.len);
  char *room = keys;
  mend__option_fault fault = {.status = keys != NULL ? MEND_OK : MEND_ENOMEM};
  while (fault.status == MEND_OK && mend_json_next(json) != MEND_JSON_OBJECT_END) {
    fault = check_key(json, &seen, &room);
    if (fault.status != MEND_OK) break;
    mend_json_next(json);
    fault = check_value(json);
  }
  mend__free(allocator, keys);
  mend__strmap_free(&seen);
  return fault;
}

mend__option_fault mend__option_check_shape(const mend__option *option, mend_str text,
                                            const mend_allocator *allocator) {
  mend_json json;
  mend_json_init(&json, text, MEND_JSON_DEPTH);
  const bool object = mend_json_next(&json) == MEND_JSON_OBJECT;
  switch (option->type) {
  case MEND__OPTION_LIMITS:
    return object ? check_members(&json, allocator, check_seconds) : refuse(&json, "not an object");
  case MEND__OPTION_COUNTS:
    return object ? check_members(&json, allocator, check_count) : refuse(&json, "not an object");
  case MEND__OPTION_MASKS:
    if (object) return check_members(&json, allocator, check_names);
    return json.token == MEND_JSON_ARRAY ? check_names(&json) : refuse(&json, "neither");
  default: return check_names(&json);
  }
}

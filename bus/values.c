#include "bus/values_internal.h"

#include "core/json_kind.h"
#include "core/memory.h"
#include "core/text.h"
#include "mend/events.h"

/* How much of a name or of a wrong value a sentence shows, in bytes. */
#define SHOWN_MAX 40

enum { HEX_BYTES_MAX = 16 };

static mend_str shown(mend_str text) { return (mend_str){text.ptr, mend__utf8_cut(text, SHOWN_MAX)}; }

/* ---- Refusing ---- */

mend_status mend__value_place(const mend__values *values, const char *at) {
  const mend_str text = values->json.text;
  mend__error_place(values->error, (mend_str){text.ptr, (size_t)(at - text.ptr)});
  return MEND_EINVAL;
}

/* bytes: expected an integer, not "many" */
static mend_status refuse_strictly(const mend__values *values, mend_str name, const char *expected) {
  const mend_json *json = &values->json;
  const bool is_string = json->token == MEND_JSON_STRING;
  const bool as_written = is_string || json->token == MEND_JSON_NUMBER;
  const char *quote = is_string ? "\"" : "";
  const mend_str got = as_written ? shown(json->slice) : mend_str_from(mend__json_kind_name(json->token));
  mend_error_set(values->error, MEND_EINVAL, "%.*s: expected %s, not %s%.*s%s", MEND_STR_ARG(name), expected, quote,
                 MEND_STR_ARG(got), quote);
  return mend__value_place(values, json->slice.ptr - is_string);
}

mend_status mend__value_refuse(mend__values *values, mend_str name, const char *expected) {
  const mend_json_token token = values->json.token;
  if (token == MEND_JSON_ERROR || token == MEND_JSON_NULL) return MEND_OK;
  if (!values->lenient) return refuse_strictly(values, name, expected);
  values->ignored++;
  mend_json_skip(&values->json);
  return MEND_OK;
}

mend_status mend__value_broken(const mend__values *values, mend_str name) {
  mend_error broken;
  mend_json_error(&values->json, &broken);
  const mend_str member = shown(name);
  return mend_error_set_at(values->error, MEND_ESYNTAX, broken.line, broken.column, "%.*s: %s", MEND_STR_ARG(member),
                           broken.message);
}

/* ---- Reading ---- */

mend_str mend__value_text(mend__values *values) {
  const mend_str slice = values->json.slice;
  if (!values->json.escaped) return slice;
  mend__buffer *scratch = values->scratch;
  const mend_str text = {scratch->data + scratch->len, mend_json_unescape(slice, scratch->data + scratch->len)};
  scratch->len += text.len;
  return text;
}

mend_status mend__value_string(mend__values *values, mend_str name, mend_str *ret_string) {
  if (mend_json_next(&values->json) != MEND_JSON_STRING) return mend__value_refuse(values, name, "a string");
  *ret_string = mend__value_text(values);
  return MEND_OK;
}

mend_status mend__value_id(mend__values *values, mend_str name, mend_str *ret_id) {
  const mend_json_token token = mend_json_next(&values->json);
  mend_str id;
  if (token == MEND_JSON_STRING) {
    id = mend__value_text(values);
  } else if (token == MEND_JSON_NUMBER) {
    id = values->json.slice;
  } else {
    return mend__value_refuse(values, name, "a string or a number");
  }
  *ret_id = id.len > 0 ? id : (mend_str){NULL, 0};
  return MEND_OK;
}

mend_status mend__value_u64(mend__values *values, mend_str name, uint64_t *ret_value) {
  const mend_json_token token = mend_json_next(&values->json);
  if (token == MEND_JSON_NUMBER && mend_json_uint64(values->json.slice, ret_value) == MEND_OK) return MEND_OK;
  return mend__value_refuse(values, name, "an integer from 0 to 2^64 - 1");
}

mend_status mend__value_f64(mend__values *values, mend_str name, double *ret_value) {
  if (mend_json_next(&values->json) != MEND_JSON_NUMBER) return mend__value_refuse(values, name, "a number");
  *ret_value = mend_json_double(values->json.slice);
  return MEND_OK;
}

mend_status mend__value_ratio(mend__values *values, mend_str name, double *ret_value) {
  const mend_json_token token = mend_json_next(&values->json);
  const double value = token == MEND_JSON_NUMBER ? mend_json_double(values->json.slice) : MEND_NAN;
  if (!(value >= 0 && value <= 1)) return mend__value_refuse(values, name, "a number from 0 to 1");
  *ret_value = value;
  return MEND_OK;
}

mend_status mend__value_flag(mend__values *values, mend_str name, bool *ret_value) {
  const mend_json_token token = mend_json_next(&values->json);
  if (token != MEND_JSON_TRUE && token != MEND_JSON_FALSE) return mend__value_refuse(values, name, "true or false");
  *ret_value = token == MEND_JSON_TRUE;
  return MEND_OK;
}

mend_status mend__value_hash(mend__values *values, mend_str name, mend_hash *ret_value) {
  const mend_json_token token = mend_json_next(&values->json);
  if (token == MEND_JSON_STRING && mend_hash_parse(values->json.slice, ret_value) == MEND_OK) return MEND_OK;
  return mend__value_refuse(values, name, "32 hexadecimal digits");
}

static bool read_bytes(mend_str digits, uint8_t *ret_bytes, size_t len) {
  if (digits.len != 2 * len) return false;
  for (size_t i = 0; i < len; i++) {
    const int high = mend__hex_value(digits.ptr[2 * i]), low = mend__hex_value(digits.ptr[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    ret_bytes[i] = (uint8_t)(high << 4 | low);
  }
  return true;
}

mend_status mend__value_hex(mend__values *values, mend_str name, uint8_t *ret_bytes, size_t len) {
  uint8_t bytes[HEX_BYTES_MAX];
  if (mend_json_next(&values->json) != MEND_JSON_STRING || !read_bytes(values->json.slice, bytes, len)) {
    return mend__value_refuse(values, name, len == 8 ? "16 hexadecimal digits" : "32 hexadecimal digits");
  }
  memcpy(ret_bytes, bytes, len);
  return MEND_OK;
}

mend_status mend__value_time(mend__values *values, mend_str name, uint64_t *ret_ns, bool *ret_given) {
  const mend_json_token token = mend_json_next(&values->json);
  if (token != MEND_JSON_NUMBER || mend_json_seconds_ns(values->json.slice, ret_ns) != MEND_OK) {
    return mend__value_refuse(values, name, "seconds since 1970");
  }
  *ret_given = true;
  return MEND_OK;
}

/* Private to the room: the values of an object's members, read one by one. Each function reads the value of the KEY
 * that the scanner is at. One of another type is refused with a sentence that names the member, what was expected and
 * the place or, when `lenient`, counted and not kept. null is as good as no value. What is no JSON stays in the
 * scanner. */
#ifndef MEND_BUS_VALUES_INTERNAL_H
#define MEND_BUS_VALUES_INTERNAL_H

#include "core/buffer.h"
#include "mend/json.h"

typedef struct mend__values {
  mend_json json;
  mend__buffer *scratch; /* for strings with escapes; has room for all of them */
  mend_error *error;
  bool lenient;
  uint64_t ignored; /* how many were of another type */
} mend__values;

mend_status mend__value_string(mend__values *values, mend_str name, mend_str *ret_string);
/* A string or a number; an empty one is absent. */
mend_status mend__value_id(mend__values *values, mend_str name, mend_str *ret_id);
mend_status mend__value_u64(mend__values *values, mend_str name, uint64_t *ret_value);
mend_status mend__value_f64(mend__values *values, mend_str name, double *ret_value);
/* From 0 to 1. */
mend_status mend__value_ratio(mend__values *values, mend_str name, double *ret_value);
mend_status mend__value_flag(mend__values *values, mend_str name, bool *ret_value);
mend_status mend__value_hash(mend__values *values, mend_str name, mend_hash *ret_value);
/* Hexadecimal digits for 8 or 16 bytes. */
mend_status mend__value_hex(mend__values *values, mend_str name, uint8_t *ret_bytes, size_t len);
/* Seconds since 1970; *ret_given when there were. */
mend_status mend__value_time(mend__values *values, mend_str name, uint64_t *ret_ns, bool *ret_given);

/* The KEY or STRING just read, unescaped. */
mend_str mend__value_text(mend__values *values);
/* The value just begun is not what `name` takes. */
mend_status mend__value_refuse(mend__values *values, mend_str name, const char *expected);
/* The value of `name` is no JSON: MEND_ESYNTAX. */
mend_status mend__value_broken(const mend__values *values, mend_str name);
/* Adds the place to a sentence that was written for MEND_EINVAL, which is returned. */
mend_status mend__value_place(const mend__values *values, const char *at);

#endif

#include "core/memory.h"
#include "core/option_internal.h"
#include "mend/json.h"

#include <math.h>

mend__option_value mend__option_load(const mend__option *option, const mend_options *options) {
  mend__option_value value = {.text = {NULL, 0}};
  memcpy(&value, (const char *)options + option->offset, option->size);
  return value;
}

void mend__option_store(const mend__option *option, mend_options *options, mend__option_value value) {
  memcpy((char *)options + option->offset, &value, option->size);
}

mend__option_fault mend__option_refuse(mend_str given, const char *problem) {
  return (mend__option_fault){MEND_EINVAL, given, problem};
}

/* ---- Ranges ---- */

static size_t choice_count(const mend__option *option) {
  size_t count = 0;
  while (option->choices[count] != NULL)
    count++;
  return count;
}

static bool in_range(const mend__option *option, mend__option_value value) {
  switch (option->type) {
  case MEND__OPTION_COUNT: return value.count >= option->min && value.count <= option->max;
  case MEND__OPTION_SECONDS: return isfinite(value.number) && value.number > 0;
  case MEND__OPTION_RATIO: return value.number >= 0 && value.number <= 1; /* no NaN is */
  case MEND__OPTION_MONEY: return isfinite(value.number) && value.number >= 0;
  case MEND__OPTION_CHOICE: return value.choice < choice_count(option);
  case MEND__OPTION_SWITCH:
  case MEND__OPTION_AMOUNT:
  case MEND__OPTION_NAMES:
  case MEND__OPTION_LIMITS:
  case MEND__OPTION_MASKS:
  case MEND__OPTION_COUNTS: return true;
  }
  return false;
}

mend__option_fault mend__option_check_range(const mend__option *option, mend__option_value value, mend_str given) {
  return in_range(option, value) ? MEND__OPTION_FINE : mend__option_refuse(given, "out of range");
}

/* ---- From JSON ---- */

/* An integer may be written with a fraction or exponent as long as it is one: 3, 3.0 and 3e0 are the same. */
static mend__option_fault parse_integer(const mend__option *option, mend_str number, uint64_t *ret_value) {
  mend_status status = mend_json_uint64(number, ret_value);
  if (status == MEND_EINVAL) {
    const double value = mend_json_double(number);
    if (isfinite(value) && value != floor(value)) return mend__option_refuse(number, "not an integer");
    status = value >= 0 && value < 0x1p64 ? MEND_OK : MEND_ELIMIT;
    if (status == MEND_OK) *ret_value = (uint64_t)value;
  }
  if (status != MEND_OK || *ret_value < option->min || *ret_value > option->max) {
    return mend__option_refuse(number, "out of range");
  }
  return MEND__OPTION_FINE;
}

static mend__option_fault parse_count(const mend__option *option, mend_str number, mend__option_value *ret_value) {
  uint64_t integer = 0;
  const mend__option_fault fault = parse_integer(option, number, &integer);
  if (fault.status == MEND_OK) ret_value->count = (uint32_t)integer; /* max fits */
  return fault;
}

static mend__option_fault parse_number(const mend__option *option, mend_str number, mend__option_value *ret_value) {
  ret_value->number = mend_json_double(number);
  return mend__option_check_range(option, *ret_value, number);
}

static mend__option_fault parse_choice(const mend__option *option, const mend_json *json, mend_str given,
                                       mend__option_value *ret_value) {
  for (unsigned i = 0; option->choices[i] != NULL; i++) {
    const mend_str quoted = mend_str_from(option->choices[i]);
    if (!mend_json_is(json, (mend_str){quoted.ptr + 1, quoted.len - 2})) continue;
    ret_value->choice = i;
    return MEND__OPTION_FINE;
  }
  return mend__option_refuse(given, "none of the choices");
}

mend__option_fault mend__option_parse(const mend__option *option, mend_str text, mend__option_value *ret_value) {
  mend_json json;
  mend_json_init(&json, text, MEND_JSON_DEPTH);
  const mend_json_token token = mend_json_next(&json);
  const bool number = token == MEND_JSON_NUMBER;
  switch (option->type) {
  case MEND__OPTION_SWITCH:
    if (token != MEND_JSON_TRUE && token != MEND_JSON_FALSE) return mend__option_refuse(text, "not a switch");
    ret_value->on = token == MEND_JSON_TRUE;
    break;
  case MEND__OPTION_COUNT:
    return number ? parse_count(option, json.slice, ret_value) : mend__option_refuse(text, "not a number");
  case MEND__OPTION_AMOUNT:
    return number ? parse_integer(option, json.slice, &ret_value->amount) : mend__option_refuse(text, "not a number");
  case MEND__OPTION_SECONDS:
  case MEND__OPTION_RATIO:
  case MEND__OPTION_MONEY:
    return number ? parse_number(option, json.slice, ret_value) : mend__option_refuse(text, "not a number");
  case MEND__OPTION_CHOICE:
    return token == MEND_JSON_STRING ? parse_choice(option, &json, text, ret_value)
                                     : mend__option_refuse(text, "not a string");
  case MEND__OPTION_NAMES:
  case MEND__OPTION_LIMITS:
  case MEND__OPTION_MASKS:
  case MEND__OPTION_COUNTS: ret_value->text = text; break;
  }
  return MEND__OPTION_FINE;
}

/* ---- Sentences ---- */

enum { SHOWN_MAX = 60 };

mend_status mend__option_report(const mend__option *option, const char *called, mend__option_fault fault,
                                mend_error *error) {
  if (fault.status == MEND_ENOMEM) return mend_error_set(error, MEND_ENOMEM, "%s: out of memory", called);
  const mend_str shown = {fault.given.ptr, mend__utf8_cut(fault.given, SHOWN_MAX)};
  return mend_error_set(error, fault.status, "%s: %.*s%s is %s, expected %s", called, MEND_STR_ARG(shown),
                        shown.len < fault.given.len ? "..." : "", fault.problem, option->expected);
}

#include "core/double_text.h"
#include "core/option_internal.h"
#include "core/options_size.h"
#include "mend/json.h"

#include <inttypes.h>

/* ---- Numbers in a C struct ---- */

static double number_of(const mend__option *option, mend__option_value value) {
  switch (option->type) {
  case MEND__OPTION_COUNT: return value.count;
  case MEND__OPTION_CHOICE: return value.choice;
  default: return value.number;
  }
}

static mend_status check_number(const mend__option *option, const mend_options *options, mend_error *error) {
  const mend__option_value value = mend__option_load(option, options);
  mend__option_fault fault = mend__option_check_range(option, value, (mend_str){NULL, 0});
  if (fault.status == MEND_OK) return MEND_OK;
  char shown[MEND__DOUBLE_TEXT_SIZE];
  fault.given = (mend_str){shown, mend__double_text(number_of(option, value), shown)};
  return mend__option_report(option, option->name, fault, error);
}

/* ---- Texts in a C struct ---- */

static mend_status check_text(const mend__option *option, const mend_options *options, mend_error *error) {
  const mend_str text = mend__option_load(option, options).text;
  if (text.len == 0) return MEND_OK;
  mend__option_fault fault = mend__option_refuse(text, "not well-formed JSON");
  if (mend_json_check(text, MEND_JSON_DEPTH, NULL) == MEND_OK) fault = mend__option_check_shape(option, text, NULL);
  return fault.status == MEND_OK ? MEND_OK : mend__option_report(option, option->name, fault, error);
}

/* ---- The whole ---- */

static mend_status check_rules(const mend_options *options, mend_error *error) {
  const uint32_t k = options->loop.k, n = options->loop.n;
  if (n > k) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL,
                        "loop.n: %" PRIu32 " must be greater than loop.k (%" PRIu32
                        "): a count can never exceed k inside a window of %s calls",
                        n, k, n == k ? "k" : "fewer than k");
}

mend_status mend_options_check(const mend_options *given, mend_error *error) {
  mend_options options = MEND_OPTIONS_INIT;
  if (given == NULL) return mend_error_set(error, MEND_EINVAL, "mend_options: NULL, expected a pointer to options");
  mend_status status = mend__options_take_tree(&options, given, error);
  for (size_t i = 0; i < MEND__OPTIONS_COUNT && status == MEND_OK; i++) {
    const mend__option *option = &mend__options[i];
    if (option->type == MEND__OPTION_SWITCH) continue;
    status = mend__option_is_text(option) ? check_text(option, &options, error) : check_number(option, &options, error);
  }
  return status == MEND_OK ? check_rules(&options, error) : status;
}

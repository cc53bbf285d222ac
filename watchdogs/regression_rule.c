#include "watchdogs/regression_rule.h"

#include "core/memory.h"
#include "core/options_size.h"

static mend_status take_options(mend_options *options, const mend_regression_watchdog_options *given,
                                mend_error *error) {
  const mend_status status = mend__options_take(&options->regression, given, "mend_regression_watchdog_options", error);
  return status == MEND_OK ? mend_options_check(options, error) : status;
}

mend_status mend__regression_watchdog_new(const mend_watchdog_vtable *vtable,
                                          const mend_regression_watchdog_options *given,
                                          const mend_allocator *allocator, mend_watchdog **ret_watchdog,
                                          mend_error *error) {
  mend_options options = MEND_OPTIONS_INIT;
  mend_status status = take_options(&options, given, error);
  if (status != MEND_OK) return status;
  mend__regression_watchdog *watchdog = mend__alloc_zero(allocator, sizeof *watchdog);
  if (watchdog == NULL) return mend_error_set(error, MEND_ENOMEM, "watchdog %s: out of memory", vtable->name);
  watchdog->allocator = allocator;
  watchdog->n = options.regression.window_n;
  watchdog->drop = options.regression.drop;
  status = mend__watchdog_new_counting(vtable, watchdog, &watchdog->counters, allocator, ret_watchdog, error);
  if (status != MEND_OK) mend__regression_watchdog_destroy(watchdog);
  return status;
}

void mend__regression_watchdog_destroy(void *ctx) {
  mend__regression_watchdog *watchdog = ctx;
  mend__free(watchdog->allocator, watchdog);
}

bool mend__reading_is_usable(mend__regression_watchdog *watchdog, const mend_confidence_event *reading) {
  if (reading->confidence >= 0 && reading->confidence <= 1) return true;
  mend__count(&watchdog->counters.ignored);
  return false;
}

double mend__fall_severity(double by, double drop) {
  static const double LEAST = 0.001;
  return by / (drop > LEAST ? drop : LEAST);
}

static double rounded(double value, double parts) { return (double)(int64_t)(value * parts + 0.5) / parts; }

void mend__fall_write_number(mend__buffer *text, const char *key, double value) {
  mend__buffer_str(text, mend_str_from(key));
  mend__buffer_f64(text, rounded(value, 1e12));
}

void mend__fall_write(mend__fall fall, mend__buffer *text) {
  mend__buffer_f64(text, rounded(fall.from, 1000));
  mend__buffer_str(text, MEND_STR(" to "));
  mend__buffer_f64(text, rounded(fall.to, 1000));
}

mend_str mend__fall_steer(void) { return MEND_STR("go back to what was last certain and check it before going on"); }

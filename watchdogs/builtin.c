/* The built-in watchdogs, as a tree of options wants them: for a bus, and for a healing scope. */
#include "watchdogs/room.h"

static mend_status new_stall(const mend_options *options, const mend_allocator *allocator, mend_watchdog **ret_watchdog,
                             mend_error *error) {
  return mend_stall_watchdog_new(&options->stall, allocator, ret_watchdog, error);
}

static mend_status new_loop(const mend_options *options, const mend_allocator *allocator, mend_watchdog **ret_watchdog,
                            mend_error *error) {
  return mend_loop_watchdog_new(&options->loop, allocator, ret_watchdog, error);
}

static mend_status new_regression(const mend_options *options, const mend_allocator *allocator,
                                  mend_watchdog **ret_watchdog, mend_error *error) {
  return mend_regression_watchdog_new(&options->regression, allocator, ret_watchdog, error);
}

mend_status mend__builtins_new(const mend_options *options, const mend_allocator *allocator,
                               mend_watchdog *ret_watchdogs[MEND__BUILTIN_MAX], size_t *ret_count, mend_error *error) {
  static mend_status (*const makers[MEND__BUILTIN_MAX])(const mend_options *, const mend_allocator *, mend_watchdog **,
                                                        mend_error *) = {new_stall, new_loop, new_regression};
  const bool enabled[MEND__BUILTIN_MAX] = {options->stall.enable, options->loop.enable, options->regression.enable};
  mend_status status = mend_options_check(options, error);
  if (status != MEND_OK) return status;
  if (options->mode != MEND_WATCH_MODE_SEED) {
    return mend_error_set(error, MEND_ENOTSUP,
                          "mode: evidence is not available in mend " MEND_VERSION ", expected seed");
  }
  size_t count = 0;
  for (size_t i = 0; i < MEND__BUILTIN_MAX && status == MEND_OK; i++) {
    if (!enabled[i]) continue;
    status = makers[i](options, allocator, &ret_watchdogs[count], error);
    count += status == MEND_OK;
  }
  if (status == MEND_OK) {
    *ret_count = count;
    return MEND_OK;
  }
  while (count > 0)
    mend_watchdog_release(ret_watchdogs[--count]);
  return status;
}

/* 83 of 100 quiet series of 100 readings raise a false alarm with 5 at noise 0.10, 6 of 100 with 10. */
const char *mend__watch_warning(const mend_options *options) {
  if (!options->regression.enable || options->regression.window_n >= 6) return NULL;
  return "regression.window_n is below 6: with noisy readings it often raises false alarms";
}

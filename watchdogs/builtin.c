/* The built-in watchdogs, as a tree of options wants them: for a bus, and for a healing scope. */
#include "core/given.h"
#include "core/options_size.h"
#include "watchdogs/room.h"
#include "watchdogs/watchdogs_internal.h"

typedef mend_status maker(const mend_options *options, const mend_allocator *allocator, mend_watchdog **ret_watchdog,
                          mend_error *error);

#define MAKER(name, group, make)                                                                                       \
  static mend_status name(const mend_options *options, const mend_allocator *allocator, mend_watchdog **ret_watchdog,  \
                          mend_error *error) {                                                                         \
    return make(&options->group, allocator, ret_watchdog, error);                                                      \
  }
MAKER(seed_stall, stall, mend_stall_watchdog_new)
MAKER(seed_loop, loop, mend_loop_watchdog_new)
MAKER(seed_regression, regression, mend_regression_watchdog_new)
MAKER(evidence_stall, stall, mend_evidence_stall_watchdog_new)
MAKER(evidence_loop, loop, mend_evidence_loop_watchdog_new)
MAKER(evidence_regression, regression, mend_evidence_regression_watchdog_new)
MAKER(evidence_budget, budget, mend_budget_watchdog_new)

mend_status mend__builtins_new(const mend_options *options, const mend_allocator *allocator,
                               mend_watchdog *ret_watchdogs[MEND__BUILTIN_MAX], size_t *ret_count, mend_error *error) {
  static maker *const seed[MEND__BUILTIN_MAX] = {seed_stall, seed_loop, seed_regression, NULL};
  static maker *const evidence[MEND__BUILTIN_MAX] = {evidence_stall, evidence_loop, evidence_regression,
                                                     evidence_budget};
  const bool enabled[MEND__BUILTIN_MAX] = {options->stall.enable, options->loop.enable, options->regression.enable,
                                           options->budget.enable};
  mend_status status = mend_options_check(options, error);
  if (status != MEND_OK) return status;
  maker *const *makers = options->mode == MEND_WATCH_MODE_SEED ? seed : evidence;
  size_t count = 0;
  for (size_t i = 0; i < MEND__BUILTIN_MAX && status == MEND_OK; i++) {
    if (!enabled[i] || makers[i] == NULL) continue;
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

/* A limit of the budget that nobody watches, for the mode does not or nobody said so; NULL: there is none. */
static const char *idle_budget(const mend_options *options) {
  const mend_budget_watchdog_options *budget = &options->budget;
  const bool seed = options->mode == MEND_WATCH_MODE_SEED;
  if (budget->enable && !seed) return NULL;
#define IDLE(name)                                                                                                     \
  (seed ? "budget." name " has no effect in mode seed: nobody watches what the run spends"                             \
        : "budget." name " has no effect without budget.enable=true")
  if (budget->enable) return IDLE("enable");
  if (budget->calls > 0) return IDLE("calls");
  if (budget->tokens > 0) return IDLE("tokens");
  if (budget->cost_usd > 0) return IDLE("cost_usd");
  if (budget->time_s > 0) return IDLE("time_s");
  return budget->tool_calls.len > 2 ? IDLE("tool_calls") : NULL;
#undef IDLE
}

/* 83 of 100 quiet series of 100 readings raise a false alarm with 5 at noise 0.10, 6 of 100 with 10. */
size_t mend__watch_warnings(const mend_options *options, const char *ret_warnings[MEND__WATCH_WARNINGS_MAX]) {
  size_t count = 0;
  if (options->regression.enable && options->regression.window_n < 6) {
    ret_warnings[count++] = "regression.window_n is below 6: with noisy readings it often raises false alarms";
  }
  const char *idle = idle_budget(options);
  if (idle != NULL) ret_warnings[count++] = idle;
  if (options->mode == MEND_WATCH_MODE_SEED && options->stall.tool_timeout_s.len > 2) {
    ret_warnings[count++] =
        "stall.tool_timeout_s has no effect in mode seed: stall.timeout_s is the limit of every tool";
  }
  return count;
}

/* ---- Onto a bus ---- */

/* All of them or none. */
static mend_status watch_with(mend__hub *hub, mend_watchdog *const *made, size_t count, mend_error *error) {
  for (size_t i = 0; i < count; i++) {
    const mend_status status = mend_watchdog_watch_bus(made[i], hub->bus);
    if (status == MEND_OK) continue;
    for (size_t before = i; before-- > 0;)
      mend__hub_remove_watchdog(hub, made[before]);
    return mend_error_set(error, status, "watching the bus with %s: %s", made[i]->name, mend_status_message(status));
  }
  return MEND_OK;
}

mend_status mend_bus_watch(mend_bus *bus, const mend_options *given, mend_error *error) {
  if (bus == NULL) return mend__refuse_null(error, "the bus");
  mend_options options = MEND_OPTIONS_INIT;
  mend_watchdog *made[MEND__BUILTIN_MAX];
  size_t count = 0;
  mend__hub *hub;
  mend_status status = mend__options_take_tree(&options, given, error);
  if (status == MEND_OK) status = mend__builtins_new(&options, mend_bus_allocator(bus), made, &count, error);
  if (status != MEND_OK) return status;
  status = mend__hub_of(bus, &hub);
  if (status == MEND_OK) {
    status = watch_with(hub, made, count, error);
  } else {
    mend_error_set(error, status, "watching the bus: %s", mend_status_message(status));
  }
  for (size_t i = 0; i < count; i++)
    mend_watchdog_release(made[i]);
  if (status != MEND_OK) return status;
  mend__hub_set_poll_interval(hub, options.poll_interval_s);
  mend__hub_set_ladder(hub, &options);
  const char *warnings[MEND__WATCH_WARNINGS_MAX];
  const size_t warning_count = mend__watch_warnings(&options, warnings);
  for (size_t i = 0; i < warning_count; i++)
    mend__bus_log(bus, MEND_LOG_WARNING, warnings[i]);
  return MEND_OK;
}

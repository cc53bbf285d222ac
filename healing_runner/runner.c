#include "core/options_size.h"
#include "core/seconds.h"
#include "healing_runner/healing_internal.h"
#include "watchdogs/room.h"

#include <math.h>

/* ---- What may be asked for ---- */

static mend_status take_options(mend_healing_options *ret_options, mend_options *ret_config,
                                const mend_healing_options *given, mend_error *error) {
  *ret_options = (mend_healing_options)MEND_HEALING_OPTIONS_INIT;
  *ret_config = (mend_options)MEND_OPTIONS_INIT;
  mend_status status = mend__options_take(ret_options, given, "mend_healing_options", error);
  if (status == MEND_OK) status = mend__options_take_tree(ret_config, ret_options->config, error);
  if (status != MEND_OK) return status;
  if (!(ret_options->exit_grace_s >= 0) || isinf(ret_options->exit_grace_s)) {
    return mend__options_refuse_number("mend_healing_options.exit_grace_s", ret_options->exit_grace_s, "seconds >= 0",
                                       error);
  }
  if (ret_options->watchdog_count > 0 && ret_options->watchdogs == NULL) {
    return mend_error_set(error, MEND_EINVAL,
                          "mend_healing_options.watchdogs: NULL, expected watchdog_count (%zu) of them",
                          ret_options->watchdog_count);
  }
  return MEND_OK;
}

/* ---- Its watchdogs ---- */

static bool has_watchdog(const mend_healing_runner *runner, const char *name) {
  for (size_t i = 0; i < runner->watchdog_count; i++) {
    if (strcmp(mend_watchdog_name(runner->watchdogs[i]), name) == 0) return true;
  }
  return false;
}

/* Two of one name could not be told apart in what they find. */
static mend_status add_watchdog(mend_healing_runner *runner, mend_watchdog *watchdog, mend_error *error) {
  const char *name = mend_watchdog_name(watchdog);
  if (has_watchdog(runner, name)) {
    return mend_error_set(error, MEND_EEXIST, "mend_healing_options.watchdogs: there is a watchdog called %s already",
                          name);
  }
  runner->watchdogs[runner->watchdog_count++] = mend_watchdog_retain(watchdog);
  return MEND_OK;
}

static mend_status make_watchdogs(mend_healing_runner *runner, const mend_healing_options *options, mend_error *error) {
  const size_t most = MEND__BUILTIN_MAX + options->watchdog_count;
  runner->watchdogs = mend__alloc_zero(runner->allocator, most * sizeof *runner->watchdogs);
  if (runner->watchdogs == NULL) return mend_error_set(error, MEND_ENOMEM, "a healing runner: out of memory");
  mend_status status =
      mend__builtins_new(&runner->config, runner->allocator, runner->watchdogs, &runner->builtin_count, error);
  if (status != MEND_OK) return status;
  runner->watchdog_count = runner->builtin_count;
  for (size_t i = 0; i < options->watchdog_count && status == MEND_OK; i++)
    status = add_watchdog(runner, options->watchdogs[i], error);
  return status;
}

/* ---- Life ---- */

static void runner_free(mend_healing_runner *runner) {
  for (size_t i = 0; i < runner->watchdog_count; i++)
    mend_watchdog_release(runner->watchdogs[i]);
  mend__free(runner->allocator, runner->watchdogs);
  mend_model_release(runner->model);
  mend_hooks_release(runner->hooks);
  mend_tools_release(runner->tools);
  mend_loop_release(runner->loop);
  mend_run_release(runner->run);
  pthread_mutex_destroy(&runner->lock);
  const mend_allocator *allocator = runner->allocator;
  mend_bus *bus = runner->bus;
  mend__free(allocator, runner);
  mend_bus_release(bus); /* last: the allocator may live in it */
}

static mend_status find_bus(mend_bus *given, mend_bus **ret_bus, mend_error *error) {
  if (given == NULL) return mend_bus_new(NULL, ret_bus, error);
  *ret_bus = mend_bus_retain(given);
  return MEND_OK;
}

/* It notices who enters or leaves while he enters: a subscriber of what that publishes. */
static bool init_lock(pthread_mutex_t *lock) {
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes) != 0) return false;
  const bool ok = pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK) == 0 &&
                  pthread_mutex_init(lock, &attributes) == 0;
  pthread_mutexattr_destroy(&attributes);
  return ok;
}

static mend_healing_runner *runner_alloc(mend_bus *bus, const mend_healing_options *options,
                                         const mend_options *config) {
  const mend_allocator *allocator = mend_bus_allocator(bus);
  mend_healing_runner *runner = mend__alloc_zero(allocator, sizeof *runner);
  if (runner == NULL) return NULL;
  if (!init_lock(&runner->lock)) {
    mend__free(allocator, runner);
    return NULL;
  }
  runner->allocator = allocator;
  runner->bus = bus;
  atomic_init(&runner->references, 1);
  runner->config = *config;
  runner->state = options->state;
  runner->policy = options->policy;
  runner->policy_ctx = options->policy_ctx;
  runner->exit_grace_ns = mend__seconds_to_ns(options->exit_grace_s);
  if (options->tools != NULL) runner->tools = mend_tools_retain(options->tools);
  if (options->hooks != NULL) runner->hooks = mend_hooks_retain(options->hooks);
  if (options->loop != NULL) runner->loop = mend_loop_retain(options->loop);
  return runner;
}

static void forget_texts(mend_options *config) {
  const mend_str absent = {NULL, 0};
  config->loop.poll_tools = absent;
  config->loop.ignore_args = absent;
  config->loop.only_args = absent;
  config->stall.tool_timeout_s = absent;
  config->fallback.models = absent;
}

mend_status mend_healing_runner_new(const mend_healing_options *given, mend_healing_runner **ret_runner,
                                    mend_error *error) {
  mend_healing_options options;
  mend_options config;
  mend_status status = take_options(&options, &config, given, error);
  if (status != MEND_OK) return status;
  mend_bus *bus;
  status = find_bus(options.bus, &bus, error);
  if (status != MEND_OK) return status;
  if (options.loop != NULL && mend_loop_clock(options.loop) != mend_bus_clock(bus)) {
    mend_bus_release(bus);
    return mend_error_set(error, MEND_EINVAL, "mend_healing_options.loop: it has another clock than the bus");
  }
  mend_healing_runner *runner = runner_alloc(bus, &options, &config);
  if (runner == NULL) {
    mend_bus_release(bus);
    return mend_error_set(error, MEND_ENOMEM, "a healing runner: out of memory");
  }
  status = make_watchdogs(runner, &options, error);
  if (status == MEND_OK) status = mend__models_open(runner, &options, config.fallback.models, error);
  runner->warning_count = mend__watch_warnings(&runner->config, runner->warnings);
  forget_texts(&runner->config);
  if (status != MEND_OK) {
    runner_free(runner);
    return status;
  }
  *ret_runner = runner;
  return MEND_OK;
}

mend_healing_runner *mend_healing_runner_retain(mend_healing_runner *runner) {
  atomic_fetch_add_explicit(&runner->references, 1, memory_order_relaxed);
  return runner;
}

void mend_healing_runner_release(mend_healing_runner *runner) {
  if (runner == NULL || atomic_fetch_sub(&runner->references, 1) > 1) return;
  runner_free(runner);
}

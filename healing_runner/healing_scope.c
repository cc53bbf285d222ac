#include "core/buffer.h"
#include "core/options_json.h"
#include "core/options_size.h"
#include "healing_runner/healing_internal.h"
#include "hooks/scope.h"
#include "metacognition/room.h"
#include "watchdogs/room.h"

/* ---- Entering, step by step; a step that fails leaves what came before to be taken down ---- */

static mend_status belong_to(mend_healing_runner *runner, mend_run *wanted, mend_error *error) {
  if (runner->run == NULL && wanted == NULL) {
    const mend_status status = mend_run_new(runner->bus, NULL, &runner->run, error);
    runner->made_run = status == MEND_OK;
    return status;
  }
  if (wanted != NULL && mend_run_bus(wanted) != runner->bus) {
    return mend_error_set(error, MEND_EINVAL, "run %.*s: it is of another bus than its healing runner",
                          MEND_STR_ARG(mend_run_id(wanted)));
  }
  if (runner->run == NULL) runner->run = mend_run_retain(wanted);
  if (wanted == NULL || wanted == runner->run) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL, "run %.*s: this healing runner belongs to run %.*s, make one for each run",
                        MEND_STR_ARG(mend_run_id(wanted)), MEND_STR_ARG(mend_run_id(runner->run)));
}

/* Where the bus is watched by one of this name already, a second would report everything twice. */
static bool is_superfluous(const mend_healing_runner *runner, size_t index) {
  mend_watchdog *of_bus;
  if (index >= runner->builtin_count) return false;
  if (mend_bus_watchdog(runner->bus, mend_watchdog_name(runner->watchdogs[index]), &of_bus) != MEND_OK) return false;
  mend_watchdog_release(of_bus);
  return true;
}

static mend_status watch(mend_healing_runner *runner, mend_error *error) {
  mend__healing_scope *scope = &runner->scope;
  for (; scope->watched < runner->watchdog_count; scope->watched++) {
    mend_watchdog *watchdog = runner->watchdogs[scope->watched];
    if (is_superfluous(runner, scope->watched)) continue;
    const mend_status status = mend__scope_watch(watchdog, runner->run);
    if (status == MEND_OK) continue;
    return mend_error_set(error, status, "watching the run with %s: %s", mend_watchdog_name(watchdog),
                          mend_status_message(status));
  }
  const mend_status status = mend__bus_set_ladder(runner->bus, &runner->config);
  if (status != MEND_OK) return status;
  return mend_bus_set_poll_interval(runner->bus, runner->config.poll_interval_s, error);
}

static void counts_release(void *ctx) {
  mend__healing_counts *counts = ctx;
  if (counts == NULL || atomic_fetch_sub_explicit(&counts->references, 1, memory_order_acq_rel) > 1) return;
  mend__free(counts->allocator, counts);
}

static mend_status count_event(void *ctx, const mend_event *event) {
  mend__healing_counts *counts = ctx;
  if (event->kind == MEND_EVENT_DETECTION) atomic_fetch_add_explicit(&counts->detections, 1, memory_order_relaxed);
  if (event->kind == MEND_EVENT_ACTION) atomic_fetch_add_explicit(&counts->actions, 1, memory_order_relaxed);
  return MEND_OK;
}

static mend_status subscribe_counts(mend_healing_runner *runner) {
  mend__healing_scope *scope = &runner->scope;
  mend__healing_counts *counts = mend__alloc_zero(runner->allocator, sizeof *counts);
  if (counts == NULL) return MEND_ENOMEM;
  counts->allocator = runner->allocator;
  atomic_init(&counts->references, 2);
  scope->counts = counts;
  const mend_status status =
      mend_run_subscribe(runner->run, "healing.*", count_event, counts, counts_release, &scope->counting, NULL);
  if (status != MEND_OK) counts_release(counts);
  return status;
}

static mend_status count_events(mend_healing_runner *runner, mend_error *error) {
  const mend_status status = subscribe_counts(runner);
  return status == MEND_OK ? MEND_OK
                           : mend_error_set(error, status, "a healing scope: %s", mend_status_message(status));
}

static mend_status open_boundary(mend_healing_runner *runner, mend_error *error) {
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  options.run = runner->run;
  options.tools = runner->tools;
  options.hooks = runner->hooks;
  options.state = runner->state;
  mend_boundary *boundary;
  const mend_status status = mend_boundary_new(&options, &boundary, error);
  if (status != MEND_OK) return status;
  atomic_store(&runner->scope.boundary, boundary);
  return mend_boundary_add_watchdog_hook(boundary, NULL, runner->policy, runner->policy_ctx, error);
}

static mend_status wait_for_deadlines(mend_healing_runner *runner, mend_error *error) {
  const mend_status status = mend__waiting_begin(runner->bus, runner->loop, error);
  runner->scope.waits = status == MEND_OK;
  return status;
}

/* ---- What is said at the beginning and the end ---- */

/* Also to the log: a runner with a bus of its own has published before anybody can subscribe. */
static void add_notice(mend__buffer *buffer, const mend_healing_runner *runner, const char *sentence) {
  if (buffer->len > 1) mend__buffer_char(buffer, ',');
  mend__buffer_json_string(buffer, mend_str_from(sentence));
  mend__bus_log(runner->bus, MEND_LOG_WARNING, sentence);
}

static void add_model_notice(mend__buffer *buffer, const mend_healing_runner *runner, const char *what, mend_str why) {
  mend__buffer sentence;
  mend__buffer_init(&sentence, buffer->allocator);
  mend__buffer_printf(&sentence, "fallback.models: %s: %.*s", what, MEND_STR_ARG(why));
  mend__buffer_char(&sentence, '\0');
  if (sentence.failed) {
    buffer->failed = true;
  } else {
    add_notice(buffer, runner, sentence.data);
  }
  mend__buffer_free(&sentence);
}

static void add_model_notices(mend__buffer *buffer, const mend_healing_runner *runner) {
  if (runner->no_model.status != MEND_OK)
    add_model_notice(buffer, runner, "there is no model", mend_str_from(runner->no_model.message));
  if (runner->model == NULL) return;
  const mend_str left_out = mend_fallback_left_out(runner->model);
  if (!mend_str_equal(left_out, MEND_STR("[]"))) add_model_notice(buffer, runner, "some were left out", left_out);
}

static void write_notices(mend__buffer *buffer, const mend_healing_runner *runner) {
  mend__buffer_char(buffer, '[');
  if (runner->config.regression.enable && !mend__hooks_publish_confidence(runner->hooks)) {
    add_notice(
        buffer, runner,
        "regression is enabled: it sees nothing until somebody in this scope publishes metacognition.confidence");
  }
  for (size_t i = 0; i < runner->warning_count; i++)
    add_notice(buffer, runner, runner->warnings[i]);
  add_model_notices(buffer, runner);
  mend__buffer_char(buffer, ']');
}

static mend_status say_run_started(mend_healing_runner *runner) {
  if (!runner->made_run) return MEND_OK;
  mend_run_started_event event = MEND_RUN_STARTED_EVENT_INIT;
  event.source = MEND_STR("healing");
  return mend_run_publish(runner->run, &event.event);
}

static void say_run_finished(mend_healing_runner *runner) {
  if (!runner->made_run) return;
  mend_run_finished_event event = MEND_RUN_FINISHED_EVENT_INIT;
  event.status = mend_run_is_aborted(runner->run) ? MEND_STR("aborted") : MEND_STR("ok");
  mend_run_publish(runner->run, &event.event);
}

static mend_status say_started(mend_healing_runner *runner, mend_error *error) {
  mend__buffer config, notices;
  mend__buffer_init(&config, runner->allocator);
  mend__buffer_init(&notices, runner->allocator);
  mend__options_write(&config, &runner->config);
  write_notices(&notices, runner);
  mend_healing_started_event event = MEND_HEALING_STARTED_EVENT_INIT;
  event.config = mend__buffer_text(&config);
  if (notices.len > 2) event.notices = mend__buffer_text(&notices);
  mend_status status = config.failed || notices.failed ? MEND_ENOMEM : say_run_started(runner);
  if (status == MEND_OK) status = mend_run_publish(runner->run, &event.event);
  mend__buffer_free(&config);
  mend__buffer_free(&notices);
  return status == MEND_OK ? MEND_OK
                           : mend_error_set(error, status, "healing.started: %s", mend_status_message(status));
}

static void say_stopped(mend_healing_runner *runner, uint64_t abandoned) {
  mend_healing_stopped_event event = MEND_HEALING_STOPPED_EVENT_INIT;
  event.reason = mend_run_is_aborted(runner->run) ? MEND_STR("aborted") : MEND_STR("left");
  event.detections = atomic_load(&runner->scope.counts->detections);
  event.actions = atomic_load(&runner->scope.counts->actions);
  event.abandoned = abandoned;
  mend_run_publish(runner->run, &event.event);
}

static void fill_report(mend_healing_runner *runner, uint64_t abandoned, mend_healing_report *report) {
  report->error = (mend_error)MEND_ERROR_INIT;
  report->detections = atomic_load(&runner->scope.counts->detections);
  report->actions = atomic_load(&runner->scope.counts->actions);
  report->abandoned = abandoned;
  report->status = mend_run_abort_reason(runner->run, report->abort_reason, sizeof report->abort_reason,
                                         report->abort_source, sizeof report->abort_source) == MEND_OK
                       ? MEND_ABORTED
                       : MEND_OK;
}

/* ---- Taking down ---- */

static void unwatch(mend_healing_runner *runner) {
  mend__healing_scope *scope = &runner->scope;
  while (scope->watched > 0)
    mend__scope_unwatch(runner->watchdogs[--scope->watched], runner->run);
}

static void stop_waiting(mend_healing_runner *runner) {
  if (runner->scope.waits) mend__waiting_end(runner->bus);
  runner->scope.waits = false;
}

static void take_down(mend_healing_runner *runner) {
  mend__healing_scope *scope = &runner->scope;
  stop_waiting(runner);
  mend_boundary *boundary = atomic_exchange(&scope->boundary, NULL);
  if (boundary != NULL) mend__boundary_end_policies(boundary);
  mend_boundary_release(boundary);
  mend_subscription_close(&scope->counting);
  counts_release(scope->counts);
  scope->counts = NULL;
  unwatch(runner);
}

static mend_status set_up(mend_healing_runner *runner, mend_error *error) {
  mend_status status = watch(runner, error);
  if (status == MEND_OK) status = count_events(runner, error);
  if (status == MEND_OK) status = open_boundary(runner, error);
  if (status == MEND_OK) status = wait_for_deadlines(runner, error);
  if (status == MEND_OK) status = say_started(runner, error);
  if (status != MEND_OK) take_down(runner);
  return status;
}

/* ---- Public ---- */

static mend_status check_arguments(const mend_healing_runner *runner, mend_scope_options *ret_options,
                                   const mend_scope_options *given, mend_error *error) {
  *ret_options = (mend_scope_options)MEND_SCOPE_OPTIONS_INIT;
  const mend_status status = mend__options_take(ret_options, given, "mend_scope_options", error);
  if (status != MEND_OK) return status;
  if (ret_options->ret_report != NULL && ret_options->ret_report->size < sizeof(mend_healing_report)) {
    ret_options->ret_report = NULL;
    return mend_error_set(error, MEND_EINVAL,
                          "mend_healing_report: its size is too small, start from MEND_HEALING_REPORT_INIT");
  }
  if (runner != NULL) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL, "the healing runner is NULL, expected one from mend_healing_runner_new");
}

static mend_status enter_first(mend_healing_runner *runner, mend_run *wanted, mend_error *error) {
  const bool was_bound = runner->run != NULL;
  mend_status status = belong_to(runner, wanted, error);
  if (status != MEND_OK) return status;
  status = set_up(runner, error);
  if (status == MEND_OK) {
    mend_healing_runner_retain(runner);
  } else if (!was_bound) {
    mend_run_release(runner->run);
    runner->run = NULL;
    runner->made_run = false;
  }
  return status;
}

static mend_status enter_locked(mend_healing_runner *runner, const mend_scope_options *options, mend_error *error) {
  if (runner->leaving) {
    return mend_error_set(error, MEND_ECLOSED, "run %.*s: its healing scope is being left",
                          MEND_STR_ARG(mend_run_id(runner->run)));
  }
  const mend_status status =
      runner->depth == 0 ? enter_first(runner, options->run, error) : belong_to(runner, options->run, error);
  if (status == MEND_OK) runner->depth++;
  return status;
}

mend_status mend_healing_enter(mend_healing_runner *runner, const mend_scope_options *given, mend_error *error) {
  mend_scope_options options;
  mend_error sentence = MEND_ERROR_INIT;
  mend_status status = check_arguments(runner, &options, given, &sentence);
  if (status == MEND_OK) {
    pthread_mutex_lock(&runner->lock);
    status = enter_locked(runner, &options, &sentence);
    pthread_mutex_unlock(&runner->lock);
  }
  if (status == MEND_OK) return MEND_OK;
  if (options.ret_report != NULL) {
    options.ret_report->status = status;
    options.ret_report->error = sentence;
  }
  if (error != NULL) *error = sentence;
  return status;
}

/* In the order that mend_healing_exit tells. The loop lets go of the run first, so that nothing is found behind our
 * back. */
static void leave(mend_healing_runner *runner, mend_healing_report *ret_report) {
  mend__boundary_close(runner->scope.boundary);
  const uint64_t abandoned =
      mend__boundary_drain(runner->scope.boundary, MEND_STR("the healing scope was left"), runner->exit_grace_ns);
  stop_waiting(runner);
  mend__run_poll_watchdogs(runner->run);
  mend__boundary_settle(runner->scope.boundary);
  say_stopped(runner, abandoned);
  say_run_finished(runner);
  if (ret_report != NULL) fill_report(runner, abandoned, ret_report);
  take_down(runner);
}

static void leave_last(mend_healing_runner *runner, mend_healing_report *ret_report) {
  leave(runner, ret_report);
  pthread_mutex_lock(&runner->lock);
  runner->depth = 0;
  runner->leaving = false;
  pthread_mutex_unlock(&runner->lock);
  mend_healing_runner_release(runner);
}

mend_status mend_healing_exit(mend_healing_runner *runner, mend_healing_report *ret_report) {
  if (runner == NULL) return MEND_EINVAL;
  pthread_mutex_lock(&runner->lock);
  const bool entered = runner->depth > 0 && !runner->leaving;
  const bool is_last = entered && runner->depth == 1;
  if (is_last) {
    runner->leaving = true;
  } else if (entered) {
    runner->depth--;
    if (ret_report != NULL) fill_report(runner, 0, ret_report);
  }
  pthread_mutex_unlock(&runner->lock);
  if (is_last) leave_last(runner, ret_report);
  return entered ? MEND_OK : MEND_EINVAL;
}

mend_boundary *mend_healing_boundary(mend_healing_runner *runner) {
  return runner != NULL ? atomic_load(&runner->scope.boundary) : NULL;
}

mend_run *mend_healing_current_run(mend_healing_runner *runner) {
  return mend_healing_boundary(runner) != NULL ? runner->run : NULL;
}

mend_status mend_healing_run(mend_healing_runner *runner, const mend_scope_options *options,
                             mend_status (*body)(void *ctx, mend_boundary *boundary), void *ctx) {
  mend__scope scope = mend__scope_open(runner, options);
  mend_healing_report report = MEND_HEALING_REPORT_INIT;
  if (!scope.entered) return scope.status;
  if (scope.ret_report == NULL) scope.ret_report = &report;
  const mend_status status = body(ctx, mend_healing_boundary(runner));
  mend_healing_report *filled = scope.ret_report;
  mend__scope_close(&scope);
  return filled->status == MEND_ABORTED ? MEND_ABORTED : status;
}

mend__scope mend__scope_open(mend_healing_runner *runner, const mend_scope_options *given) {
  mend__scope scope = {runner, NULL, MEND_OK, false};
  mend_scope_options options;
  mend_error error = MEND_ERROR_INIT;
  scope.status = mend_healing_enter(runner, given, &error);
  scope.entered = scope.status == MEND_OK;
  if (!scope.entered && runner != NULL) mend__bus_log(runner->bus, MEND_LOG_ERROR, error.message);
  if (scope.entered && check_arguments(runner, &options, given, NULL) == MEND_OK) scope.ret_report = options.ret_report;
  return scope;
}

void mend__scope_close(mend__scope *scope) {
  if (!scope->entered) return;
  scope->entered = false;
  mend_healing_exit(scope->runner, scope->ret_report);
}

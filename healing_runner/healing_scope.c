/* Entering and leaving. */
#include "core/options_size.h"
#include "healing_runner/healing_internal.h"
#include "hooks/scope.h"

/* ---- Entering ---- */

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
  status = mend__scope_set_up(runner, error);
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

static mend_status enter_checked(mend_healing_runner *runner, const mend_scope_options *options, mend_error *error) {
  if (pthread_mutex_lock(&runner->lock) != 0) {
    return mend_error_set(error, MEND_EDEADLK,
                          "run %.*s: its healing scope is being entered, further up on this thread",
                          MEND_STR_ARG(mend_run_id(runner->run)));
  }
  const mend_status status = enter_locked(runner, options, error);
  pthread_mutex_unlock(&runner->lock);
  return status;
}

/* A failure is told in the report, too. */
static mend_status enter(mend_healing_runner *runner, const mend_scope_options *given, mend_scope_options *ret_options,
                         mend_error *error) {
  mend_error sentence = MEND_ERROR_INIT;
  mend_status status = check_arguments(runner, ret_options, given, &sentence);
  if (status == MEND_OK) status = enter_checked(runner, ret_options, &sentence);
  if (status == MEND_OK) return MEND_OK;
  if (ret_options->ret_report != NULL) {
    ret_options->ret_report->status = status;
    ret_options->ret_report->error = sentence;
  }
  if (error != NULL) *error = sentence;
  return status;
}

mend_status mend_healing_enter(mend_healing_runner *runner, const mend_scope_options *given, mend_error *error) {
  mend_scope_options options;
  return enter(runner, given, &options, error);
}

/* ---- Leaving ---- */

/* In the order that mend_healing_exit tells. The loop lets go of the run first, so that nothing is found behind our
 * back. */
static void leave(mend_healing_runner *runner, mend_healing_report *ret_report) {
  mend__boundary_close(runner->scope.boundary);
  const uint64_t abandoned =
      mend__boundary_drain(runner->scope.boundary, MEND_STR("the healing scope was left"), runner->exit_grace_ns);
  mend__scope_stop_waiting(runner);
  mend__run_poll_watchdogs(runner->run);
  mend__boundary_settle(runner->scope.boundary);
  mend__scope_say_stopped(runner, abandoned);
  mend__scope_report(runner, abandoned, ret_report);
  mend__scope_take_down(runner);
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
  if (pthread_mutex_lock(&runner->lock) != 0) return MEND_EDEADLK;
  const bool entered = runner->depth > 0 && !runner->leaving;
  const bool is_last = entered && runner->depth == 1;
  if (is_last) {
    runner->leaving = true;
  } else if (entered) {
    runner->depth--;
    mend__scope_report(runner, 0, ret_report);
  }
  pthread_mutex_unlock(&runner->lock);
  if (is_last) leave_last(runner, ret_report);
  return entered ? MEND_OK : MEND_EINVAL;
}

/* ---- Inside ---- */

mend_boundary *mend_healing_boundary(mend_healing_runner *runner) {
  return runner != NULL ? atomic_load(&runner->scope.boundary) : NULL;
}

mend_run *mend_healing_current_run(mend_healing_runner *runner) {
  return mend_healing_boundary(runner) != NULL ? runner->run : NULL;
}

/* ---- Entering and leaving around a body ---- */

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
  mend_scope_options options;
  mend_error error = MEND_ERROR_INIT;
  const mend_status status = enter(runner, given, &options, &error);
  const bool entered = status == MEND_OK;
  if (!entered && runner != NULL) mend__bus_log(runner->bus, MEND_LOG_ERROR, error.message);
  return (mend__scope){runner, entered ? options.ret_report : NULL, status, entered};
}

void mend__scope_close(mend__scope *scope) {
  if (!scope->entered) return;
  scope->entered = false;
  mend_healing_exit(scope->runner, scope->ret_report);
}

/* What a scope says: at its beginning, at its end, and in its report. */
#include "core/buffer.h"
#include "core/options_json.h"
#include "core/options_size.h"
#include "healing_runner/healing_internal.h"
#include "metacognition/room.h"

/* ---- Notices ---- */

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

/* By the scope, or by somebody who watches the whole bus. */
static bool is_watched_by(const mend_healing_runner *runner, const char *name) {
  mend_watchdog *of_bus;
  if (mend_bus_watchdog(runner->bus, name, &of_bus) == MEND_OK) {
    mend_watchdog_release(of_bus);
    return true;
  }
  for (size_t i = 0; i < runner->watchdog_count; i++) {
    if (strcmp(mend_watchdog_name(runner->watchdogs[i]), name) == 0) return true;
  }
  return false;
}

static void write_notices(mend__buffer *buffer, const mend_healing_runner *runner) {
  mend__buffer_char(buffer, '[');
  const bool publishes = mend__hooks_publish_confidence(runner->hooks);
  if (runner->config.regression.enable && !publishes) {
    add_notice(
        buffer, runner,
        "regression is enabled: it sees nothing until somebody in this scope publishes metacognition.confidence");
  }
  if (publishes && !is_watched_by(runner, "regression")) {
    add_notice(buffer, runner,
               "a hook publishes metacognition.confidence, which nobody watches without regression.enable=true");
  }
  for (size_t i = 0; i < runner->warning_count; i++)
    add_notice(buffer, runner, runner->warnings[i]);
  add_model_notices(buffer, runner);
  mend__buffer_char(buffer, ']');
}

/* ---- Beginning and end ---- */

static mend_status say_run_started(mend_healing_runner *runner) {
  if (!runner->made_run) return MEND_OK;
  mend_run_started_event event = MEND_RUN_STARTED_EVENT_INIT;
  event.source = MEND_STR("healing");
  return mend_run_publish(runner->run, &event.event);
}

mend_status mend__scope_say_started(mend_healing_runner *runner, mend_error *error) {
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

static void say_run_finished(mend_healing_runner *runner) {
  if (!runner->made_run) return;
  mend_run_finished_event event = MEND_RUN_FINISHED_EVENT_INIT;
  event.status = mend_run_is_aborted(runner->run) ? MEND_STR("aborted") : MEND_STR("ok");
  mend_run_publish(runner->run, &event.event);
}

void mend__scope_say_stopped(mend_healing_runner *runner, uint64_t abandoned) {
  mend_healing_stopped_event event = MEND_HEALING_STOPPED_EVENT_INIT;
  event.reason = mend_run_is_aborted(runner->run) ? MEND_STR("aborted") : MEND_STR("left");
  event.detections = atomic_load(&runner->scope.counts->detections);
  event.actions = atomic_load(&runner->scope.counts->actions);
  event.abandoned = abandoned;
  mend_run_publish(runner->run, &event.event);
  say_run_finished(runner);
}

/* ---- The report ---- */

void mend__scope_report(mend_healing_runner *runner, uint64_t abandoned, mend_healing_report *ret_report) {
  if (ret_report == NULL) return;
  mend_healing_report report = MEND_HEALING_REPORT_INIT;
  report.error = (mend_error)MEND_ERROR_INIT;
  report.detections = atomic_load(&runner->scope.counts->detections);
  report.actions = atomic_load(&runner->scope.counts->actions);
  report.abandoned = abandoned;
  report.status = MEND_OK;
  if (mend_run_abort_reason(runner->run, report.abort_reason, sizeof report.abort_reason, report.abort_source,
                            sizeof report.abort_source) == MEND_OK) {
    report.status = mend_error_set(&report.error, MEND_ABORTED, "aborted by %s: %s",
                                   report.abort_source[0] != '\0' ? report.abort_source : "somebody",
                                   report.abort_reason[0] != '\0' ? report.abort_reason : "no reason given");
  }
  mend__options_give(ret_report, &report);
}

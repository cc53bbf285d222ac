/* What the readers make of recordings: tests/data/replay/NAME and what it is played as, NAME.events, in lines:
 *
 *   format NAME, with or without a clock         the file
 *   ROW run ID of PARENT, call CALL, agent NAME  the run of the events that follow; what is absent is left out
 *   ROW @SECONDS TOPIC ...                       an event, and when it was, since the file's first time
 *   ROW broken: why
 *   unfinished COUNT */
#include "program/replay/replay.h"
#include "program/stage/stage.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- Writing what is played -------------------------------------------------------------------------------- */

typedef struct recorder {
  report base;
  const stage *on;
  mend__buffer lines;
  char last_run[256];
} recorder;

static void put_text(mend__buffer *lines, mend_str text) {
  mend__buffer_char(lines, ' ');
  if (text.ptr == NULL) {
    mend__buffer_char(lines, '-');
  } else {
    mend__buffer_json_string(lines, text);
  }
}

static void put_word(mend__buffer *lines, mend_str word) {
  mend__buffer_char(lines, ' ');
  mend__buffer_str(lines, word.len > 0 ? word : MEND_STR("-"));
}

static void put_count(mend__buffer *lines, uint64_t count) {
  if (count == MEND_NONE) {
    mend__buffer_str(lines, MEND_STR(" ?"));
  } else {
    mend__buffer_printf(lines, " %llu", (unsigned long long)count);
  }
}

static void put_run(recorder *of, const mend_run *run) {
  const mend_str id = mend_run_id(run), parent = mend_run_parent_id(run);
  const mend_str call = mend_run_parent_call(run), agent = mend_run_agent(run);
  if (mend_str_equal(id, mend_str_from(of->last_run))) return;
  snprintf(of->last_run, sizeof of->last_run, "%.*s", MEND_STR_ARG(id));
  mend__buffer_printf(&of->lines, "%llu run %s", (unsigned long long)of->on->row, of->last_run);
  if (parent.len > 0) mend__buffer_printf(&of->lines, " of %.*s", MEND_STR_ARG(parent));
  if (call.len > 0) mend__buffer_printf(&of->lines, ", call %.*s", MEND_STR_ARG(call));
  if (agent.len > 0) mend__buffer_printf(&of->lines, ", agent %.*s", MEND_STR_ARG(agent));
  mend__buffer_char(&of->lines, '\n');
}

static void put_usage(mend__buffer *lines, const mend_model_usage_event *usage) {
  put_word(lines, usage->model);
  put_count(lines, usage->input_tokens);
  put_count(lines, usage->output_tokens);
  if (usage->cost_usd > 0) mend__buffer_printf(lines, " $%.4f", usage->cost_usd);
}

static void put_model_error(mend__buffer *lines, const mend_model_error_event *error) {
  put_word(lines, error->model);
  put_word(lines, error->error_type);
  put_count(lines, error->http_status);
  put_text(lines, error->error);
}

static void put_call_payload(mend__buffer *lines, const mend_any_event *of) {
  put_word(lines, of->event.call_name);
  switch (of->event.kind) {
  case MEND_EVENT_TOOL_BEFORE:
    put_word(lines, of->tool_before.tool_name);
    put_word(lines, of->tool_before.args);
    break;
  case MEND_EVENT_TOOL_PROGRESS:
    put_word(lines, of->tool_progress.tool_name);
    put_count(lines, of->tool_progress.bytes);
    break;
  case MEND_EVENT_TOOL_AFTER:
    put_word(lines, of->tool_after.tool_name);
    put_word(lines, of->tool_after.result);
    break;
  case MEND_EVENT_TOOL_ERROR:
    put_word(lines, of->tool_error.tool_name);
    put_text(lines, of->tool_error.error_message);
    break;
  case MEND_EVENT_TOOL_CANCELLED:
    put_word(lines, of->tool_cancelled.tool_name);
    put_text(lines, of->tool_cancelled.reason);
    break;
  default: put_word(lines, of->confidence.source); mend__buffer_printf(lines, " %g", of->confidence.confidence);
  }
}

static void put_payload(mend__buffer *lines, const mend_any_event *of) {
  switch (of->event.kind) {
  case MEND_EVENT_TOOL_BEFORE:
  case MEND_EVENT_TOOL_PROGRESS:
  case MEND_EVENT_TOOL_AFTER:
  case MEND_EVENT_TOOL_ERROR:
  case MEND_EVENT_TOOL_CANCELLED:
  case MEND_EVENT_CONFIDENCE: put_call_payload(lines, of); break;
  case MEND_EVENT_USER_MESSAGE: put_text(lines, of->user_message.text); break;
  case MEND_EVENT_MODEL_RESPONSE:
    put_word(lines, of->model_response.model);
    put_text(lines, of->model_response.text);
    break;
  case MEND_EVENT_MODEL_ERROR: put_model_error(lines, &of->model_error); break;
  case MEND_EVENT_MODEL_USAGE: put_usage(lines, &of->model_usage); break;
  case MEND_EVENT_CONTEXT_COMPACT:
    put_count(lines, of->context_compact.before);
    put_count(lines, of->context_compact.after);
    break;
  case MEND_EVENT_APPROVAL_WAIT: put_word(lines, of->event.call_name); break;
  case MEND_EVENT_AGENT_START: put_word(lines, of->agent_start.name); break;
  case MEND_EVENT_AGENT_END: put_word(lines, of->agent_end.name); break;
  default: break;
  }
}

static mend_status on_event(void *ctx, const mend_event *event) {
  recorder *of = ctx;
  put_run(of, event->run);
  mend__buffer_printf(&of->lines, "%llu ", (unsigned long long)of->on->row);
  if (of->on->has_clock) {
    mend__buffer_char(&of->lines, '@');
    mend__buffer_seconds(&of->lines, event->wall_ns - of->on->start_ns);
    mend__buffer_char(&of->lines, ' ');
  }
  mend__buffer_str(&of->lines, mend_event_kind_topic(event->kind));
  put_payload(&of->lines, (const mend_any_event *)event);
  mend__buffer_char(&of->lines, '\n');
  return MEND_OK;
}

/* ---- A report that only records ---------------------------------------------------------------------------- */

static mend_status attach(void *ctx, stage *on) {
  recorder *of = ctx;
  of->on = on;
  return mend_bus_subscribe(on->bus, "*", on_event, of, NULL, NULL, NULL);
}

static mend_status begin(report *to, const replay_file *file) {
  recorder *of = (recorder *)to;
  mend__buffer_printf(&of->lines, "format %s, %s a clock\n", file->format, file->has_clock ? "with" : "without");
  return MEND_OK;
}

static mend_status put_problem(report *to, uint64_t row, const char *problem) {
  mend__buffer_printf(&((recorder *)to)->lines, "%llu broken: %s\n", (unsigned long long)row, problem);
  return MEND_OK;
}

static mend_status end(report *to, const replay_summary *summary) {
  mend__buffer_printf(&((recorder *)to)->lines, "unfinished %llu\n", (unsigned long long)summary->counts.unfinished);
  return MEND_OK;
}

/* ---- The test ---------------------------------------------------------------------------------------------- */

static void play(recorder *of, const char *path) {
  mend_options watch = MEND_OPTIONS_INIT;
  watch.loop.enable = watch.stall.enable = false;
  *of = (recorder){.base = {.begin = begin, .broken = put_problem, .doubt = put_problem, .end = end}};
  mend__buffer_init(&of->lines, NULL);
  const reports told = {.each = {&of->base}, .count = 1};
  const replay_settings settings = {
      .watch = &watch, .content_bytes = 200, .reports = &told, .attach = attach, .attach_ctx = of};
  mend__buffer failure;
  mend__buffer_init(&failure, NULL);
  replay_summary summary;
  const mend_status status = replay_play(path, &settings, &summary, &failure);
  if (status != MEND_OK) mend__buffer_printf(&of->lines, "%.*s\n", (int)failure.len, failure.data);
  mend__buffer_free(&failure);
  cr_assert(!of->lines.failed);
}

static void check(void *ctx, const char *name) {
  size_t *failures = ctx, len;
  char *expected = mend_test_read(name, &len);
  char path[256];
  name += strlen("replay/");
  snprintf(path, sizeof path, "%.*s", (int)(strlen(name) - strlen(".events")), name);
  recorder got;
  play(&got, path);
  if (!mend_str_equal(mend__buffer_text(&got.lines), (mend_str){expected, len})) {
    ++*failures;
    fprintf(stderr, "%s: expected something else than this:\n%.*s", name, (int)got.lines.len, got.lines.data);
  }
  mend__buffer_free(&got.lines);
  free(expected);
}

Test(program_readers, recordings_are_played_as_what_they_tell) {
  size_t failures = 0;
  cr_assert_eq(chdir(MEND_TEST_DATA "/replay"), 0);
  const size_t files = mend_test_each("replay", ".events", check, &failures);
  cr_assert(files > 0);
  cr_assert_eq(failures, 0, "%zu files are played as something else", failures);
}

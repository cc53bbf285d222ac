#include "torture/boundary.h"

/* ---- Hooks ---- */

static mend_status redirect_before(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  if (!mend_str_equal(call->tool_name, MEND_STR("search"))) return MEND_OK;
  return mend_decision_redirect(decision, MEND_STR("better"), MEND_STR("search again"), MEND_STR("{\"limit\": 5}"));
}

static mend_status skip_before(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  (void)call;
  return mend_decision_skip(decision, MEND_STR("known already"), FOUND);
}

static mend_status redirect_on_error(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  (void)call;
  return mend_decision_redirect(decision, MEND_STR("that one works"), MEND_STR("search"), (mend_str)MEND_ABSENT);
}

static mend_status abort_before(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  (void)call;
  return mend_decision_abort(decision, MEND_STR("not here"));
}

static mend_status ask_before(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  (void)call;
  return mend_decision_escalate(decision, MEND_STR("really?"));
}

static void open_asking(torture *t) {
  const mend_hook hook = {.size = sizeof hook, .name = "asking", .before = ask_before};
  boundary_open(t, &hook);
}

static void open_redirecting(torture *t) {
  const mend_hook hook = {.size = sizeof hook, .name = "redirecting", .before = redirect_before};
  boundary_open(t, &hook);
}

static void open_redirecting_errors(torture *t) {
  const mend_hook hook = {.size = sizeof hook, .name = "redirecting", .on_error = redirect_on_error};
  boundary_open(t, &hook);
}

static void open_skipping(torture *t) {
  const mend_hook hook = {.size = sizeof hook, .name = "skipping", .before = skip_before};
  boundary_open(t, &hook);
}

static void open_aborting(torture *t) {
  const mend_hook hook = {.size = sizeof hook, .name = "aborting", .before = abort_before};
  boundary_open(t, &hook);
}

/* ---- Calls ---- */

static mend_status call_once(torture *t) { return boundary_call(t, "search", MEND_OUTCOME_OK); }
static mend_status call_skipped(torture *t) { return boundary_call(t, "search", MEND_OUTCOME_SKIPPED); }
static mend_status call_redirected(torture *t) { return boundary_call(t, "search", MEND_OUTCOME_REDIRECTED); }
static mend_status call_recovered(torture *t) { return boundary_call(t, "fail", MEND_OUTCOME_REDIRECTED); }

/* A question is not lost, and never a result. */
static mend_status call_escalated(torture *t, const char *tool) {
  mend_result result = MEND_RESULT_INIT;
  const mend_status status = mend_boundary_call(t->own, mend_str_from(tool), ARGUMENTS, NULL, &result);
  torture_must(t, status != MEND_OK || result.outcome == MEND_OUTCOME_ESCALATED, "a person is asked");
  torture_must(t, status != MEND_OK || result.question.len > 0, "and something");
  mend_result_clear(&result);
  if (status == MEND_ABORTED) mend_run_reset(t->run, MEND_STR("once more"));
  return status;
}

static mend_status call_asking(torture *t) { return call_escalated(t, "ask"); }
static mend_status call_asked_about(torture *t) { return call_escalated(t, "search"); }

/* Whatever fails, the tool does not run. */
static mend_status call_aborted(torture *t) {
  mend_result result = MEND_RESULT_INIT;
  mend_status status = mend_boundary_call(t->own, MEND_STR("search"), ARGUMENTS, NULL, &result);
  torture_must(t, t->events == 0, "the tool does not run");
  torture_must(t, status != MEND_ABORTED || mend_run_is_aborted(t->run), "the run is aborted");
  mend_result_clear(&result);
  if (status == MEND_ABORTED) status = mend_run_reset(t->run, MEND_STR("once more"));
  return status;
}

static mend_status make_and_call(torture *t) {
  const mend_hook hook = {.size = sizeof hook, .name = "redirecting", .before = redirect_before};
  mend_status status = torture_open_bus(t);
  if (status == MEND_OK) status = boundary_make(t, &hook);
  if (status == MEND_OK) status = mend_boundary_add_watchdog_hook(t->own, NULL, NULL, NULL, NULL);
  if (status == MEND_OK) status = call_redirected(t);
  boundary_close(t);
  return status;
}

/* The same call again and again: the watchdog hook aborts the run, and once it is reset it goes on. */
static mend_status loop_until_aborted(torture *t) {
  mend_status status = torture_open_bus(t);
  if (status == MEND_OK) status = mend_bus_watch(t->bus, NULL, NULL);
  if (status == MEND_OK) status = boundary_make(t, NULL);
  if (status != MEND_OK) goto end;
  TRY(mend_boundary_add_watchdog_hook(t->own, NULL, NULL, NULL, NULL));
  for (int i = 0; i < 5 && status == MEND_OK; i++)
    status = call_once(t);
  torture_claim(t, status != MEND_OK, "the loop is aborted");
  if (status == MEND_ABORTED) status = call_once(t);
end:
  boundary_close(t);
  return status;
}

static mend_status dump(torture *t) {
  char *text = NULL;
  const mend_status status = mend_boundary_dump(t->own, t->allocator, &text);
  mend_free(t->allocator, text);
  return status;
}

/* ---- Tokens ---- */

static void count_cancel(void *ctx) { ((torture *)ctx)->events++; }

static mend_status use_token(torture *t) {
  mend_token *token = NULL;
  uint64_t id = 0;
  int fd;
  mend_status status = mend_token_new(t->allocator, NULL, &token);
  if (status != MEND_OK) return status;
  TRY(mend_token_on_cancel(token, count_cancel, t, &id));
  TRY(mend_token_fd(token, &fd));
  mend_token_cancel(token, MEND_STR("enough"));
  torture_claim(t, t->events == 1 && mend_token_is_cancelled(token), "it is cancelled and told so");
end:
  mend_token_release(token);
  return status;
}

static const torture_scenario scenarios[] = {
    {"boundary, tools and hooks from nothing, a call", make_and_call, NULL, NULL},
    {"a call", call_once, boundary_open_plainly, boundary_close},
    {"a call that is skipped", call_skipped, open_skipping, boundary_close},
    {"a call redirected before", call_redirected, open_redirecting, boundary_close},
    {"a call redirected on error", call_recovered, open_redirecting_errors, boundary_close},
    {"a call whose tool asks", call_asking, boundary_open_plainly, boundary_close},
    {"a call that a hook asks about", call_asked_about, open_asking, boundary_close},
    {"a call aborted by a hook, and a reset", call_aborted, open_aborting, boundary_close},
    {"calls in a loop, aborted by a watchdog hook", loop_until_aborted, NULL, NULL},
    {"the dump of a boundary", dump, boundary_open_plainly, boundary_close},
    {"a token", use_token, NULL, NULL},
};
const torture_room torture_hooks = TORTURE_ROOM("hooks", scenarios);

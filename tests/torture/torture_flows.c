#include "torture/boundary.h"

#include <stdlib.h>

/* ---- Retry, compound, sub-agent, plan ---- */

/* Twice in vain. */
static mend_status retry_in_vain(torture *t) {
  mend_result result = MEND_RESULT_INIT;
  mend_retry_options options = MEND_RETRY_OPTIONS_INIT;
  options.note = MEND_STR("looking it up");
  mend_status status = mend_boundary_retry(t->own, MEND_STR("fail"), ARGUMENTS, &options, &result);
  torture_must(t, status != MEND_OK, "what fails twice fails");
  if (status == MEND_EFAILED && result.attempts == 2 && result.value.ptr != NULL) status = MEND_OK;
  mend_result_clear(&result);
  return status;
}

static mend_status add_prompt(void *ctx, void *state, mend_str prompt) {
  (void)ctx;
  (void)state;
  (void)prompt;
  return MEND_OK;
}

static mend_status plan_it(void *ctx, mend_call *call, mend_str prompt) {
  (void)ctx;
  (void)prompt;
  return mend_call_succeed(call, MEND_STR("{\"plan\": \"look\"}"));
}

static mend_status carry_it_out(void *ctx, mend_call *call, mend_str output) {
  (void)ctx;
  (void)output;
  return mend_call_succeed(call, FOUND);
}

static mend_status compound(torture *t) {
  const mend_compound_tool tool = {
      .size = sizeof tool, .name = "compound", .add_prompt = add_prompt, .agent = plan_it, .executor = carry_it_out};
  mend_result result = MEND_RESULT_INIT;
  const mend_status status = mend_boundary_compound(t->own, &tool, MEND_STR("find rain"), &result);
  torture_must(t, status != MEND_OK || mend_str_equal(result.value, FOUND), "its value is whole");
  mend_result_clear(&result);
  return status;
}

/* The texts these give are the library's to free, with free(). */
static mend_status reject_once(void *ctx, mend_call *call, mend_str prompt, mend_str output, mend_str result,
                               bool *ret_passed, char **ret_feedback) {
  (void)call;
  (void)prompt;
  (void)output;
  (void)result;
  *ret_passed = ((torture *)ctx)->events++ > 0;
  *ret_feedback = *ret_passed ? NULL : strdup("more rain");
  return MEND_OK;
}

static mend_status build_prompt(void *ctx, mend_str prompt, mend_str result, mend_str feedback, char **ret_prompt) {
  (void)ctx;
  (void)prompt;
  (void)result;
  (void)feedback;
  *ret_prompt = strdup("find more rain");
  return MEND_OK;
}

static mend_status refine(torture *t) {
  const mend_subagent_tool tool = {.size = sizeof tool,
                                   .name = "sub-agent",
                                   .ctx = t,
                                   .max_refinements = 2,
                                   .agent = plan_it,
                                   .executor = carry_it_out,
                                   .evaluate = reject_once,
                                   .build_prompt = build_prompt};
  mend_refinement_report report = MEND_REFINEMENT_REPORT_INIT;
  mend_result result = MEND_RESULT_INIT;
  t->events = 0;
  mend_status status = mend_boundary_subagent(t->own, &tool, MEND_STR("find rain"), &result, &report);
  torture_must(t, status != MEND_OK || mend_str_equal(result.value, FOUND), "its value is whole");
  if (status == MEND_OK && report.exit == MEND_REFINEMENT_KEPT_ORIGINAL) t->reported = true;
  torture_claim(t, status != MEND_OK || report.exit == MEND_REFINEMENT_PASSED, "it has passed");
  mend_result_clear(&result);
  return status;
}

static mend_status draft_two_steps(void *ctx, const mend_plan_request *request, mend_plan_draft *draft) {
  static const char *const names[2][2] = {{"look", "look again"}, {"ask", "ask again"}};
  (void)ctx;
  mend_status status = MEND_OK;
  for (int i = 0; i < 2 && status == MEND_OK; i++) {
    mend_subtask step = MEND_SUBTASK_INIT;
    step.name = mend_str_from(names[request->redecompositions > 0][i]);
    step.tool = MEND_STR("search");
    step.args = ARGUMENTS;
    status = mend_plan_add(draft, &step, NULL);
  }
  return status;
}

static double doubt_the_first(void *ctx, const mend_subtask *subtask, const mend_result *result) {
  (void)ctx;
  (void)result;
  return mend_str_equal(subtask->name, MEND_STR("look")) ? 0.1 : 0.9;
}

/* Two steps; after the first the second is planned anew. */
static mend_status plan(torture *t) {
  mend_plan plan = MEND_PLAN_INIT;
  mend_result result = MEND_RESULT_INIT;
  plan.planner = draft_two_steps;
  plan.confidence = doubt_the_first;
  const mend_status status = mend_boundary_plan(t->own, &plan, MEND_STR("rain"), &result);
  torture_must(t, status != MEND_OK || result.value.ptr != NULL, "what it says is whole");
  torture_must(t, status != MEND_OK || t->events >= 2, "every step was carried out");
  mend_result_clear(&result);
  if (status == MEND_ABORTED) mend_run_reset(t->run, MEND_STR("once more"));
  return status;
}

/* ---- Tools that answer later, and from another thread ---- */

static mend_status call_early(torture *t) { return boundary_call(t, "early", MEND_OUTCOME_OK); }
static mend_status call_pooled(torture *t) { return boundary_call(t, "pooled", MEND_OUTCOME_OK); }

typedef struct ending {
  torture *t;
  mend_status status;
  unsigned times;
} ending;

static void note_ending(void *ctx, mend_status status, const mend_result *result) {
  ending *end = ctx;
  torture_must(end->t, status != MEND_OK || mend_str_equal(result->value, FOUND), "its value is whole");
  end->status = status;
  end->times++;
}

/* Starts a call whose tool keeps it, and ends it by answering or by cancelling. */
static mend_status start(torture *t, bool answers) {
  ending end = {t, MEND_OK, 0};
  uint64_t number = 0;
  t->more = NULL;
  const mend_status status =
      mend_boundary_start(t->own, MEND_STR("later"), ARGUMENTS, NULL, note_ending, &end, &number);
  mend_call *kept = t->more;
  torture_must(t, status == MEND_OK || end.times == 0, "what has not begun does not end");
  torture_must(t, kept != NULL || status != MEND_OK || end.times == 1, "what the tool was not given has ended");
  if (kept != NULL && !answers) mend_run_cancel_call(t->run, number, MEND_STR("enough"));
  if (kept != NULL) mend_call_succeed(kept, FOUND);
  mend_call_release(kept);
  torture_must(t, status != MEND_OK || end.times == 1, "it ends once");
  return status != MEND_OK ? status : end.status;
}

static mend_status start_and_answer(torture *t) { return start(t, true); }

static mend_status start_and_cancel(torture *t) {
  const mend_status status = start(t, false);
  torture_must(t, status != MEND_OK, "what was cancelled is no success");
  return status == MEND_ECANCELLED ? MEND_OK : status;
}

static mend_status fan_out(torture *t) {
  static const char *const tools[] = {"early", "search", "pooled"};
  enum { CALLS = sizeof tools / sizeof tools[0] };
  mend_batch_call calls[CALLS];
  for (int i = 0; i < CALLS; i++) {
    calls[i] = (mend_batch_call)MEND_BATCH_CALL_INIT;
    calls[i].tool = mend_str_from(tools[i]);
    calls[i].args = ARGUMENTS;
  }
  const mend_status status = mend_boundary_call_all(t->own, calls, CALLS);
  for (int i = 0; i < CALLS; i++) {
    torture_must(t, calls[i].status != MEND_OK || mend_str_equal(calls[i].result.value, FOUND), "a value is whole");
    torture_must(t, status != MEND_OK || calls[i].status == MEND_OK, "all of them did when it says so");
    mend_result_clear(&calls[i].result);
  }
  return status;
}

static const torture_scenario scenarios[] = {
    {"retry", retry_in_vain, boundary_open_plainly, boundary_close},
    {"compound", compound, boundary_open_plainly, boundary_close},
    {"a sub-agent tool that refines once", refine, boundary_open_plainly, boundary_close},
    {"a plan that is planned anew", plan, boundary_open_plainly, boundary_close},
    {"an asynchronous tool that answers at once", call_early, boundary_open_plainly, boundary_close},
    {"a call started, answered later", start_and_answer, boundary_open_plainly, boundary_close},
    {"a call started, cancelled", start_and_cancel, boundary_open_plainly, boundary_close},
    {"a pooled tool", call_pooled, boundary_open_plainly, boundary_close},
    {"three calls at once", fan_out, boundary_open_plainly, boundary_close},
};
const torture_room torture_flows = TORTURE_ROOM("hooks: flows", scenarios);

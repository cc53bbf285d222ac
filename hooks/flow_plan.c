/* A plan: a planner gives steps, which are carried out one after the other, and others when one of them is not sure. */
#include "core/options_size.h"
#include "hooks/boundary_internal.h"
#include "hooks/flows_internal.h"

#include <math.h>

enum { REDECOMPOSITIONS_MAX = 1000, SUBTASKS_MAX = 10000 };

static bool is_aborted(const mend__plan_flow *flow) { return mend_run_is_aborted(flow->boundary->run); }

/* By whoever cancels the call that the plan is made in. */
static bool is_cancelled(const mend__plan_flow *flow) {
  return flow->plan.within != NULL && mend_token_is_cancelled(mend_call_token(flow->plan.within));
}

bool mend__plan_is_stopped(const mend__plan_flow *flow) { return is_aborted(flow) || is_cancelled(flow); }

/* ---- Steps ---- */

static double confidence_of(const mend__plan_flow *flow, const mend__plan_step *step, const mend_result *result) {
  if (flow->plan.confidence == NULL || !mend__outcome_is_success(result->outcome)) return NAN;
  const double confidence = flow->plan.confidence(flow->plan.ctx, &step->subtask, result);
  return isnan(confidence) ? confidence : fmin(fmax(confidence, 0), 1);
}

static void tell(mend__plan_flow *flow, mend_str *field, mend_str text) {
  mend__result_set(flow->result, flow->boundary->allocator, field, text);
}

static void tell_abort(mend__plan_flow *flow, mend_str reason, mend_str hook) {
  flow->result->outcome = MEND_OUTCOME_ABORTED;
  tell(flow, &flow->result->reason, reason);
  tell(flow, &flow->result->hook, hook);
}

/* The plan ends with this step. */
static void tell_end(mend__plan_flow *flow, mend_status status, const mend_result *step_result) {
  if (status == MEND_ABORTED) {
    tell_abort(flow, step_result->reason, step_result->hook);
  } else {
    mend__result_refuse(flow->result, flow->boundary->allocator, status, step_result->error_message.ptr);
  }
}

static mend_status carry_out_step(mend__plan_flow *flow, const mend__plan_step *step) {
  mend_result result = MEND_RESULT_INIT;
  double confidence = NAN;
  mend_status status = mend__plan_step_run(flow->boundary, &flow->plan, step, &flow->report, &result);
  if (status == MEND_OK) {
    confidence = confidence_of(flow, step, &result);
  } else {
    tell_end(flow, status, &result);
  }
  const uint64_t call = result.call;
  const mend_status added = mend__plan_report_add(&flow->report, &step->subtask, &result, confidence);
  if (status == MEND_OK) status = added;
  if (status == MEND_OK) mend__plan_redecompose(flow, call, confidence);
  mend_result_clear(&result);
  return status;
}

static void tell_abort_of_run(mend__plan_flow *flow) {
  char reason[256] = "", source[64] = "";
  mend_run_abort_reason(flow->boundary->run, reason, sizeof reason, source, sizeof source);
  tell_abort(flow, mend_str_from(reason), *source != '\0' ? mend_str_from(source) : (mend_str)MEND_ABSENT);
}

/* An error when the plan was stopped, but not by a step. */
static mend_status check_stopped(mend__plan_flow *flow) {
  if (is_aborted(flow)) {
    tell_abort_of_run(flow);
    return MEND_ABORTED;
  }
  if (is_cancelled(flow)) {
    flow->result->outcome = MEND_OUTCOME_CANCELLED;
    tell(flow, &flow->result->reason, mend_token_reason(mend_call_token(flow->plan.within)));
    return MEND_ECANCELLED;
  }
  return MEND_OK;
}

static mend_status carry_out(mend__plan_flow *flow) {
  for (;;) {
    mend__plan_step *step;
    mend_status status = check_stopped(flow);
    if (status == MEND_OK) status = mend__plan_draft_take(&flow->draft, &step);
    if (status == MEND_ENOENT) return MEND_OK;
    if (status == MEND_OK) status = carry_out_step(flow, step);
    if (status != MEND_OK) return status;
  }
}

/* ---- How it ends ---- */

static mend_status fail(mend__plan_flow *flow, mend_str type, mend_str message) {
  flow->result->outcome = MEND_OUTCOME_FAILED;
  flow->result->error_type = type;
  flow->result->error_message = MEND_STR("out of memory for what was wrong");
  tell(flow, &flow->result->error_message, message);
  return MEND_EFAILED;
}

static mend_status fail_by_steps(mend__plan_flow *flow) {
  const mend__plan_report *report = &flow->report;
  mend__buffer sentence;
  mend__buffer_init(&sentence, flow->boundary->allocator);
  mend__buffer_printf(&sentence, "%u of %u subtasks failed, the first: ", report->failures, report->steps);
  mend__buffer_str(&sentence, mend__buffer_text(&report->failure));
  const mend_status status = fail(flow, MEND_STR("plan_failed"), mend__buffer_text(&sentence));
  mend__buffer_free(&sentence);
  return status;
}

/* With the first question. Of its step's result nothing else is the plan's. */
static mend_status escalate(mend__plan_flow *flow) {
  mend__result_move(flow->result, &flow->report.escalation);
  tell(flow, &flow->result->value, (mend_str)MEND_ABSENT);
  flow->result->call = 0;
  flow->result->attempts = 0;
  return MEND_OK;
}

/* All steps are done. */
static mend_status conclude(mend__plan_flow *flow) {
  if (flow->report.failures > 0) return fail_by_steps(flow);
  return flow->report.escalation.outcome == MEND_OUTCOME_ESCALATED ? escalate(flow) : MEND_OK;
}

static mend_status tell_value(mend__plan_flow *flow) {
  mend__buffer value;
  mend__buffer_init(&value, flow->boundary->allocator);
  mend__plan_report_write(&flow->report, flow->result->outcome == MEND_OUTCOME_OK, &value);
  mend_status status = MEND_ENOMEM;
  if (!value.failed) {
    status = mend__result_set(flow->result, flow->boundary->allocator, &flow->result->value, mend__buffer_text(&value));
  }
  mend__buffer_free(&value);
  return status;
}

/* An error whose outcome was not told yet is one of memory. */
static mend_status finish(mend__plan_flow *flow, mend_status status) {
  if (status == MEND_OK) {
    status = conclude(flow);
  } else if (flow->result->outcome == MEND_OUTCOME_OK) {
    mend__result_refuse(flow->result, flow->boundary->allocator, status, NULL);
  }
  const mend_status told = tell_value(flow);
  return status == MEND_OK ? told : status;
}

/* ---- The flow ---- */

static mend_status plan_at_first(mend__plan_flow *flow) {
  mend_status status = check_stopped(flow);
  if (status != MEND_OK) return status;
  const mend_str wrong = mend__plan_ask(flow, (mend_str)MEND_ABSENT, NAN, &flow->draft);
  status = check_stopped(flow);
  if (status != MEND_OK || wrong.ptr == NULL) return status;
  return fail(flow, wrong, mend__buffer_text(&flow->report.planner_error));
}

static mend_status take_plan(const mend_plan *given, mend_plan *ret_plan, mend_error *error) {
  *ret_plan = (mend_plan)MEND_PLAN_INIT;
  mend_status status = mend__options_require(ret_plan, given, "mend_plan", error);
  if (status != MEND_OK) return status;
  if (ret_plan->planner == NULL) {
    return mend_error_set(error, MEND_EINVAL, "mend_plan.planner: NULL, expected a function");
  }
  if (!(ret_plan->redecompose_threshold >= 0 && ret_plan->redecompose_threshold <= 1)) {
    return mend__options_refuse_number("mend_plan.redecompose_threshold", ret_plan->redecompose_threshold, "0 to 1",
                                       error);
  }
  status = mend__options_check_range("mend_plan.max_redecompositions", ret_plan->max_redecompositions, 0,
                                     REDECOMPOSITIONS_MAX, error);
  if (status != MEND_OK) return status;
  return mend__options_check_range("mend_plan.max_subtasks", ret_plan->max_subtasks, 1, SUBTASKS_MAX, error);
}

static void free_taken(mend__strmap *taken) {
  size_t position = 0;
  for (mend__plan_step *step; (step = mend__strmap_next(taken, &position)) != NULL;)
    mend__free(taken->allocator, step);
  mend__strmap_free(taken);
}

static mend_status run(mend_boundary *boundary, const mend_plan *given, mend_str goal, mend_result *ret_result) {
  mend__plan_flow flow = {.boundary = boundary, .goal = goal, .result = ret_result};
  mend_error error = MEND_ERROR_INIT;
  mend_status status = take_plan(given, &flow.plan, &error);
  if (status != MEND_OK) return mend__result_refuse(ret_result, boundary->allocator, status, error.message);
  mend_clock *clock = mend_bus_clock(mend_run_bus(boundary->run));
  const uint64_t start_ns = mend_clock_now(clock).mono_ns;
  mend__strmap_init(&flow.taken, boundary->allocator);
  mend__plan_draft_init(&flow.draft, boundary->allocator, flow.plan.max_subtasks, &flow.taken);
  mend__plan_report_init(&flow.report, boundary->allocator);
  status = plan_at_first(&flow);
  if (status == MEND_OK) status = carry_out(&flow);
  status = finish(&flow, status);
  ret_result->duration_ms = (double)(mend_clock_now(clock).mono_ns - start_ns) / 1e6;
  mend__plan_report_free(&flow.report);
  mend__plan_draft_free(&flow.draft);
  free_taken(&flow.taken);
  return status;
}

mend_status mend_boundary_plan(mend_boundary *boundary, const mend_plan *plan, mend_str goal, mend_result *ret_result) {
  mend_result own;
  mend_status status = mend__flow_begin(boundary, ret_result, &own);
  if (status != MEND_OK) return status;
  status = run(boundary, plan, goal, &own);
  mend__result_move(ret_result, &own);
  return status;
}

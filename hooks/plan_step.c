/* One step of a plan. */
#include "core/json_kind.h"
#include "hooks/boundary_internal.h"
#include "hooks/flows_internal.h"

/* ---- What it is asked: args of its call ---- */

/* The context is *ret_context, a piece of it; not set when the buffer has failed. */
static void write_order(const mend_subtask *subtask, const mend__plan_report *report, mend__buffer *json,
                        mend_str *ret_context) {
  mend__buffer_str(json, MEND_STR("{\"prompt\":"));
  mend__buffer_json_text(json, subtask->prompt);
  mend__buffer_str(json, MEND_STR(",\"tool\":"));
  mend__buffer_json_text(json, subtask->tool);
  mend__buffer_str(json, MEND_STR(",\"args\":"));
  mend__buffer_str(json, subtask->args);
  mend__buffer_str(json, MEND_STR(",\"context\":"));
  const size_t start = json->len;
  mend__plan_report_write_outputs(report, json);
  const size_t len = json->len - start;
  mend__buffer_char(json, '}');
  if (!json->failed) *ret_context = (mend_str){json->data + start, len};
}

/* ---- The same, as a hook has redirected it ---- */

typedef struct step_order {
  mend__buffer tool, prompt;
  mend_str args, context; /* as in the call's arguments */
} step_order;

static mend_status read_text(mend_call *call, mend_json *json, const char *member, mend__buffer *ret_text) {
  const mend_json_token kind = mend__json_read_text(json, ret_text);
  if (ret_text->failed) return MEND_ENOMEM;
  if (kind == MEND_JSON_NULL) mend__buffer_clear(ret_text);
  if (kind == MEND_JSON_STRING || kind == MEND_JSON_NULL) return MEND_OK;
  return mend__call_refuse_redirect(call, member, "a string or null", kind);
}

static mend_status read_object(mend_call *call, mend_json *json, const char *member, mend_str *ret_object) {
  mend_json_value(json, ret_object);
  const mend_json_token kind = mend__json_kind(*ret_object);
  return kind == MEND_JSON_OBJECT ? MEND_OK : mend__call_refuse_redirect(call, member, "an object", kind);
}

static mend_status read_member(mend_call *call, mend_json *json, step_order *order) {
  if (mend_json_is(json, MEND_STR("prompt"))) return read_text(call, json, "prompt", &order->prompt);
  if (mend_json_is(json, MEND_STR("tool"))) return read_text(call, json, "tool", &order->tool);
  if (mend_json_is(json, MEND_STR("args"))) return read_object(call, json, "args", &order->args);
  if (mend_json_is(json, MEND_STR("context"))) return read_object(call, json, "context", &order->context);
  mend_json_skip(json);
  return MEND_OK;
}

/* MEND_ENOMEM; MEND_EFAILED: the call has failed of what it was redirected to. */
static mend_status read_order(mend_call *call, step_order *ret_order) {
  mend_status status = MEND_OK;
  mend_json json;
  mend_json_init(&json, mend_call_args(call), MEND__VALUE_DEPTH);
  mend_json_next(&json);
  while (status == MEND_OK && mend_json_next(&json) == MEND_JSON_KEY)
    status = read_member(call, &json, ret_order);
  return status;
}

/* ---- Carrying it out ---- */

typedef struct step_run {
  mend_boundary *boundary;
  const mend_plan *plan;
  const mend_subtask *planned;
  mend_str args, context; /* its call's as planned */
} step_run;

/* The step's call ends as its tool's did. */
static mend_status pass_on(mend_call *call, const mend_result *result) {
  switch (result->outcome) {
  case MEND_OUTCOME_OK:
  case MEND_OUTCOME_SKIPPED:
  case MEND_OUTCOME_REDIRECTED: return mend_call_succeed(call, result->value);
  case MEND_OUTCOME_FAILED: return mend_call_fail(call, result->error_type, result->error_message);
  case MEND_OUTCOME_ESCALATED: return mend__call_escalate_by(call, result->question, result->hook);
  case MEND_OUTCOME_ABORTED:
  case MEND_OUTCOME_CANCELLED: break;
  }
  return mend_call_fail(call, mend_str_from(mend_outcome_name(result->outcome)), result->reason);
}

static mend_status call_tool(step_run *self, mend_call *call, const mend_subtask *subtask) {
  if (subtask->tool.len == 0) {
    return mend_call_fail(call, MEND_STR("unknown_tool"), MEND_STR("the subtask names no tool"));
  }
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  mend_result result = MEND_RESULT_INIT;
  options.within = call;
  mend_status status = mend_boundary_call(self->boundary, subtask->tool, subtask->args, &options, &result);
  if (status != MEND_ENOMEM) status = pass_on(call, &result);
  mend_result_clear(&result);
  return status;
}

static mend_status carry_out(step_run *self, mend_call *call, const mend_subtask *subtask, mend_str context) {
  const mend_plan *plan = self->plan;
  return plan->execute != NULL ? plan->execute(plan->ctx, call, subtask, context) : call_tool(self, call, subtask);
}

static mend_status carry_out_redirected(step_run *self, mend_call *call) {
  step_order order = {.args = MEND_STR("{}"), .context = MEND_STR("{}")};
  mend__buffer_init(&order.tool, self->boundary->allocator);
  mend__buffer_init(&order.prompt, self->boundary->allocator);
  mend_status status = read_order(call, &order);
  if (status == MEND_OK) {
    mend_subtask subtask = *self->planned;
    subtask.tool = mend__text_or_absent(&order.tool);
    subtask.prompt = mend__text_or_absent(&order.prompt);
    subtask.args = order.args;
    status = carry_out(self, call, &subtask, order.context);
  }
  mend__buffer_free(&order.tool);
  mend__buffer_free(&order.prompt);
  return status;
}

/* As planned, nothing of its arguments, which grow with each step, has to be read. */
static mend_status execute(void *ctx, mend_call *call) {
  step_run *self = ctx;
  const bool is_redirected = mend_call_args(call).ptr != self->args.ptr;
  return is_redirected ? carry_out_redirected(self, call) : carry_out(self, call, self->planned, self->context);
}

static mend_status call_step(step_run *self, const mend__plan_step *step, const mend__plan_report *report,
                             mend_result *result) {
  mend__buffer args;
  mend__buffer_init(&args, self->boundary->allocator);
  write_order(&step->subtask, report, &args, &self->context);
  self->args = mend__buffer_text(&args);
  mend_status status = MEND_ENOMEM;
  if (args.failed) {
    mend__result_refuse(result, self->boundary->allocator, status, NULL);
  } else {
    const mend_tool own = {.size = sizeof own, .name = step->tool, .execute = execute};
    mend_call_options options = MEND_CALL_OPTIONS_INIT;
    options.tool = &own;
    options.tool_ctx = self;
    options.within = self->plan->within;
    status = mend_boundary_call(self->boundary, mend_str_from(step->tool), self->args, &options, result);
  }
  mend__buffer_free(&args);
  return status;
}

/* ---- How it ended ---- */

/* The value goes into the context of later steps, which is two levels deeper. */
static void check_value(mend_result *result) {
  if (mend_json_check(result->value, MEND__VALUE_DEPTH - 2, NULL) == MEND_OK) return;
  result->outcome = MEND_OUTCOME_FAILED;
  result->error_type = MEND_STR("bad_result");
  result->error_message = MEND_STR("the result is nested too deeply to be shown to other subtasks");
}

static mend_status run_step(step_run *self, const mend__plan_step *step, const mend__plan_report *report,
                            mend_result *result) {
  mend__abort_frame frame;
  mend__run_state *state = self->boundary->run_state;
  if (!self->plan->confine_abort) return call_step(self, step, report, result);
  mend__frame_open(state, &frame);
  const mend_status status = call_step(self, step, report, result);
  mend__frame_close(state, &frame);
  return status == MEND_ABORTED ? MEND_EFAILED : status;
}

mend_status mend__plan_step_run(mend_boundary *boundary, const mend_plan *plan, const mend__plan_step *step,
                                const mend__plan_report *report, mend_result *result) {
  step_run self = {.boundary = boundary, .plan = plan, .planned = &step->subtask};
  const mend_status status = run_step(&self, step, report, result);
  if (status == MEND_ENOMEM) mend__result_refuse(result, boundary->allocator, status, NULL);
  if (mend__outcome_is_success(result->outcome)) check_value(result);
  switch (status) {
  case MEND_ABORTED:
  case MEND_ECLOSED:
  case MEND_ENOMEM: return status;
  default: return MEND_OK;
  }
}

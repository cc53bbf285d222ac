#include "core/options_size.h"
#include "hooks/call_internal.h"
#include "hooks/flows_internal.h"

#include <stdlib.h>

enum { REFINEMENTS_MAX = 1000 };

const char *mend_refinement_exit_name(mend_refinement_exit exit) {
  switch (exit) {
  case MEND_REFINEMENT_PASSED: return "passed";
  case MEND_REFINEMENT_MAX: return "max_refinements";
  case MEND_REFINEMENT_KEPT_ORIGINAL: return "refinement_failed_keep_original";
  case MEND_REFINEMENT_ENDED: return "ended";
  }
  return "unknown";
}

/* The flow; `exit` and `refinements` are of the latest execution. */
typedef struct refinement_flow {
  mend_subagent_tool tool;
  uint32_t attempt; /* of the call, in which it was executed last; 0: never */
  mend_refinement_exit exit;
  uint32_t refinements;
} refinement_flow;

/* One execution. */
typedef struct refinement {
  refinement_flow *flow;
  mend_call *call;
  mend__buffer prompt, output; /* of this round */
  mend_str result;             /* likewise: the call's answer */
  mend__buffer kept;           /* the result of the round before; empty: there is none */
} refinement;

static bool is_cancelled(const refinement *self) { return mend__call_is_cancelled(self->call); }

/* ---- What it shows ---- */

/* Without memory for the note it is a sign of life all the same. */
static void show(const refinement *self, const mend__buffer *note) {
  mend_call_progress(self->call, 0, note->failed ? (mend_str)MEND_ABSENT : mend__buffer_text(note));
}

static void show_rejection(const refinement *self, const char *feedback) {
  mend__buffer note;
  mend__buffer_init(&note, self->prompt.allocator);
  mend__buffer_printf(&note, "refinement %u: rejected", self->flow->refinements);
  if (feedback != NULL) {
    mend__buffer_str(&note, MEND_STR(": "));
    mend__buffer_str(&note, mend_str_from(feedback));
  }
  show(self, &note);
  mend__buffer_free(&note);
}

static void show_exit(const refinement *self) {
  mend__buffer note;
  mend__buffer_init(&note, self->prompt.allocator);
  mend__buffer_printf(&note, "exit: %s", mend_refinement_exit_name(self->flow->exit));
  show(self, &note);
  mend__buffer_free(&note);
}

/* ---- Rounds ---- */

static mend_status run_round(refinement *self) {
  const mend_subagent_tool *tool = &self->flow->tool;
  const mend__round round = {tool->ctx, tool->agent, tool->executor, tool->commit};
  return mend__round_run(&round, self->call, mend__buffer_text(&self->prompt), &self->output, &self->result);
}

static mend_status evaluate(refinement *self, bool *ret_passed, char **ret_feedback) {
  const mend_subagent_tool *tool = &self->flow->tool;
  *ret_passed = tool->evaluate == NULL;
  if (tool->evaluate == NULL) return MEND_OK;
  const mend_status status = tool->evaluate(tool->ctx, self->call, mend__buffer_text(&self->prompt),
                                            mend__buffer_text(&self->output), self->result, ret_passed, ret_feedback);
  if (status == MEND_OK && !*ret_passed && !is_cancelled(self)) show_rejection(self, *ret_feedback);
  return status;
}

/* Keeps the result, for what follows may fail, and has the next prompt built. */
static mend_status prepare_next(refinement *self, const char *feedback) {
  const mend_subagent_tool *tool = &self->flow->tool;
  char *next = NULL;
  mend__buffer_clear(&self->kept);
  mend__buffer_str(&self->kept, self->result);
  if (self->kept.failed) return MEND_ENOMEM;
  const mend_status status =
      tool->build_prompt(tool->ctx, mend__buffer_text(&self->prompt), self->result, mend_str_from(feedback), &next);
  if (status != MEND_OK || next == NULL) {
    free(next);
    return status != MEND_OK ? status : MEND_EINVAL;
  }
  mend__buffer_clear(&self->prompt);
  mend__buffer_str(&self->prompt, mend_str_from(next));
  free(next);
  return self->prompt.failed ? MEND_ENOMEM : MEND_OK;
}

/* A round and its verdict; after a rejection that is to be followed by another round, its prompt too. */
static mend_status go_round(refinement *self, bool *ret_passed) {
  char *feedback = NULL;
  mend_status status = run_round(self);
  if (status == MEND_OK) status = evaluate(self, ret_passed, &feedback);
  if (status == MEND_OK && !*ret_passed && self->flow->refinements < self->flow->tool.max_refinements &&
      !is_cancelled(self)) {
    status = prepare_next(self, feedback);
  }
  free(feedback);
  return status;
}

/* A first result that could not be judged is kept as the call's answer, which it is already. */
static mend_status keep_original(refinement *self, mend_status failure) {
  self->flow->exit = MEND_REFINEMENT_KEPT_ORIGINAL;
  if (self->kept.len > 0) {
    mend__call_forget_answer(self->call);
    return mend_call_succeed(self->call, mend__buffer_text(&self->kept));
  }
  mend_str answer = MEND_ABSENT;
  return mend__call_answered(self->call, &answer) && answer.ptr != NULL ? MEND_OK : failure;
}

static mend_status refine(refinement *self) {
  refinement_flow *flow = self->flow;
  for (;; flow->refinements++) {
    bool passed = false;
    const mend_status status = go_round(self, &passed);
    if (is_cancelled(self)) {
      mend__call_forget_answer(self->call);
      return MEND_ECANCELLED;
    }
    if (status != MEND_OK) return mend__call_asks(self->call) ? status : keep_original(self, status);
    if (passed || flow->refinements == flow->tool.max_refinements) {
      flow->exit = passed ? MEND_REFINEMENT_PASSED : MEND_REFINEMENT_MAX;
      return MEND_OK;
    }
  }
}

static mend_status execute(void *ctx, mend_call *call) {
  refinement_flow *flow = ctx;
  refinement self = {.flow = flow, .call = call};
  flow->attempt = mend_call_attempt(call);
  flow->exit = MEND_REFINEMENT_ENDED;
  flow->refinements = 0;
  mend__buffer_init(&self.prompt, mend__call_allocator(call));
  mend__buffer_init(&self.output, mend__call_allocator(call));
  mend__buffer_init(&self.kept, mend__call_allocator(call));
  mend_status status = mend__prompt_read(call, &self.prompt);
  if (status == MEND_OK) status = refine(&self);
  if (status == MEND_OK) show_exit(&self);
  mend__buffer_free(&self.prompt);
  mend__buffer_free(&self.output);
  mend__buffer_free(&self.kept);
  return status;
}

/* ---- The flow ---- */

static mend_status check_refining(const mend_subagent_tool *tool, mend_error *error) {
  const mend_status status =
      mend__options_check_range("mend_subagent_tool.max_refinements", tool->max_refinements, 0, REFINEMENTS_MAX, error);
  if (status != MEND_OK) return status;
  if (tool->max_refinements == 0 || (tool->evaluate != NULL && tool->build_prompt != NULL)) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL,
                        "mend_subagent_tool.%s: NULL, expected a function because max_refinements is %u",
                        tool->evaluate == NULL ? "evaluate" : "build_prompt", tool->max_refinements);
}

static mend_status take_tool(const mend_subagent_tool *given, mend_subagent_tool *ret_tool, mend_error *error) {
  *ret_tool = (mend_subagent_tool){.size = sizeof *ret_tool};
  mend_status status = mend__options_require(ret_tool, given, "mend_subagent_tool", error);
  if (status != MEND_OK) return status;
  status = mend__flow_check_name("mend_subagent_tool.name", ret_tool->name, error);
  if (status != MEND_OK) return status;
  if (ret_tool->agent == NULL) {
    return mend_error_set(error, MEND_EINVAL, "mend_subagent_tool.agent: NULL, expected a function");
  }
  return check_refining(ret_tool, error);
}

static mend_status check_report(const mend_refinement_report *report, mend_error *error) {
  if (report == NULL || report->size >= sizeof *report) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL,
                        "mend_refinement_report: its size is too small, start from MEND_REFINEMENT_REPORT_INIT");
}

/* Only what the last attempt executed is the call's result. */
static void fill_report(const refinement_flow *flow, const mend_result *result, mend_refinement_report *ret_report) {
  const bool counts = mend__outcome_is_success(result->outcome) && flow->attempt == result->attempts;
  ret_report->exit = counts ? flow->exit : MEND_REFINEMENT_ENDED;
  ret_report->refinements = flow->refinements;
}

static mend_status run(mend_boundary *boundary, const mend_subagent_tool *given, mend_str prompt,
                       mend_result *ret_result, mend_refinement_report *ret_report) {
  refinement_flow flow = {.exit = MEND_REFINEMENT_ENDED};
  mend_error error = MEND_ERROR_INIT;
  mend_status status = take_tool(given, &flow.tool, &error);
  if (status == MEND_OK) status = check_report(ret_report, &error);
  if (status != MEND_OK) return mend__result_refuse(ret_result, boundary->allocator, status, error.message);
  const mend_tool own = {.size = sizeof own, .name = flow.tool.name, .execute = execute};
  status = mend__prompt_call(boundary, &own, &flow, flow.tool.within, prompt, ret_result);
  if (ret_report != NULL) fill_report(&flow, ret_result, ret_report);
  return status;
}

mend_status mend_boundary_subagent(mend_boundary *boundary, const mend_subagent_tool *tool, mend_str prompt,
                                   mend_result *ret_result, mend_refinement_report *ret_report) {
  mend_result own;
  mend_status status = mend__flow_begin(boundary, ret_result, &own);
  if (status != MEND_OK) return status;
  status = run(boundary, tool, prompt, &own, ret_report);
  mend__result_move(ret_result, &own);
  return status;
}

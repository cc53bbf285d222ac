/* Private to hooks/: what the flows of several steps share. */
#ifndef MEND_HOOKS_FLOWS_INTERNAL_H
#define MEND_HOOKS_FLOWS_INTERNAL_H

#include "core/buffer.h"
#include "core/strmap.h"
#include "hooks/answer.h"
#include "mend/flows.h"
#include "mend/json.h"

/* ---- prompt.c: tools whose only argument is a prompt ---- */

/* MEND_EINVAL for a tool without a name; what: whose it is. */
mend_status mend__flow_check_name(const char *what, const char *name, mend_error *error);
/* Calls the tool, which is in no registry, with args {"prompt": ...}. Returns as mend_boundary_call. */
mend_status mend__prompt_call(mend_boundary *boundary, const mend_tool *tool, void *tool_ctx, const mend_call *within,
                              mend_str prompt, mend_result *ret_result);
/* The prompt the tool is to work on: a hook may have redirected it. MEND_ENOMEM; MEND_EFAILED: to what is no prompt,
 * and the call has failed of it. */
mend_status mend__prompt_read(mend_call *call, mend__buffer *ret_prompt);

/* ---- flow_json.c ---- */

/* After a key: replaces the buffer's text by the member's value if that is a string. Returns what it is. */
mend_json_token mend__json_read_text(mend_json *json, mend__buffer *text);
/* A hook has redirected a member of the call's arguments to what a flow cannot use: fails the call with "bad_redirect".
 * Returns MEND_EFAILED. */
mend_status mend__call_refuse_redirect(mend_call *call, const char *member, const char *expected,
                                       mend_json_token found);
static inline mend_str mend__text_or_absent(const mend__buffer *text) {
  return text->len > 0 ? mend__buffer_text(text) : (mend_str)MEND_ABSENT;
}

/* ---- round.c: an agent works on a prompt ---- */

/* Agent, executor, state: as in mend_compound_tool. executor and commit may be NULL. */
typedef struct mend__round {
  void *ctx;
  mend_status (*agent)(void *ctx, mend_call *call, mend_str prompt);
  mend_status (*executor)(void *ctx, mend_call *call, mend_str output);
  mend_status (*commit)(void *ctx, void *state, mend_str output, mend_str result);
} mend__round;

/* Sets *output, the agent's. The call's answer is the round's result, *ret_result, valid until it is forgotten. After
 * an error (a cancelled call is one) no step follows; the answer is the failure or question that was told, or there is
 * none. */
mend_status mend__round_run(const mend__round *round, mend_call *call, mend_str prompt, mend__buffer *output,
                            mend_str *ret_result);

/* ---- flow_retry.c ---- */

/* The pause after so many failures; *random is where the jitter is drawn from. */
uint64_t mend__backoff_ns(const mend_retry_options *options, uint32_t failures, uint64_t *random);

/* ---- plan_draft.c: the steps that are to come ---- */

typedef struct mend__plan_step {
  struct mend__plan_step *next;
  mend_subtask subtask; /* texts are pieces of `texts` */
  const char *tool;     /* the name it passes the boundary by */
  char texts[];
} mend__plan_step;

struct mend_plan_draft {
  const mend_allocator *allocator;
  mend__strmap *taken; /* steps that were carried out, by name: not the draft's */
  uint32_t max_subtasks;
  mend__strmap by_name;          /* what the list holds */
  mend__plan_step *first, *last; /* last: of a list that is not empty */
  mend_error refusal;            /* of the latest step that was refused */
};

void mend__plan_draft_init(mend_plan_draft *draft, const mend_allocator *allocator, uint32_t max_subtasks,
                           mend__strmap *taken);
void mend__plan_draft_free(mend_plan_draft *draft);
/* Moves the first step to `taken`. MEND_ENOENT when there is none, MEND_ENOMEM. */
mend_status mend__plan_draft_take(mend_plan_draft *draft, mend__plan_step **ret_step);

/* ---- plan_report.c: what a plan has done so far ---- */

typedef struct mend__plan_report {
  mend__buffer outputs;  /* JSON: members of an object */
  mend__buffer subtasks; /* JSON: elements of an array */
  uint32_t steps, failures, redecompositions;
  mend__buffer failure;       /* of the first failed step: who and why */
  mend_result escalation;     /* of the first escalated step */
  mend__buffer planner_error; /* of the latest one */
} mend__plan_report;

void mend__plan_report_init(mend__plan_report *report, const mend_allocator *allocator);
void mend__plan_report_free(mend__plan_report *report);
/* confidence: NaN for none. What an escalated step asks is moved out of the result. MEND_ENOMEM. */
mend_status mend__plan_report_add(mend__plan_report *report, const mend_subtask *subtask, mend_result *result,
                                  double confidence);
/* Appends the outputs by step, a JSON object. */
void mend__plan_report_write_outputs(const mend__plan_report *report, mend__buffer *json);
/* Appends what became of the steps, a JSON array. */
void mend__plan_report_write_subtasks(const mend__plan_report *report, mend__buffer *json);
/* Appends the plan's value. */
void mend__plan_report_write(const mend__plan_report *report, bool success, mend__buffer *json);

/* ---- flow_plan.c ---- */

typedef struct mend__plan_flow {
  mend_boundary *boundary;
  mend_plan plan;
  mend_str goal;
  mend_plan_draft draft; /* the steps to come */
  mend__strmap taken;    /* those carried out, by name: of mend__plan_step */
  mend__plan_report report;
  mend_result *result;
} mend__plan_flow;

/* Its run is aborted, or the call that it is made in cancelled. */
bool mend__plan_is_stopped(const mend__plan_flow *flow);

/* ---- plan_planner.c ---- */

/* Asks for steps. remaining: names, a JSON array, absent the first time. What is wrong with the plan as an error type,
 * absent for nothing; the report has a sentence for it. */
mend_str mend__plan_ask(mend__plan_flow *flow, mend_str remaining, double confidence, mend_plan_draft *draft);
/* After a step: asks for others in place of those to come, if it was not sure. call: the step's. */
void mend__plan_redecompose(mend__plan_flow *flow, uint64_t call, double confidence);

/* ---- plan_step.c: one step ---- */

/* Carries it out; what became of it is in the result. Errors end the plan: MEND_ABORTED, MEND_ECLOSED, MEND_ENOMEM. */
mend_status mend__plan_step_run(mend_boundary *boundary, const mend_plan *plan, const mend__plan_step *step,
                                const mend__plan_report *report, mend_result *result);

/* What a step gave that may be built upon. */
static inline bool mend__outcome_is_success(mend_outcome outcome) {
  return outcome == MEND_OUTCOME_OK || outcome == MEND_OUTCOME_SKIPPED || outcome == MEND_OUTCOME_REDIRECTED;
}

#endif

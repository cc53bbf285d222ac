/* What docs/api/flows.md quotes. */
#include "mend/flows.h"

#include <stdio.h>
#include <stdlib.h>

/* Yours: a model that answers a prompt in JSON, and a database that answers a query with rows. */
mend_status ask_model(void *model, mend_token *token, mend_str prompt, mend_str *ret_json);
mend_status query_rows(mend_token *token, mend_str query, mend_str *ret_rows);
void append_rows(void *state, mend_str query, mend_str rows);
void ask_a_person(mend_str question);

/* ---- Agent and executor ------------------------------------------------------------------------------------ */

mend_status look_up(mend_boundary *boundary, void *model, mend_result *result);

static mend_status write_query(void *ctx, mend_call *call, mend_str prompt) {
  mend_str query;
  const mend_status status = ask_model(ctx, mend_call_token(call), prompt, &query);
  return status == MEND_OK ? mend_call_succeed(call, query) : status;
}

static mend_status run_query(void *ctx, mend_call *call, mend_str query) {
  mend_str rows;
  (void)ctx;
  const mend_status status = query_rows(mend_call_token(call), query, &rows);
  return status == MEND_OK ? mend_call_succeed(call, rows) : status;
}

static mend_status note_rows(void *ctx, void *state, mend_str query, mend_str rows) {
  (void)ctx;
  append_rows(state, query, rows);
  return MEND_OK;
}

mend_status look_up(mend_boundary *boundary, void *model, mend_result *result) {
  const mend_compound_tool tool = {.size = sizeof tool,
                                   .name = "look_up",
                                   .ctx = model,
                                   .agent = write_query,
                                   .executor = run_query,
                                   .update_state = note_rows};
  return mend_boundary_compound(boundary, &tool, MEND_STR("Where did it rain most last year?"), result);
}

/* ---- Refine until it passes -------------------------------------------------------------------------------- */

mend_status look_up_well(mend_boundary *boundary, void *model, mend_result *result);

static mend_status check_rows(void *ctx, mend_call *call, mend_str prompt, mend_str query, mend_str rows,
                              bool *ret_passed, char **ret_feedback) {
  static const char feedback[] = "The query found nothing.";
  (void)ctx;
  (void)call;
  (void)prompt;
  (void)query;
  *ret_passed = !mend_str_equal(rows, MEND_STR("[]"));
  if (*ret_passed) return MEND_OK;
  *ret_feedback = malloc(sizeof feedback);
  if (*ret_feedback == NULL) return MEND_ENOMEM;
  memcpy(*ret_feedback, feedback, sizeof feedback);
  return MEND_OK;
}

static mend_status add_feedback(void *ctx, mend_str prompt, mend_str rows, mend_str feedback, char **ret_prompt) {
  const size_t size = prompt.len + feedback.len + 2;
  (void)ctx;
  (void)rows;
  *ret_prompt = malloc(size);
  if (*ret_prompt == NULL) return MEND_ENOMEM;
  snprintf(*ret_prompt, size, "%.*s\n%.*s", MEND_STR_ARG(prompt), MEND_STR_ARG(feedback));
  return MEND_OK;
}

mend_status look_up_well(mend_boundary *boundary, void *model, mend_result *result) {
  const mend_subagent_tool tool = {.size = sizeof tool,
                                   .name = "look_up",
                                   .ctx = model,
                                   .max_refinements = 3,
                                   .agent = write_query,
                                   .executor = run_query,
                                   .commit = note_rows,
                                   .evaluate = check_rows,
                                   .build_prompt = add_feedback};
  mend_refinement_report report = MEND_REFINEMENT_REPORT_INIT;
  const mend_status status =
      mend_boundary_subagent(boundary, &tool, MEND_STR("Where did it rain most last year?"), result, &report);
  printf("%s after %u refinements\n", mend_refinement_exit_name(report.exit), report.refinements);
  return status;
}

/* ---- Carry out a plan -------------------------------------------------------------------------------------- */

mend_status write_report(mend_boundary *boundary, mend_result *result);

static mend_status plan_report(void *ctx, const mend_plan_request *request, mend_plan_draft *draft) {
  mend_subtask look = MEND_SUBTASK_INIT, write = MEND_SUBTASK_INIT;
  (void)ctx;
  look.name = MEND_STR("find the city");
  look.tool = request->redecompositions == 0 ? MEND_STR("search") : MEND_STR("search_archive");
  look.args = MEND_STR("{\"q\": \"rain by city\"}");
  write.name = MEND_STR("write it down");
  write.tool = MEND_STR("write");
  const mend_status status = mend_plan_add(draft, &look, NULL);
  return status == MEND_OK ? mend_plan_add(draft, &write, NULL) : status;
}

mend_status write_report(mend_boundary *boundary, mend_result *result) {
  mend_plan plan = MEND_PLAN_INIT;
  plan.planner = plan_report;
  const mend_status status = mend_boundary_plan(boundary, &plan, MEND_STR("Report on rain."), result);
  if (status != MEND_OK) {
    fprintf(stderr, "%.*s\n", MEND_STR_ARG(result->error_message)); /* which subtask failed first, and why */
  } else if (result->outcome == MEND_OUTCOME_ESCALATED) {
    ask_a_person(result->question);
  }
  return status;
}

/* ---- Flows in flows ---------------------------------------------------------------------------------------- */

typedef struct research {
  mend_boundary *boundary;
  void *model;
} research;

mend_status research_step(void *ctx, mend_call *call, const mend_subtask *subtask, mend_str context);

/* The `execute` of a plan: every step is a compound tool. */
mend_status research_step(void *ctx, mend_call *call, const mend_subtask *subtask, mend_str context) {
  const research *self = ctx;
  const mend_compound_tool tool = {.size = sizeof tool,
                                   .name = "research",
                                   .ctx = self->model,
                                   .agent = write_query,
                                   .executor = run_query,
                                   .within = call};
  mend_result result = MEND_RESULT_INIT;
  (void)context;
  mend_status status = mend_boundary_compound(self->boundary, &tool, subtask->prompt, &result);
  if (result.outcome == MEND_OUTCOME_ESCALATED) {
    status = mend_call_escalate(call, result.question);
  } else if (status == MEND_OK) {
    status = mend_call_succeed(call, result.value);
  } else if (status == MEND_EFAILED) {
    status = mend_call_fail(call, result.error_type, result.error_message);
  }
  mend_result_clear(&result);
  return status;
}

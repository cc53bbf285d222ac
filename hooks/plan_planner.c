/* A plan's planner: asked at first, and again when a step was not sure. */
#include "hooks/boundary_internal.h"
#include "hooks/flows_internal.h"

/* ---- Asking ---- */

/* What is wrong with the plan as an error type, absent for nothing; the report has a sentence for it. */
static mend_str judge_plan(mend__plan_flow *flow, mend_status status, const mend_plan_draft *draft) {
  mend__buffer *sentence = &flow->report.planner_error;
  mend__buffer_clear(sentence);
  if (status != MEND_OK) {
    mend__buffer_str(sentence, mend_str_from(mend_error_sentence(&draft->refusal, status)));
    return MEND_STR("planner_failed");
  }
  if (draft->first == NULL) {
    mend__buffer_str(sentence, MEND_STR("the planner gave no subtask"));
    return MEND_STR("empty_plan");
  }
  return (mend_str)MEND_ABSENT;
}

mend_str mend__plan_ask(mend__plan_flow *flow, mend_str remaining, double confidence, mend_plan_draft *draft) {
  mend__buffer context, done;
  mend__buffer_init(&context, flow->boundary->allocator);
  mend__buffer_init(&done, flow->boundary->allocator);
  mend__plan_report_write_outputs(&flow->report, &context);
  mend__plan_report_write_subtasks(&flow->report, &done);
  const mend_plan_request request = {.size = sizeof request,
                                     .goal = flow->goal,
                                     .context = mend__buffer_text(&context),
                                     .done = mend__buffer_text(&done),
                                     .remaining = remaining,
                                     .confidence = confidence,
                                     .redecompositions = flow->report.redecompositions};
  mend_status status = MEND_ENOMEM;
  if (!context.failed && !done.failed) status = flow->plan.planner(flow->plan.ctx, &request, draft);
  mend__buffer_free(&context);
  mend__buffer_free(&done);
  return judge_plan(flow, status, draft);
}

/* ---- Planning anew ---- */

static void write_remaining(const mend__plan_flow *flow, mend__buffer *names) {
  for (const mend__plan_step *step = flow->draft.first; step != NULL; step = step->next) {
    mend__buffer_char(names, names->len > 0 ? ',' : '[');
    mend__buffer_json_string(names, step->subtask.name);
  }
  mend__buffer_char(names, ']');
}

/* Those that were to come stay unless the planner gives others. */
static void replace_remaining(mend__plan_flow *flow, double confidence) {
  const mend_allocator *allocator = flow->boundary->allocator;
  mend__buffer names;
  mend_plan_draft draft;
  mend__buffer_init(&names, allocator);
  mend__plan_draft_init(&draft, allocator, flow->plan.max_subtasks, &flow->taken);
  write_remaining(flow, &names);
  const mend_str wrong = names.failed ? judge_plan(flow, MEND_ENOMEM, &draft)
                                      : mend__plan_ask(flow, mend__buffer_text(&names), confidence, &draft);
  if (wrong.ptr == NULL) {
    const mend_plan_draft replaced = flow->draft;
    flow->draft = draft;
    draft = replaced;
  }
  mend__plan_draft_free(&draft);
  mend__buffer_free(&names);
}

static bool wants_other_steps(const mend__plan_flow *flow, double confidence) {
  return confidence < flow->plan.redecompose_threshold && /* NaN is not */
         flow->draft.first != NULL && flow->report.redecompositions < flow->plan.max_redecompositions;
}

void mend__plan_redecompose(mend__plan_flow *flow, uint64_t call, double confidence) {
  if (!wants_other_steps(flow, confidence) || mend__plan_is_stopped(flow)) return;
  mend_redecomposition_event event = MEND_REDECOMPOSITION_EVENT_INIT;
  event.event.call = call;
  event.confidence = confidence;
  event.threshold = flow->plan.redecompose_threshold;
  event.redecompositions = ++flow->report.redecompositions;
  event.remaining = flow->draft.by_name.count;
  mend_run_publish(flow->boundary->run, &event.event);
  if (!mend__plan_is_stopped(flow)) replace_remaining(flow, confidence);
}

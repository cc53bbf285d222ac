/* What docs/api/metacognition.md quotes. */
#include "mend/metacognition.h"

#include <math.h>

/* ---- A tool that says how sure its agent is ---- */

mend_status ask_the_historian(mend_boundary *boundary, const mend_compound_tool *historian, mend_result *result,
                              mend_error *error);

mend_status ask_the_historian(mend_boundary *boundary, const mend_compound_tool *historian, mend_result *result,
                              mend_error *error) {
  const mend_str question = MEND_STR("When was the line opened?");
  mend_protocol *protocol;
  mend_status status = mend_protocol_new_structured(NULL, &protocol, error);
  if (status != MEND_OK) return status;
  status = mend_boundary_compound_enriched(boundary, historian, protocol, question, result);
  mend_protocol_release(protocol);
  return status;
}

mend_status hooks_that_publish(mend_hooks **ret_hooks, mend_error *error);

mend_status hooks_that_publish(mend_hooks **ret_hooks, mend_error *error) {
  mend_hooks *hooks;
  mend_status status = mend_hooks_new(NULL, &hooks);
  if (status != MEND_OK) return status;
  status = mend_hooks_add_metacognition(hooks, NULL, error);
  if (status == MEND_OK) *ret_hooks = hooks;
  if (status != MEND_OK) mend_hooks_release(hooks);
  return status;
}

/* ---- A tool that answers by itself ---- */

mend_status transcribe(void *ctx, mend_call *call);

mend_status transcribe(void *ctx, mend_call *call) {
  static const double log_probs[] = {-0.01, -0.2, -1.6}; /* as the model gives them for its tokens */
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  input.output = MEND_STR("\"a tram, a horse\"");
  input.log_probs = log_probs;
  input.log_prob_count = 3;
  return mend_call_succeed_enriched(call, ctx, &input); /* ctx: mend_protocol_new_log_probabilities */
}

/* ---- Reading one ---- */

bool is_unsure(mend_str result);

bool is_unsure(mend_str result) {
  mend_enriched enriched = MEND_ENRICHED_INIT;
  if (mend_enriched_read(result, NULL, &enriched) != MEND_OK) return false; /* it says nothing of itself */
  const bool unsure = !isnan(enriched.confidence) && enriched.confidence < 0.5;
  mend_enriched_clear(&enriched);
  return unsure;
}

/* ---- A protocol of one's own ---- */

mend_status by_length(void *ctx, const mend_protocol_input *input, mend_enriched *enriched, mend_error *error);
mend_status length_protocol(mend_protocol **ret_protocol, mend_error *error);

mend_status by_length(void *ctx, const mend_protocol_input *input, mend_enriched *enriched, mend_error *error) {
  (void)ctx;
  if (input->output.len < 3) return mend_error_set(error, MEND_EINVAL, "there is no answer");
  enriched->confidence = 200.0 / (double)input->output.len; /* who is sure is brief; more than 1 becomes 1 */
  return mend_enriched_set(enriched, &enriched->metadata, MEND_STR("{\"by\":\"length\"}"));
}

mend_status length_protocol(mend_protocol **ret_protocol, mend_error *error) {
  static const mend_protocol_vtable vtable = {.size = sizeof vtable, .name = "length", .measure = by_length};
  return mend_protocol_new(&vtable, NULL, NULL, ret_protocol, error);
}

/* ---- A plan that is made anew when a step is unsure ---- */

mend_status plan_and_mind(mend_boundary *boundary, mend_plan plan, mend_result *result);

mend_status plan_and_mind(mend_boundary *boundary, mend_plan plan, mend_result *result) {
  plan.confidence = mend_enriched_confidence;
  plan.redecompose_threshold = 0.5;
  return mend_boundary_plan(boundary, &plan, MEND_STR("Write the history of the tram line."), result);
}

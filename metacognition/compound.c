/* Where enriched results come from: a compound tool whose executor is followed by a protocol. */
#include "core/options_size.h"
#include "hooks/answer.h"
#include "metacognition/metacognition_internal.h"

typedef struct enriched_tool {
  mend_compound_tool tool;
  mend_protocol *protocol;
  mend_call *call; /* these two as the agent was given them */
  mend_str prompt;
} enriched_tool;

/* ---- The tool's own steps ---- */

static mend_status add_prompt(void *ctx, void *state, mend_str prompt) {
  const enriched_tool *self = ctx;
  return self->tool.add_prompt != NULL ? self->tool.add_prompt(self->tool.ctx, state, prompt) : MEND_OK;
}

static mend_status run_agent(void *ctx, mend_call *call, mend_str prompt) {
  enriched_tool *self = ctx;
  self->call = call;
  self->prompt = prompt;
  return self->tool.agent(self->tool.ctx, call, prompt);
}

static mend_status update_state(void *ctx, void *state, mend_str output, mend_str result) {
  const enriched_tool *self = ctx;
  if (self->tool.update_state == NULL) return MEND_OK;
  return self->tool.update_state(self->tool.ctx, state, output, result);
}

/* What a step answered; an error for one that failed, or whose call takes no answer any more. */
static mend_status take_answer(mend_call *call, mend_status status, mend_str *ret_value) {
  *ret_value = (mend_str)MEND_ABSENT;
  mend__call_answer_status(call, status);
  mend__call_answered(call, ret_value);
  return ret_value->ptr != NULL ? MEND_OK : MEND_EFAILED;
}

/* ---- The protocol ---- */

static mend_status run_again(void *ctx, char **ret_output) {
  const enriched_tool *self = ctx;
  if (mend_token_is_cancelled(mend_call_token(self->call))) return MEND_ECANCELLED;
  mend_str output;
  mend_status status = take_answer(self->call, self->tool.agent(self->tool.ctx, self->call, self->prompt), &output);
  if (status == MEND_OK) {
    *ret_output = mend__str_copy(NULL, output);
    if (*ret_output == NULL) status = MEND_ENOMEM;
  }
  mend__call_forget_answer(self->call);
  return status;
}

static mend_status answer(enriched_tool *self, mend_call *call, mend_str output, mend_str result) {
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  input.prompt = self->prompt;
  input.output = output;
  input.result = result;
  input.again = run_again;
  input.again_ctx = self;
  return mend_call_succeed_enriched(call, self->protocol, &input);
}

/* The result is taken out of the call, which the agent may be run in again and then answers with more. */
static mend_status execute(void *ctx, mend_call *call, mend_str output) {
  enriched_tool *self = ctx;
  if (self->tool.executor == NULL) return answer(self, call, output, output);
  mend_str value;
  mend_status status = take_answer(call, self->tool.executor(self->tool.ctx, call, output), &value);
  if (status != MEND_OK) return status;
  mend__buffer result;
  mend__buffer_init(&result, mend__call_allocator(call));
  mend__buffer_str(&result, value);
  mend__call_forget_answer(call);
  status = result.failed ? MEND_ENOMEM : answer(self, call, output, mend__buffer_text(&result));
  mend__buffer_free(&result);
  return status;
}

/* ---- Public ---- */

static mend_status refuse_no_protocol(mend_result *result) {
  mend_result_clear(result);
  result->outcome = MEND_OUTCOME_FAILED;
  result->error_type = mend_str_from(mend_status_name(MEND_EINVAL));
  result->error_message = MEND_STR("protocol: NULL, expected one");
  return MEND_EINVAL;
}

mend_status mend_boundary_compound_enriched(mend_boundary *boundary, const mend_compound_tool *given,
                                            mend_protocol *protocol, mend_str prompt, mend_result *ret_result) {
  enriched_tool self = {.tool = {.size = sizeof self.tool}, .protocol = protocol};
  const bool can_tell = ret_result != NULL && ret_result->size >= sizeof *ret_result;
  if (can_tell && protocol == NULL) return refuse_no_protocol(ret_result);
  const bool is_fit = can_tell && self.protocol != NULL &&
                      mend__options_require(&self.tool, given, "mend_compound_tool", NULL) == MEND_OK &&
                      self.tool.agent != NULL;
  if (!is_fit) return mend_boundary_compound(boundary, given, prompt, ret_result); /* it says what is wrong */
  const mend_compound_tool wrapped = {.size = sizeof wrapped,
                                      .name = self.tool.name,
                                      .ctx = &self,
                                      .add_prompt = add_prompt,
                                      .agent = run_agent,
                                      .executor = execute,
                                      .update_state = update_state,
                                      .within = self.tool.within};
  return mend_boundary_compound(boundary, &wrapped, prompt, ret_result);
}

/* What cannot be enriched is no result either. */
mend_status mend_call_succeed_enriched(mend_call *call, mend_protocol *protocol, const mend_protocol_input *input) {
  if (call == NULL) return MEND_EINVAL;
  const mend_allocator *allocator = mend__call_allocator(call);
  mend_enriched enriched = MEND_ENRICHED_INIT;
  mend_error error = MEND_ERROR_INIT;
  char *json = NULL;
  size_t len = 0;
  mend_status status = mend_protocol_enrich(protocol, input, allocator, &enriched, &error);
  if (status == MEND_ESYNTAX) mend_call_fail(call, MEND_STR("bad_result"), mend_str_from(error.message));
  if (status == MEND_OK) status = mend_enriched_write(&enriched, allocator, &json, &len);
  if (status == MEND_OK) status = mend_call_succeed(call, (mend_str){json, len});
  mend_enriched_clear(&enriched);
  mend_free(allocator, json);
  return status;
}

/* One round of an agent: what it says is carried out and taken into the state. */
#include "hooks/call_internal.h"
#include "hooks/flows_internal.h"

/* The step has returned `status`. */
static mend_status end_step(mend_call *call, mend_status status, mend_str *ret_value) {
  if (mend__call_is_cancelled(call)) return MEND_ECANCELLED;
  mend__call_answer_status(call, status);
  return mend__call_answered(call, ret_value) && ret_value->ptr != NULL ? MEND_OK : MEND_EFAILED;
}

/* The output is copied, so that the executor can answer the call. */
static mend_status run_agent(const mend__round *round, mend_call *call, mend_str prompt, mend__buffer *output,
                             mend_str *ret_result) {
  mend__call_forget_answer(call);
  const mend_status status = end_step(call, round->agent(round->ctx, call, prompt), ret_result);
  if (status != MEND_OK) return status;
  mend__buffer_clear(output);
  mend__buffer_str(output, *ret_result);
  return output->failed ? MEND_ENOMEM : MEND_OK;
}

static mend_status run_executor(const mend__round *round, mend_call *call, mend_str output, mend_str *ret_result) {
  if (round->executor == NULL) return MEND_OK;
  mend__call_forget_answer(call);
  return end_step(call, round->executor(round->ctx, call, output), ret_result);
}

static mend_status commit(const mend__round *round, mend_call *call, mend_str output, mend_str result) {
  if (round->commit == NULL) return MEND_OK;
  const mend_status status = round->commit(round->ctx, mend_call_state(call), output, result);
  return mend__call_is_cancelled(call) ? MEND_ECANCELLED : status;
}

mend_status mend__round_run(const mend__round *round, mend_call *call, mend_str prompt, mend__buffer *output,
                            mend_str *ret_result) {
  mend_str result = MEND_ABSENT;
  mend_status status = run_agent(round, call, prompt, output, &result);
  const mend_str said = mend__buffer_text(output);
  if (status == MEND_OK) status = run_executor(round, call, said, &result);
  if (status == MEND_OK) status = commit(round, call, said, result);
  if (status != MEND_OK && mend__call_answered(call, &result) && result.ptr != NULL) mend__call_forget_answer(call);
  if (status == MEND_OK) *ret_result = result;
  return status;
}

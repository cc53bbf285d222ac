#include "core/options_size.h"
#include "hooks/call_internal.h"
#include "hooks/flows_internal.h"

static mend_status add_prompt(const mend_compound_tool *tool, mend_call *call, mend_str prompt) {
  if (tool->add_prompt == NULL) return MEND_OK;
  const mend_status status = tool->add_prompt(tool->ctx, mend_call_state(call), prompt);
  return mend__call_is_cancelled(call) ? MEND_ECANCELLED : status;
}

static mend_status execute(void *ctx, mend_call *call) {
  const mend_compound_tool *tool = ctx;
  const mend__round round = {tool->ctx, tool->agent, tool->executor, tool->update_state};
  mend__buffer prompt, output;
  mend_str result;
  mend__buffer_init(&prompt, mend__call_allocator(call));
  mend__buffer_init(&output, mend__call_allocator(call));
  mend_status status = mend__prompt_read(call, &prompt);
  const mend_str asked = mend__buffer_text(&prompt);
  if (status == MEND_OK) status = add_prompt(tool, call, asked);
  if (status == MEND_OK) status = mend__round_run(&round, call, asked, &output, &result);
  mend__buffer_free(&prompt);
  mend__buffer_free(&output);
  return status;
}

static mend_status take_tool(const mend_compound_tool *given, mend_compound_tool *ret_tool, mend_error *error) {
  *ret_tool = (mend_compound_tool){.size = sizeof *ret_tool};
  mend_status status = mend__options_require(ret_tool, given, "mend_compound_tool", error);
  if (status == MEND_OK) status = mend__flow_check_name("mend_compound_tool.name", ret_tool->name, error);
  if (status != MEND_OK) return status;
  if (ret_tool->agent != NULL) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL, "mend_compound_tool.agent: NULL, expected a function");
}

static mend_status run(mend_boundary *boundary, const mend_compound_tool *given, mend_str prompt,
                       mend_result *ret_result) {
  mend_compound_tool tool;
  mend_error error = MEND_ERROR_INIT;
  const mend_status status = take_tool(given, &tool, &error);
  if (status != MEND_OK) return mend__result_refuse(ret_result, boundary->allocator, status, error.message);
  const mend_tool own = {.size = sizeof own, .name = tool.name, .execute = execute};
  return mend__prompt_call(boundary, &own, &tool, tool.within, prompt, ret_result);
}

mend_status mend_boundary_compound(mend_boundary *boundary, const mend_compound_tool *tool, mend_str prompt,
                                   mend_result *ret_result) {
  mend_result own;
  mend_status status = mend__flow_begin(boundary, ret_result, &own);
  if (status != MEND_OK) return status;
  status = run(boundary, tool, prompt, &own);
  mend__result_move(ret_result, &own);
  return status;
}

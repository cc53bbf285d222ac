#include "core/options_size.h"
#include "hooks/hooks_internal.h"

/* ---- The prompt, which a hook may have redirected ---- */

static void read_prompt(mend_str args, mend__buffer *ret_prompt) {
  mend_json json;
  mend_json_init(&json, args, MEND__VALUE_DEPTH);
  mend_json_next(&json);
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    const bool is_prompt = mend_json_is(&json, MEND_STR("prompt"));
    if (mend_json_next(&json) == MEND_JSON_STRING && is_prompt) {
      mend__buffer_clear(ret_prompt);
      if (mend__buffer_reserve(ret_prompt, json.slice.len))
        ret_prompt->len = mend_json_unescape(json.slice, ret_prompt->data);
    }
    mend_json_skip(&json);
  }
}

/* ---- The steps: each returns MEND_OK, or an error after which none follows ---- */

/* A step that failed with an answer has told why. */
static mend_status check_step(mend_call *call, mend_status status) {
  if (mend__call_is_cancelled(call)) return MEND_ECANCELLED;
  if (call->answer == MEND__ANSWER_FAILURE) return MEND_EFAILED;
  if (call->answer == MEND__ANSWER_VALUE) return MEND_OK;
  if (call->lost) return MEND_ENOMEM;
  return status != MEND_OK ? status : mend_call_succeed(call, MEND_STR("null"));
}

static mend_status add_prompt(const mend_compound_tool *tool, mend_call *call, mend_str prompt) {
  return tool->add_prompt != NULL ? tool->add_prompt(tool->ctx, mend_call_state(call), prompt) : MEND_OK;
}

/* The agent's output is taken out of the call, so that the executor can answer it. */
static mend_status run_agent(const mend_compound_tool *tool, mend_call *call, mend_str prompt,
                             mend__buffer *ret_output) {
  const mend_status status = check_step(call, tool->agent(tool->ctx, call, prompt));
  if (status != MEND_OK) return status;
  mend__buffer_str(ret_output, call->result->value);
  return ret_output->failed ? MEND_ENOMEM : MEND_OK;
}

static mend_status run_executor(const mend_compound_tool *tool, mend_call *call, mend_str output) {
  if (tool->executor == NULL) return MEND_OK;
  mend__call_forget_answer(call);
  return check_step(call, tool->executor(tool->ctx, call, output));
}

static mend_status update_state(const mend_compound_tool *tool, mend_call *call, mend_str output) {
  if (tool->update_state == NULL) return MEND_OK;
  return tool->update_state(tool->ctx, mend_call_state(call), output, call->result->value);
}

static mend_status run_steps(const mend_compound_tool *tool, mend_call *call, mend_str prompt, mend__buffer *output) {
  mend_status status = add_prompt(tool, call, prompt);
  if (status == MEND_OK) status = run_agent(tool, call, prompt, output);
  const mend_str text = {output->data, output->len};
  if (status == MEND_OK) status = run_executor(tool, call, text);
  if (status == MEND_OK) status = update_state(tool, call, text);
  return status;
}

/* What a step answered before a later one failed is no result. */
static mend_status execute(void *ctx, mend_call *call) {
  mend__buffer prompt, output;
  mend__buffer_init(&prompt, call->boundary->allocator);
  mend__buffer_init(&output, call->boundary->allocator);
  read_prompt(mend_call_args(call), &prompt);
  const mend_status status =
      prompt.failed ? MEND_ENOMEM : run_steps(ctx, call, (mend_str){prompt.data, prompt.len}, &output);
  if (status != MEND_OK && call->answer != MEND__ANSWER_FAILURE) mend__call_forget_answer(call);
  mend__buffer_free(&prompt);
  mend__buffer_free(&output);
  return status;
}

/* ---- The flow ---- */

static mend_status take_tool(const mend_compound_tool *given, mend_compound_tool *ret_tool, mend_error *error) {
  *ret_tool = (mend_compound_tool){.size = sizeof *ret_tool};
  if (given == NULL) return mend_error_set(error, MEND_EINVAL, "mend_compound_tool: NULL");
  const mend_status status = mend__options_take(ret_tool, given, "mend_compound_tool", error);
  if (status != MEND_OK) return status;
  if (ret_tool->agent != NULL) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL, "mend_compound_tool.agent: NULL, expected a function");
}

static mend_status run(mend_boundary *boundary, const mend_compound_tool *given, mend_str prompt,
                       mend_result *ret_result) {
  mend_compound_tool tool;
  mend_error error = {MEND_OK, 0, 0, ""};
  mend_status status = take_tool(given, &tool, &error);
  if (status != MEND_OK) return mend__result_refuse(ret_result, boundary->allocator, status, error.message);
  mend__buffer args;
  mend__buffer_init(&args, boundary->allocator);
  mend__buffer_str(&args, MEND_STR("{\"prompt\":"));
  mend__buffer_json_string(&args, prompt);
  mend__buffer_char(&args, '}');
  if (args.failed) {
    status = mend__result_refuse(ret_result, boundary->allocator, MEND_ENOMEM, NULL);
  } else {
    const mend_tool own = {.size = sizeof own, .name = tool.name, .execute = execute};
    mend_call_options options = MEND_CALL_OPTIONS_INIT;
    options.tool = &own;
    options.tool_ctx = &tool;
    status =
        mend_boundary_call(boundary, mend_str_from(tool.name), (mend_str){args.data, args.len}, &options, ret_result);
  }
  mend__buffer_free(&args);
  return status;
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

/* Tools whose only argument is a prompt. */
#include "hooks/boundary_internal.h"
#include "hooks/flows_internal.h"

mend_status mend__flow_check_name(const char *what, const char *name, mend_error *error) {
  if (name != NULL && *name != '\0') return MEND_OK;
  return mend_error_set(error, MEND_EINVAL, "%s: %s, expected a name", what, name == NULL ? "NULL" : "\"\"");
}

mend_status mend__prompt_call(mend_boundary *boundary, const mend_tool *tool, void *tool_ctx, const mend_call *within,
                              mend_str prompt, mend_result *ret_result) {
  mend__buffer args;
  mend__buffer_init(&args, boundary->allocator);
  mend__buffer_str(&args, MEND_STR("{\"prompt\":"));
  mend__buffer_json_string(&args, prompt);
  mend__buffer_char(&args, '}');
  mend_status status = MEND_ENOMEM;
  if (args.failed) {
    mend__result_refuse(ret_result, boundary->allocator, status, NULL);
  } else {
    mend_call_options options = MEND_CALL_OPTIONS_INIT;
    options.tool = tool;
    options.tool_ctx = tool_ctx;
    options.within = within;
    status = mend_boundary_call(boundary, mend_str_from(tool->name), mend__buffer_text(&args), &options, ret_result);
  }
  mend__buffer_free(&args);
  return status;
}

mend_status mend__prompt_read(mend_call *call, mend__buffer *ret_prompt) {
  mend_json json;
  mend_json_init(&json, mend_call_args(call), MEND__VALUE_DEPTH);
  mend_json_next(&json);
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    if (!mend_json_is(&json, MEND_STR("prompt"))) {
      mend_json_skip(&json);
      continue;
    }
    const mend_json_token kind = mend__json_read_text(&json, ret_prompt);
    if (kind != MEND_JSON_STRING) return mend__call_refuse_redirect(call, "prompt", "a string", kind);
  }
  return ret_prompt->failed ? MEND_ENOMEM : MEND_OK;
}

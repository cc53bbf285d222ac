/* Tools whose only argument is a prompt. */
#include "hooks/boundary_internal.h"
#include "hooks/flows_internal.h"

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

void mend__prompt_read(const mend_call *call, mend__buffer *ret_prompt) {
  mend_json json;
  mend_json_init(&json, mend_call_args(call), MEND__VALUE_DEPTH);
  mend_json_next(&json);
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    if (mend_json_is(&json, MEND_STR("prompt"))) {
      mend__json_read_text(&json, ret_prompt);
    } else {
      mend_json_skip(&json);
    }
  }
}

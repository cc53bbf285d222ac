#include "core/options_size.h"
#include "hooks/hooks_internal.h"

static mend_status take_options(const mend_call_options *given, mend_call_options *ret_options, mend_tool *ret_tool,
                                mend_error *error) {
  *ret_options = (mend_call_options)MEND_CALL_OPTIONS_INIT;
  *ret_tool = (mend_tool){.size = sizeof *ret_tool};
  mend_status status = mend__options_take(ret_options, given, "mend_call_options", error);
  if (status != MEND_OK || ret_options->tool == NULL) return status;
  status = mend__options_take(ret_tool, ret_options->tool, "mend_tool", error);
  if (status == MEND_OK && ret_tool->execute == NULL) {
    status = mend_error_set(error, MEND_EINVAL, "mend_call_options.tool: it has no execute");
  }
  return status;
}

static mend_status run(mend_boundary *boundary, mend_str tool, mend_str args, const mend_call_options *given,
                       mend_result *ret_result) {
  mend_call_options options;
  mend_tool own;
  mend_error error = {MEND_OK, 0, 0, ""};
  mend_status status = take_options(given, &options, &own, &error);
  if (status != MEND_OK) return mend__result_refuse(ret_result, boundary->allocator, status, error.message);
  mend__target target = {.tool = tool, .args = args, .own_ctx = options.tool_ctx};
  if (options.tool != NULL) target.own = &own;
  if (options.tool != NULL && tool.ptr == NULL) target.tool = mend_str_from(own.name);
  mend_call call;
  mend__target checked;
  status = mend__call_begin(&call, boundary, &target, options.call_name, ret_result, &checked);
  if (status != MEND_OK) return status;
  mend__boundary_try(&call, &checked);
  return mend__call_end(&call);
}

mend_status mend_boundary_call(mend_boundary *boundary, mend_str tool, mend_str args, const mend_call_options *options,
                               mend_result *ret_result) {
  mend_result own;
  mend_status status = mend__flow_begin(boundary, ret_result, &own);
  if (status != MEND_OK) return status;
  status = run(boundary, tool, args, options, &own);
  mend__result_move(ret_result, &own);
  return status;
}

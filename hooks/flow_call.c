#include "core/options_size.h"
#include "hooks/passage_internal.h"

/* ---- What is asked for ---- */

static mend_status check_own(const mend_tool *own, mend_error *error) {
  if (own->execute == NULL) {
    return mend_error_set(error, MEND_EINVAL, "mend_call_options.tool: it has no execute");
  }
  if (!mend__is_tool_kind(own->kind)) {
    return mend_error_set(error, MEND_EINVAL, "mend_call_options.tool: its kind is %d, expected one of mend_tool_kind",
                          (int)own->kind);
  }
  return MEND_OK;
}

static mend_status take_own(mend__call_request *request, mend_error *error) {
  if (request->options.tool == NULL) return MEND_OK;
  mend_tool *own = &request->own;
  *own = (mend_tool){.size = sizeof *own};
  mend_status status = mend__options_take(own, request->options.tool, "mend_tool", error);
  if (status == MEND_OK) status = check_own(own, error);
  if (status != MEND_OK) return status;
  request->target.own = own;
  request->target.own_ctx = request->options.tool_ctx;
  if (request->target.tool.ptr == NULL) request->target.tool = mend_str_from(own->name);
  return MEND_OK;
}

/* A tool that may outlast its call needs more than its caller's words. */
static mend_status hold_own(mend__call_request *request, const mend_allocator *allocator) {
  mend__target *target = &request->target;
  if (target->own == NULL || target->own->kind == MEND_TOOL_BLOCKING) return MEND_OK;
  target->own_entry = mend__tool_entry_new(target->own, target->own_ctx, allocator);
  if (target->own_entry != NULL) return MEND_OK;
  if (target->own->destroy != NULL) target->own->destroy(target->own_ctx);
  return MEND_ENOMEM;
}

mend_status mend__call_request_take(mend__call_request *request, const mend_boundary *boundary, mend_str tool,
                                    mend_str args, const mend_call_options *given, mend_error *error) {
  request->options = (mend_call_options)MEND_CALL_OPTIONS_INIT;
  request->target = (mend__target){.tool = tool, .args = args};
  mend_status status = mend__options_take(&request->options, given, "mend_call_options", error);
  if (status == MEND_OK) status = take_own(request, error);
  if (status == MEND_OK) status = mend__target_check(&request->target, error);
  if (status == MEND_OK) status = hold_own(request, boundary->allocator);
  return status;
}

void mend__call_request_end(mend__call_request *request) { mend__tool_entry_release(request->target.own_entry); }

/* ---- The flow ---- */

static mend_status run(mend_boundary *boundary, const mend__call_request *request, mend_result *result) {
  mend__passage passage;
  const mend_status status = mend__passage_begin(&passage, boundary, &request->target, &request->options, result);
  if (status != MEND_OK) return status;
  mend__try_here(&passage);
  return mend__passage_end(&passage);
}

mend_status mend_boundary_call(mend_boundary *boundary, mend_str tool, mend_str args, const mend_call_options *options,
                               mend_result *ret_result) {
  mend_result own;
  mend__call_request request;
  mend_error error = MEND_ERROR_INIT;
  mend_status status = mend__flow_begin(boundary, ret_result, &own);
  if (status != MEND_OK) return status;
  status = mend__call_request_take(&request, boundary, tool, args, options, &error);
  if (status == MEND_OK) {
    status = run(boundary, &request, &own);
    mend__call_request_end(&request);
  } else {
    mend__result_refuse(&own, boundary->allocator, status, error.message);
  }
  mend__result_move(ret_result, &own);
  return status;
}

/* The events of one attempt: its before and the terminal ones. */
#include "hooks/call_internal.h"

/* A refusal, for nesting too deeply, is counted and reported by the bus; a before that was let in lets in its end. */
static mend_status publish(const mend__attempt *attempt, mend_event *event) {
  event->call = attempt->passage->number;
  event->call_name = attempt->passage->name;
  return mend_run_publish(attempt->passage->boundary->run, event);
}

/* What ran instead of what was asked for. */
static mend_str effective_tool(const mend__attempt *attempt) {
  return attempt->redirected ? attempt->effective.tool : (mend_str)MEND_ABSENT;
}

static mend_hash effective_args_hash(const mend__attempt *attempt) {
  return attempt->redirected ? attempt->effective.args_hash : (mend_hash){0, 0};
}

mend_status mend__publish_before(mend__attempt *attempt) {
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  event.tool_name = attempt->asked->tool;
  event.args = attempt->asked->args;
  event.args_hash = attempt->asked->args_hash;
  event.attempt = attempt->passage->call->attempt;
  event.within = attempt->passage->within;
  const mend_status status = publish(attempt, &event.event);
  attempt->started_ns = event.event.mono_ns;
  atomic_store_explicit(&attempt->passage->started_ns, attempt->started_ns, memory_order_relaxed);
  return status;
}

/* Of a string the length of its text, of another value that of its JSON; none without memory for looking. */
static uint64_t length_of(mend_str value, const mend_allocator *allocator) {
  mend_json json;
  mend_json_init(&json, value, MEND__VALUE_DEPTH);
  if (mend_json_next(&json) != MEND_JSON_STRING) return value.len;
  if (!json.escaped) return json.slice.len;
  char *text = mend__alloc(allocator, json.slice.len);
  if (text == NULL) return MEND_NONE;
  const size_t len = mend_json_unescape(json.slice, text);
  mend__free(allocator, text);
  return len;
}

void mend__publish_after(const mend__attempt *attempt) {
  const mend__passage *passage = attempt->passage;
  mend_tool_after_event event = MEND_TOOL_AFTER_EVENT_INIT;
  event.tool_name = attempt->asked->tool;
  event.duration_ms = attempt->duration_ms;
  event.result = passage->result->value;
  event.result_len = length_of(passage->result->value, passage->boundary->allocator);
  event.result_hash = attempt->value_hash;
  event.attempt = passage->call->attempt;
  event.effective_tool = effective_tool(attempt);
  event.effective_args_hash = effective_args_hash(attempt);
  event.redirected_by = attempt->redirected_by;
  event.redirect_reason = attempt->redirect_reason;
  publish(attempt, &event.event);
}

void mend__publish_error(const mend__attempt *attempt) {
  mend_tool_error_event event = MEND_TOOL_ERROR_EVENT_INIT;
  event.tool_name = attempt->asked->tool;
  event.error_type = attempt->passage->result->error_type;
  event.error_message = attempt->passage->result->error_message;
  event.duration_ms = attempt->duration_ms;
  event.attempt = attempt->passage->call->attempt;
  event.effective_tool = effective_tool(attempt);
  event.effective_args_hash = effective_args_hash(attempt);
  event.redirected_by = attempt->redirected_by;
  event.redirect_reason = attempt->redirect_reason;
  publish(attempt, &event.event);
}

void mend__publish_skipped(const mend__attempt *attempt, mend_str reason, mend_str hook, mend_str stub) {
  mend_tool_skipped_event event = MEND_TOOL_SKIPPED_EVENT_INIT;
  event.tool_name = attempt->asked->tool;
  event.reason = reason;
  event.hook = hook;
  event.result = stub;
  event.attempt = attempt->passage->call->attempt;
  event.effective_tool = effective_tool(attempt);
  event.effective_args_hash = effective_args_hash(attempt);
  publish(attempt, &event.event);
}

void mend__publish_aborted(const mend__attempt *attempt) {
  mend_tool_aborted_event event = MEND_TOOL_ABORTED_EVENT_INIT;
  event.tool_name = attempt->asked->tool;
  event.reason = mend__abort_reason(attempt->passage->abort);
  event.hook = mend__abort_source(attempt->passage->abort);
  event.attempt = attempt->passage->call->attempt;
  event.effective_tool = effective_tool(attempt);
  event.effective_args_hash = effective_args_hash(attempt);
  publish(attempt, &event.event);
}

void mend__publish_cancelled(const mend__attempt *attempt, bool late_result) {
  mend_tool_cancelled_event event = MEND_TOOL_CANCELLED_EVENT_INIT;
  event.tool_name = attempt->asked->tool;
  event.reason = attempt->passage->result->reason;
  event.duration_ms = attempt->duration_ms;
  event.attempt = attempt->passage->call->attempt;
  event.late_result = late_result;
  event.effective_tool = effective_tool(attempt);
  event.effective_args_hash = effective_args_hash(attempt);
  event.redirected_by = attempt->redirected_by;
  event.redirect_reason = attempt->redirect_reason;
  publish(attempt, &event.event);
}

void mend__publish_refused(mend_run *run, uint64_t call, mend_str call_name, mend_str tool, mend_str reason) {
  mend_tool_refused_event event = MEND_TOOL_REFUSED_EVENT_INIT;
  event.event.call = call;
  event.event.call_name = call_name;
  event.tool_name = tool;
  event.reason = reason;
  mend_run_publish(run, &event.event);
}

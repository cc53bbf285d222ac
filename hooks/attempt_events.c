/* The events of one attempt: its before and the terminal ones. */
#include "hooks/passage_internal.h"

/* A refusal, for nesting too deeply, is counted and reported by the bus; a before that was let in lets in its end. */
static mend_status publish(const mend__passage *passage, mend_event *event) {
  event->call = passage->number;
  event->call_name = passage->name;
  return mend_run_publish(passage->boundary->run, event);
}

/* What ran instead of what was asked for. */
static mend_str effective_tool(const mend__passage *passage) {
  return passage->attempt.redirected ? passage->attempt.effective.tool : (mend_str)MEND_ABSENT;
}

static mend_hash effective_args_hash(const mend__passage *passage) {
  return passage->attempt.redirected ? passage->attempt.effective.args_hash : (mend_hash){0, 0};
}

mend_status mend__publish_before(mend__passage *passage) {
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  event.tool_name = passage->attempt.asked->tool;
  event.args = passage->attempt.asked->args;
  event.args_hash = passage->attempt.asked->args_hash;
  event.attempt = passage->call->attempt;
  event.within = passage->within;
  const mend_status status = publish(passage, &event.event);
  passage->attempt.started_ns = event.event.mono_ns;
  atomic_store_explicit(&passage->started_ns, passage->attempt.started_ns, memory_order_relaxed);
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

void mend__publish_after(const mend__passage *passage) {
  mend_tool_after_event event = MEND_TOOL_AFTER_EVENT_INIT;
  event.tool_name = passage->attempt.asked->tool;
  event.duration_ms = passage->attempt.duration_ms;
  event.result = passage->result->value;
  event.result_len = length_of(passage->result->value, passage->boundary->allocator);
  event.result_hash = passage->attempt.value_hash;
  event.attempt = passage->call->attempt;
  event.effective_tool = effective_tool(passage);
  event.effective_args_hash = effective_args_hash(passage);
  event.redirected_by = passage->attempt.redirected_by;
  event.redirect_reason = passage->attempt.redirect_reason;
  publish(passage, &event.event);
}

void mend__publish_error(const mend__passage *passage) {
  mend_tool_error_event event = MEND_TOOL_ERROR_EVENT_INIT;
  event.tool_name = passage->attempt.asked->tool;
  event.error_type = passage->result->error_type;
  event.error_message = passage->result->error_message;
  event.duration_ms = passage->attempt.duration_ms;
  event.attempt = passage->call->attempt;
  event.effective_tool = effective_tool(passage);
  event.effective_args_hash = effective_args_hash(passage);
  event.redirected_by = passage->attempt.redirected_by;
  event.redirect_reason = passage->attempt.redirect_reason;
  publish(passage, &event.event);
}

void mend__publish_skipped(const mend__passage *passage, mend_str reason, mend_str hook, mend_str stub) {
  mend_tool_skipped_event event = MEND_TOOL_SKIPPED_EVENT_INIT;
  event.tool_name = passage->attempt.asked->tool;
  event.reason = reason;
  event.hook = hook;
  event.result = stub;
  event.attempt = passage->call->attempt;
  event.effective_tool = effective_tool(passage);
  event.effective_args_hash = effective_args_hash(passage);
  publish(passage, &event.event);
}

void mend__publish_aborted(const mend__passage *passage) {
  mend_tool_aborted_event event = MEND_TOOL_ABORTED_EVENT_INIT;
  event.tool_name = passage->attempt.asked->tool;
  event.reason = mend__abort_reason(passage->abort);
  event.hook = mend__abort_source(passage->abort);
  event.attempt = passage->call->attempt;
  event.effective_tool = effective_tool(passage);
  event.effective_args_hash = effective_args_hash(passage);
  publish(passage, &event.event);
}

void mend__publish_cancelled(const mend__passage *passage, bool late_result) {
  mend_tool_cancelled_event event = MEND_TOOL_CANCELLED_EVENT_INIT;
  event.tool_name = passage->attempt.asked->tool;
  event.reason = passage->result->reason;
  event.duration_ms = passage->attempt.duration_ms;
  event.attempt = passage->call->attempt;
  event.late_result = late_result;
  event.effective_tool = effective_tool(passage);
  event.effective_args_hash = effective_args_hash(passage);
  event.redirected_by = passage->attempt.redirected_by;
  event.redirect_reason = passage->attempt.redirect_reason;
  publish(passage, &event.event);
}

void mend__publish_refused(mend_run *run, uint64_t call, mend_str call_name, mend_str tool, mend_str reason) {
  mend_tool_refused_event event = MEND_TOOL_REFUSED_EVENT_INIT;
  event.event.call = call;
  event.event.call_name = call_name;
  event.tool_name = tool;
  event.reason = reason;
  mend_run_publish(run, &event.event);
}

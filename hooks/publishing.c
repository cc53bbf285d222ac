#include "core/given.h"
#include "core/json_hash.h"
#include "hooks/hooks_internal.h"

static mend_status publish(const mend_hook_call *call, mend_event *event) {
  event->call = call->call;
  event->call_name = call->call_name;
  return mend_run_publish(call->run, event);
}

static mend_status publish_before(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  (void)decision;
  if (call->run == NULL) return MEND_OK;
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  event.tool_name = call->tool_name;
  event.args = call->args;
  mend_json_hash_result hashed; /* without memory for it readers make it themselves */
  const mend_allocator *allocator = mend_bus_allocator(mend_run_bus(call->run));
  if (call->args.ptr != NULL && mend__json_hash_alloc(call->args, allocator, &hashed) == MEND_OK) {
    event.args_hash = hashed.hash;
  }
  event.attempt = call->attempt;
  return publish(call, &event.event);
}

static mend_status publish_after(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  (void)decision;
  if (call->run == NULL) return MEND_OK;
  mend_tool_after_event event = MEND_TOOL_AFTER_EVENT_INIT;
  event.tool_name = call->tool_name;
  event.duration_ms = call->duration_ms;
  event.result = call->result;
  event.attempt = call->attempt;
  return publish(call, &event.event);
}

static mend_status publish_error(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  (void)decision;
  if (call->run == NULL) return MEND_OK;
  mend_tool_error_event event = MEND_TOOL_ERROR_EVENT_INIT;
  event.tool_name = call->tool_name;
  event.error_type = call->error_type;
  event.error_message = call->error_message;
  event.duration_ms = call->duration_ms;
  event.attempt = call->attempt;
  return publish(call, &event.event);
}

const mend_hook mend__publishing_hook = {
    .size = sizeof(mend_hook),
    .name = "publishing",
    .before = publish_before,
    .after = publish_after,
    .on_error = publish_error,
};

mend_status mend_hooks_add_publishing(mend_hooks *hooks, mend_error *error) {
  if (hooks == NULL) return mend__refuse_null(error, "the hooks");
  if (hooks != NULL && mend__hooks_publish(hooks)) {
    return mend_error_set(error, MEND_EEXIST, "the publishing hook is there already, every event would come twice");
  }
  return mend_hooks_add(hooks, &mend__publishing_hook, NULL, NULL, error);
}

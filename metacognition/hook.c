/* The hook that publishes what enriched results say of their confidence. */
#include "core/options_size.h"
#include "hooks/list.h"
#include "metacognition/metacognition_internal.h"
#include "metacognition/room.h"

#include <math.h>

/* ---- Its runs ---- */

static mend_status attach(void *ctx, mend_run *run, mend_error *error) {
  const mend_status status = mend__claim_attach(ctx, run);
  if (status == MEND_OK) return MEND_OK;
  const char *reason = status == MEND_EEXIST
                           ? "another metacognition hook publishes its confidence, every reading would count twice"
                           : mend_status_message(status);
  return mend_error_set(error, status, "run %.*s: %s", MEND_STR_ARG(mend_run_id(run)), reason);
}

static void detach(void *ctx, mend_run *run) { mend__claim_detach(ctx, run); }

static void destroy(void *ctx) { mend__publisher_end(ctx); }

/* ---- Publishing ---- */

/* The publisher's own id of a reading: "<run>/<call>/<attempt>". */
static void write_event_id(mend__buffer *text, const mend_hook_call *call) {
  mend__buffer_str(text, mend_run_id(call->run));
  mend__buffer_char(text, '/');
  if (call->call_name.len > 0) {
    mend__buffer_str(text, call->call_name);
  } else {
    mend__buffer_u64(text, call->call);
  }
  mend__buffer_char(text, '/');
  mend__buffer_u64(text, call->attempt);
}

static mend_status publish_reading(const mend__publisher *self, const mend_hook_call *call,
                                   const mend_enriched *enriched, mend_str event_id) {
  mend_confidence_event event = MEND_CONFIDENCE_EVENT_INIT;
  event.event.call = call->call;
  event.event.call_name = call->call_name;
  event.tool_name = call->tool_name;
  event.confidence = enriched->confidence;
  event.capability_boundary = enriched->capability_boundary;
  event.uncertainty_targets = enriched->uncertainty_targets;
  event.protocol = enriched->protocol_name;
  event.duration_ms = call->duration_ms;
  event.source = mend_str_from(self->source);
  event.event_id = event_id;
  event.attempt = call->attempt;
  return mend_run_publish(call->run, &event.event);
}

static mend_status publish(const mend__publisher *self, const mend_hook_call *call,
                           const mend__json_member members[MEND__ENRICHED_MEMBERS]) {
  mend_enriched enriched = MEND_ENRICHED_INIT;
  enriched.allocator = mend_bus_allocator(mend_run_bus(call->run));
  mend__buffer event_id;
  mend__buffer_init(&event_id, enriched.allocator);
  mend_status status = mend__enriched_take(members, &enriched);
  write_event_id(&event_id, call);
  if (event_id.failed) status = MEND_ENOMEM;
  if (status == MEND_OK) {
    status = publish_reading(self, call, &enriched, mend__buffer_text(&event_id));
  }
  mend__buffer_free(&event_id);
  mend_enriched_clear(&enriched);
  return status;
}

static mend_status after(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)decision;
  mend__json_member members[MEND__ENRICHED_MEMBERS];
  if (call->run == NULL || mend__enriched_scan(call->result, members) != MEND_OK) return MEND_OK;
  if (isnan(mend__said_confidence(members[MEND__ENRICHED_CONFIDENCE].value))) return MEND_OK;
  bool is_new = false;
  const mend_status status = mend__claim_reading(ctx, call, &is_new);
  return is_new ? publish(ctx, call, members) : status;
}

/* ---- Public ---- */

static const mend_hook metacognition_hook = {
    .size = sizeof metacognition_hook,
    .name = "metacognition",
    .after = after,
    .destroy = destroy,
    .attach = attach,
    .detach = detach,
};

bool mend__hooks_publish_confidence(mend_hooks *hooks) {
  return hooks != NULL && mend__hooks_contain(hooks, &metacognition_hook);
}

static mend_status check(mend_hooks *hooks, const char *source, mend_error *error) {
  if (hooks == NULL) return mend_error_set(error, MEND_EINVAL, "hooks: NULL, expected some");
  if (source == NULL || *source == '\0') {
    return mend_error_set(error, MEND_EINVAL, "mend_metacognition_hook_options.source: none, expected a name");
  }
  if (!mend__hooks_publish_confidence(hooks)) return MEND_OK;
  return mend_error_set(error, MEND_EEXIST, "the metacognition hook is there already, every reading would count twice");
}

mend_status mend_hooks_add_metacognition(mend_hooks *hooks, const mend_metacognition_hook_options *given,
                                         mend_error *error) {
  mend_metacognition_hook_options options = MEND_METACOGNITION_HOOK_OPTIONS_INIT;
  mend_status status = mend__options_take(&options, given, "mend_metacognition_hook_options", error);
  if (status == MEND_OK) status = check(hooks, options.source, error);
  if (status != MEND_OK) return status;
  mend__publisher *self = mend__publisher_new(options.source, mend__hooks_allocator(hooks));
  if (self == NULL) return mend_error_set(error, MEND_ENOMEM, "the metacognition hook: out of memory");
  status = mend_hooks_add(hooks, &metacognition_hook, self, NULL, error);
  if (status != MEND_OK) mend__publisher_end(self);
  return status;
}

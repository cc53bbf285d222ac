/**
 * mend/events.h: what an event is.
 *
 * An event is a mend_event (who, where, when) and its kind's payload, both in one struct: mend_tool_before_event begins
 * with a mend_event called `event`. Kinds, topics and fields come from mend/events.def; docs/events.md lists them.
 *
 *   mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
 *   before.event.call = 7;
 *   before.tool_name = MEND_STR("search");
 *   before.args = MEND_STR("{\"q\":\"weather\"}");
 *   mend_run_publish(run, &before.event);
 *
 * All an event points to is borrowed for the duration of the call it is given to; mend_event_clone keeps one.
 *
 * Threads: everything here may be called from any thread; an event belongs to whoever made it.
 */
#ifndef MEND_EVENTS_H
#define MEND_EVENTS_H

#include "mend/core.h"
#include "mend/events.def"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mend_run mend_run;

/** A topic of a bus: a small number. A built-in event's topic is its kind. */
typedef uint32_t mend_topic;

typedef enum mend_event_kind {
  MEND_EVENT_CUSTOM = 0, /**< a topic of one's own: mend_custom_event */
#define MEND_EVENT_CONSTANT(KIND, kind, topic, doc) MEND_EVENT_##KIND,
  MEND_EVENTS(MEND_EVENT_CONSTANT)
#undef MEND_EVENT_CONSTANT
      MEND_EVENT_KIND_COUNT
} mend_event_kind;

/** An absent U64 field. */
#define MEND_NONE UINT64_MAX

/** What every event has. From `seq` on, except call and call_name, publishing fills it in (the stamp). */
typedef struct mend_event {
  size_t size; /**< of the whole struct, payload included */
  mend_event_kind kind;
  mend_topic topic;
  uint64_t call;      /**< the tool or model call it belongs to, unique in the run; 0 for none. Detectors key on it */
  mend_str call_name; /**< the call's foreign id, such as toolu_01; absent when it has none. When call is 0,
                           mend_run_publish makes it mend_call_from_name of this */
  uint64_t seq;       /**< from 1, in the order of the run's stamps */
  mend_run *run;
  uint64_t wall_ns;
  uint64_t mono_ns;
  uint8_t trace_id[16]; /**< the run's */
  uint8_t span_id[8];   /**< of the call, or of the run where there is no call: mend_run_span_id */
} mend_event;

#define MEND_EVENT_INIT(KIND, type)                                                                                    \
  {                                                                                                                    \
    sizeof(type), MEND_EVENT_##KIND, MEND_EVENT_##KIND, 0, {NULL, 0}, 0, NULL, 0, 0, {0}, { 0 }                        \
  }

#define MEND_FIELD_C_STR mend_str
#define MEND_FIELD_C_JSON mend_str
#define MEND_FIELD_C_U64 uint64_t
#define MEND_FIELD_C_F64 double
#define MEND_FIELD_C_RATIO double
#define MEND_FIELD_C_FLAG bool
#define MEND_FIELD_C_HASH mend_hash
#define MEND_EVENT_FIELD(TYPE, name, doc) MEND_FIELD_C_##TYPE name;
#define MEND_EVENT_STRUCT(KIND, kind, topic, doc)                                                                      \
  typedef struct mend_##kind##_event {                                                                                 \
    mend_event event;                                                                                                  \
    MEND_FIELDS_##kind(MEND_EVENT_FIELD)                                                                               \
  } mend_##kind##_event;
MEND_EVENTS(MEND_EVENT_STRUCT)
#undef MEND_EVENT_STRUCT
#undef MEND_EVENT_FIELD

/** An event of a topic of one's own; mend_run_emit makes one from JSON. */
typedef struct mend_custom_event {
  mend_event event;
  mend_str payload; /**< a JSON object */
} mend_custom_event;

/** Room for any event: for readers and for code that handles every kind. */
typedef union mend_any_event {
  mend_event event;
  mend_custom_event custom;
#define MEND_EVENT_MEMBER(KIND, kind, topic, doc) mend_##kind##_event kind;
  MEND_EVENTS(MEND_EVENT_MEMBER)
#undef MEND_EVENT_MEMBER
} mend_any_event;

/* MEND_<KIND>_EVENT_INIT: an event of that kind with every field absent. One line each, so that a call site can say
 * `mend_tool_after_event after = MEND_TOOL_AFTER_EVENT_INIT;`. */
#define MEND_ABSENT_STR                                                                                                \
  { NULL, 0 }
#define MEND_ABSENT_JSON                                                                                               \
  { NULL, 0 }
#define MEND_ABSENT_U64 MEND_NONE
#define MEND_ABSENT_F64 MEND_NAN
#define MEND_ABSENT_RATIO MEND_NAN
#define MEND_ABSENT_FLAG false
#define MEND_ABSENT_HASH                                                                                               \
  { 0, 0 }
#define MEND_NAN (__builtin_nan(""))
#define MEND_EVENT_ABSENT(TYPE, name, doc) MEND_ABSENT_##TYPE,
#define MEND_CUSTOM_EVENT_INIT                                                                                         \
  { MEND_EVENT_INIT(CUSTOM, mend_custom_event), MEND_ABSENT_JSON }
#define MEND_TOOL_BEFORE_EVENT_INIT                                                                                    \
  { MEND_EVENT_INIT(TOOL_BEFORE, mend_tool_before_event), MEND_FIELDS_tool_before(MEND_EVENT_ABSENT) }
#define MEND_TOOL_PROGRESS_EVENT_INIT                                                                                  \
  { MEND_EVENT_INIT(TOOL_PROGRESS, mend_tool_progress_event), MEND_FIELDS_tool_progress(MEND_EVENT_ABSENT) }
#define MEND_TOOL_AFTER_EVENT_INIT                                                                                     \
  { MEND_EVENT_INIT(TOOL_AFTER, mend_tool_after_event), MEND_FIELDS_tool_after(MEND_EVENT_ABSENT) }
#define MEND_TOOL_ERROR_EVENT_INIT                                                                                     \
  { MEND_EVENT_INIT(TOOL_ERROR, mend_tool_error_event), MEND_FIELDS_tool_error(MEND_EVENT_ABSENT) }
#define MEND_TOOL_SKIPPED_EVENT_INIT                                                                                   \
  { MEND_EVENT_INIT(TOOL_SKIPPED, mend_tool_skipped_event), MEND_FIELDS_tool_skipped(MEND_EVENT_ABSENT) }
#define MEND_TOOL_ABORTED_EVENT_INIT                                                                                   \
  { MEND_EVENT_INIT(TOOL_ABORTED, mend_tool_aborted_event), MEND_FIELDS_tool_aborted(MEND_EVENT_ABSENT) }
#define MEND_TOOL_CANCELLED_EVENT_INIT                                                                                 \
  { MEND_EVENT_INIT(TOOL_CANCELLED, mend_tool_cancelled_event), MEND_FIELDS_tool_cancelled(MEND_EVENT_ABSENT) }
#define MEND_TOOL_REFUSED_EVENT_INIT                                                                                   \
  { MEND_EVENT_INIT(TOOL_REFUSED, mend_tool_refused_event), MEND_FIELDS_tool_refused(MEND_EVENT_ABSENT) }
#define MEND_HOOK_SHADOWED_EVENT_INIT                                                                                  \
  { MEND_EVENT_INIT(HOOK_SHADOWED, mend_hook_shadowed_event), MEND_FIELDS_hook_shadowed(MEND_EVENT_ABSENT) }
#define MEND_HOOK_FAILED_EVENT_INIT                                                                                    \
  { MEND_EVENT_INIT(HOOK_FAILED, mend_hook_failed_event), MEND_FIELDS_hook_failed(MEND_EVENT_ABSENT) }
#define MEND_CONFIDENCE_EVENT_INIT                                                                                     \
  { MEND_EVENT_INIT(CONFIDENCE, mend_confidence_event), MEND_FIELDS_confidence(MEND_EVENT_ABSENT) }
#define MEND_REDECOMPOSITION_EVENT_INIT                                                                                \
  { MEND_EVENT_INIT(REDECOMPOSITION, mend_redecomposition_event), MEND_FIELDS_redecomposition(MEND_EVENT_ABSENT) }
#define MEND_DETECTION_EVENT_INIT                                                                                      \
  { MEND_EVENT_INIT(DETECTION, mend_detection_event), MEND_FIELDS_detection(MEND_EVENT_ABSENT) }
#define MEND_ACTION_EVENT_INIT                                                                                         \
  { MEND_EVENT_INIT(ACTION, mend_action_event), MEND_FIELDS_action(MEND_EVENT_ABSENT) }
#define MEND_HEALING_STARTED_EVENT_INIT                                                                                \
  { MEND_EVENT_INIT(HEALING_STARTED, mend_healing_started_event), MEND_FIELDS_healing_started(MEND_EVENT_ABSENT) }
#define MEND_HEALING_STOPPED_EVENT_INIT                                                                                \
  { MEND_EVENT_INIT(HEALING_STOPPED, mend_healing_stopped_event), MEND_FIELDS_healing_stopped(MEND_EVENT_ABSENT) }
#define MEND_MODEL_FALLBACK_EVENT_INIT                                                                                 \
  { MEND_EVENT_INIT(MODEL_FALLBACK, mend_model_fallback_event), MEND_FIELDS_model_fallback(MEND_EVENT_ABSENT) }
#define MEND_MODEL_CHAIN_EXHAUSTED_EVENT_INIT                                                                          \
  {                                                                                                                    \
    MEND_EVENT_INIT(MODEL_CHAIN_EXHAUSTED, mend_model_chain_exhausted_event),                                          \
        MEND_FIELDS_model_chain_exhausted(MEND_EVENT_ABSENT)                                                           \
  }
#define MEND_MODEL_RECOVERED_EVENT_INIT                                                                                \
  { MEND_EVENT_INIT(MODEL_RECOVERED, mend_model_recovered_event), MEND_FIELDS_model_recovered(MEND_EVENT_ABSENT) }
#define MEND_DISCOVERY_REQUESTED_EVENT_INIT                                                                            \
  {                                                                                                                    \
    MEND_EVENT_INIT(DISCOVERY_REQUESTED, mend_discovery_requested_event),                                              \
        MEND_FIELDS_discovery_requested(MEND_EVENT_ABSENT)                                                             \
  }
#define MEND_DISCOVERY_DENIED_EVENT_INIT                                                                               \
  { MEND_EVENT_INIT(DISCOVERY_DENIED, mend_discovery_denied_event), MEND_FIELDS_discovery_denied(MEND_EVENT_ABSENT) }
#define MEND_DISCOVERY_FAILED_EVENT_INIT                                                                               \
  { MEND_EVENT_INIT(DISCOVERY_FAILED, mend_discovery_failed_event), MEND_FIELDS_discovery_failed(MEND_EVENT_ABSENT) }
#define MEND_DISCOVERY_CONNECTED_EVENT_INIT                                                                            \
  {                                                                                                                    \
    MEND_EVENT_INIT(DISCOVERY_CONNECTED, mend_discovery_connected_event),                                              \
        MEND_FIELDS_discovery_connected(MEND_EVENT_ABSENT)                                                             \
  }
#define MEND_DISCOVERY_NOT_FOUND_EVENT_INIT                                                                            \
  {                                                                                                                    \
    MEND_EVENT_INIT(DISCOVERY_NOT_FOUND, mend_discovery_not_found_event),                                              \
        MEND_FIELDS_discovery_not_found(MEND_EVENT_ABSENT)                                                             \
  }
#define MEND_MCP_TOOL_CHANGED_EVENT_INIT                                                                               \
  { MEND_EVENT_INIT(MCP_TOOL_CHANGED, mend_mcp_tool_changed_event), MEND_FIELDS_mcp_tool_changed(MEND_EVENT_ABSENT) }
#define MEND_RUN_STARTED_EVENT_INIT                                                                                    \
  { MEND_EVENT_INIT(RUN_STARTED, mend_run_started_event), MEND_FIELDS_run_started(MEND_EVENT_ABSENT) }
#define MEND_RUN_FINISHED_EVENT_INIT                                                                                   \
  { MEND_EVENT_INIT(RUN_FINISHED, mend_run_finished_event), MEND_FIELDS_run_finished(MEND_EVENT_ABSENT) }
#define MEND_RUN_RESET_EVENT_INIT                                                                                      \
  { MEND_EVENT_INIT(RUN_RESET, mend_run_reset_event), MEND_FIELDS_run_reset(MEND_EVENT_ABSENT) }
#define MEND_MODEL_REQUEST_EVENT_INIT                                                                                  \
  { MEND_EVENT_INIT(MODEL_REQUEST, mend_model_request_event), MEND_FIELDS_model_request(MEND_EVENT_ABSENT) }
#define MEND_MODEL_DELTA_EVENT_INIT                                                                                    \
  { MEND_EVENT_INIT(MODEL_DELTA, mend_model_delta_event), MEND_FIELDS_model_delta(MEND_EVENT_ABSENT) }
#define MEND_MODEL_RESPONSE_EVENT_INIT                                                                                 \
  { MEND_EVENT_INIT(MODEL_RESPONSE, mend_model_response_event), MEND_FIELDS_model_response(MEND_EVENT_ABSENT) }
#define MEND_MODEL_ERROR_EVENT_INIT                                                                                    \
  { MEND_EVENT_INIT(MODEL_ERROR, mend_model_error_event), MEND_FIELDS_model_error(MEND_EVENT_ABSENT) }
#define MEND_MODEL_USAGE_EVENT_INIT                                                                                    \
  { MEND_EVENT_INIT(MODEL_USAGE, mend_model_usage_event), MEND_FIELDS_model_usage(MEND_EVENT_ABSENT) }
#define MEND_MODEL_RETRY_EVENT_INIT                                                                                    \
  { MEND_EVENT_INIT(MODEL_RETRY, mend_model_retry_event), MEND_FIELDS_model_retry(MEND_EVENT_ABSENT) }
#define MEND_USER_MESSAGE_EVENT_INIT                                                                                   \
  { MEND_EVENT_INIT(USER_MESSAGE, mend_user_message_event), MEND_FIELDS_user_message(MEND_EVENT_ABSENT) }
#define MEND_AGENT_START_EVENT_INIT                                                                                    \
  { MEND_EVENT_INIT(AGENT_START, mend_agent_start_event), MEND_FIELDS_agent_start(MEND_EVENT_ABSENT) }
#define MEND_AGENT_END_EVENT_INIT                                                                                      \
  { MEND_EVENT_INIT(AGENT_END, mend_agent_end_event), MEND_FIELDS_agent_end(MEND_EVENT_ABSENT) }
#define MEND_APPROVAL_WAIT_EVENT_INIT                                                                                  \
  { MEND_EVENT_INIT(APPROVAL_WAIT, mend_approval_wait_event), MEND_FIELDS_approval_wait(MEND_EVENT_ABSENT) }
#define MEND_APPROVAL_GRANTED_EVENT_INIT                                                                               \
  { MEND_EVENT_INIT(APPROVAL_GRANTED, mend_approval_granted_event), MEND_FIELDS_approval_granted(MEND_EVENT_ABSENT) }
#define MEND_CONTEXT_COMPACT_EVENT_INIT                                                                                \
  { MEND_EVENT_INIT(CONTEXT_COMPACT, mend_context_compact_event), MEND_FIELDS_context_compact(MEND_EVENT_ABSENT) }
#define MEND_STALL_RECOVERED_EVENT_INIT                                                                                \
  { MEND_EVENT_INIT(STALL_RECOVERED, mend_stall_recovered_event), MEND_FIELDS_stall_recovered(MEND_EVENT_ABSENT) }
#define MEND_CLOCK_REBASED_EVENT_INIT                                                                                  \
  { MEND_EVENT_INIT(CLOCK_REBASED, mend_clock_rebased_event), MEND_FIELDS_clock_rebased(MEND_EVENT_ABSENT) }
#define MEND_BUS_DROPPED_EVENT_INIT                                                                                    \
  { MEND_EVENT_INIT(BUS_DROPPED, mend_bus_dropped_event), MEND_FIELDS_bus_dropped(MEND_EVENT_ABSENT) }
#define MEND_BUS_HANDLER_FAILED_EVENT_INIT                                                                             \
  {                                                                                                                    \
    MEND_EVENT_INIT(BUS_HANDLER_FAILED, mend_bus_handler_failed_event),                                                \
        MEND_FIELDS_bus_handler_failed(MEND_EVENT_ABSENT)                                                              \
  }
#define MEND_TICK_EVENT_INIT                                                                                           \
  { MEND_EVENT_INIT(TICK, mend_tick_event), MEND_FIELDS_tick(MEND_EVENT_ABSENT) }

/** An event's topic for a kind, such as "tool.before", with a NUL behind; absent for MEND_EVENT_CUSTOM and unknown
 * kinds. Static. */
MEND_API mend_str mend_event_kind_topic(mend_event_kind kind);
/** An event of `kind` with every field absent, in *ret_event; for code that handles every kind. Errors: MEND_EINVAL. */
MEND_API mend_status mend_event_init(mend_any_event *ret_event, mend_event_kind kind);

/**
 * The number of a call that is known by a foreign id: the id itself when it is a decimal number from 1 to 2^63 - 1
 * without leading zeros, otherwise a 63-bit hash with the top bit set, so that an id "0" is a call too. The same id
 * always gives the same number; an absent or empty one gives 0, no call.
 */
MEND_API uint64_t mend_call_from_name(mend_str name);

/** What the JSON view shows. */
typedef struct mend_json_view_options {
  size_t size;
  /** Full arguments and results; default true. Otherwise hashes (args_hash_loose too), arguments' strings cut to 120
   * characters, and of a result its first 400: that saves space. It hides nothing that is short, and nothing in other
   * events, but what looks like a secret is covered by three stars, wherever it is (docs/evidence.md); the hashes are
   * of what was there. With content nothing is covered. */
  bool content;
} mend_json_view_options;
#define MEND_JSON_VIEW_OPTIONS_INIT                                                                                    \
  { sizeof(mend_json_view_options), true }

/**
 * The JSON view: one object, the journal's line without its line feed. Its members, in this order, without those that
 * are absent: ts (seconds since 1970, in decimal to the nanosecond), seq, topic, run_id, agent, call_id (call_name,
 * else call as a string), parent_call_id, parent_run_id, session_id, project_id, trace_id, span_id; then the payload:
 * the kind's fields by name, or the members of an own topic's object, without those that have one of the names before.
 * White space in JSON fields is dropped. A JSON field that is not JSON (args or result given as plain text, say) is
 * shown as a JSON string.
 * \param options  NULL for the defaults
 * \param ret_json  NUL-terminated, the caller's; free it with mend_free(allocator, ...)
 * Errors: MEND_ENOMEM, MEND_EINVAL for an event whose size does not fit its kind or that has no run.
 */
MEND_API mend_status mend_event_to_json(const mend_event *event, const mend_json_view_options *options,
                                        const mend_allocator *allocator, char **ret_json, size_t *ret_len);

/**
 * A copy that owns all it points to, in one block, and a reference to its run. Errors: MEND_ENOMEM, MEND_EINVAL as
 * above, MEND_ECLOSED in a handler when an earlier one has dropped the last reference to the run.
 */
MEND_API mend_status mend_event_clone(const mend_event *event, const mend_allocator *allocator, mend_event **ret_clone);
/** Frees a clone. NULL is allowed. */
MEND_API void mend_event_free(mend_event *clone);

#ifdef __cplusplus
}
#endif
#endif

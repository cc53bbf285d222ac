#include "core/seconds.h"
#include "watchdogs/evidence_stall.h"
#include "watchdogs/saying.h"

/* What is said of a reason: "<who> <before> 60.0 s<after>". */
typedef struct wording {
  const char *reason, *before, *after, *limit, *steer;
  double confidence;
} wording;

static const wording wordings[] = {
    [MEND__STALL_TOOL_IDLE] = {"tool_idle", " has shown no sign of life for ", " s", "stall.timeout_s",
                               "end the call and try it with less to do, or give it a time limit of its own", 0.8},
    [MEND__STALL_HEARTBEAT] = {"heartbeat_without_progress", " says that it is alive and has put nothing out for ",
                               " s", "stall.progress_s",
                               "look at what the call waits for, or end it and try it with less to do", 0.7},
    [MEND__STALL_TOOL_TOTAL] = {"tool_total", " has not returned for ", " s", "stall.total_s",
                                "split the work into smaller calls", 0.6},
    [MEND__STALL_NO_FIRST_TOKEN] = {"no_first_token", " has not begun to answer for ", " s", "stall.first_token_s",
                                    "ask again, or ask another model", 0.8},
    [MEND__STALL_STREAM_IDLE] = {"stream_idle", " has stopped in its reply for ", " s", "stall.stream_idle_s",
                                 "ask again, or ask another model", 0.9},
    [MEND__STALL_RUN_IDLE] = {"run_idle", " has done nothing for ", " s, and nothing is open", "stall.run_idle_s",
                              "go on with the task, or say that it is done", 0.7},
};

/* Silence of a run of which only tools are known is no strong evidence: somebody may be thinking. */
static double confidence_of(const mend__stall_state *state, mend__stall_reason reason) {
  return reason == MEND__STALL_RUN_IDLE && !state->is_live ? 0.4 : wordings[reason].confidence;
}

/* ---- Texts ---- */

static void write_who(mend__buffer *text, const mend__stall_item *item) {
  const mend_str name = mend__kept_text_first(&item->names);
  if (item->kind == MEND__STALL_RUN) {
    mend__buffer_str(text, MEND_STR("the run"));
  } else if (item->kind == MEND__STALL_STREAM && name.len == 0) {
    mend__buffer_str(text, MEND_STR("the model"));
  } else {
    mend__buffer_tool(text, name);
  }
}

static void write_summary(mend__buffer *text, const mend__stall_item *item, const mend__stall_limit *limit,
                          uint64_t now_ns) {
  const wording *words = &wordings[limit->reason];
  write_who(text, item);
  mend__buffer_str(text, mend_str_from(words->before));
  mend__buffer_tenths(text, mend__ns_between(limit->start_ns, now_ns));
  mend__buffer_str(text, mend_str_from(words->after));
}

static void write_moment(mend__buffer *text, const char *what, uint64_t wall_ns) {
  mend__buffer_str(text, MEND_STR("{\"what\":\""));
  mend__buffer_str(text, mend_str_from(what));
  mend__buffer_str(text, MEND_STR("\",\"at\":"));
  mend__buffer_seconds(text, wall_ns);
  mend__buffer_str(text, MEND_STR("},"));
}

static void write_evidence(mend__buffer *text, const mend__stall_item *item, const mend__stall_limit *limit,
                           const mend_emitter *emitter) {
  mend__buffer_char(text, '[');
  write_moment(text, item->kind == MEND__STALL_RUN ? "last event" : "began", item->started_wall_ns);
  if (item->progress_ns > item->started_ns)
    write_moment(text, "last progress", mend__emitter_wall_of(emitter, item->progress_ns));
  if (item->seen_ns > item->progress_ns)
    write_moment(text, "last sign of life", mend__emitter_wall_of(emitter, item->seen_ns));
  mend__buffer_str(text, MEND_STR("{\"what\":\""));
  mend__buffer_str(text, mend_str_from(wordings[limit->reason].limit));
  mend__buffer_str(text, MEND_STR("\",\"seconds\":"));
  mend__buffer_seconds(text, limit->timeout_ns);
  mend__buffer_str(text, MEND_STR("}]"));
}

static void write_payload(mend__buffer *text, const mend__stall_item *item, const mend__stall_limit *limit,
                          mend_str call_id, uint64_t now_ns) {
  mend__buffer_str(text, MEND_STR("{\"call_id\":"));
  mend__buffer_json_text(text, call_id);
  mend__buffer_str(text, MEND_STR(",\"started_at\":"));
  mend__buffer_seconds(text, item->started_wall_ns);
  mend__buffer_str(text, MEND_STR(",\"elapsed_s\":"));
  mend__buffer_seconds(text, mend__ns_between(item->started_ns, now_ns));
  mend__buffer_str(text, MEND_STR(",\"idle_s\":"));
  mend__buffer_seconds(text, mend__ns_between(limit->start_ns, now_ns));
  mend__buffer_str(text, MEND_STR(",\"limit_s\":"));
  mend__buffer_seconds(text, limit->timeout_ns);
  mend__buffer_char(text, '}');
}

static void write_incident(mend__buffer *text, const mend__stall_item *item, mend__stall_reason reason) {
  mend__buffer_str(text, mend_str_from(wordings[reason].reason));
  const mend_str name = mend__kept_text_first(&item->names);
  if (name.len == 0) return;
  mend__buffer_char(text, '/');
  mend__buffer_str(text, name);
}

/* ---- Telling ---- */

mend_status mend__stall_report(const mend__stall_state *state, mend__stall_item *item, const mend__stall_limit *limit,
                               uint64_t now_ns, mend_emitter *emitter) {
  char digits[MEND__CALL_DIGITS];
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = mend_str_from(wordings[limit->reason].reason);
  detection.severity = (double)mend__ns_between(limit->start_ns, now_ns) / (2 * (double)limit->timeout_ns);
  detection.confidence = confidence_of(state, limit->reason);
  if (item->kind == MEND__STALL_CALL) detection.tool_name = mend__kept_text_first(&item->names);
  detection.first_call = mend__call_text(item->call, mend__kept_text_second(&item->names), digits);
  detection.last_call = detection.first_call;
  detection.steer = mend_str_from(wordings[limit->reason].steer);

  mend__saying saying;
  mend__saying_init(&saying, state->watchdog->allocator);
  write_summary(&saying.text, item, limit, now_ns);
  mend__saying_next(&saying);
  write_evidence(&saying.text, item, limit, emitter);
  mend__saying_next(&saying);
  write_incident(&saying.text, item, limit->reason);
  mend__saying_next(&saying);
  write_payload(&saying.text, item, limit, detection.first_call, now_ns);
  const mend_status status = mend__saying_emit(&saying, emitter, &detection);
  if (status == MEND_OK) item->detection_id = mend__emitter_last_id(emitter);
  return status;
}

mend_status mend__stall_recovered(const mend__stall_item *item, const mend_event *ending, mend_emitter *emitter) {
  mend_stall_recovered_event event = MEND_STALL_RECOVERED_EVENT_INIT;
  event.event.call = item->call;
  event.event.call_name = mend__kept_text_second(&item->names);
  if (item->kind == MEND__STALL_CALL) event.tool_name = mend__kept_text_first(&item->names);
  event.detection_id = item->detection_id;
  event.elapsed_s = (double)mend__ns_between(item->started_ns, ending->mono_ns) / (double)MEND_SECOND_NS;
  return mend__emit_event(emitter, &event.event);
}

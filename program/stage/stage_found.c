/* Detections, as the reports are told of them. */
#include "program/stage/stage_internal.h"

#include <stdio.h>

/* Remembers what the reports are to be told about later. */
static mend_status follow(stage *on, played_run *run, const mend_detection *detection, open_call *call,
                          uint64_t incident) {
  if (incident == 0) return MEND_OK;
  if (call != NULL && replay_kind_of(detection) == REPLAY_STALL) call->incident = incident;
  const bool repeats = on->beginning != NULL && replay_is_repeat(detection);
  return repeats ? played_run_follow(run, on->beginning, incident) : MEND_OK;
}

static void describe_open(const played_run *run, const open_call *call, bool with_answer, replay_detection *found) {
  const pair_key key = pair_of_open(call);
  if (found->tool.len == 0) found->tool = call->tool;
  found->args_hash = call->args_hash;
  found->args = call->args;
  if (with_answer) found->answer = answers_find(&run->answers, &key);
}

/* The call that completed the evidence has no id, so it is not among the open ones. */
static void describe_beginning(stage *on, const played_run *run, replay_detection *found) {
  const pair_key key = pair_of(on->beginning);
  found->answer = answers_find(&run->answers, &key);
  mend__buffer_clear(&on->excerpt);
  append_excerpt(&on->excerpt, on->beginning->args, on->settings->content_bytes);
  if (found->tool.len == 0) found->tool = on->beginning->tool_name;
  found->args_hash = on->beginning->args_hash;
  found->args = mend__buffer_text(&on->excerpt);
}

static replay_detection describe(stage *on, const played_run *run, const mend_detection *detection,
                                 const open_call *call) {
  const mend_str id = detection->last_call.len > 0 ? detection->last_call : detection->first_call;
  replay_detection found = {.detection = detection,
                            .fails = fail_on_matches(on->settings->fails, detection),
                            .row = on->row,
                            .ts_ns = on->now_ns,
                            .start_ns = on->start_ns,
                            .call_id = id.len > 0 ? id : (mend_str){NULL, 0},
                            .tool = detection->tool_name};
  const bool by_event = detection->cause_seq != 0; /* a deadline has nothing to do with the last answer */
  if (call != NULL) {
    describe_open(run, call, by_event, &found);
  } else if (by_event && id.len > 0) {
    found.answer = answers_find_call(&run->answers, id);
  } else if (by_event && on->beginning != NULL) {
    describe_beginning(on, run, &found);
  }
  if (mend_detection_decide(detection, mend_default_policy, NULL, &found.action) != MEND_OK) {
    found.action = mend_action_none();
  }
  return found;
}

static void count(stage *on, const replay_detection *found) {
  const mend_detection *detection = found->detection;
  on->counts.detections++;
  on->counts.failing += found->fails;
  tally_add(&on->by_detector, detection->detector);
  if (found->again) return;
  char kind[64];
  snprintf(kind, sizeof kind, "%.*s %.*s", MEND_STR_ARG(detection->detector), MEND_STR_ARG(detection->reason));
  tally_add(&on->by_reason, mend_str_from(kind));
  on->counts.incidents++;
}

static mend_status tell(stage *on, played_run *run, const mend_detection *detection) {
  const mend_str id = detection->last_call.len > 0 ? detection->last_call : detection->first_call;
  open_call *call = id.len > 0 ? open_calls_find(&run->calls, id) : NULL;
  replay_detection found = describe(on, run, detection, call);
  numbered_incident *incident;
  if (on->excerpt.failed) return MEND_ENOMEM;
  mend_status status = incident_numbers_take(&on->incidents, &found, &incident);
  if (status == MEND_OK) status = run_record_detection(&run->record, &found, on->beginning != NULL, incident);
  if (status != MEND_OK) return status;
  count(on, &found);
  status = reports_detection(on->settings->reports, &found);
  return status == MEND_OK ? follow(on, run, detection, call, found.incident) : status;
}

/* Takes all that is new in the run's log, with its own cursor. */
mend_status stage_hear_detection(void *ctx, const mend_event *event) {
  stage *on = ctx;
  played_run *run = mend__strmap_get(&on->runs, mend_run_id(event->run));
  if (run == NULL) return MEND_OK;
  const mend_detection *detection;
  while (on->failure == MEND_OK && mend_watch_next(run->watch, &run->cursor, &detection) == MEND_OK) {
    on->failure = tell(on, run, detection);
    mend_detection_release(detection);
  }
  on->counts.detections_lost += run->cursor.lost;
  run->cursor.lost = 0;
  return MEND_OK;
}

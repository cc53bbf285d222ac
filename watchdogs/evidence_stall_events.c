/* Stall in mode evidence: which events open, move on and close what can hang. */
#include "core/seconds.h"
#include "watchdogs/evidence_stall.h"

/* ---- Signs of life ---- */

static void see(mend__stall_state *state, mend__stall_item *item, uint64_t now_ns, bool is_progress) {
  item->seen_ns = now_ns;
  if (is_progress) item->progress_ns = now_ns;
  mend__stall_arm(state, item);
}

static void go_on(mend__stall_state *state, mend__stall_item *item, uint64_t now_ns) {
  if (!item->is_waiting) return;
  item->is_waiting = false;
  mend__stall_shift(item, mend__ns_between(item->waiting_ns, now_ns));
  mend__stall_arm(state, item);
}

/* A wait that began before there was a call ends with whatever the run does next by itself. */
static void end_wait(mend__stall_state *state, uint64_t now_ns) {
  if (!state->is_waiting) return;
  state->is_waiting = false;
  mend__stall_stand(state, mend__ns_between(state->waiting_ns, now_ns));
}

/* ---- Calls ---- */

static void wait_for_nested(mend__stall_state *state, mend__stall_item *item, uint64_t within) {
  if (within == MEND_NONE || within == item->call) return;
  mend__stall_item *outer = mend__stall_find(state, MEND__STALL_CALL, within);
  if (outer == NULL) return;
  item->within = within;
  outer->nested++;
}

static void nested_ended(mend__stall_state *state, uint64_t within, uint64_t now_ns) {
  mend__stall_item *outer = within != 0 ? mend__stall_find(state, MEND__STALL_CALL, within) : NULL;
  if (outer == NULL || outer->nested == 0) return;
  outer->nested--;
  see(state, outer, now_ns, true);
}

/* A reply of which nobody told the end: the agent acts on it. */
static void close_unnamed_stream(mend__stall_state *state) {
  mend__stall_item *stream = mend__stall_find(state, MEND__STALL_STREAM, 0);
  if (stream != NULL) mend__stall_close(state, stream);
}

/* A later attempt starts anew; anything else is the same start told twice. */
static mend_status begin_again(mend__stall_state *state, mend__stall_item *item, const mend_tool_before_event *before) {
  if (before->attempt == MEND_NONE || before->attempt <= item->attempt) {
    mend__count(&state->watchdog->counters.duplicates);
    return MEND_OK;
  }
  const mend_status status = mend__stall_begin(state, item, &before->event, before->tool_name);
  if (status != MEND_OK) return status;
  item->attempt = before->attempt;
  mend__stall_arm(state, item);
  return MEND_OK;
}

static mend_status begin_call(mend__stall_state *state, const mend_tool_before_event *before) {
  end_wait(state, before->event.mono_ns);
  close_unnamed_stream(state);
  mend__stall_item *item = mend__stall_find(state, MEND__STALL_CALL, before->event.call);
  if (item != NULL) return begin_again(state, item, before);
  const mend_status status = mend__stall_open(state, MEND__STALL_CALL, &before->event, before->tool_name, &item);
  if (item == NULL) return status;
  item->attempt = before->attempt != MEND_NONE ? before->attempt : 1;
  wait_for_nested(state, item, before->within);
  mend__stall_arm(state, item);
  return MEND_OK;
}

/* 0 bytes are a heartbeat. */
static void progress_call(mend__stall_state *state, const mend_tool_progress_event *progress) {
  mend__stall_item *item = mend__stall_find(state, MEND__STALL_CALL, progress->event.call);
  if (item == NULL) return;
  go_on(state, item, progress->event.mono_ns);
  see(state, item, progress->event.mono_ns, progress->bytes != 0);
}

/* One that was skipped, aborted or cancelled has not recovered. */
static mend_status end_call(mend__stall_state *state, const mend_event *event, mend_emitter *emitter) {
  mend__stall_item *item = mend__stall_find(state, MEND__STALL_CALL, event->call);
  if (item == NULL) return MEND_OK;
  const bool returned = event->kind == MEND_EVENT_TOOL_AFTER || event->kind == MEND_EVENT_TOOL_ERROR;
  const uint64_t within = item->within;
  go_on(state, item, event->mono_ns);
  const mend_status status =
      returned && item->detection_id != 0 ? mend__stall_recovered(item, event, emitter) : MEND_OK;
  mend__stall_close(state, item);
  nested_ended(state, within, event->mono_ns);
  return status;
}

static mend_status call_event(mend__stall_state *state, const mend_event *event, mend_emitter *emitter) {
  if (event->call == 0) {
    mend__count(&state->watchdog->counters.ignored);
    return MEND_OK;
  }
  switch (event->kind) {
  case MEND_EVENT_TOOL_BEFORE: return begin_call(state, (const mend_tool_before_event *)event);
  case MEND_EVENT_TOOL_PROGRESS: progress_call(state, (const mend_tool_progress_event *)event); return MEND_OK;
  default: state->is_due = true; return end_call(state, event, emitter);
  }
}

/* ---- Models ---- */

static mend_status begin_stream(mend__stall_state *state, const mend_event *event, mend_str model) {
  state->is_live = true;
  end_wait(state, event->mono_ns);
  mend__stall_item *item = mend__stall_find(state, MEND__STALL_STREAM, event->call);
  mend_status status = MEND_OK;
  if (item != NULL) {
    status = mend__stall_begin(state, item, event, model);
  } else {
    status = mend__stall_open(state, MEND__STALL_STREAM, event, model, &item);
  }
  if (status == MEND_OK && item != NULL) mend__stall_arm(state, item);
  return status;
}

/* Arguments are progress, too, even where their text is not given. */
static void progress_stream(mend__stall_state *state, const mend_model_delta_event *delta) {
  mend__stall_item *item = mend__stall_find(state, MEND__STALL_STREAM, delta->event.call);
  const bool is_progress = delta->text.len > 0 || (delta->bytes != MEND_NONE && delta->bytes > 0);
  if (item == NULL || !is_progress) return;
  item->has_progressed = true;
  see(state, item, delta->event.mono_ns, true);
}

static mend_status end_stream(mend__stall_state *state, const mend_event *event, mend_emitter *emitter) {
  mend__stall_item *item = mend__stall_find(state, MEND__STALL_STREAM, event->call);
  if (item == NULL) return MEND_OK;
  const bool answered = event->kind == MEND_EVENT_MODEL_RESPONSE;
  const mend_status status =
      answered && item->detection_id != 0 ? mend__stall_recovered(item, event, emitter) : MEND_OK;
  mend__stall_close(state, item);
  return status;
}

/* After a reply it is somebody else's turn, unless the reply asks for tools. */
static mend_status model_event(mend__stall_state *state, const mend_event *event, mend_emitter *emitter) {
  switch (event->kind) {
  case MEND_EVENT_MODEL_REQUEST: return begin_stream(state, event, ((const mend_model_request_event *)event)->model);
  case MEND_EVENT_MODEL_RETRY: return begin_stream(state, event, ((const mend_model_retry_event *)event)->model);
  case MEND_EVENT_MODEL_DELTA: progress_stream(state, (const mend_model_delta_event *)event); return MEND_OK;
  case MEND_EVENT_MODEL_RESPONSE:
    state->is_due = mend_str_equal(((const mend_model_response_event *)event)->finish_reason, MEND_STR("tool_calls"));
    return end_stream(state, event, emitter);
  default: state->is_due = false; return end_stream(state, event, emitter);
  }
}

/* ---- The run ---- */

static void wait_for_person(mend__stall_state *state, const mend_event *event) {
  mend__stall_item *item = event->call != 0 ? mend__stall_find(state, MEND__STALL_CALL, event->call) : NULL;
  bool *is_waiting = item != NULL ? &item->is_waiting : &state->is_waiting;
  if (*is_waiting) return;
  *is_waiting = true;
  *(item != NULL ? &item->waiting_ns : &state->waiting_ns) = event->mono_ns;
}

static void person_answered(mend__stall_state *state, const mend_event *event) {
  mend__stall_item *item = event->call != 0 ? mend__stall_find(state, MEND__STALL_CALL, event->call) : NULL;
  if (item != NULL && item->is_waiting) {
    go_on(state, item, event->mono_ns);
  } else {
    end_wait(state, event->mono_ns);
  }
}

static void rebase(mend__stall_state *state, const mend_clock_rebased_event *rebased) {
  if (rebased->gap_s > 0) mend__stall_stand(state, mend__seconds_to_ns(rebased->gap_s));
}

static void end_run(mend__stall_state *state, uint64_t now_ns, bool is_all) {
  state->is_due = false;
  end_wait(state, now_ns);
  mend__stall_close_all(state, MEND__STALL_STREAM);
  if (is_all) mend__stall_close_all(state, MEND__STALL_CALL);
}

static void run_event(mend__stall_state *state, const mend_event *event) {
  switch (event->kind) {
  case MEND_EVENT_USER_MESSAGE:
    end_wait(state, event->mono_ns);
    state->is_due = state->is_live; /* else nobody knows whether the model was asked */
    break;
  case MEND_EVENT_AGENT_START: state->is_due = state->is_live = true; break;
  case MEND_EVENT_AGENT_END: end_run(state, event->mono_ns, false); break;
  case MEND_EVENT_RUN_FINISHED: end_run(state, event->mono_ns, true); break;
  case MEND_EVENT_APPROVAL_WAIT: wait_for_person(state, event); break;
  case MEND_EVENT_APPROVAL_GRANTED: person_answered(state, event); break;
  default: break;
  }
}

/* Something happened: the run is not idle, and whoever waits for it learns that it lives. */
static void note_life(mend__stall_state *state, const mend_event *event) {
  mend__stall_item *idle = &state->idle;
  mend__stall_settle(state, idle);
  idle->started_ns = idle->seen_ns = idle->progress_ns = event->mono_ns;
  idle->started_wall_ns = event->wall_ns;
  if (state->is_live) idle->told = 0;
  mend__stall_arm(state, idle);
  mend__kin_note(state->kin, event->mono_ns);
  const bool is_busy = state->items.count > 0 || state->is_waiting;
  if (is_busy != state->is_busy) mend__kin_set_busy(state->kin, is_busy);
  state->is_busy = is_busy;
}

static mend_status dispatch(mend__stall_state *state, const mend_event *event, mend_emitter *emitter) {
  switch (event->kind) {
  case MEND_EVENT_TOOL_BEFORE:
  case MEND_EVENT_TOOL_PROGRESS:
  case MEND_EVENT_TOOL_AFTER:
  case MEND_EVENT_TOOL_ERROR:
  case MEND_EVENT_TOOL_SKIPPED:
  case MEND_EVENT_TOOL_ABORTED:
  case MEND_EVENT_TOOL_CANCELLED: return call_event(state, event, emitter);
  case MEND_EVENT_MODEL_REQUEST:
  case MEND_EVENT_MODEL_RETRY:
  case MEND_EVENT_MODEL_DELTA:
  case MEND_EVENT_MODEL_RESPONSE:
  case MEND_EVENT_MODEL_ERROR: return model_event(state, event, emitter);
  default: run_event(state, event); return MEND_OK;
  }
}

mend_status mend__stall_take(mend__stall_state *state, const mend_event *event, mend_emitter *emitter) {
  if (event->kind == MEND_EVENT_CLOCK_REBASED) {
    rebase(state, (const mend_clock_rebased_event *)event);
    return MEND_OK;
  }
  const mend_status status = dispatch(state, event, emitter);
  note_life(state, event);
  return status;
}

/* Watchdog hooks: from detections to decisions. One thread a run decides at a time, whichever comes first; another that
 * comes to a before waits for it, and one that comes with a detection leaves it to it. */
#include "hooks/decider_internal.h"
#include "watchdogs/room.h"

#include <inttypes.h>

/* ---- Who decides ---- */

typedef enum decider_turn { TURN_MINE, TURN_NESTED, TURN_LEFT } decider_turn;

/* NESTED: this thread decides already, further up its stack; LEFT: another one does and will see what is new. */
static decider_turn begin(mend__run_state *state, bool waits) {
  decider_turn turn = TURN_MINE;
  pthread_mutex_lock(&state->deciding_lock);
  while (state->deciding && turn == TURN_MINE) {
    if (pthread_equal(state->decider, pthread_self())) {
      turn = TURN_NESTED;
    } else if (!waits) {
      turn = TURN_LEFT;
    } else {
      pthread_cond_wait(&state->changed, &state->deciding_lock);
    }
  }
  if (turn == TURN_MINE) {
    state->deciding = true;
    state->decider = pthread_self();
  } else {
    state->again = true;
  }
  pthread_mutex_unlock(&state->deciding_lock);
  return turn;
}

/* False when there is more to do. */
static bool end(mend__run_state *state) {
  pthread_mutex_lock(&state->deciding_lock);
  const bool over = !state->again;
  state->again = false;
  if (over) {
    state->deciding = false;
    pthread_cond_broadcast(&state->changed);
  }
  pthread_mutex_unlock(&state->deciding_lock);
  return over;
}

/* ---- What the policy says ---- */

static mend_decision_kind decision_of(mend_action_kind kind) {
  switch (kind) {
  case MEND_ACTION_ABORT: return MEND_DECISION_ABORT;
  case MEND_ACTION_ESCALATE: return MEND_DECISION_SKIP;
  case MEND_ACTION_NONE: break;
  }
  return MEND_DECISION_CONTINUE;
}

static void publish(mend__run_state *state, const mend__decider *decider, const mend_detection *detection,
                    const mend_action *action, const char *failure) {
  mend_action_event event = MEND_ACTION_EVENT_INIT;
  event.detection_id = detection->id;
  event.detector = detection->detector;
  event.action = mend_str_from(mend_action_kind_name(action->kind));
  if (action->kind == MEND_ACTION_ABORT) event.reason = mend_str_from(action->text);
  if (action->kind == MEND_ACTION_ESCALATE) event.question = mend_str_from(action->text);
  event.decision = mend_str_from(mend_decision_kind_name(decision_of(action->kind)));
  event.hook = mend_str_from(decider->question.hook);
  event.policy_error = mend_str_from(failure);
  if (detection->rung != MEND_RUNG_NONE) event.rung = mend_str_from(mend_rung_name(detection->rung));
  mend_run_publish(state->run, &event.event);
}

/* A policy that fails protects nobody: whoever does not look at the event is told as well. */
static void log_failure(const mend__run_state *state, const mend__decider *decider, const mend_detection *detection,
                        const char *failure) {
  mend_error said;
  if (failure == NULL) return;
  mend_error_set(&said, MEND_EFAILED,
                 "watchdog hook %s: its policy failed, nothing is done about detection %" PRIu64 " of %.*s: %s",
                 decider->question.hook, detection->id, MEND_STR_ARG(detection->detector), failure);
  mend__bus_log(mend_run_bus(state->run), MEND_LOG_WARNING, said.message);
}

/* ---- Deciding ---- */

/* The action is published before it takes effect, so that it precedes what comes of it in every journal. */
static void decide_about(mend__run_state *state, mend__decider *decider, const mend_detection *detection) {
  mend_action action;
  const char *failure;
  mend__decide_detection(detection, decider->policy, decider->ctx, &action, &failure);
  publish(state, decider, detection, &action, failure);
  log_failure(state, decider, detection, failure);
  if (action.kind == MEND_ACTION_ABORT) {
    mend__run_state_abort(state, NULL, mend_str_from(action.text), mend_str_from(decider->question.hook));
  } else if (action.kind == MEND_ACTION_ESCALATE) {
    mend__question_ask(state, decider, mend_str_from(action.text));
  }
}

/* Read by others, for a dump. */
static void set_cursor(mend__run_state *state, mend__decider *decider, uint64_t next) {
  pthread_mutex_lock(&state->deciding_lock);
  decider->cursor.next = next;
  pthread_mutex_unlock(&state->deciding_lock);
}

/* In the order of the log: one that is announced waits for those before it that are not. */
static mend_status next_announced(mend__run_state *state, mend__decider *decider,
                                  const mend_detection **ret_detection) {
  mend_detection_cursor cursor = decider->cursor;
  const mend_detection *detection;
  const mend_status status = mend_watch_next(state->watch, &cursor, &detection);
  if (status != MEND_OK) return status;
  if (!mend__detection_is_announced(detection)) {
    mend_detection_release(detection);
    return MEND_ENOENT;
  }
  set_cursor(state, decider, cursor.next);
  *ret_detection = detection;
  return MEND_OK;
}

static void decide_for(mend__run_state *state, mend__decider *decider) {
  const mend_detection *detection;
  while (!decider->gone && next_announced(state, decider, &detection) == MEND_OK) {
    decide_about(state, decider, detection);
    mend_detection_release(detection);
  }
}

static void unlink_decider(mend__run_state *state, mend__decider **place) {
  mend__decider *decider = *place;
  mend__question_forget(state, decider);
  pthread_mutex_lock(&state->deciding_lock);
  *place = decider->next;
  pthread_mutex_unlock(&state->deciding_lock);
  mend__free(state->allocator, decider);
}

static void sweep(mend__run_state *state) {
  for (mend__decider **place = &state->deciders; *place != NULL;) {
    if ((*place)->gone) {
      unlink_decider(state, place);
    } else {
      place = &(*place)->next;
    }
  }
}

static void decide_pending(mend__run_state *state) {
  const uint64_t announced = mend__run_announcements(state->run);
  for (mend__decider *decider = state->deciders; decider != NULL; decider = decider->next)
    decide_for(state, decider);
  atomic_store_explicit(&state->decided, announced, memory_order_release);
}

static void finish(mend__run_state *state) {
  sweep(state);
  while (!end(state)) {
    decide_pending(state);
    sweep(state);
  }
}

static void decide(mend__run_state *state, bool waits) {
  if (begin(state, waits) != TURN_MINE) return;
  decide_pending(state);
  finish(state);
}

static bool is_pending(mend__run_state *state) {
  return mend__run_announcements(state->run) != atomic_load_explicit(&state->decided, memory_order_acquire);
}

void mend__decide(mend__run_state *state) {
  if (is_pending(state)) decide(state, true);
}

void mend__deciders_forget(mend__run_state *state) {
  const decider_turn turn = begin(state, true);
  for (mend__decider *decider = state->deciders; decider != NULL; decider = decider->next) {
    set_cursor(state, decider, mend_watch_count(state->watch));
    mend__question_forget(state, decider);
  }
  if (turn == TURN_MINE) finish(state);
}

/* ---- Noticing ---- */

/* A detection whose deadline passed is decided about when it has been announced to everybody. */
typedef struct late_decision {
  mend__after after;
  mend__run_state *state;
  uint64_t detection_id;
} late_decision;

static void decide_about_late(mend__run_state *state, uint64_t detection_id) {
  mend__run_announced(state->run, detection_id);
  decide(state, false);
}

static void decide_late(mend__after *after) {
  const late_decision late = *(late_decision *)(void *)after;
  mend__free(late.state->allocator, after);
  decide_about_late(late.state, late.detection_id);
}

/* Without memory to wait for the others it decides here. */
static void decide_after_event(mend__run_state *state, uint64_t detection_id) {
  late_decision *late = mend__alloc(state->allocator, sizeof *late);
  if (late == NULL) {
    decide_about_late(state, detection_id);
    return;
  }
  *late = (late_decision){.after.run = decide_late, .state = state, .detection_id = detection_id};
  if (mend__emit_after(mend_run_bus(state->run), &late->after) != MEND_OK) decide_late(&late->after);
}

static mend_status on_detection(void *ctx, const mend_event *event) {
  const mend_detection_event *detection = (const mend_detection_event *)event;
  if (detection->cause_seq == MEND_NONE) decide_after_event(ctx, detection->detection_id);
  return MEND_OK;
}

/* ---- Adding and removing ---- */

/* With the first one the run's detections are listened to, as long as the run lives. */
static mend_status listen(mend__run_state *state) {
  if (state->watch != NULL) return MEND_OK;
  mend_watch *watch;
  mend_status status = mend_run_watch(state->run, &watch);
  if (status != MEND_OK) return status;
  state->watch = watch;
  atomic_fetch_add_explicit(&state->references, 1, memory_order_relaxed);
  status =
      mend_run_subscribe(state->run, "healing.detection", on_detection, state, mend__run_state_release, NULL, NULL);
  if (status == MEND_OK) return MEND_OK;
  state->watch = NULL;
  mend__run_state_release(state);
  return status;
}

static void append(mend__run_state *state, mend__decider *decider) {
  pthread_mutex_lock(&state->deciding_lock);
  mend__decider **place = &state->deciders;
  while (*place != NULL)
    place = &(*place)->next;
  *place = decider;
  pthread_mutex_unlock(&state->deciding_lock);
}

/* What was found before is not its business. */
mend_status mend__decider_add(mend__run_state *state, const mend_boundary *owner, const char *name, mend_policy policy,
                              void *ctx) {
  mend__decider *decider = mend__alloc_zero(state->allocator, sizeof *decider);
  if (decider == NULL) return MEND_ENOMEM;
  decider->owner = owner;
  decider->policy = policy;
  decider->ctx = ctx;
  memcpy(decider->question.hook, name, strlen(name) + 1);
  const decider_turn turn = begin(state, true);
  const mend_status status = listen(state);
  if (status == MEND_OK) {
    decider->cursor.next = mend_watch_count(state->watch);
    append(state, decider);
  } else {
    mend__free(state->allocator, decider);
  }
  if (turn == TURN_MINE) finish(state);
  return status;
}

/* Whether there were any. */
static bool mark_gone(mend__run_state *state, const mend_boundary *owner) {
  bool found = false;
  pthread_mutex_lock(&state->deciding_lock);
  for (mend__decider *decider = state->deciders; decider != NULL; decider = decider->next) {
    if (decider->owner != owner) continue;
    decider->owner = NULL;
    atomic_store(&decider->gone, true);
    found = true;
  }
  pthread_mutex_unlock(&state->deciding_lock);
  return found;
}

/* Whoever decides now frees them; waiting for it could be waiting for a policy that waits for this thread. */
void mend__deciders_remove(mend__run_state *state, const mend_boundary *owner) {
  if (mark_gone(state, owner) && begin(state, false) == TURN_MINE) finish(state);
}

void mend__deciders_end(mend__run_state *state, const mend_boundary *owner) {
  if (!mark_gone(state, owner)) return;
  if (begin(state, true) == TURN_MINE) finish(state);
}

/* ---- Looking ---- */

void mend__deciders_dump(mend__run_state *state, mend__buffer *text) {
  pthread_mutex_lock(&state->deciding_lock);
  if (state->deciders != NULL) mend__buffer_str(text, MEND_STR("watchdog hooks:\n"));
  for (const mend__decider *each = state->deciders; each != NULL; each = each->next) {
    mend__buffer_printf(text, "  %s: next detection %" PRIu64 "%s\n", each->question.hook, each->cursor.next,
                        each->asks ? ", a question waits" : "");
  }
  pthread_mutex_unlock(&state->deciding_lock);
}

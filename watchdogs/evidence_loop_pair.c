/* Decisions: what the latest one of a pair adds to its streak. */
#include "watchdogs/evidence_loop.h"

/* ---- The streak ---- */

static void start_streak(mend__loop_pair *pair, const mend__loop_state *state, uint64_t edits) {
  pair->decisions = 1;
  pair->equal = pair->known = pair->unedited = 0;
  pair->edits_first = edits;
  pair->waits = pair->lulls = 0;
  mend__loop_mark_set(&pair->first, state, pair->shown);
}

/* How the pair's latest decision ended counts from the next one on: only then all of its calls have ended. */
static void take_ending(mend__loop_pair *pair, const mend__loop_state *state) {
  if (pair->is_taken) return;
  pair->is_taken = true;
  if (pair->ending.kind == MEND__OUTCOME_VETOED) return;
  const bool is_known = mend__outcome_is_known(&pair->ending);
  const bool differs = is_known && pair->known > 0 && !mend__outcome_equal(&pair->outcome, &pair->ending);
  if (pair->is_mixed || differs) start_streak(pair, state, pair->edits_latest);
  if (is_known) pair->outcome = pair->ending;
  if (pair->is_mixed) return;
  pair->equal++;
  pair->known += is_known;
}

static void forget_told(mend__loop_pair *pair, const mend__loop_state *state, uint64_t distance) {
  if (distance < state->watchdog->rules.n || distance <= pair->told_span) return;
  pair->told = (mend__told){0, 0};
  pair->is_warned = false;
}

/* ---- A call begins ---- */

/* Asked for in this batch already, or while it is open where turns are unknown. */
static bool joins_decision(const mend__loop_state *state, const mend__loop_pair *pair) {
  if (pair == NULL) return false;
  return pair->batch == state->batch.number || (state->turn == 0 && pair->is_open);
}

/* One more attempt of a call is no decision: only how the last one ends counts. */
static bool is_attempt(const mend__loop_pair *pair, const mend_tool_before_event *before) {
  const bool is_later = before->attempt != MEND_NONE && before->attempt > 1;
  return is_later && pair != NULL && before->event.call != 0 && pair->call == before->event.call;
}

/* After a nap, or a pause in which nothing else was done and which an error does not explain. */
static bool comes_after_lull(const mend__loop_pair *pair, const mend__loop_state *state) {
  if (state->naps != pair->naps) return true;
  return pair->latest - pair->earlier == 1 && !mend__outcome_is_error(&pair->outcome) &&
         state->lull_ns - pair->lull_ns >= MEND__LOOP_LULL_NS;
}

/* After it has been added to the window. */
static void begin_decision(mend__loop_pair *pair, const mend__loop_state *state, uint64_t shown) {
  const uint64_t distance = pair->latest - pair->earlier;
  const bool is_first = pair->earlier == 0, has_left = !is_first && distance >= state->watchdog->rules.n;
  if (!is_first) {
    take_ending(pair, state);
    forget_told(pair, state, distance);
  }
  if (is_first || has_left) {
    pair->shown = shown;
    start_streak(pair, state, state->edits);
  } else {
    pair->decisions++;
    pair->waits += mend__loop_has_waited(state, pair->idle_ns);
    pair->lulls += comes_after_lull(pair, state);
    pair->unedited = pair->edits_latest == state->edits ? pair->unedited + 1 : 0;
  }
  pair->edits_latest = state->edits;
  pair->idle_ns = state->idle_ns;
  pair->lull_ns = state->lull_ns;
  pair->naps = state->naps;
  pair->ending = (mend__outcome){MEND__OUTCOME_UNKNOWN, false, {0, 0}};
  pair->is_mixed = pair->is_taken = false;
  pair->batch = state->batch.number;
}

/* Another attempt: how the one before ended does not count. */
static void begin_again(mend__loop_pair *pair) {
  pair->ending = (mend__outcome){MEND__OUTCOME_UNKNOWN, false, {0, 0}};
  pair->is_mixed = false;
}

mend__loop_pair *mend__loop_pair_begins(mend__loop_state *state, const mend_tool_before_event *before, mend_hash key,
                                        uint64_t shown, bool *ret_is_new) {
  mend__loop_pair *pair = mend__loop_find_pair(state, key);
  const bool is_again = is_attempt(pair, before);
  *ret_is_new = !is_again && !joins_decision(state, pair);
  if (*ret_is_new) {
    pair = mend__loop_window_add(state, key);
    begin_decision(pair, state, shown);
  } else if (is_again) {
    begin_again(pair);
  }
  pair->shown = shown;
  pair->call = before->event.call;
  pair->is_open = true;
  return pair;
}

/* ---- It ends, or is taken back ---- */

/* Calls of one decision that end differently tell nothing. */
void mend__loop_pair_ends(mend__loop_pair *pair, const mend__loop_open *call, const mend__outcome *outcome) {
  if (pair->shown == call->shown) pair->is_open = false;
  if (pair->latest != call->decision || outcome->kind == MEND__OUTCOME_UNKNOWN) return;
  if (!mend__outcome_is_known(&pair->ending)) {
    pair->ending = *outcome;
  } else if (mend__outcome_is_known(outcome) && !mend__outcome_equal(&pair->ending, outcome)) {
    pair->is_mixed = true;
  }
}

/* Unless a call of the decision has ended, which then was one. */
void mend__loop_pair_retract(mend__loop_state *state, mend__loop_pair *pair, const mend__loop_open *call) {
  if (pair->latest != call->decision || pair->ending.kind != MEND__OUTCOME_UNKNOWN) return;
  pair->decisions--;
  pair->ending.kind = MEND__OUTCOME_VETOED;
  pair->is_taken = true;
  pair->is_open = false;
  mend__loop_window_retract(state, pair);
}

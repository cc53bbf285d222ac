/* The decisions that are remembered: their pairs in a ring, and a table of what is known of each pair. Decision i of
 * the run is at i - 1 in the ring; n of them are the window, and 16 more are kept, so that the pairs of a cycle are not
 * forgotten between two rounds. */
#include "watchdogs/evidence_loop.h"

static uint32_t count_remembered(const mend__loop_state *state) {
  return state->watchdog->rules.n + MEND__LOOP_PERIOD_MAX;
}

/* The ring has not gone round before it is as long as it gets. */
static mend_status reserve_ring(mend__loop_state *state) {
  const uint32_t most = count_remembered(state);
  if (state->decisions < state->ring_capacity || state->ring_capacity == most) return MEND_OK;
  uint32_t capacity = state->ring_capacity == 0 ? 4 : state->ring_capacity * 2;
  if (capacity > most) capacity = most;
  mend_hash *ring = mend__realloc(state->watchdog->allocator, state->ring, capacity * sizeof *ring);
  if (ring == NULL) return MEND_ENOMEM;
  state->ring = ring;
  state->ring_capacity = capacity;
  return MEND_OK;
}

mend_status mend__loop_window_reserve(mend__loop_state *state) {
  const mend_status status = reserve_ring(state);
  if (status != MEND_OK) return status;
  return mend__table_reserve(&state->pairs, sizeof(mend__loop_pair), state->watchdog->allocator);
}

static mend_hash *place_of(const mend__loop_state *state, uint64_t decision) {
  return &state->ring[(decision - 1) % state->ring_capacity];
}

/* The pair of a decision that is so many before the one of this number; NULL when there is none. */
static mend__loop_pair *pair_before(const mend__loop_state *state, uint64_t decision, uint32_t distance) {
  if (decision <= distance) return NULL;
  const mend_hash key = *place_of(state, decision - distance);
  return mend_hash_is_none(key) ? NULL : mend__loop_find_pair(state, key);
}

static void drop_pair(mend__loop_state *state, mend__loop_pair *pair) {
  mend__kept_text_free(&pair->first.name, state->watchdog->allocator);
  mend__table_take(&state->pairs, sizeof *pair, pair);
}

/* The one that leaves the window, and the one whose place in the ring is needed. */
static void make_place(mend__loop_state *state, uint64_t decision) {
  mend__loop_pair *leaving = pair_before(state, decision, state->watchdog->rules.n);
  if (leaving != NULL) leaving->in_window--;
  mend__loop_pair *forgotten = pair_before(state, decision, count_remembered(state));
  if (forgotten != NULL && --forgotten->kept == 0) drop_pair(state, forgotten);
}

mend__loop_pair *mend__loop_window_add(mend__loop_state *state, mend_hash key) {
  const uint64_t decision = state->decisions + 1;
  make_place(state, decision);
  *place_of(state, decision) = key;
  state->decisions = decision;
  mend__loop_pair *pair = mend__loop_find_pair(state, key);
  if (pair == NULL) pair = mend__table_add(&state->pairs, sizeof *pair, key);
  pair->earlier = pair->latest;
  pair->latest = decision;
  pair->in_window++;
  pair->kept++;
  return pair;
}

/* Decisions that were taken back at the end are as if they had never been; what had left the window for them is in it
 * again. */
static void trim(mend__loop_state *state) {
  while (state->decisions > 0 && mend_hash_is_none(*place_of(state, state->decisions))) {
    mend__loop_pair *again = pair_before(state, state->decisions, state->watchdog->rules.n);
    if (again != NULL) again->in_window++;
    state->decisions--;
  }
}

void mend__loop_window_retract(mend__loop_state *state, mend__loop_pair *pair) {
  if (state->decisions - pair->latest >= state->watchdog->rules.n) return;
  *place_of(state, pair->latest) = (mend_hash){0, 0};
  pair->latest = pair->earlier;
  pair->in_window--;
  if (--pair->kept == 0) drop_pair(state, pair);
  trim(state);
}

/* The decisions that are remembered: their pairs in a ring, and a table to find a pair. Decision i of the run is at i -
 * 1 in the ring, whose length is a power of two. n decisions are the window, and 16 more are kept, so that the pairs of
 * a cycle are not forgotten between two rounds. A pair that is forgotten becomes the next new one. */
#include "watchdogs/evidence_loop.h"

static uint32_t count_remembered(const mend__loop_state *state) {
  return state->watchdog->rules.n + MEND__LOOP_PERIOD_MAX;
}

/* The ring has not gone round before it is as long as it gets. */
static mend_status reserve_ring(mend__loop_state *state) {
  const bool is_whole = state->ring_capacity >= count_remembered(state);
  if (state->decisions < state->ring_capacity || is_whole) return MEND_OK;
  const uint32_t capacity = state->ring_capacity == 0 ? 4 : state->ring_capacity * 2;
  mend__loop_pair **ring = mend__realloc(state->watchdog->allocator, state->ring, capacity * sizeof *ring);
  if (ring == NULL) return MEND_ENOMEM;
  state->ring = ring;
  state->ring_capacity = capacity;
  return MEND_OK;
}

static mend_status reserve_pair(mend__loop_state *state) {
  if (state->spare_pairs == NULL)
    state->spare_pairs = mend__alloc_zero(state->watchdog->allocator, sizeof *state->spare_pairs);
  return state->spare_pairs != NULL ? MEND_OK : MEND_ENOMEM;
}

mend_status mend__loop_window_reserve(mend__loop_state *state) {
  mend_status status = reserve_ring(state);
  if (status == MEND_OK) {
    status = mend__table_reserve(&state->pairs, sizeof(mend__loop_pair_place), state->watchdog->allocator);
  }
  return status == MEND_OK ? reserve_pair(state) : status;
}

/* ---- Pairs ---- */

static mend__loop_pair *add_pair(mend__loop_state *state, mend_hash key) {
  mend__loop_pair *pair = state->spare_pairs;
  state->spare_pairs = pair->next_spare;
  *pair = (mend__loop_pair){.key = key, .first = pair->first}; /* its memory is used again */
  mend__loop_pair_place *place = mend__table_add(&state->pairs, sizeof *place, key);
  place->pair = pair;
  return pair;
}

static void spare(mend__loop_state *state, mend__loop_pair *pair) {
  pair->next_spare = state->spare_pairs;
  state->spare_pairs = pair;
}

static void drop_pair(mend__loop_state *state, mend__loop_pair *pair) {
  mend__loop_pair_place *place = mend__table_find(&state->pairs, sizeof *place, pair->key);
  mend__table_take(&state->pairs, sizeof *place, place);
  spare(state, pair);
}

/* ---- Decisions ---- */

static mend__loop_pair **place_of(const mend__loop_state *state, uint64_t decision) {
  return &state->ring[(decision - 1) & (state->ring_capacity - 1)];
}

/* The pair of a decision that is so many before the one of this number; NULL when there is none. */
static mend__loop_pair *pair_before(const mend__loop_state *state, uint64_t decision, uint32_t distance) {
  return decision > distance ? *place_of(state, decision - distance) : NULL;
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
  mend__loop_pair *pair = mend__loop_find_pair(state, key);
  if (pair == NULL) pair = add_pair(state, key);
  *place_of(state, decision) = pair;
  state->decisions = decision;
  pair->earlier = pair->latest;
  pair->latest = decision;
  pair->in_window++;
  pair->kept++;
  return pair;
}

/* Decisions that were taken back at the end are as if they had never been; what had left the window for them is in it
 * again. */
static void trim(mend__loop_state *state) {
  while (state->decisions > 0 && *place_of(state, state->decisions) == NULL) {
    mend__loop_pair *again = pair_before(state, state->decisions, state->watchdog->rules.n);
    if (again != NULL) again->in_window++;
    state->decisions--;
  }
}

void mend__loop_window_retract(mend__loop_state *state, mend__loop_pair *pair) {
  if (state->decisions - pair->latest >= state->watchdog->rules.n) return;
  *place_of(state, pair->latest) = NULL;
  pair->latest = pair->earlier;
  pair->in_window--;
  if (--pair->kept == 0) drop_pair(state, pair);
  trim(state);
}

void mend__loop_window_free(mend__loop_state *state) {
  const mend_allocator *allocator = state->watchdog->allocator;
  const mend__loop_pair_place *places = state->pairs.items;
  for (size_t i = 0; i < state->pairs.capacity; i++) {
    if (!mend_hash_is_none(places[i].key)) spare(state, places[i].pair);
  }
  for (mend__loop_pair *pair = state->spare_pairs, *next; pair != NULL; pair = next) {
    next = pair->next_spare;
    mend__kept_text_free(&pair->first.name, allocator);
    mend__free(allocator, pair);
  }
  mend__free(allocator, state->pairs.items);
  mend__free(allocator, state->ring);
}

/* The latest calls of a run as evidence shows them, in a ring that grows with the first of them; its length is a power
 * of two. */
#include "watchdogs/evidence_loop.h"

/* The ring has not gone round before it is as long as it gets. */
static mend_status reserve_ring(mend__loop_state *state) {
  if (state->shown_count < state->shown_capacity || state->shown_capacity == MEND__LOOP_SHOWN_MAX) return MEND_OK;
  const uint32_t capacity = state->shown_capacity == 0 ? 1 : state->shown_capacity * 2;
  mend__loop_shown *shown = mend__realloc(state->watchdog->allocator, state->shown, capacity * sizeof *shown);
  if (shown == NULL) return MEND_ENOMEM;
  memset(shown + state->shown_capacity, 0, (capacity - state->shown_capacity) * sizeof *shown);
  state->shown = shown;
  state->shown_capacity = capacity;
  return MEND_OK;
}

static mend__loop_shown *place_of(const mend__loop_state *state, uint64_t number) {
  return &state->shown[(number - 1) & (state->shown_capacity - 1)];
}

/* The oldest one's place is the next one's; its name may go already. */
mend_status mend__loop_shown_reserve(mend__loop_state *state, mend_str call_name) {
  const mend_status status = reserve_ring(state);
  if (status != MEND_OK) return status;
  mend__kept_text *name = &place_of(state, state->shown_count + 1)->name;
  const bool has_room = mend__kept_text_set(name, call_name, (mend_str)MEND_ABSENT, state->watchdog->allocator);
  return has_room ? MEND_OK : MEND_ENOMEM;
}

uint64_t mend__loop_shown_add(mend__loop_state *state, const mend_event *event, mend_hash pair, mend_hash tool) {
  const uint64_t number = ++state->shown_count;
  mend__loop_shown *shown = place_of(state, number);
  shown->pair = pair;
  shown->tool = tool;
  shown->batch = state->batch.number;
  shown->call = event->call;
  shown->wall_ns = event->wall_ns;
  shown->outcome = (mend__outcome){MEND__OUTCOME_UNKNOWN, false, {0, 0}};
  shown->is_retracted = false;
  shown->excerpt_len = 0;
  return number;
}

mend__loop_shown *mend__loop_shown_at(const mend__loop_state *state, uint64_t number) {
  const bool is_there =
      number > 0 && number <= state->shown_count && state->shown_count - number < state->shown_capacity;
  return is_there ? place_of(state, number) : NULL;
}

void mend__loop_mark_set(mend__loop_mark *mark, const mend__loop_state *state, uint64_t number) {
  const mend__loop_shown *shown = mend__loop_shown_at(state, number);
  const mend_str name = shown != NULL ? mend__kept_text_first(&shown->name) : (mend_str)MEND_ABSENT;
  const mend_allocator *allocator = state->watchdog->allocator;
  mark->call = shown != NULL ? shown->call : 0;
  if (!mend__kept_text_set(&mark->name, name, (mend_str)MEND_ABSENT, allocator)) {
    mend__kept_text_set(&mark->name, (mend_str)MEND_ABSENT, (mend_str)MEND_ABSENT, allocator);
  }
}

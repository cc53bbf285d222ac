/* What a run knows of hooks: its abort frames, its open calls, its watchdog hooks. Made with its first boundary. */
#include "hooks/passage_internal.h"

/* ---- Life ---- */

static mend__run_state *state_new(mend_run *run) {
  const mend_allocator *allocator = mend_bus_allocator(mend_run_bus(run));
  mend__run_state *state = mend__alloc_zero(allocator, sizeof *state);
  if (state == NULL) return NULL;
  if (pthread_mutex_init(&state->deciding_lock, NULL) != 0) goto no_lock;
  if (pthread_cond_init(&state->changed, NULL) != 0) goto no_condition;
  state->run = run;
  state->allocator = allocator;
  state->innermost = &state->of_run;
  mend__open_calls_init(&state->open, allocator);
  atomic_init(&state->references, 1);
  return state;

no_condition:
  pthread_mutex_destroy(&state->deciding_lock);
no_lock:
  mend__free(allocator, state);
  return NULL;
}

void mend__run_state_release(void *ctx) {
  mend__run_state *state = ctx;
  if (atomic_fetch_sub_explicit(&state->references, 1, memory_order_acq_rel) > 1) return;
  mend__abort_release(state->of_run.abort);
  mend__open_calls_free(&state->open);
  pthread_cond_destroy(&state->changed);
  pthread_mutex_destroy(&state->deciding_lock);
  mend__free(state->allocator, state);
}

mend_status mend__run_state_get(mend_run *run, mend__run_state **ret_state) {
  mend__run_state *state = mend__run_state_find(run);
  if (state == NULL) {
    mend__run_state *made = state_new(run);
    if (made == NULL) return MEND_ENOMEM;
    state = mend__run_slot_put(run, MEND__SLOT_HOOKS, made, mend__run_state_release);
    if (state != made) mend__run_state_release(made); /* another thread was faster */
  }
  *ret_state = state;
  return MEND_OK;
}

/* ---- Frames ---- */

void mend__frame_open(mend__run_state *state, mend__abort_frame *frame) {
  mend__run_lock(state->run);
  *frame = (mend__abort_frame){.outer = state->innermost, .depth = state->innermost->depth + 1};
  state->innermost = frame;
  mend__run_unlock(state->run);
}

/* Calls that outlast the step are under the one around it. */
static void hand_out(mend__run_state *state, const mend__abort_frame *frame) {
  const mend__open_link *link = &state->open.ends;
  for (mend__passage *each; (each = mend__open_calls_next(&state->open, link)) != NULL; link = &each->open) {
    if (each->frame != frame) continue;
    each->frame = frame->outer;
    each->frame_depth = frame->outer->depth;
  }
}

/* Steps of two threads on one run need not close in the order they were opened. */
void mend__frame_close(mend__run_state *state, mend__abort_frame *frame) {
  mend__run_lock(state->run);
  mend__abort_frame **place = &state->innermost;
  while (*place != frame)
    place = &(*place)->outer;
  *place = frame->outer;
  hand_out(state, frame);
  mend__abort_watches_hand_out(state, frame);
  mend__run_unlock(state->run);
  mend__abort_release(frame->abort);
}

const mend__abort_frame *mend__frame_marked(const mend__abort_frame *frame) {
  while (frame != NULL && !frame->marked)
    frame = frame->outer;
  return frame;
}

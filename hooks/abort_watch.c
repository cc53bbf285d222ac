#include "hooks/abort_watch.h"
#include "hooks/run_internal.h"

/* ---- Watching ---- */

static void link_watch(mend__run_state *state, mend__abort_watch *watch) {
  watch->frame = state->innermost;
  watch->next = state->watches;
  if (watch->next != NULL) watch->next->previous = watch;
  state->watches = watch;
}

/* Returns whether its frame is marked already, and then why. */
static bool enlist(mend__run_state *state, mend__abort_watch *watch, mend__abort **ret_abort) {
  mend__run_lock(state->run);
  link_watch(state, watch);
  const mend__abort_frame *marked = mend__frame_marked(watch->frame);
  if (marked != NULL) *ret_abort = mend__abort_retain(marked->abort);
  mend__run_unlock(state->run);
  return marked != NULL;
}

mend_status mend__abort_watch_begin(mend__abort_watch *watch, mend_run *run) {
  mend__run_state *state;
  mend__abort *abort = NULL;
  *watch = (mend__abort_watch){.run = run};
  mend_status status = mend__run_state_get(run, &state);
  if (status == MEND_OK) {
    status = mend_token_new(state->allocator, mend_bus_clock(mend_run_bus(run)), &watch->token);
  }
  if (status != MEND_OK) return status;
  if (enlist(state, watch, &abort)) mend_token_cancel(watch->token, mend__abort_reason(abort));
  mend__abort_release(abort);
  return MEND_OK;
}

void mend__abort_watch_end(mend__abort_watch *watch) {
  mend__run_state *state = mend__run_state_find(watch->run);
  mend__run_lock(watch->run);
  if (watch->previous != NULL) {
    watch->previous->next = watch->next;
  } else {
    state->watches = watch->next;
  }
  if (watch->next != NULL) watch->next->previous = watch->previous;
  mend__run_unlock(watch->run);
  mend_token_release(watch->token);
}

/* ---- Frames ---- */

void mend__abort_watches_doom(mend__run_state *state, const mend__abort_frame *frame) {
  for (mend__abort_watch *each = state->watches; each != NULL; each = each->next) {
    if (each->frame->depth >= frame->depth) each->is_due = true;
  }
}

void mend__abort_watches_hand_out(mend__run_state *state, const mend__abort_frame *frame) {
  for (mend__abort_watch *each = state->watches; each != NULL; each = each->next) {
    if (each->frame == frame) each->frame = frame->outer;
  }
}

/* ---- Telling ---- */

/* The token of one that is due, with a reference; NULL: none is left. */
static mend_token *take_due(mend__run_state *state) {
  mend_token *token = NULL;
  mend__run_lock(state->run);
  for (mend__abort_watch *each = state->watches; each != NULL && token == NULL; each = each->next) {
    if (each->is_due) token = mend_token_retain(each->token);
    each->is_due = false;
  }
  mend__run_unlock(state->run);
  return token;
}

void mend__abort_watches_tell(mend__run_state *state, mend_str reason) {
  for (mend_token *token; (token = take_due(state)) != NULL; mend_token_release(token))
    mend_token_cancel(token, reason);
}

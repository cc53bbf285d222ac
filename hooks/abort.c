#include "hooks/passage_internal.h"

/* ---- Why ---- */

static mend__abort *abort_new(const mend_allocator *allocator, mend_str reason, mend_str source) {
  mend__abort *made = mend__alloc(allocator, sizeof *made + reason.len + source.len + 2);
  if (made == NULL) return NULL;
  char *place = made->text;
  made->allocator = allocator;
  made->reason = mend__keep_text(&place, reason.ptr != NULL ? reason : MEND_STR(""));
  made->source = mend__keep_text(&place, source);
  atomic_init(&made->references, 1);
  return made;
}

mend__abort *mend__abort_retain(mend__abort *abort) {
  if (abort != NULL) atomic_fetch_add_explicit(&abort->references, 1, memory_order_relaxed);
  return abort;
}

void mend__abort_release(mend__abort *abort) {
  if (abort == NULL || atomic_fetch_sub_explicit(&abort->references, 1, memory_order_acq_rel) > 1) return;
  mend__free(abort->allocator, abort);
}

mend_str mend__abort_reason(const mend__abort *abort) {
  return abort != NULL ? abort->reason : MEND_STR("aborted, out of memory for the reason");
}

mend_str mend__abort_source(const mend__abort *abort) {
  return abort != NULL && abort->source.len > 0 ? abort->source : (mend_str)MEND_ABSENT;
}

/* ---- Aborting ---- */

static void doom_calls(mend__run_state *state, const mend__abort_frame *frame) {
  const mend__open_link *link = &state->open.ends;
  for (mend__passage *each; (each = mend__open_calls_next(&state->open, link)) != NULL; link = &each->open) {
    if (each->frame_depth < frame->depth || mend__call_is_aborted(each->call)) continue;
    each->abort = mend__abort_retain(frame->abort);
    atomic_store_explicit(&each->call->aborted, true, memory_order_release);
  }
}

/* Takes over the abort if a frame is to be marked with it. */
static bool mark(mend__run_state *state, const mend__passage *passage, mend__abort *abort) {
  mend__run_lock(state->run);
  mend__abort_frame *frame = passage != NULL ? passage->frame : state->innermost;
  const bool is_first = mend__frame_marked(frame) == NULL;
  if (is_first) {
    frame->marked = true;
    frame->abort = abort;
    doom_calls(state, frame);
    mend__abort_watches_doom(state, frame);
  }
  mend__run_unlock(state->run);
  return is_first;
}

static bool is_doomed(const void *abort, const mend__passage *passage) {
  return passage->abort == abort && mend__call_is_aborted(passage->call);
}

void mend__run_state_abort(mend__run_state *state, const mend__passage *passage, mend_str reason, mend_str source) {
  mend__abort *abort = abort_new(state->allocator, reason, source);
  mend__abort_retain(abort); /* a reset may come between */
  if (mark(state, passage, abort)) {
    mend__open_calls_cancel(state, is_doomed, abort, mend__abort_reason(abort));
    mend__abort_watches_tell(state, mend__abort_reason(abort));
  } else {
    mend__abort_release(abort);
  }
  mend__abort_release(abort);
}

mend_status mend_run_abort(mend_run *run, mend_str reason, mend_str source) {
  if (run == NULL) return MEND_EINVAL;
  mend__run_state *state;
  const mend_status status = mend__run_state_get(run, &state);
  if (status == MEND_OK) mend__run_state_abort(state, NULL, reason, source);
  return status;
}

/* ---- Asking ---- */

/* The mark that holds now, with a reference to its abort. */
static bool find_mark(mend_run *run, mend__abort **ret_abort) {
  mend__run_state *state = mend__run_state_find(run);
  if (state == NULL) return false;
  mend__run_lock(run);
  const mend__abort_frame *frame = mend__frame_marked(state->innermost);
  if (frame != NULL) *ret_abort = mend__abort_retain(frame->abort);
  mend__run_unlock(run);
  return frame != NULL;
}

bool mend_run_is_aborted(mend_run *run) {
  mend__abort *abort = NULL;
  const bool is_aborted = find_mark(run, &abort);
  mend__abort_release(abort);
  return is_aborted;
}

static void copy_cut(char *target, size_t size, mend_str text) {
  if (target == NULL || size == 0) return;
  const size_t len = mend__utf8_cut(text, size - 1);
  if (text.ptr != NULL) memcpy(target, text.ptr, len);
  target[len] = '\0';
}

mend_status mend_run_abort_reason(mend_run *run, char *ret_reason, size_t reason_size, char *ret_source,
                                  size_t source_size) {
  if (run == NULL) return MEND_EINVAL;
  mend__abort *abort = NULL;
  if (!find_mark(run, &abort)) return MEND_ENOENT;
  copy_cut(ret_reason, reason_size, mend__abort_reason(abort));
  copy_cut(ret_source, source_size, mend__abort_source(abort));
  mend__abort_release(abort);
  return MEND_OK;
}

/* ---- Going on ---- */

static void clear_marks(mend__run_state *state) {
  mend__run_lock(state->run);
  for (mend__abort_frame *frame = state->innermost; frame != NULL; frame = frame->outer) {
    mend__abort_release(frame->abort);
    frame->abort = NULL;
    frame->marked = false;
  }
  mend__run_unlock(state->run);
}

/* Until the detectors have forgotten the run, and what they found is dropped, calls are refused. */
mend_status mend_run_reset(mend_run *run, mend_str reason) {
  if (run == NULL) return MEND_EINVAL;
  mend_run_reset_event event = MEND_RUN_RESET_EVENT_INIT;
  event.reason = reason;
  const mend_status status = mend_run_publish(run, &event.event);
  mend__run_state *state = mend__run_state_find(run);
  if (status != MEND_OK || state == NULL) return status;
  mend__deciders_forget(state);
  clear_marks(state);
  return MEND_OK;
}

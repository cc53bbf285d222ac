/* A try: an attempt, and another one when an after or on_error hook wants something else to run. Where a tool runs
 * apart from its passage the try goes on when its call lands: on the thread that waits, or, when nobody does, there. */
#include "hooks/passage_internal.h"

/* ---- What hooks want to run ---- */

static void redirection_init(mend__redirection *redirection, const mend_allocator *allocator) {
  mend__decision_init(&redirection->decision, allocator);
  mend__buffer_init(&redirection->merged, allocator);
  redirection->wanted = false;
}

static void redirection_free(mend__redirection *redirection) {
  mend__decision_clear(&redirection->decision);
  mend__buffer_free(&redirection->merged);
}

/* ---- One attempt or two: these return false when the call has still to land ---- */

static bool resume(mend__passage *passage) {
  mend__attempt_finish(passage);
  if (!passage->again.wanted || passage->attempt.is_last) return true;
  if (mend__call_is_cancelled(passage->call)) {
    mend__passage_give_up(passage);
    return true;
  }
  if (!mend__attempt_begin(passage, &passage->again)) return false;
  mend__attempt_finish(passage);
  return true;
}

static bool begin(mend__passage *passage) {
  redirection_init(&passage->instead, passage->boundary->allocator);
  redirection_init(&passage->again, passage->boundary->allocator);
  return mend__attempt_begin(passage, NULL) && resume(passage);
}

static void end(mend__passage *passage) {
  redirection_free(&passage->instead);
  redirection_free(&passage->again);
}

/* ---- Waiting for it, or not ---- */

void mend__try_here(mend__passage *passage) {
  mend__bell bell = MEND__BELL_INIT;
  passage->bell = &bell;
  passage->helper = mend__pool_is_worker() ? &bell : NULL;
  bool is_over = begin(passage);
  const bool waits = !is_over;
  while (!is_over) {
    mend__bell_await(&bell, 1, passage->boundary->tools);
    is_over = resume(passage);
  }
  if (waits) mend__bell_end(&bell);
  end(passage);
}

static void finish(mend__passage *passage) {
  end(passage);
  passage->over(passage);
}

void mend__try_apart(mend__passage *passage, void (*over)(mend__passage *passage)) {
  passage->over = over;
  if (begin(passage)) finish(passage);
}

void mend__try_go_on(mend__passage *passage) {
  mend__passage_enter(passage);
  if (resume(passage)) finish(passage);
}

/* The loop as a driver of a virtual clock. The clock's calls come one at a time, on the thread that advances; what they
 * want is done in a turn on the loop's. */
#include "loop/loop_internal.h"

/* ---- On the loop's thread, in a turn ---- */

/* Somebody's deadline may have passed already when it appeared; no advance is going to stop at it. */
static void catch_up_with_clock(mend_loop *loop) {
  if (loop->ending) return;
  mend__loop_ask_drivers(loop);
  mend__loop_run_due(loop, mend_clock_now(loop->clock).mono_ns);
}

void mend__loop_serve_clock(mend_loop *loop) {
  const mend__loop_request request = loop->request;
  if (request == MEND__REQUEST_NONE) {
    catch_up_with_clock(loop);
    return;
  }
  if (!loop->ending) mend__loop_ask_drivers(loop);
  if (request == MEND__REQUEST_RUN) mend__loop_run_due(loop, loop->request_ns);
  loop->request = MEND__REQUEST_NONE;
  pthread_cond_broadcast(&loop->changed);
}

/* ---- On the thread that advances ---- */

/* A function that the loop runs advances the clock: what was posted behind it waits for its end. */
static void serve_within_turn(mend_loop *loop) {
  pthread_mutex_lock(&loop->lock);
  mend__loop_serve_clock(loop);
  pthread_mutex_unlock(&loop->lock);
}

static void hand_over(mend_loop *loop, mend__loop_request request, uint64_t now_ns) {
  pthread_mutex_lock(&loop->lock);
  loop->request = request;
  loop->request_ns = now_ns;
  const mend__loop_place place = mend__loop_place_of_caller(loop);
  if (place == MEND__PLACE_ELSEWHERE) {
    mend__loop_signal(loop);
    while (loop->request != MEND__REQUEST_NONE && !loop->ended)
      pthread_cond_wait(&loop->changed, &loop->lock);
  }
  pthread_mutex_unlock(&loop->lock);
  if (place == MEND__PLACE_ON_LOOP) mend__loop_turn(loop, NULL, NULL);
  if (place == MEND__PLACE_IN_TURN) serve_within_turn(loop);
}

static bool is_behind(mend_loop *loop) {
  if (loop->ending) return false;
  if (atomic_load(&loop->stale)) return true;
  return !mend__loop_is_in_turn(loop) && (loop->running || loop->first_posted != NULL);
}

/* What was posted may post; who does so without end does not stop the clock. */
static void catch_up(mend_loop *loop) {
  bool behind = true;
  for (int round = 0; behind && round < MEND_CLOCK_RUNS_MAX; round++) {
    pthread_mutex_lock(&loop->lock);
    behind = is_behind(loop);
    pthread_mutex_unlock(&loop->lock);
    if (behind) hand_over(loop, MEND__REQUEST_CATCH_UP, 0);
  }
}

uint64_t mend__loop_clock_next(void *ctx) {
  mend_loop *loop = ctx;
  mend__loop_hold(loop); /* it may end in a turn on this thread */
  catch_up(loop);
  pthread_mutex_lock(&loop->lock);
  const uint64_t next_ns = loop->ending ? MEND_NEVER : mend__loop_next_deadline(loop);
  pthread_mutex_unlock(&loop->lock);
  mend__loop_unhold(loop);
  return next_ns;
}

void mend__loop_clock_run(void *ctx, uint64_t now_ns) { hand_over(ctx, MEND__REQUEST_RUN, now_ns); }

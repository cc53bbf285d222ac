#include "loop/loop_internal.h"

#include <errno.h>
#include <event2/event.h>
#include <unistd.h>

/* ---- Who is where ---- */

bool mend__loop_is_in_turn(const mend_loop *loop) {
  return loop->running && pthread_equal(loop->runner, pthread_self());
}

bool mend__loop_is_here(const mend_loop *loop) {
  return mend__loop_is_in_turn(loop) || (loop->thread_known && pthread_equal(loop->thread, pthread_self()));
}

bool mend_loop_is_here(const mend_loop *loop) {
  pthread_mutex_t *lock = (pthread_mutex_t *)&loop->lock; /* the only part of it that looking changes */
  pthread_mutex_lock(lock);
  const bool is_here = mend__loop_is_here(loop);
  pthread_mutex_unlock(lock);
  return is_here;
}

/* ---- Waking ---- */

void mend__loop_signal(mend_loop *loop) {
  if (atomic_exchange(&loop->signalled, true)) return;
  const uint64_t one = 1;
  while (write(loop->wake_fd, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

/* In a base that nobody has dispatched there is no other thread to wait for. */
mend__loop_place mend__loop_place_of_caller(const mend_loop *loop) {
  if (mend__loop_is_in_turn(loop)) return MEND__PLACE_IN_TURN;
  return !loop->thread_known || mend__loop_is_here(loop) ? MEND__PLACE_ON_LOOP : MEND__PLACE_ELSEWHERE;
}

/* ---- Calls ---- */

void mend__loop_begin_call(mend_loop *loop, const void *called) {
  loop->calling = true;
  loop->called = called;
  loop->calls++;
  pthread_mutex_unlock(&loop->lock);
}

void mend__loop_end_call(mend_loop *loop) {
  pthread_mutex_lock(&loop->lock);
  loop->calling = false;
  pthread_cond_broadcast(&loop->changed);
}

void mend__loop_await_call(mend_loop *loop, const void *called) {
  if (mend__loop_is_here(loop)) return;
  const uint64_t call = loop->calls;
  while (loop->calling && loop->calls == call && loop->called == called)
    pthread_cond_wait(&loop->changed, &loop->lock);
}

/* ---- A turn ---- */

uint64_t mend__loop_next_deadline(const mend_loop *loop) {
  const uint64_t driver_ns = mend__loop_next_driver(loop);
  const uint64_t timer_ns = mend_deadlines_next(loop->deadlines);
  return driver_ns < timer_ns ? driver_ns : timer_ns;
}

void mend__loop_run_due(mend_loop *loop, uint64_t now_ns) {
  mend__loop_run_drivers(loop, now_ns);
  mend__loop_run_timers(loop, now_ns);
}

/* Rounded up, and one more because libevent's own reading of the clock is cut to microseconds: not to come early. */
static struct timeval delay_until(uint64_t due_ns) {
  const uint64_t now_ns = mend_clock_now(mend_clock_real()).mono_ns;
  const uint64_t delay_us = due_ns > now_ns ? (due_ns - now_ns + 1999) / 1000 : 0;
  return (struct timeval){.tv_sec = (time_t)(delay_us / 1000000), .tv_usec = (suseconds_t)(delay_us % 1000000)};
}

static void set_timer(mend_loop *loop, uint64_t due_ns) {
  if (loop->armed_ns == due_ns) return;
  loop->armed_ns = due_ns;
  if (due_ns == MEND_NEVER) {
    event_del(loop->timer_event);
    return;
  }
  const struct timeval delay = delay_until(due_ns);
  if (event_add(loop->timer_event, &delay) == 0) return;
  loop->armed_ns = MEND_NEVER; /* libevent has no memory: look again at once rather than never */
  mend__loop_signal(loop);
}

/* A time to look at that has not come stays, even when its deadline is gone: were it put off, each of many short calls
 * would wake the loop for its deadline, which is long gone when the loop comes to look. */
static void rearm(mend_loop *loop, uint64_t now_ns) {
  const uint64_t next_ns = mend__loop_next_deadline(loop);
  if (next_ns < loop->wake_at_ns || loop->wake_at_ns <= now_ns) loop->wake_at_ns = next_ns;
  if (loop->armed_ns <= now_ns) return; /* its call is to come; set anew it would be put off, for ever in a busy base */
  set_timer(loop, loop->wake_at_ns > now_ns ? loop->wake_at_ns : now_ns);
}

/* What has become due since the timer was set waits for the next time: a call may have taken long, and the bytes that
 * came meanwhile count. The base looks at descriptors before it calls the timer. */
static void serve_real_time(mend_loop *loop) {
  if (loop->ending) return;
  mend__loop_ask_drivers(loop);
  mend__loop_run_due(loop, loop->judged_ns);
  if (!loop->ending) rearm(loop, mend_clock_now(loop->clock).mono_ns);
}

uint64_t mend__loop_judged_ns(const mend_loop *loop) {
  return loop->is_virtual ? mend_clock_now(loop->clock).mono_ns : loop->judged_ns;
}

static void begin_turn(mend_loop *loop) {
  while (loop->running)
    pthread_cond_wait(&loop->changed, &loop->lock);
  loop->running = true;
  loop->runner = pthread_self();
  atomic_fetch_add(&loop->turns, 1);
}

/* Whether the loop is to be taken down now. A thread of its own does that when it has left its base. */
static bool end_turn(mend_loop *loop) {
  loop->running = false;
  pthread_cond_broadcast(&loop->changed);
  if (!loop->ending || loop->ended) return false;
  loop->ended = true;
  if (loop->owns_thread) event_base_loopbreak(loop->base);
  return !loop->owns_thread;
}

static void call_unlocked(mend_loop *loop, void (*function)(void *ctx), void *ctx) {
  pthread_mutex_unlock(&loop->lock);
  function(ctx);
  pthread_mutex_lock(&loop->lock);
}

static bool take_turn(mend_loop *loop, void (*first)(void *ctx), void *ctx) {
  begin_turn(loop);
  if (first != NULL) call_unlocked(loop, first, ctx);
  mend__loop_run_posted(loop);
  if (loop->is_virtual) {
    mend__loop_serve_clock(loop);
  } else {
    serve_real_time(loop);
  }
  if (loop->ending) mend__loop_run_posted(loop);
  return end_turn(loop);
}

void mend__loop_turn(mend_loop *loop, void (*first)(void *ctx), void *ctx) {
  mend__loop_hold(loop);
  pthread_mutex_lock(&loop->lock);
  const bool ends = take_turn(loop, first, ctx);
  pthread_mutex_unlock(&loop->lock);
  if (ends) {
    mend__loop_end(loop);
    mend__loop_let_go(loop);
  }
  mend__loop_unhold(loop);
}

/* In a caller's base this is how the loop learns which thread it is on. */
static void note_thread(mend_loop *loop) {
  pthread_mutex_lock(&loop->lock);
  loop->thread = pthread_self();
  loop->thread_known = true;
  pthread_mutex_unlock(&loop->lock);
}

void mend__loop_turn_here(mend_loop *loop, void (*first)(void *ctx), void *ctx) {
  if (!loop->owns_thread) note_thread(loop);
  mend__loop_turn(loop, first, ctx);
}

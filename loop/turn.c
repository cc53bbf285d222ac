#include "core/memory.h"
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

static mend_status append(mend_loop *loop, mend__posted *posted) {
  if (loop->ending) return MEND_ECLOSED;
  posted->number = ++loop->last_posted_number;
  *(loop->first_posted != NULL ? &loop->last_posted->next : &loop->first_posted) = posted;
  loop->last_posted = posted;
  return MEND_OK;
}

static mend_status post(mend_loop *loop, mend__posted *posted) {
  pthread_mutex_lock(&loop->lock);
  const mend_status status = append(loop, posted);
  if (status == MEND_OK) mend__loop_signal(loop);
  pthread_mutex_unlock(&loop->lock);
  return status;
}

mend_status mend_loop_post(mend_loop *loop, void (*function)(void *ctx), void *ctx) {
  mend__posted *posted = mend__alloc(loop->allocator, sizeof *posted);
  if (posted == NULL) return MEND_ENOMEM;
  *posted = (mend__posted){.function = function, .ctx = ctx, .is_loops = true};
  const mend_status status = post(loop, posted);
  if (status != MEND_OK) mend__free(loop->allocator, posted);
  return status;
}

void mend__loop_post_own(mend_loop *loop, mend__posted *posted) {
  posted->is_loops = false;
  posted->next = NULL;
  post(loop, posted);
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

static void call_unlocked(mend_loop *loop, void (*function)(void *ctx), void *ctx) {
  pthread_mutex_unlock(&loop->lock);
  function(ctx);
  pthread_mutex_lock(&loop->lock);
}

static void run_first_posted(mend_loop *loop) {
  mend__posted *first = loop->first_posted;
  const mend__posted posted = *first;
  loop->first_posted = first->next;
  if (posted.is_loops) mend__free(loop->allocator, first);
  call_unlocked(loop, posted.function, posted.ctx);
}

/* Those posted meanwhile wait for the next turn, so that nothing else waits for ever; at the end there is no next turn,
 * and posting is over. */
static void run_posted(mend_loop *loop) {
  const uint64_t last = loop->last_posted_number;
  while (loop->first_posted != NULL && (loop->first_posted->number <= last || loop->ending))
    run_first_posted(loop);
}

static uint64_t next_deadline(const mend_loop *loop) {
  const uint64_t driver_ns = mend__loop_next_driver(loop);
  const uint64_t timer_ns = mend_deadlines_next(loop->deadlines);
  return driver_ns < timer_ns ? driver_ns : timer_ns;
}

static void run_due(mend_loop *loop, uint64_t now_ns) {
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
  const uint64_t next_ns = next_deadline(loop);
  if (next_ns < loop->wake_at_ns || loop->wake_at_ns <= now_ns) loop->wake_at_ns = next_ns;
  set_timer(loop, loop->wake_at_ns);
}

static void serve_real_time(mend_loop *loop) {
  if (loop->ending) return;
  mend__loop_ask_drivers(loop);
  const uint64_t now_ns = mend_clock_now(loop->clock).mono_ns;
  run_due(loop, now_ns);
  if (!loop->ending) rearm(loop, now_ns);
}

/* Somebody's deadline may have passed already when it appeared; no advance is going to stop at it. */
static void catch_up_with_clock(mend_loop *loop) {
  if (loop->ending) return;
  mend__loop_ask_drivers(loop);
  run_due(loop, mend_clock_now(loop->clock).mono_ns);
}

static void serve_clock(mend_loop *loop) {
  const mend__loop_request request = loop->request;
  if (request == MEND__REQUEST_NONE) {
    catch_up_with_clock(loop);
    return;
  }
  if (!loop->ending) mend__loop_ask_drivers(loop);
  if (request == MEND__REQUEST_RUN) run_due(loop, loop->request_ns);
  loop->request = MEND__REQUEST_NONE;
  pthread_cond_broadcast(&loop->changed);
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

static bool take_turn(mend_loop *loop, void (*first)(void *ctx), void *ctx) {
  begin_turn(loop);
  if (first != NULL) call_unlocked(loop, first, ctx);
  run_posted(loop);
  if (loop->is_virtual) {
    serve_clock(loop);
  } else {
    serve_real_time(loop);
  }
  if (loop->ending) run_posted(loop);
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

/* ---- The hand-shake with a virtual clock. Its calls come one at a time, on the thread that advances. ---- */

/* A function that the loop runs advances the clock: what was posted behind it waits for its end. */
static void serve_within_turn(mend_loop *loop) {
  pthread_mutex_lock(&loop->lock);
  serve_clock(loop);
  pthread_mutex_unlock(&loop->lock);
}

typedef enum caller_place { ELSEWHERE, ON_LOOP, IN_TURN } caller_place;

/* In a base that nobody has dispatched there is no other thread to wait for. */
static caller_place place_of_caller(const mend_loop *loop) {
  if (mend__loop_is_in_turn(loop)) return IN_TURN;
  return !loop->thread_known || mend__loop_is_here(loop) ? ON_LOOP : ELSEWHERE;
}

static void hand_over(mend_loop *loop, mend__loop_request request, uint64_t now_ns) {
  pthread_mutex_lock(&loop->lock);
  loop->request = request;
  loop->request_ns = now_ns;
  const caller_place place = place_of_caller(loop);
  if (place == ELSEWHERE) {
    mend__loop_signal(loop);
    while (loop->request != MEND__REQUEST_NONE && !loop->ended)
      pthread_cond_wait(&loop->changed, &loop->lock);
  }
  pthread_mutex_unlock(&loop->lock);
  if (place == ON_LOOP) mend__loop_turn(loop, NULL, NULL);
  if (place == IN_TURN) serve_within_turn(loop);
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
  const uint64_t next_ns = loop->ending ? MEND_NEVER : next_deadline(loop);
  pthread_mutex_unlock(&loop->lock);
  mend__loop_unhold(loop);
  return next_ns;
}

void mend__loop_clock_run(void *ctx, uint64_t now_ns) { hand_over(ctx, MEND__REQUEST_RUN, now_ns); }

/* ---- Calls that are waited for ---- */

typedef struct awaited {
  mend__posted posted;
  mend_loop *loop;
  void (*function)(void *ctx);
  void *ctx;
  bool is_done;
} awaited;

static void run_awaited(void *ctx) {
  awaited *call = ctx;
  mend_loop *loop = call->loop;
  call->function(call->ctx);
  pthread_mutex_lock(&loop->lock);
  call->is_done = true;
  pthread_cond_broadcast(&loop->changed);
  pthread_mutex_unlock(&loop->lock);
}

static void await(mend_loop *loop, const awaited *call) {
  pthread_mutex_lock(&loop->lock);
  while (!call->is_done)
    pthread_cond_wait(&loop->changed, &loop->lock);
  pthread_mutex_unlock(&loop->lock);
}

void mend__loop_call(mend_loop *loop, void (*function)(void *ctx), void *ctx) {
  pthread_mutex_lock(&loop->lock);
  const caller_place place = place_of_caller(loop);
  pthread_mutex_unlock(&loop->lock);
  if (place != ELSEWHERE) {
    function(ctx);
    return;
  }
  awaited call = {.posted = {.function = run_awaited, .ctx = &call}, .loop = loop, .function = function, .ctx = ctx};
  mend__loop_post_own(loop, &call.posted);
  await(loop, &call);
}

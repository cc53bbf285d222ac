/* How often the loop's thread gets up. */
#include "loop/world.h"

#include "loop/loop_internal.h"

#include <time.h>

#ifdef MEND_TEST_PLAIN
enum { PAIRS = 300000 }; /* ThreadSanitizer takes its time */
#else
enum { PAIRS = 3000000 };
#endif

static const uint64_t hour_ns = 3600 * MEND_SECOND_NS;

static void ignore(void *ctx) { (void)ctx; }

static size_t turns_since(const mend_loop *loop, size_t before) { return atomic_load(&loop->turns) - before; }

Test(loop_wakeups, timers_that_come_and_go) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    world w;
    open_world(&w, kind);
    const size_t before = atomic_load(&w.loop->turns);
    for (unsigned i = 0; i < PAIRS / WORLD_KINDS; i++) {
      mend_timer *timer;
      mend_loop_after(w.loop, hour_ns, ignore, NULL, &timer);
      mend_timer_cancel(&timer);
    }
    flush(w.loop);
    const size_t turns = turns_since(w.loop, before);
    cr_assert(turns <= 3, "kind %d: %zu turns", (int)kind, turns);
    close_world(&w);
  }
}

/* So far apart that the loop's thread gets up for each of them if it is woken. */
Test(loop_wakeups, short_timers_far_apart) {
  const struct timespec moment = {.tv_nsec = 10000};
  world w;
  open_world(&w, OWN_THREAD);
  const size_t before = atomic_load(&w.loop->turns);
  for (int i = 0; i < 50; i++) {
    mend_timer *timer;
    mend_loop_after(w.loop, hour_ns, ignore, NULL, &timer);
    mend_timer_cancel(&timer);
    nanosleep(&moment, NULL);
  }
  cr_assert(turns_since(w.loop, before) <= 2);
  close_world(&w);
}

/* ---- A driver with a set of deadlines, the way watchdogs have one ---- */

typedef struct owner {
  pthread_mutex_t lock;
  mend_deadlines *deadlines;
  mend_waker waker;
} owner;

static void wake(void *ctx) {
  const owner *self = ctx;
  self->waker.wake(self->waker.ctx);
}

static uint64_t owner_next(void *ctx) {
  owner *self = ctx;
  pthread_mutex_lock(&self->lock);
  const uint64_t due_ns = mend_deadlines_wait(self->deadlines);
  pthread_mutex_unlock(&self->lock);
  return due_ns;
}

static void owner_run(void *ctx, uint64_t now_ns) {
  owner *self = ctx;
  pthread_mutex_lock(&self->lock);
  while (mend_deadlines_expire(self->deadlines, now_ns) != NULL) {
  }
  pthread_mutex_unlock(&self->lock);
}

static void one_call(owner *self, mend_deadline *deadline, uint64_t now_ns) {
  pthread_mutex_lock(&self->lock);
  mend_deadlines_arm(self->deadlines, deadline, now_ns, hour_ns);
  pthread_mutex_unlock(&self->lock);
  pthread_mutex_lock(&self->lock);
  mend_deadlines_disarm(self->deadlines, deadline);
  pthread_mutex_unlock(&self->lock);
}

Test(loop_wakeups, a_driver_whose_deadlines_come_and_go) {
  world w;
  open_world(&w, OWN_THREAD);
  owner self = {.lock = PTHREAD_MUTEX_INITIALIZER};
  mend_deadline deadline = {0};
  const mend_clock_driver driver = {sizeof driver, owner_next, owner_run, &self};
  cr_assert_eq(mend_deadlines_new(&w.allocator.base, (mend_waker){wake, &self}, &self.deadlines), MEND_OK);
  cr_assert_eq(mend_loop_add_driver(w.loop, &driver, &self.waker), MEND_OK);
  flush(w.loop);
  const size_t before = atomic_load(&w.loop->turns);
  const uint64_t start_ns = mend_clock_now(mend_clock_real()).mono_ns;
  for (unsigned i = 0; i < PAIRS; i++)
    one_call(&self, &deadline, start_ns + i);
  const size_t turns = turns_since(w.loop, before);
  cr_assert(turns <= 50, "%zu turns", turns);
  cr_assert_eq(mend_loop_remove_driver(w.loop, &self), MEND_OK);
  mend_deadlines_free(self.deadlines);
  close_world(&w);
}

/* ---- Under a virtual clock, and in time ---- */

Test(loop_wakeups, a_virtual_clock_arms_no_timer) {
  world w;
  open_world(&w, OWN_THREAD_VIRTUAL);
  gate rang = GATE_INIT;
  mend_timer *timer;
  cr_assert_null(w.loop->timer_event);
  const size_t before = atomic_load(&w.loop->turns);
  mend_loop_after(w.loop, hour_ns, pass_gate, &rang, &timer);
  for (int i = 0; i < 60; i++)
    cr_assert_eq(mend_clock_advance(w.clock, hour_ns / 60), MEND_OK);
  cr_assert_eq(rang.stage, 0);
  cr_assert_eq(mend_clock_advance(w.clock, 1), MEND_OK);
  cr_assert_eq(rang.stage, 1);
  cr_assert(turns_since(w.loop, before) <= 2, "one for the timer, one when the world's first turn was not over");
  mend_timer_cancel(&timer);
  close_world(&w);
}

/* One to arm it, one when it is due, and none before. */
Test(loop_wakeups, a_timer_takes_two_turns) {
  enum { ROUNDS = 8 };
  world w;
  open_world(&w, OWN_THREAD);
  const size_t before = atomic_load(&w.loop->turns);
  for (int round = 0; round < ROUNDS; round++) {
    gate rang = GATE_INIT;
    mend_timer *timer;
    mend_loop_after(w.loop, 200000, pass_gate, &rang, &timer);
    gate_await(&rang, 1);
    mend_timer_cancel(&timer);
  }
  cr_assert(turns_since(w.loop, before) <= 2 * ROUNDS, "%zu turns", turns_since(w.loop, before));
  close_world(&w);
}

/* The hand-shake of a loop with a virtual clock. */
#include "loop/world.h"

#include <limits.h>

/* ---- A driver, due after 61 seconds ---- */

typedef struct sleeper {
  mend_loop *loop;
  uint64_t due_ns, ran_ns;
  bool was_here;
  pthread_t thread;
} sleeper;

static uint64_t sleeper_next(void *ctx) { return ((sleeper *)ctx)->due_ns; }

static void sleeper_run(void *ctx, uint64_t now_ns) {
  sleeper *s = ctx;
  s->due_ns = MEND_NEVER;
  s->ran_ns = now_ns;
  s->was_here = mend_loop_is_here(s->loop);
  s->thread = pthread_self();
}

static uint64_t real_ns(void) { return mend_clock_now(mend_clock_real()).mono_ns; }

/* Nothing here is atomic: ThreadSanitizer sees whether the hand-shake orders it. */
static uint64_t sleep_61_seconds(world *w, sleeper *s) {
  const uint64_t start_ns = real_ns(), due_ns = mend_clock_now(w->clock).mono_ns + 61 * MEND_SECOND_NS;
  const mend_clock_driver driver = {sizeof driver, sleeper_next, sleeper_run, s};
  mend_waker waker;
  *s = (sleeper){.loop = w->loop, .due_ns = due_ns};
  cr_assert_eq(mend_loop_add_driver(w->loop, &driver, &waker), MEND_OK);
  cr_assert_eq(mend_clock_advance(w->clock, 61 * MEND_SECOND_NS), MEND_OK);
  cr_assert_eq(s->ran_ns, due_ns);
  cr_assert(s->was_here);
  cr_assert(!pthread_equal(s->thread, pthread_self()));
  cr_assert_eq(mend_loop_remove_driver(w->loop, s), MEND_OK);
  return real_ns() - start_ns;
}

Test(loop_virtual, a_minute_passes_in_a_moment_on_the_right_thread) {
  static const world_kind kinds[] = {OWN_THREAD_VIRTUAL, DISPATCHED_VIRTUAL};
  for (size_t i = 0; i < 2; i++) {
    world w;
    open_world(&w, kinds[i]);
    uint64_t fastest_ns = MEND_NEVER;
    for (int round = 0; round < 50; round++) {
      sleeper s;
      const uint64_t took_ns = sleep_61_seconds(&w, &s);
      if (took_ns < fastest_ns) fastest_ns = took_ns;
    }
    cr_assert(fastest_ns < 5000000, "%llu ns", (unsigned long long)fastest_ns);
    close_world(&w);
  }
}

/* ---- Two loops and the clock's own drivers, in the order of time ---- */

typedef struct diary {
  mend_clock *clock;
  mend_loop *loops[2];
  uint64_t times[16];
  size_t count;
  unsigned elsewhere;
} diary;

typedef struct appointment {
  diary *diary;
  size_t loop;
  uint64_t delay_ns;
  mend_timer *timer;
} appointment;

static void write_down(void *ctx) {
  appointment *a = ctx;
  diary *d = a->diary;
  d->times[d->count++] = mend_clock_now(d->clock).mono_ns;
  if (!mend_loop_is_here(d->loops[a->loop]) || mend_loop_is_here(d->loops[1 - a->loop])) d->elsewhere++;
}

Test(loop_virtual, two_loops_on_one_clock_keep_the_order_of_time) {
  world w;
  open_world(&w, OWN_THREAD_VIRTUAL);
  mend_loop *other = new_loop(&w, NULL);
  diary d = {.clock = w.clock, .loops = {w.loop, other}};
  appointment appointments[] = {{&d, 0, 50, NULL}, {&d, 1, 20, NULL}, {&d, 0, 10, NULL},
                                {&d, 1, 40, NULL}, {&d, 0, 30, NULL}, {&d, 1, 60, NULL}};
  const size_t count = sizeof appointments / sizeof appointments[0];
  for (size_t i = 0; i < count; i++) {
    appointment *a = &appointments[i];
    cr_assert_eq(mend_loop_after(d.loops[a->loop], a->delay_ns - 1, write_down, a, &a->timer), MEND_OK);
  }
  const uint64_t start_ns = mend_clock_now(w.clock).mono_ns;
  cr_assert_eq(mend_clock_advance(w.clock, 55), MEND_OK);
  cr_assert_eq(d.count, 5u);
  cr_assert_eq(mend_clock_advance(w.clock, 55), MEND_OK);
  cr_assert_eq(d.count, 6u);
  for (size_t i = 0; i < count; i++) {
    cr_assert_eq(d.times[i], start_ns + 10 * (i + 1));
    mend_timer_cancel(&appointments[i].timer);
  }
  cr_assert_eq(d.elsewhere, 0u);
  mend_loop_release(other);
  close_world(&w);
}

/* ---- What was posted runs before time moves on ---- */

typedef struct relay {
  mend_loop *loop;
  unsigned legs; /* how often it is still to be posted again */
  mend_clock *clock;
  mend_timer *timer;
  uint64_t posted_ns, handled_ns;
  unsigned handled, failures;
} relay;

static void handle(void *ctx) {
  relay *r = ctx;
  for (int i = 0; i < 50; i++)
    sched_yield(); /* time for a clock that does not wait */
  r->handled++;
  r->handled_ns = mend_clock_now(r->clock).mono_ns;
  if (r->legs == 0) return;
  r->legs--;
  if (mend_loop_post(r->loop, handle, r) != MEND_OK) r->failures++;
}

static void post_from_timer(void *ctx) {
  relay *r = ctx;
  r->posted_ns = mend_clock_now(r->clock).mono_ns;
  if (mend_loop_post(r->loop, handle, r) != MEND_OK) r->failures++;
}

Test(loop_virtual, what_is_posted_runs_before_the_clock_moves) {
  world w;
  open_world(&w, OWN_THREAD_VIRTUAL);
  for (int round = 0; round < 20; round++) {
    relay r = {.loop = w.loop, .clock = w.clock, .legs = 5};
    cr_assert_eq(mend_loop_post(w.loop, handle, &r), MEND_OK);
    cr_assert_eq(mend_loop_after(w.loop, 30, post_from_timer, &r, &r.timer), MEND_OK);
    cr_assert_eq(mend_clock_advance(w.clock, MEND_SECOND_NS), MEND_OK);
    cr_assert_eq(r.failures, 0u);
    cr_assert_eq(r.handled, 7u);
    cr_assert_eq(r.handled_ns, r.posted_ns);
    mend_timer_cancel(&r.timer);
  }
  close_world(&w);
}

Test(loop_virtual, posting_without_end_does_not_stop_the_clock) {
  world w;
  open_world(&w, OWN_THREAD_VIRTUAL);
  relay r = {.loop = w.loop, .clock = w.clock, .legs = UINT_MAX};
  cr_assert_eq(mend_loop_post(w.loop, handle, &r), MEND_OK);
  cr_assert_eq(mend_clock_advance(w.clock, 1), MEND_OK);
  flush(w.loop);
  cr_assert(r.handled >= MEND_CLOCK_RUNS_MAX);
  close_world(&w);
  cr_assert_eq(r.failures, 1u, "the end is the end");
}

/* ---- On the loop's thread ---- */

typedef struct traveller {
  world *world;
  relay relay;
  mend_timer *timer;
  mend_status status, within;
  unsigned handled_within;
} traveller;

static void advance_within(void *ctx) {
  traveller *t = ctx;
  t->within = mend_clock_advance(t->world->clock, 1);
}

static void advance_here(void *ctx) {
  traveller *t = ctx;
  mend_loop_after(t->world->loop, 10, advance_within, t, &t->timer);
  mend_loop_post(t->world->loop, handle, &t->relay);
  t->status = mend_clock_advance(t->world->clock, 100);
  t->handled_within = t->relay.handled;
}

Test(loop_virtual, a_posted_function_may_advance_and_a_timer_may_not) {
  for (world_kind kind = OWN_THREAD_VIRTUAL; kind < WORLD_KINDS; kind += DISPATCHED_VIRTUAL - OWN_THREAD_VIRTUAL) {
    world w;
    open_world(&w, kind);
    traveller t = {.world = &w, .relay = {.loop = w.loop, .clock = w.clock}, .status = MEND_EFAILED};
    cr_assert_eq(mend_loop_post(w.loop, advance_here, &t), MEND_OK);
    flush(w.loop);
    flush(w.loop);
    cr_assert_eq(t.status, MEND_OK);
    cr_assert_eq(t.within, MEND_EDEADLK);
    cr_assert_eq(t.handled_within, 0u, "what was posted behind it waits for its end");
    cr_assert_eq(t.relay.handled, 1u);
    mend_timer_cancel(&t.timer);
    close_world(&w);
  }
}

/* ---- In a caller's base, on one thread ---- */

Test(loop_virtual, a_base_on_the_thread_that_advances) {
  world w;
  begin_world(&w);
  w.clock = new_clock(&w);
  struct event_base *base = new_precise_base();
  w.loop = new_loop(&w, base);
  for (int round = 0; round < 3; round++) { /* before anybody dispatches, and afterwards */
    relay r = {.loop = w.loop, .clock = w.clock};
    cr_assert_eq(mend_loop_after(w.loop, 30, post_from_timer, &r, &r.timer), MEND_OK);
    cr_assert_eq(mend_clock_advance(w.clock, MEND_SECOND_NS), MEND_OK);
    cr_assert_eq(r.handled, 1u, "round %d", round);
    cr_assert_eq(mend_loop_is_here(w.loop), round > 0);
    event_base_loop(base, EVLOOP_NONBLOCK);
    mend_timer_cancel(&r.timer);
  }
  mend_loop_release(w.loop);
  event_base_free(base);
  mend_clock_release(w.clock);
  check_nothing_left(&w);
}

/* ---- Letting go of a loop that the clock waits for ---- */

static void let_go(void *ctx) { mend_loop_release(ctx); }

Test(loop_virtual, a_loop_ends_within_a_hand_shake) {
  for (world_kind kind = OWN_THREAD_VIRTUAL; kind < WORLD_KINDS; kind += DISPATCHED_VIRTUAL - OWN_THREAD_VIRTUAL) {
    world w;
    open_world(&w, kind);
    mend_timer *timers[2];
    relay r = {.loop = w.loop, .clock = w.clock};
    cr_assert_eq(mend_loop_after(w.loop, 10, let_go, w.loop, &timers[0]), MEND_OK);
    cr_assert_eq(mend_loop_after(w.loop, 10, handle, &r, &timers[1]), MEND_OK);
    cr_assert_eq(mend_clock_advance(w.clock, MEND_SECOND_NS), MEND_OK);
    cr_assert_eq(r.handled, 0u, "timers are dropped");
    mend_timer_cancel(&timers[0]);
    mend_timer_cancel(&timers[1]);
    if (w.base != NULL) {
      pthread_join(w.dispatcher, NULL); /* nothing is left to wait for */
      event_base_free(w.base);
    }
    cr_assert(mend_test_threads_are(w.threads));
    mend_clock_release(w.clock);
    check_nothing_left(&w);
  }
}

static void ignore(void *ctx) { (void)ctx; }

static void *release_loop(void *ctx) {
  mend_loop_release(ctx);
  return NULL;
}

Test(loop_virtual, a_loop_ends_while_the_clock_advances) {
  for (int round = 0; round < 300; round++) {
    world w;
    open_world(&w, OWN_THREAD_VIRTUAL);
    mend_timer *timer;
    pthread_t other;
    cr_assert_eq(mend_loop_after(w.loop, 10, ignore, NULL, &timer), MEND_OK);
    cr_assert_eq(pthread_create(&other, NULL, release_loop, w.loop), 0);
    for (int i = 0; i < round % 16; i++)
      sched_yield();
    cr_assert_eq(mend_clock_advance(w.clock, MEND_SECOND_NS), MEND_OK);
    pthread_join(other, NULL);
    mend_timer_cancel(&timer);
    mend_clock_release(w.clock);
    check_nothing_left(&w);
  }
}

typedef struct late_driver {
  _Atomic uint64_t due_ns;
  gate ran;
} late_driver;

static uint64_t late_next(void *ctx) { return atomic_load(&((late_driver *)ctx)->due_ns); }

static void late_run(void *ctx, uint64_t now_ns) {
  (void)now_ns;
  late_driver *late = ctx;
  atomic_store(&late->due_ns, MEND_NEVER);
  gate_reach(&late->ran, 1);
}

/* An event that was stamped before the clock moved may arm a deadline that has passed: no advance stops there. */
Test(loop_virtual, a_deadline_that_has_passed_when_it_appears) {
  mend_clock *clock;
  cr_assert_eq(mend_clock_new_virtual(NULL, (mend_time){1000, 1000}, &clock), MEND_OK);
  mend_loop_options options = MEND_LOOP_OPTIONS_INIT;
  options.clock = clock;
  mend_loop *loop;
  cr_assert_eq(mend_loop_new(&options, &loop, NULL), MEND_OK);
  late_driver late = {MEND_NEVER, GATE_INIT};
  const mend_clock_driver driver = {sizeof driver, late_next, late_run, &late};
  mend_waker waker;
  cr_assert_eq(mend_loop_add_driver(loop, &driver, &waker), MEND_OK);
  atomic_store(&late.due_ns, 999);
  waker.wake(waker.ctx);
  gate_await(&late.ran, 1);
  cr_assert_eq(mend_loop_remove_driver(loop, &late), MEND_OK);
  mend_loop_release(loop);
  mend_clock_release(clock);
}

#include "loop/world.h"

/* ---- When ---- */

typedef struct alarm_clock {
  mend_loop *loop;
  uint64_t rang_ns;
  atomic_uint rings;
  bool was_here;
} alarm_clock;

static void ring(void *ctx) {
  alarm_clock *a = ctx;
  a->rang_ns = mend_clock_now(mend_loop_clock(a->loop)).mono_ns;
  a->was_here = mend_loop_is_here(a->loop);
  atomic_fetch_add(&a->rings, 1);
}

Test(loop_timers, ring_once_when_more_than_the_delay_has_passed) {
  static const uint64_t delays_ns[] = {0, 1, 999, 1000, 123456, 1000000};
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    world w;
    open_world(&w, kind);
    for (size_t i = 0; i < sizeof delays_ns / sizeof delays_ns[0]; i++) {
      alarm_clock a = {.loop = w.loop};
      mend_timer *timer;
      const uint64_t start_ns = mend_clock_now(mend_loop_clock(w.loop)).mono_ns;
      cr_assert_eq(mend_loop_after(w.loop, delays_ns[i], ring, &a, &timer), MEND_OK);
      pass_time_until(&w, &a.rings, 1);
      flush(w.loop);
      cr_assert(a.rang_ns - start_ns > delays_ns[i], "kind %d, delay %zu", (int)kind, i);
      if (is_virtual_kind(kind)) cr_assert_eq(a.rang_ns - start_ns, delays_ns[i] + 1);
      cr_assert(a.was_here);
      mend_timer_cancel(&timer);
      cr_assert_null(timer);
      mend_timer_cancel(&timer);
      cr_assert_eq(atomic_load(&a.rings), 1u);
    }
    close_world(&w);
  }
}

typedef struct row {
  char log[8];
  size_t len;
} row;

static void note_1(void *ctx) { ((row *)ctx)->log[((row *)ctx)->len++] = '1'; }
static void note_2(void *ctx) { ((row *)ctx)->log[((row *)ctx)->len++] = '2'; }
static void note_3(void *ctx) { ((row *)ctx)->log[((row *)ctx)->len++] = '3'; }

Test(loop_timers, ring_in_the_order_of_their_times) {
  world w;
  open_world(&w, OWN_THREAD_VIRTUAL);
  row r = {.len = 0};
  mend_timer *timers[4];
  cr_assert_eq(mend_loop_after(w.loop, 30, note_3, &r, &timers[0]), MEND_OK);
  cr_assert_eq(mend_loop_after(w.loop, 10, note_1, &r, &timers[1]), MEND_OK);
  cr_assert_eq(mend_loop_after(w.loop, 20, note_2, &r, &timers[2]), MEND_OK);
  cr_assert_eq(mend_loop_after(w.loop, 20, note_3, &r, &timers[3]), MEND_OK);
  mend_clock_advance(w.clock, 20);
  cr_assert_str_eq(r.log, "1", "20 ns have passed, not more");
  mend_clock_advance(w.clock, 11);
  cr_assert_str_eq(r.log, "1233");
  for (int i = 0; i < 4; i++)
    mend_timer_cancel(&timers[i]);
  close_world(&w);
}

/* ---- Cancelling ---- */

typedef struct pair {
  mend_timer *own, *other;
  atomic_uint rings;
} pair;

static void cancel_both(void *ctx) {
  pair *p = ctx;
  mend_timer_cancel(&p->own);
  mend_timer_cancel(&p->other);
  atomic_fetch_add(&p->rings, 1);
}

static void count_ring(void *ctx) { atomic_fetch_add(&((pair *)ctx)->rings, 1); }

Test(loop_timers, cancelled_by_their_own_function_with_the_next_one) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    world w;
    open_world(&w, kind);
    pair p = {.own = NULL};
    mend_loop_after(w.loop, 1000000, count_ring, &p, &p.other);
    mend_loop_after(w.loop, 1000, cancel_both, &p, &p.own);
    pass_time_until(&w, &p.rings, 1);
    if (w.clock != NULL) mend_clock_advance(w.clock, MEND_SECOND_NS);
    flush(w.loop);
    cr_assert_eq(atomic_load(&p.rings), 1u, "kind %d", (int)kind);
    cr_assert_null(p.own);
    cr_assert_null(p.other);
    close_world(&w);
  }
}

/* The function runs until somebody has begun to cancel its timer, and then a while. */
typedef struct slow {
  mend_timer *timer;
  gate gate;
  atomic_bool cancelling, left, cancelled_too_early;
} slow;

static void run_slowly(void *ctx) {
  slow *s = ctx;
  gate_reach(&s->gate, 1);
  while (!atomic_load(&s->cancelling))
    sched_yield();
  for (int i = 0; i < 1000; i++)
    sched_yield(); /* time for a wrong cancel to return */
  atomic_store(&s->left, true);
}

static void *cancel_slow(void *ctx) {
  slow *s = ctx;
  gate_await(&s->gate, 1);
  atomic_store(&s->cancelling, true);
  mend_timer_cancel(&s->timer);
  atomic_store(&s->cancelled_too_early, !atomic_load(&s->left));
  return NULL;
}

Test(loop_timers, cancelling_waits_for_a_call_on_another_thread) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    world w;
    open_world(&w, kind);
    slow s = {.gate = GATE_INIT};
    pthread_t other;
    cr_assert_eq(mend_loop_after(w.loop, 10, run_slowly, &s, &s.timer), MEND_OK);
    cr_assert_eq(pthread_create(&other, NULL, cancel_slow, &s), 0);
    if (w.clock != NULL) mend_clock_advance(w.clock, MEND_SECOND_NS);
    pthread_join(other, NULL);
    cr_assert(!atomic_load(&s.cancelled_too_early), "kind %d", (int)kind);
    close_world(&w);
  }
}

/* ---- Outliving the loop ---- */

Test(loop_timers, may_outlive_their_loop) {
  mend_timer *none = NULL;
  mend_timer_cancel(&none);
  mend_timer_cancel(NULL);
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    world w;
    open_world(&w, kind);
    pair p = {.own = NULL};
    mend_loop_after(w.loop, MEND_NEVER, count_ring, &p, &p.own);
    mend_loop_after(w.loop, 3600 * MEND_SECOND_NS, count_ring, &p, &p.other);
    mend_loop *loop = w.loop;
    if (w.base != NULL) {
      mend_loop_post(loop, stop_dispatching, w.base);
      pthread_join(w.dispatcher, NULL);
    }
    mend_loop_release(loop);
    if (w.base != NULL) event_base_free(w.base);
    mend_timer_cancel(&p.own);
    mend_timer_cancel(&p.other);
    mend_clock_release(w.clock);
    cr_assert_eq(atomic_load(&p.rings), 0u);
    check_nothing_left(&w);
  }
}

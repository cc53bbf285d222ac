#include "loop/world.h"

#include <signal.h>

/* ---- Options ---- */

Test(loop_life, options_are_checked) {
  const size_t files = mend_test_open_files();
  mend_loop_options options = MEND_LOOP_OPTIONS_INIT;
  mend_loop *loop = NULL;
  mend_error error;
  options.size = 0;
  cr_assert_eq(mend_loop_new(&options, &loop, &error), MEND_EINVAL);
  cr_assert_not_null(strstr(error.message, "mend_loop_options"), "%s", error.message);
  cr_assert_null(loop);
  cr_assert_eq(mend_test_open_files(), files);
  mend_loop_release(NULL);

  cr_assert_eq(mend_loop_new(NULL, &loop, &error), MEND_OK);
  cr_assert_eq(mend_loop_clock(loop), mend_clock_real());
  mend_loop_release(loop);
  cr_assert_eq(mend_test_open_files(), files);
}

/* ---- The thread ---- */

typedef struct portrait {
  char name[16];
  sigset_t blocked;
  gate gate;
} portrait;

static void sit_for_it(void *ctx) {
  portrait *p = ctx;
  pthread_getname_np(pthread_self(), p->name, sizeof p->name);
  pthread_sigmask(SIG_SETMASK, NULL, &p->blocked);
}

Test(loop_life, the_thread_has_a_name_and_takes_no_signals) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM, SIGUSR1, SIGPIPE, SIGWINCH};
  world w;
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  open_world(&w, OWN_THREAD);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  portrait p = {.gate = GATE_INIT};
  mend_loop_post(w.loop, sit_for_it, &p);
  flush(w.loop);
  cr_assert_str_eq(p.name, "mend-loop");
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    cr_assert_eq(sigismember(&p.blocked, signals[i]), 1, "signal %d", signals[i]);
    cr_assert_eq(sigismember(&after, signals[i]), sigismember(&before, signals[i]));
  }
  cr_assert_eq(sigismember(&p.blocked, SIGSEGV), 0, "a crash is still reported");
  close_world(&w);
}

/* ---- The last reference ---- */

typedef struct party {
  mend_loop *loop;
  atomic_uint guests;
  mend_timer *timer;
} party;

static void leave(void *ctx) {
  party *p = ctx;
  atomic_fetch_add(&p->guests, 1);
  mend_loop_release(p->loop);
}

static void arrive(void *ctx) { atomic_fetch_add(&((party *)ctx)->guests, 1); }

static uint64_t due_at_once(void *ctx) {
  (void)ctx;
  return 0;
}

static void leave_from_driver(void *ctx, uint64_t now_ns) {
  (void)now_ns;
  leave(ctx);
}

typedef void (*way_to_leave)(party *p);

static void by_posting(party *p) { cr_assert_eq(mend_loop_post(p->loop, leave, p), MEND_OK); }
static void by_timer(party *p) { cr_assert_eq(mend_loop_after(p->loop, 0, leave, p, &p->timer), MEND_OK); }

static void by_driver(party *p) {
  const mend_clock_driver driver = {sizeof driver, due_at_once, leave_from_driver, p};
  mend_waker waker;
  cr_assert_eq(mend_loop_add_driver(p->loop, &driver, &waker), MEND_OK);
}

static const way_to_leave ways[] = {by_posting, by_timer, by_driver};

/* A thread of its own then ends by itself; in a base, there is nothing left to dispatch. */
Test(loop_life, released_on_the_loops_own_thread) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
      world w;
      open_world(&w, kind);
      party p = {.loop = w.loop};
      ways[i](&p);
      pass_time_until(&w, &p.guests, 1);
      if (w.base != NULL) {
        pthread_join(w.dispatcher, NULL);
        event_base_free(w.base);
      }
      cr_assert(mend_test_threads_are(w.threads), "kind %d, way %zu", (int)kind, i);
      mend_timer_cancel(&p.timer);
      mend_clock_release(w.clock);
      check_nothing_left(&w);
    }
  }
}

/* Somebody posts with the reference that the posted function drops. */
Test(loop_life, a_posted_function_may_drop_its_posters_reference) {
  for (world_kind kind = OWN_THREAD; kind <= OWN_THREAD_VIRTUAL; kind++) {
    world w;
    open_world(&w, kind);
    party p = {.loop = w.loop};
    cr_assert_eq(mend_loop_post(w.loop, arrive, &p), MEND_OK);
    by_posting(&p);
    cr_assert(mend_test_threads_are(w.threads));
    cr_assert_eq(atomic_load(&p.guests), 2u);
    mend_clock_release(w.clock);
    check_nothing_left(&w);
  }
}

Test(loop_life, in_a_base_that_nobody_dispatches) {
  for (int is_virtual = 0; is_virtual < 2; is_virtual++) {
    world w;
    begin_world(&w);
    if (is_virtual) w.clock = new_clock(&w);
    struct event_base *base = new_precise_base();
    party p = {.loop = new_loop(&w, base)};
    mend_loop *other = new_loop(&w, base);
    mend_loop_retain(p.loop);
    cr_assert_eq(mend_loop_post(p.loop, arrive, &p), MEND_OK);
    cr_assert_eq(mend_loop_after(p.loop, 0, arrive, &p, &p.timer), MEND_OK);
    mend_loop_release(p.loop);
    cr_assert_eq(atomic_load(&p.guests), 0u, "one reference is left");
    mend_loop_release(p.loop);
    cr_assert_eq(atomic_load(&p.guests), 1u, "what was posted runs, timers do not");
    event_base_loop(base, EVLOOP_NONBLOCK); /* turns up nothing of a loop that is gone */
    cr_assert_eq(atomic_load(&p.guests), 1u);
    mend_loop_release(other);
    cr_assert_eq(event_base_dispatch(base), 1, "no event is left in it");
    mend_timer_cancel(&p.timer);
    event_base_free(base);
    mend_clock_release(w.clock);
    check_nothing_left(&w);
  }
}

/* ---- Out of memory ---- */

/* What succeeds works, what fails says so and changes nothing. */
static void use_everything(world *w, struct event_base *base) {
  mend_loop_options options = {sizeof options, &w->allocator.base, w->clock, base};
  mend_loop *loop = NULL;
  party p = {.timer = NULL};
  mend_error error;
  mend_status status = mend_loop_new(&options, &loop, &error);
  cr_assert_eq(status, loop != NULL ? MEND_OK : MEND_ENOMEM);
  if (loop == NULL) return;
  unsigned expected = 0, drivers = 0;
  char contexts[6];
  for (size_t i = 0; i < sizeof contexts; i++) {
    const mend_clock_driver driver = {sizeof driver, due_at_once, leave_from_driver, &contexts[i]};
    mend_clock_driver idle = driver;
    idle.next = (uint64_t(*)(void *))due_at_once;
    mend_waker waker = {NULL, NULL};
    (void)idle;
    status = mend_loop_add_driver(loop, &driver, &waker);
    cr_assert_eq(status, waker.wake != NULL ? MEND_OK : MEND_ENOMEM);
    if (status == MEND_OK) drivers++;
    cr_assert_eq(mend_loop_remove_driver(loop, &contexts[i]), status == MEND_OK ? MEND_OK : MEND_ENOENT);
  }
  (void)drivers;
  status = mend_loop_post(loop, arrive, &p);
  cr_assert(status == MEND_OK || status == MEND_ENOMEM);
  if (status == MEND_OK) expected++;
  status = mend_loop_after(loop, 3600 * MEND_SECOND_NS, arrive, &p, &p.timer);
  cr_assert_eq(status, p.timer != NULL ? MEND_OK : MEND_ENOMEM);
  mend_loop_release(loop);
  cr_assert_eq(atomic_load(&p.guests), expected);
  mend_timer_cancel(&p.timer);
}

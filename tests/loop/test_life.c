#include "loop/world.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

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
  portrait p = {.name = ""};
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
  mend_status posted;
} party;

static void arrive(void *ctx) { atomic_fetch_add(&((party *)ctx)->guests, 1); }

static void leave(void *ctx) {
  party *p = ctx;
  p->posted = mend_loop_post(p->loop, arrive, p);
  mend_loop_release(p->loop);
}

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
      cr_assert_eq(p.posted, MEND_OK);
      cr_assert_eq(atomic_load(&p.guests), 1u, "what was posted last runs too");
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

static uint64_t never(void *ctx) {
  (void)ctx;
  return MEND_NEVER;
}

static void run_never(void *ctx, uint64_t now_ns) { (void)ctx, (void)now_ns; }

enum { DRIVERS = 6 }; /* so many that the table grows on the way */

/* What fails says so and leaves nothing behind; what does not, works. */
static void use_drivers(mend_loop *loop) {
  char contexts[DRIVERS];
  mend_status added[DRIVERS];
  for (size_t i = 0; i < DRIVERS; i++) {
    const mend_clock_driver driver = {sizeof driver, never, run_never, &contexts[i]};
    mend_waker waker = {NULL, NULL};
    added[i] = mend_loop_add_driver(loop, &driver, &waker);
    cr_assert_eq(added[i], waker.wake != NULL ? MEND_OK : MEND_ENOMEM);
  }
  for (size_t i = 0; i < DRIVERS; i++)
    cr_assert_eq(mend_loop_remove_driver(loop, &contexts[i]), added[i] == MEND_OK ? MEND_OK : MEND_ENOENT);
}

static void use_everything(world *w, struct event_base *base) {
  const mend_loop_options options = {sizeof options, &w->allocator.base, w->clock, base};
  party p = {.loop = NULL};
  const mend_status made = mend_loop_new(&options, &p.loop, NULL);
  cr_assert_eq(made, p.loop != NULL ? MEND_OK : MEND_ENOMEM);
  if (made != MEND_OK) return;
  use_drivers(p.loop);
  const mend_status posted = mend_loop_post(p.loop, arrive, &p);
  cr_assert(posted == MEND_OK || posted == MEND_ENOMEM);
  const mend_status armed = mend_loop_after(p.loop, 3600 * MEND_SECOND_NS, arrive, &p, &p.timer);
  cr_assert_eq(armed, p.timer != NULL ? MEND_OK : MEND_ENOMEM);
  mend_loop_release(p.loop);
  cr_assert_eq(atomic_load(&p.guests), posted == MEND_OK ? 1u : 0u);
  mend_timer_cancel(&p.timer);
}

static void fail_at_every_point(world_kind kind, bool fail_after) {
  size_t at = 0;
  bool failed = true;
  while (failed) {
    world w;
    begin_world(&w);
    if (is_virtual_kind(kind)) w.clock = new_clock(&w);
    struct event_base *base = is_dispatched_kind(kind) ? new_precise_base() : NULL;
    mend_test_allocator_arm(&w.allocator, ++at, fail_after);
    use_everything(&w, base);
    failed = mend_test_allocator_failed(&w.allocator);
    mend_clock_release(w.clock);
    if (base != NULL) event_base_free(base);
    check_nothing_left(&w);
  }
  cr_assert(at > 4, "kind %d: %zu allocations", (int)kind, at);
}

Test(loop_life, runs_out_of_memory_at_every_point) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    fail_at_every_point(kind, false);
    fail_at_every_point(kind, true);
  }
}

/* ---- Out of descriptors ---- */

enum { FILES_MAX = 64 };

/* Takes all descriptors there are and gives `left` of them back. */
static size_t take_descriptors(int fds[FILES_MAX], size_t left) {
  size_t count = 0;
  while (count < FILES_MAX && (fds[count] = dup(STDERR_FILENO)) >= 0)
    count++;
  while (left-- > 0 && count > 0)
    close(fds[--count]);
  return count;
}

static mend_status make_with_few_descriptors(size_t left) {
  int fds[FILES_MAX];
  size_t count = take_descriptors(fds, left);
  mend_loop *loop = NULL;
  mend_error error;
  const mend_status status = mend_loop_new(NULL, &loop, &error);
  while (count-- > 0)
    close(fds[count]);
  mend_loop_release(loop);
  return status;
}

Test(loop_life, runs_out_of_descriptors_at_every_point) {
  const size_t files = mend_test_open_files(), threads = threads_before();
  struct rlimit before, few;
  cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
  few = before;
  few.rlim_cur = FILES_MAX;
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
  for (size_t left = 0; left < 5; left++)
    cr_assert_eq(make_with_few_descriptors(left), MEND_EIO, "%zu left", left);
  cr_assert_eq(make_with_few_descriptors(5), MEND_OK);
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
  cr_assert_eq(mend_test_open_files(), files);
  cr_assert(mend_test_threads_are(threads));
}

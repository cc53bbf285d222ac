/* What the tests of loop/ share: a loop of each kind, in a world that checks that nothing is left of it; and gates to
 * take threads step by step. */
#ifndef MEND_TESTS_LOOP_WORLD_H
#define MEND_TESTS_LOOP_WORLD_H

#include "mend/loop.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <event2/event.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

/* ---- Gates ---- */

typedef struct gate {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int stage;
} gate;

#define GATE_INIT                                                                                                      \
  { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 }

static inline void gate_reach(gate *g, int stage) {
  pthread_mutex_lock(&g->mutex);
  g->stage = stage;
  pthread_cond_broadcast(&g->changed);
  pthread_mutex_unlock(&g->mutex);
}

static inline void gate_await(gate *g, int stage) {
  pthread_mutex_lock(&g->mutex);
  while (g->stage < stage)
    pthread_cond_wait(&g->changed, &g->mutex);
  pthread_mutex_unlock(&g->mutex);
}

static inline void pass_gate(void *ctx) { gate_reach(ctx, 1); }

/* Returns when all that was posted before has run. */
static inline void flush(mend_loop *loop) {
  gate done = GATE_INIT;
  cr_assert_eq(mend_loop_post(loop, pass_gate, &done), MEND_OK);
  gate_await(&done, 1);
  pthread_mutex_lock(&done.mutex); /* whoever reached it has let go of it */
  pthread_mutex_unlock(&done.mutex);
}

/* ---- Worlds ---- */

typedef enum world_kind { OWN_THREAD, OWN_THREAD_VIRTUAL, DISPATCHED, DISPATCHED_VIRTUAL, WORLD_KINDS } world_kind;

static inline bool is_virtual_kind(world_kind kind) { return kind == OWN_THREAD_VIRTUAL || kind == DISPATCHED_VIRTUAL; }
static inline bool is_dispatched_kind(world_kind kind) { return kind == DISPATCHED || kind == DISPATCHED_VIRTUAL; }

typedef struct world {
  size_t files, threads;
  mend_test_allocator allocator;
  mend_clock *clock; /* NULL: the real one */
  struct event_base *base;
  pthread_t dispatcher;
  mend_loop *loop;
} world;

static inline void *do_nothing(void *ctx) { return ctx; }

/* How many threads this process has without ours, found out once. ThreadSanitizer starts one of its own with our first,
 * and the kernel forgets a joined one a little later. */
static inline size_t threads_before(void) {
  static size_t fewest;
  if (fewest != 0) return fewest;
  const struct timespec moment = {.tv_nsec = 1000000};
  pthread_t first;
  cr_assert_eq(pthread_create(&first, NULL, do_nothing, NULL), 0);
  pthread_join(first, NULL);
  fewest = SIZE_MAX;
  for (int i = 0; i < 5; i++) {
    const size_t count = mend_test_threads();
    if (count < fewest) fewest = count;
    nanosleep(&moment, NULL);
  }
  return fewest;
}

static inline struct event_base *new_precise_base(void) {
  struct event_config *config = event_config_new();
  event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
  struct event_base *base = event_base_new_with_config(config);
  event_config_free(config);
  return base;
}

static inline void *dispatch(void *base) {
  event_base_dispatch(base);
  return NULL;
}

static inline void begin_world(world *w) {
  *w = (world){.files = mend_test_open_files(), .threads = threads_before()};
  mend_test_allocator_init(&w->allocator);
}

static inline mend_clock *new_clock(world *w) {
  mend_clock *clock;
  const mend_time start = {.mono_ns = 1000, .wall_ns = 1000};
  cr_assert_eq(mend_clock_new_virtual(&w->allocator.base, start, &clock), MEND_OK);
  return clock;
}

static inline mend_loop *new_loop(world *w, struct event_base *base) {
  mend_loop_options options = MEND_LOOP_OPTIONS_INIT;
  options.allocator = &w->allocator.base;
  options.clock = w->clock;
  options.base = base;
  mend_loop *loop;
  cr_assert_eq(mend_loop_new(&options, &loop, NULL), MEND_OK);
  return loop;
}

/* In a caller's base, which another thread dispatches when this returns. */
static inline void open_world(world *w, world_kind kind) {
  begin_world(w);
  if (is_virtual_kind(kind)) w->clock = new_clock(w);
  if (is_dispatched_kind(kind)) w->base = new_precise_base();
  w->loop = new_loop(w, w->base);
  if (w->base != NULL) cr_assert_eq(pthread_create(&w->dispatcher, NULL, dispatch, w->base), 0);
  flush(w->loop);
}

static inline void check_nothing_left(world *w) {
  cr_assert_eq(atomic_load(&w->allocator.blocks), 0u, "memory is left");
  cr_assert_eq(mend_test_open_files(), w->files, "files are left open");
  cr_assert(mend_test_threads_are(w->threads), "threads are left");
}

static inline void stop_dispatching(void *base) { event_base_loopbreak(base); }

static inline void close_world(world *w) {
  if (w->base != NULL) {
    cr_assert_eq(mend_loop_post(w->loop, stop_dispatching, w->base), MEND_OK);
    pthread_join(w->dispatcher, NULL);
  }
  mend_loop_release(w->loop);
  if (w->base != NULL) event_base_free(w->base);
  mend_clock_release(w->clock);
  check_nothing_left(w);
}

/* Lets time pass until the counter has the value: virtual time on a virtual clock. */
static inline void pass_time_until(world *w, atomic_uint *counter, unsigned value) {
  while (atomic_load(counter) < value) {
    if (w->clock != NULL) cr_assert_eq(mend_clock_advance(w->clock, 1000), MEND_OK);
    sched_yield();
  }
}

#endif

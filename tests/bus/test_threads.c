/* Publishing while others subscribe, close and end: to be run under ThreadSanitizer and AddressSanitizer. */
#include "support/mend_test.h"
#include "support/test_support.h"

#include "bus/room.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { ROUNDS = 2000, PUBLISHERS = 2 };

typedef struct arena {
  mend_bus *bus;
  mend_run *run;
  _Atomic bool stop;
  _Atomic unsigned published[PUBLISHERS]; /* by each publisher */
  _Atomic uint64_t seqs;                  /* sum of the stamps */
  _Atomic unsigned made, destroyed, calls, bad;
} arena;

/* What a subscriber works on: freed by destroy, so a late call is a use after free, and a flag for plain builds. */
typedef struct work {
  arena *arena;
  unsigned alive;
} work;

static mend_status do_work(void *ctx, const mend_event *event) {
  work *w = ctx;
  if (w->alive != 0x11eeu || event->run != w->arena->run) atomic_fetch_add(&w->arena->bad, 1);
  atomic_fetch_add_explicit(&w->arena->calls, 1, memory_order_relaxed);
  return MEND_OK;
}

static void free_work(void *ctx) {
  work *w = ctx;
  atomic_fetch_add(&w->arena->destroyed, 1);
  w->alive = 0;
  free(w);
}

static work *new_work(arena *a) {
  work *w = malloc(sizeof *w);
  *w = (work){a, 0x11eeu};
  atomic_fetch_add(&a->made, 1);
  return w;
}

typedef struct publishing_thread {
  arena *arena;
  int number;
  pthread_t thread;
} publishing_thread;

static void *publish_until_stopped(void *ctx) {
  const publishing_thread *p = ctx;
  arena *a = p->arena;
  while (!atomic_load(&a->stop)) {
    mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
    if (mend_run_publish(a->run, &event.event) != MEND_OK) atomic_fetch_add(&a->bad, 1);
    atomic_fetch_add(&a->seqs, event.event.seq);
    atomic_fetch_add(&a->published[p->number], 1);
  }
  return NULL;
}

/* The publishers are at work, not only started. */
static void await_publishers(arena *a, unsigned more) {
  for (int i = 0; i < PUBLISHERS; i++) {
    const unsigned wanted = atomic_load(&a->published[i]) + more;
    while (atomic_load(&a->published[i]) < wanted)
      sched_yield();
  }
}

static void churn(arena *a) {
  static const char *const patterns[] = {"tool.before", "tool.*", "*"};
  mend_subscription *open[6] = {NULL};
  for (unsigned i = 0; i < ROUNDS; i++) {
    mend_subscription **slot = &open[i % 6];
    mend_subscription_close(slot);
    const char *pattern = patterns[i / 7 % 3];
    mend_status status = i % 2 ? mend_bus_subscribe(a->bus, pattern, do_work, new_work(a), free_work, slot, NULL)
                               : mend_run_subscribe(a->run, pattern, do_work, new_work(a), free_work, slot, NULL);
    cr_assert_eq(status, MEND_OK);
    if (i % 64 == 0) cr_assert_eq(mend_bus_quiesce(a->bus), MEND_OK);
    if (i % 16 == 0) sched_yield();
  }
  for (int i = 0; i < 6; i++)
    mend_subscription_close(&open[i]);
}

static void *do_nothing(void *ctx) { return ctx; }

/* ThreadSanitizer starts a thread of its own with the first one of ours. */
static size_t threads_before(void) {
  pthread_t first;
  pthread_create(&first, NULL, do_nothing, NULL);
  pthread_join(first, NULL);
  return mend_test_threads();
}

Test(bus_threads, two_publishers_against_one_who_subscribes_and_closes) {
  size_t threads = threads_before();
  arena a = {0};
  mend_bus_new(NULL, &a.bus, NULL);
  mend_run_new(a.bus, NULL, &a.run, NULL);
  publishing_thread publishers[PUBLISHERS];
  for (int i = 0; i < PUBLISHERS; i++) {
    publishers[i] = (publishing_thread){.arena = &a, .number = i};
    pthread_create(&publishers[i].thread, NULL, publish_until_stopped, &publishers[i]);
  }
  await_publishers(&a, 1);
  churn(&a);
  cr_assert_eq(mend_bus_quiesce(a.bus), MEND_OK);
  cr_assert_eq(atomic_load(&a.destroyed), atomic_load(&a.made), "after quiesce every destroy has run");
  mend_subscription *last = NULL;
  cr_assert_eq(mend_bus_subscribe(a.bus, "*", do_work, new_work(&a), free_work, &last, NULL), MEND_OK);
  await_publishers(&a, 10);
  mend_subscription_close(&last);
  atomic_store(&a.stop, true);
  uint64_t published = 0;
  for (int i = 0; i < PUBLISHERS; i++) {
    pthread_join(publishers[i].thread, NULL);
    published += atomic_load(&a.published[i]);
  }
  cr_assert_eq(atomic_load(&a.bad), 0u);
  cr_assert(atomic_load(&a.calls) > 0);
  cr_assert_eq(atomic_load(&a.seqs), published * (published + 1) / 2, "every stamp is given once");
  mend_bus_stats stats = {.size = sizeof stats};
  mend_bus_get_stats(a.bus, &stats);
  cr_assert_eq(stats.published, published);
  mend_run_release(a.run);
  mend_bus_release(a.bus);
  cr_assert(mend_test_threads_are(threads));
}

/* ---- Closing while a handler of it runs on another thread, step by step ---- */

typedef struct gate {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int stage;
} gate;

static void reach(gate *g, int stage) {
  pthread_mutex_lock(&g->mutex);
  g->stage = stage;
  pthread_cond_broadcast(&g->changed);
  pthread_mutex_unlock(&g->mutex);
}

static void await(gate *g, int stage) {
  pthread_mutex_lock(&g->mutex);
  while (g->stage < stage)
    pthread_cond_wait(&g->changed, &g->mutex);
  pthread_mutex_unlock(&g->mutex);
}

typedef struct stage_play {
  gate gate;
  mend_bus *bus;
  mend_run *run;
  mend_subscription *subscription;
  _Atomic bool in_handler, destroyed, destroyed_while_in_handler;
  _Atomic unsigned calls;
} stage_play;

static mend_status wait_in_handler(void *ctx, const mend_event *event) {
  (void)event;
  stage_play *p = ctx;
  if (atomic_fetch_add(&p->calls, 1) > 0) return MEND_OK;
  atomic_store(&p->in_handler, true);
  reach(&p->gate, 1);
  await(&p->gate, 2);
  atomic_store(&p->in_handler, false);
  return MEND_OK;
}

static void note_destroy(void *ctx) {
  stage_play *p = ctx;
  if (atomic_load(&p->in_handler)) atomic_store(&p->destroyed_while_in_handler, true);
  atomic_store(&p->destroyed, true);
}

static void *publish_once(void *ctx) {
  stage_play *p = ctx;
  mend_run_emit(p->run, "tool.before", NULL, NULL);
  mend_run_release(p->run);
  return NULL;
}

static void open_play(stage_play *p) {
  pthread_mutex_init(&p->gate.mutex, NULL);
  pthread_cond_init(&p->gate.changed, NULL);
  mend_bus_new(NULL, &p->bus, NULL);
  mend_run_new(p->bus, NULL, &p->run, NULL);
  mend_bus_subscribe(p->bus, "*", wait_in_handler, p, note_destroy, &p->subscription, NULL);
}

static void close_play(stage_play *p) {
  pthread_mutex_destroy(&p->gate.mutex);
  pthread_cond_destroy(&p->gate.changed);
}

Test(bus_threads, closing_while_another_thread_is_in_the_handler) {
  stage_play p = {0};
  open_play(&p);
  pthread_t publisher;
  mend_run_retain(p.run);
  pthread_create(&publisher, NULL, publish_once, &p);
  await(&p.gate, 1);
  mend_subscription_close(&p.subscription); /* does not block */
  cr_assert_null(p.subscription);
  cr_assert(!atomic_load(&p.destroyed), "somebody is in the handler");
  mend_run_emit(p.run, "tool.before", NULL, NULL);
  cr_assert_eq(atomic_load(&p.calls), 1u, "not called again");
  cr_assert(!atomic_load(&p.destroyed));
  reach(&p.gate, 2);
  pthread_join(publisher, NULL);
  cr_assert(atomic_load(&p.destroyed), "the thread that left did it");
  cr_assert(!atomic_load(&p.destroyed_while_in_handler));
  mend_run_release(p.run);
  mend_bus_release(p.bus);
  close_play(&p);
}

static void *quiesce_then_note(void *ctx) {
  stage_play *p = ctx;
  mend_bus_quiesce(p->bus);
  if (atomic_load(&p->in_handler)) atomic_store(&p->destroyed_while_in_handler, true);
  return NULL;
}

Test(bus_threads, quiesce_waits_for_the_handler) {
  stage_play p = {0};
  open_play(&p);
  pthread_t publisher, waiter;
  mend_run_retain(p.run);
  pthread_create(&publisher, NULL, publish_once, &p);
  await(&p.gate, 1);
  mend_subscription_close(&p.subscription);
  pthread_create(&waiter, NULL, quiesce_then_note, &p);
  sched_yield();
  reach(&p.gate, 2);
  pthread_join(waiter, NULL);
  cr_assert(atomic_load(&p.destroyed));
  cr_assert(!atomic_load(&p.destroyed_while_in_handler));
  pthread_join(publisher, NULL);
  mend_run_release(p.run);
  mend_bus_release(p.bus);
  close_play(&p);
}

/* The last reference goes on this thread while another one is in a handler: the bus waits for it. */
static mend_status stay_in_handler(void *ctx, const mend_event *event) {
  (void)event;
  stage_play *p = ctx;
  atomic_store(&p->in_handler, true);
  mend_run_release(p->run); /* the publisher's own; the bus's last reference is with the main thread */
  reach(&p->gate, 1);
  await(&p->gate, 2);
  atomic_store(&p->in_handler, false);
  return MEND_OK;
}

static void *publish_and_keep_nothing(void *ctx) {
  mend_run_emit(((stage_play *)ctx)->run, "tool.before", NULL, NULL);
  return NULL;
}

static void *release_bus(void *ctx) {
  mend_bus_release(((stage_play *)ctx)->bus);
  return NULL;
}

Test(bus_threads, the_end_of_a_bus_waits_for_publishes_of_other_threads) {
  stage_play p = {0};
  pthread_mutex_init(&p.gate.mutex, NULL);
  pthread_cond_init(&p.gate.changed, NULL);
  mend_bus_new(NULL, &p.bus, NULL);
  mend_run_new(p.bus, NULL, &p.run, NULL);
  mend_bus_subscribe(p.bus, "*", stay_in_handler, &p, note_destroy, NULL, NULL);
  pthread_t publisher, releaser;
  pthread_create(&publisher, NULL, publish_and_keep_nothing, &p);
  await(&p.gate, 1);
  pthread_create(&releaser, NULL, release_bus, &p);
  sched_yield();
  cr_assert(!atomic_load(&p.destroyed));
  reach(&p.gate, 2);
  pthread_join(publisher, NULL);
  pthread_join(releaser, NULL);
  cr_assert(atomic_load(&p.destroyed));
  cr_assert(!atomic_load(&p.destroyed_while_in_handler));
  close_play(&p);
}

/* ---- Everything at once: runs come and go, found by id, each with a subscriber ---- */

typedef struct crowd {
  mend_bus *bus;
  _Atomic unsigned calls, bad;
  unsigned seed;
} crowd;

static mend_status count_call(void *ctx, const mend_event *event) {
  (void)event;
  atomic_fetch_add_explicit(&((crowd *)ctx)->calls, 1, memory_order_relaxed);
  return MEND_OK;
}

static void one_visit(crowd *c, unsigned number) {
  static const char *const ids[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = mend_str_from(ids[number % 8]);
  mend_run *run;
  if (mend_bus_run(c->bus, &options, &run, NULL) != MEND_OK) {
    atomic_fetch_add(&c->bad, 1);
    return;
  }
  mend_subscription *subscription = NULL;
  if (mend_run_subscribe(run, "tool.*", count_call, c, NULL, &subscription, NULL) != MEND_OK)
    atomic_fetch_add(&c->bad, 1);
  mend_run_emit(run, number % 3 ? "tool.before" : "own.topic", NULL, NULL);
  mend_subscription_close(&subscription);
  mend_run_release(run);
}

static void *visit(void *ctx) {
  crowd *c = ctx;
  mend_bus_retain(c->bus);
  unsigned number = 12345;
  for (int i = 0; i < ROUNDS / 2; i++) {
    number = number * 1103515245u + 12345u;
    one_visit(c, number >> 16);
  }
  mend_bus_release(c->bus);
  return NULL;
}

Test(bus_threads, runs_are_found_and_forgotten_by_several_threads) {
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.run_limit = 4;
  crowd c = {0};
  mend_bus_new(&options, &c.bus, NULL);
  pthread_t visitors[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&visitors[i], NULL, visit, &c);
  mend_bus *bus = c.bus;
  for (int i = 0; i < 3; i++)
    pthread_join(visitors[i], NULL);
  cr_assert_eq(atomic_load(&c.bad), 0u);
  cr_assert(atomic_load(&c.calls) > 0);
  mend_bus_stats stats = {.size = sizeof stats};
  mend_bus_get_stats(bus, &stats);
  cr_assert(stats.runs <= 4);
  cr_assert(stats.runs_evicted > 0);
  cr_assert_eq(stats.subscriptions, 0u);
  mend_bus_release(bus);
}

/* ---- Threads that come when there is no memory ---- */

enum { NEWCOMERS = 4, NEWCOMERS_BEFORE_RELIEF = 2 };

typedef struct newcomers {
  mend_test_allocator memory;
  mend_run *run;
  mend_status statuses[NEWCOMERS]; /* of the threads' first events */
  size_t count;
} newcomers;

/* There is memory for a moment, in which somebody makes a run. */
static void relieve(newcomers *self) {
  mend_run *other;
  mend_test_allocator_arm(&self->memory, 0, false);
  cr_assert_eq(mend_run_new(mend_run_bus(self->run), NULL, &other, NULL), MEND_OK);
  mend_run_release(other);
  mend_test_allocator_arm(&self->memory, 1, true);
}

/* Each begins the next one while it lives, so that none has the place of another. */
static void *publish_first(void *ctx) {
  newcomers *self = ctx;
  pthread_t next;
  mend_tool_progress_event event = MEND_TOOL_PROGRESS_EVENT_INIT;
  self->statuses[self->count++] = mend_run_publish(self->run, &event.event);
  if (self->count == NEWCOMERS) return NULL;
  if (self->count == NEWCOMERS_BEFORE_RELIEF) relieve(self);
  cr_assert_eq(pthread_create(&next, NULL, publish_first, self), 0);
  cr_assert_eq(pthread_join(next, NULL), 0);
  return NULL;
}

/* One is let in each time memory has run out. */
Test(threads, first_events_without_memory) {
  newcomers self = {.count = 0};
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  mend_bus_stats stats = {.size = sizeof stats};
  mend_bus *bus;
  pthread_t first;
  mend_test_allocator_init(&self.memory);
  options.allocator = &self.memory.base;
  cr_assert_eq(mend_bus_new(&options, &bus, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(bus, NULL, &self.run, NULL), MEND_OK);
  mend_test_allocator_arm(&self.memory, 1, true);
  cr_assert_eq(pthread_create(&first, NULL, publish_first, &self), 0);
  cr_assert_eq(pthread_join(first, NULL), 0);
  for (size_t i = 0; i < NEWCOMERS; i++)
    cr_assert_eq(self.statuses[i], i % NEWCOMERS_BEFORE_RELIEF == 0 ? MEND_OK : MEND_ENOMEM, "%zu", i);
  mend_bus_get_stats(bus, &stats);
  cr_assert_eq(stats.published, 2u);
  cr_assert_eq(stats.dropped, 2u);
  mend_run_release(self.run);
  mend_bus_release(bus);
  cr_assert_eq(atomic_load(&self.memory.blocks), (size_t)0);
}

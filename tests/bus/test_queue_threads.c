/* Queues while several threads publish: to be run under ThreadSanitizer and AddressSanitizer. */
#include "mend/queue.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PUBLISHERS = 4, EVENTS = 3000 };

typedef struct arena {
  mend_test_allocator memory;
  mend_bus *bus;
  mend_run *runs[PUBLISHERS];
  mend_queue *queue;
  _Atomic unsigned wakes;
} arena;

static void open_arena(arena *a, const mend_queue_options *options) {
  mend_bus_options of_bus = MEND_BUS_OPTIONS_INIT;
  mend_test_allocator_init(&a->memory);
  of_bus.allocator = &a->memory.base;
  cr_assert_eq(mend_bus_new(&of_bus, &a->bus, NULL), MEND_OK);
  for (int i = 0; i < PUBLISHERS; i++)
    cr_assert_eq(mend_run_new(a->bus, NULL, &a->runs[i], NULL), MEND_OK);
  cr_assert_eq(mend_bus_queue(a->bus, "*", options, &a->queue, NULL), MEND_OK);
}

static void close_arena(arena *a) {
  mend_queue_close(&a->queue);
  for (int i = 0; i < PUBLISHERS; i++)
    mend_run_release(a->runs[i]);
  mend_bus_release(a->bus);
  cr_assert_eq(a->memory.blocks, 0u);
}

static void *publish(void *ctx) {
  mend_run *run = ctx;
  for (uint64_t i = 1; i <= EVENTS; i++) {
    mend_tool_progress_event event = MEND_TOOL_PROGRESS_EVENT_INIT;
    event.bytes = i;
    event.note = MEND_STR("a sign of life");
    mend_run_publish(run, &event.event);
  }
  return NULL;
}

static void start_publishers(arena *a, pthread_t threads[PUBLISHERS]) {
  for (int i = 0; i < PUBLISHERS; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, publish, a->runs[i]), 0);
}

static void join_publishers(pthread_t threads[PUBLISHERS]) {
  for (int i = 0; i < PUBLISHERS; i++)
    pthread_join(threads[i], NULL);
}

/* ---- One who takes what several publish ---- */

typedef struct consumer {
  arena *arena;
  uint64_t came, last[PUBLISHERS];
  bool out_of_order, damaged;
  mend_status ended_with;
} consumer;

static void look_at(consumer *c, const mend_event *event) {
  int run = 0;
  while (event->run != c->arena->runs[run])
    run++;
  const mend_tool_progress_event *progress = (const mend_tool_progress_event *)event;
  if (event->seq <= c->last[run] || event->seq != progress->bytes) c->out_of_order = true;
  if (!mend_str_equal(progress->note, MEND_STR("a sign of life"))) c->damaged = true;
  c->last[run] = event->seq;
  c->came++;
}

static void *consume(void *ctx) {
  consumer *c = ctx;
  mend_event *event;
  while ((c->ended_with = mend_queue_wait(c->arena->queue, MEND_NEVER, &event)) == MEND_OK) {
    look_at(c, event);
    mend_event_free(event);
  }
  return NULL;
}

static void count_wake(void *ctx) { atomic_fetch_add((_Atomic unsigned *)ctx, 1); }

static void check_consumer(uint32_t capacity, bool drop_oldest) {
  arena a = {.wakes = 0};
  mend_queue_options options = MEND_QUEUE_OPTIONS_INIT;
  options.capacity = capacity;
  options.drop_oldest = drop_oldest;
  options.waker = (mend_waker){count_wake, &a.wakes};
  open_arena(&a, &options);
  consumer c = {.arena = &a};
  pthread_t consuming, publishing[PUBLISHERS];
  cr_assert_eq(pthread_create(&consuming, NULL, consume, &c), 0);
  start_publishers(&a, publishing);
  join_publishers(publishing);
  mend_queue_stop(a.queue);
  pthread_join(consuming, NULL);

  mend_queue_stats stats = {.size = sizeof stats};
  mend_queue_get_stats(a.queue, &stats);
  cr_assert(!c.out_of_order && !c.damaged);
  cr_assert_eq(c.ended_with, MEND_ECLOSED);
  cr_assert_eq(c.came + stats.dropped, (uint64_t)PUBLISHERS * EVENTS, "%llu came, %llu were dropped",
               (unsigned long long)c.came, (unsigned long long)stats.dropped);
  cr_assert(stats.waiting == 0 && stats.bytes == 0);
  cr_assert(capacity < PUBLISHERS * EVENTS || stats.dropped == 0, "there is room for all");
  cr_assert(drop_oldest || stats.taken == c.came);
  cr_assert(a.wakes >= 2 && a.wakes <= c.came + 1, "the end wakes too");
  close_arena(&a);
}

Test(queue_threads, one_takes_what_several_publish) {
  check_consumer(PUBLISHERS * EVENTS, false);
  check_consumer(8, false);
  check_consumer(8, true);
}

/* ---- Several who take: each event comes to one of them ---- */

static void check_consumers(bool drop_oldest) {
  enum { CONSUMERS = 3 };
  arena a = {.wakes = 0};
  mend_queue_options options = MEND_QUEUE_OPTIONS_INIT;
  options.capacity = drop_oldest ? 8 : PUBLISHERS * EVENTS;
  options.drop_oldest = drop_oldest;
  open_arena(&a, &options);
  consumer consumers[CONSUMERS];
  pthread_t consuming[CONSUMERS], publishing[PUBLISHERS];
  for (int i = 0; i < CONSUMERS; i++) {
    consumers[i] = (consumer){.arena = &a};
    cr_assert_eq(pthread_create(&consuming[i], NULL, consume, &consumers[i]), 0);
  }
  start_publishers(&a, publishing);
  join_publishers(publishing);
  mend_queue_stop(a.queue);
  uint64_t came = 0;
  for (int i = 0; i < CONSUMERS; i++) {
    pthread_join(consuming[i], NULL);
    cr_assert(!consumers[i].out_of_order && !consumers[i].damaged && consumers[i].ended_with == MEND_ECLOSED);
    came += consumers[i].came;
  }
  mend_queue_stats stats = {.size = sizeof stats};
  mend_queue_get_stats(a.queue, &stats);
  cr_assert_eq(came + stats.dropped, (uint64_t)PUBLISHERS * EVENTS);
  cr_assert(drop_oldest || stats.dropped == 0);
  close_arena(&a);
}

Test(queue_threads, several_take_what_several_publish) {
  check_consumers(false);
  check_consumers(true);
}

/* ---- A loop: woken once, it drains, and misses nothing, not even the end ---- */

typedef struct loop {
  arena *arena;
  pthread_mutex_t mutex;
  pthread_cond_t woken;
  bool is_woken;
  uint64_t came;
} loop;

static void wake_loop(void *ctx) {
  loop *l = ctx;
  pthread_mutex_lock(&l->mutex);
  l->is_woken = true;
  pthread_cond_signal(&l->woken);
  pthread_mutex_unlock(&l->mutex);
}

static void wait_to_be_woken(loop *l) {
  pthread_mutex_lock(&l->mutex);
  while (!l->is_woken)
    pthread_cond_wait(&l->woken, &l->mutex);
  l->is_woken = false;
  pthread_mutex_unlock(&l->mutex);
}

static void *run_loop(void *ctx) {
  loop *l = ctx;
  mend_event *event;
  for (mend_status status = MEND_OK; status != MEND_ECLOSED;) {
    wait_to_be_woken(l);
    for (; (status = mend_queue_next(l->arena->queue, &event)) == MEND_OK; mend_event_free(event))
      l->came++;
  }
  return NULL;
}

Test(queue_threads, a_woken_loop_misses_nothing) {
  arena a = {.wakes = 0};
  loop l = {.arena = &a, .mutex = PTHREAD_MUTEX_INITIALIZER, .woken = PTHREAD_COND_INITIALIZER};
  mend_queue_options options = MEND_QUEUE_OPTIONS_INIT;
  options.capacity = PUBLISHERS * EVENTS;
  options.waker = (mend_waker){wake_loop, &l};
  open_arena(&a, &options);
  pthread_t looping, publishing[PUBLISHERS];
  cr_assert_eq(pthread_create(&looping, NULL, run_loop, &l), 0);
  start_publishers(&a, publishing);
  join_publishers(publishing);
  mend_queue_stop(a.queue);
  pthread_join(looping, NULL);
  cr_assert_eq(l.came, (uint64_t)PUBLISHERS * EVENTS);
  close_arena(&a);
}

/* ---- Nobody takes anything ---- */

Test(queue_threads, what_nobody_drains_stays_within_its_bounds) {
  static const struct {
    uint32_t capacity;
    uint64_t byte_limit;
    bool drop_oldest;
  } rows[] = {{16, UINT64_MAX, false}, {16, UINT64_MAX, true}, {1 << 20, 4096, false}, {1 << 20, 4096, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    arena a = {.wakes = 0};
    mend_queue_options options = MEND_QUEUE_OPTIONS_INIT;
    options.capacity = rows[i].capacity;
    options.byte_limit = rows[i].byte_limit;
    options.drop_oldest = rows[i].drop_oldest;
    options.waker = (mend_waker){count_wake, &a.wakes};
    open_arena(&a, &options);
    pthread_t publishing[PUBLISHERS];
    start_publishers(&a, publishing);
    join_publishers(publishing);
    mend_queue_stats stats = {.size = sizeof stats};
    mend_queue_get_stats(a.queue, &stats);
    cr_assert(stats.waiting > 0 && stats.waiting <= rows[i].capacity && stats.bytes <= rows[i].byte_limit, "row %zu",
              i);
    cr_assert_eq(stats.waiting + stats.dropped, (uint64_t)PUBLISHERS * EVENTS, "row %zu", i);
    cr_assert_eq(a.wakes, 1u, "row %zu", i);
    close_arena(&a);
  }
}

/* ---- Closing while others publish: the waker's context goes with the queue ---- */

typedef struct visitor {
  arena *arena;
  unsigned failures;
} visitor;

static void *open_and_close(void *ctx) {
  visitor *v = ctx;
  mend_event *event;
  for (int i = 0; i < 300; i++) {
    _Atomic unsigned wakes = 0;
    mend_queue *queue = NULL;
    mend_queue_options options = MEND_QUEUE_OPTIONS_INIT;
    options.capacity = 4;
    options.drop_oldest = i % 2 == 0;
    options.waker = (mend_waker){count_wake, &wakes};
    mend_run *run = i % 3 == 0 ? v->arena->runs[0] : NULL;
    const mend_status status = run != NULL ? mend_run_queue(run, "*", &options, &queue, NULL)
                                           : mend_bus_queue(v->arena->bus, "tool.*", &options, &queue, NULL);
    if (status != MEND_OK) v->failures++;
    if (status == MEND_OK && mend_queue_wait(queue, 100000, &event) == MEND_OK) mend_event_free(event);
    mend_queue_close(&queue);
  }
  return NULL;
}

Test(queue_threads, closing_while_others_publish) {
  arena a = {.wakes = 0};
  open_arena(&a, NULL);
  visitor v = {&a, 0};
  pthread_t visiting, publishing[PUBLISHERS];
  cr_assert_eq(pthread_create(&visiting, NULL, open_and_close, &v), 0);
  start_publishers(&a, publishing);
  join_publishers(publishing);
  pthread_join(visiting, NULL);
  cr_assert_eq(v.failures, 0u);
  close_arena(&a);
}

/* Publishers on one run, somebody who waits for deadlines, a consumer, runs that come and go, watchdogs that are added:
 * all at once. For ThreadSanitizer, AddressSanitizer and plain counting. */
#include "watchdogs/room.h"
#include "world.h"

#include <pthread.h>
#include <sched.h>

enum { PUBLISHERS = 2, CALLS = 3000 };

typedef struct crowd {
  mend_test_allocator memory;
  mend_bus *bus;
  mend_run *run;
  atomic_uint announced, working, wakes;
  atomic_uint_least64_t read;
} crowd;

static mend_status count_detection(void *ctx, const mend_event *event) {
  crowd *all = ctx;
  if (mend_str_equal(mend_run_id(event->run), MEND_STR("shared"))) atomic_fetch_add(&all->announced, 1);
  return MEND_OK;
}

static void count_wake(void *ctx) { atomic_fetch_add(&((crowd *)ctx)->wakes, 1); }

static void *publish_calls(void *ctx) {
  crowd *all = ctx;
  for (int i = 0; i < CALLS; i++) {
    const uint64_t call = mend_run_next_call(all->run);
    before(all->run, call, i % 5 == 0 ? "b" : "a", NULL);
    if (i % 7 != 0) after(all->run, call);
  }
  atomic_fetch_sub(&all->working, 1);
  return NULL;
}

static void *wait_for_deadlines(void *ctx) {
  crowd *all = ctx;
  while (atomic_load(&all->working) > 0) {
    (void)mend_bus_next_deadline(all->bus);
    mend_bus_expire(all->bus);
    sched_yield();
  }
  return NULL;
}

static void *read_detections(void *ctx) {
  crowd *all = ctx;
  mend_watch *watch = NULL;
  mend_run_watch(all->run, &watch);
  mend_detection_cursor cursor = MEND_DETECTION_CURSOR_INIT;
  const mend_detection *detection;
  for (bool last = false; !last;) {
    last = atomic_load(&all->working) == 0;
    while (mend_watch_next(watch, &cursor, &detection) == MEND_OK)
      mend_detection_release(detection);
    sched_yield();
  }
  atomic_store(&all->read, cursor.next);
  return NULL;
}

static void *come_and_go(void *ctx) {
  crowd *all = ctx;
  while (atomic_load(&all->working) > 0) {
    mend_run *run;
    if (mend_run_new(all->bus, NULL, &run, NULL) != MEND_OK) break;
    before(run, 1, "t", NULL);
    mend_run_release(run); /* with a deadline armed */
  }
  return NULL;
}

static mend_status see_event(void *ctx, const mend_event *event, mend_emitter *emitter) {
  (void)event;
  (void)emitter;
  ++*(atomic_uint *)ctx;
  return MEND_OK;
}

static void *add_watchdogs(void *ctx) {
  crowd *all = ctx;
  atomic_uint *seen = calloc(1, sizeof *seen);
  for (int i = 0; i < 10 && seen != NULL; i++) {
    const mend_watchdog_vtable vtable = {.size = sizeof vtable, .name = "n", .topics = "tool.*", .event = see_event};
    mend_watchdog *watchdog;
    if (mend_watchdog_new(&vtable, seen, &all->memory.base, &watchdog, NULL) != MEND_OK) break;
    if (i % 2 == 0)
      mend_watchdog_watch_bus(watchdog, all->bus);
    else
      mend_watchdog_watch_run(watchdog, all->run);
    mend_bus_set_poll_interval(all->bus, 0.001 * (i + 1), NULL);
    mend_watchdog_release(watchdog);
    sched_yield();
  }
  return seen;
}

Test(watchdog_threads, all_at_once) {
  crowd all = {.announced = 0};
  mend_test_allocator_init(&all.memory);
  mend_bus_options bus_options = MEND_BUS_OPTIONS_INIT;
  bus_options.allocator = &all.memory.base;
  cr_assert_eq(mend_bus_new(&bus_options, &all.bus, NULL), MEND_OK);
  mend_options options = MEND_OPTIONS_INIT;
  options.stall.timeout_s = 0.00002;
  cr_assert_eq(mend_bus_subscribe(all.bus, "healing.detection", count_detection, &all, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_bus_set_waker(all.bus, (mend_waker){count_wake, &all}), MEND_OK);
  cr_assert_eq(mend_bus_watch(all.bus, &options, NULL), MEND_OK);
  mend_run_options run_options = MEND_RUN_OPTIONS_INIT;
  run_options.id = MEND_STR("shared");
  cr_assert_eq(mend_run_new(all.bus, &run_options, &all.run, NULL), MEND_OK);
  atomic_store(&all.working, PUBLISHERS);

  void *(*const parts[])(void *) = {publish_calls, publish_calls,   wait_for_deadlines, wait_for_deadlines,
                                    come_and_go,   read_detections, add_watchdogs};
  enum { PARTS = sizeof parts / sizeof *parts };
  pthread_t threads[PARTS];
  void *results[PARTS];
  for (int i = 0; i < PARTS; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, parts[i], &all), 0);
  for (int i = 0; i < PARTS; i++)
    cr_assert_eq(pthread_join(threads[i], &results[i]), 0);

  /* Every call that was left open has stalled in the end, and each detection was announced once and read once. */
  while (mend_bus_next_deadline(all.bus) <= mend_clock_now(mend_bus_clock(all.bus)).mono_ns + SECOND / 1000 &&
         detections_of(all.run) < PUBLISHERS * CALLS / 7) {
    mend_bus_expire(all.bus);
  }
  mend_bus_expire(all.bus);
  const uint64_t detections = detections_of(all.run);
  cr_assert(detections >= PUBLISHERS * CALLS / 7);
  cr_assert_eq(atomic_load(&all.announced), detections);
  cr_assert(atomic_load(&all.read) <= detections);
  cr_assert(atomic_load(&all.wakes) > 0);
  mend_run_release(all.run);
  mend_bus_release(all.bus);
  free(results[PARTS - 1]);
  cr_assert_eq(atomic_load(&all.memory.blocks), 0u);
}

/* Of threads that open a run's watch at the same time each gets the same one. */
typedef struct opening {
  mend_run *run;
  pthread_barrier_t *barrier;
  mend_watch *watch;
} opening;

static void *open_watch(void *ctx) {
  opening *mine = ctx;
  pthread_barrier_wait(mine->barrier);
  mend_run_watch(mine->run, &mine->watch);
  return NULL;
}

Test(watchdog_threads, one_watch_a_run) {
  enum { ROUNDS = 200, OPENERS = 3 };
  test_world world;
  world_open(&world);
  pthread_barrier_t barrier;
  cr_assert_eq(pthread_barrier_init(&barrier, NULL, OPENERS), 0);
  for (int round = 0; round < ROUNDS; round++) {
    mend_run *run = world_run(&world, "r");
    opening openings[OPENERS];
    pthread_t threads[OPENERS];
    for (int i = 0; i < OPENERS; i++) {
      openings[i] = (opening){run, &barrier, NULL};
      cr_assert_eq(pthread_create(&threads[i], NULL, open_watch, &openings[i]), 0);
    }
    for (int i = 0; i < OPENERS; i++)
      cr_assert_eq(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < OPENERS; i++) {
      cr_assert_not_null(openings[i].watch);
      cr_assert_eq(openings[i].watch, openings[0].watch);
    }
    mend_run_release(run);
  }
  pthread_barrier_destroy(&barrier);
  world_close(&world);
}

/* A handler that is told of one expiry's detection, lets another thread expire what has become due meanwhile, and then
 * ends its scope: it waits for the other thread's announcements and not for those above it. */
typedef struct late_end {
  test_world world;
  mend_run *run;
  unsigned told;
} late_end;

static void wake_nobody(void *ctx) { (void)ctx; }

static void *expire_on_another_thread(void *ctx) {
  cr_assert_eq(mend_bus_expire(((late_end *)ctx)->world.bus), MEND_OK);
  return NULL;
}

static mend_status end_in_announcement(void *ctx, const mend_event *event) {
  (void)event;
  late_end *end = ctx;
  if (++end->told > 1) return MEND_OK;
  pthread_t thread;
  world_advance(&end->world, 10);
  cr_assert_eq(pthread_create(&thread, NULL, expire_on_another_thread, end), 0);
  cr_assert_eq(pthread_join(thread, NULL), 0);
  cr_assert_eq(end->told, 2u, "the other thread has announced its own");
  mend__run_poll_watchdogs(end->run);
  return MEND_OK;
}

Test(watchdog_threads, a_scope_that_ends_in_an_announcement) {
  late_end end = {.told = 0};
  world_open(&end.world);
  mend_bus *bus = end.world.bus;
  cr_assert_eq(mend_bus_set_waker(bus, (mend_waker){wake_nobody, NULL}), MEND_OK);
  cr_assert_eq(mend_bus_watch(bus, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(bus, "healing.detection", end_in_announcement, &end, NULL, NULL, NULL), MEND_OK);
  end.run = world_run(&end.world, "r");
  cr_assert_eq(before(end.run, 1, "t", NULL), MEND_OK);
  world_advance(&end.world, 5);
  cr_assert_eq(before(end.run, 2, "t", NULL), MEND_OK);
  world_advance(&end.world, 56);
  cr_assert_eq(mend_bus_expire(bus), MEND_OK);
  cr_assert_eq(end.told, 2u);
  mend_run_release(end.run);
  world_close(&end.world);
}

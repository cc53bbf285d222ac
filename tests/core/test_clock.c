#include "mend/clock.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

/* ---- The real clock ---- */

static uint64_t system_ns(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return (uint64_t)now.tv_sec * MEND_SECOND_NS + (uint64_t)now.tv_nsec;
}

static void *read_real(void *ctx) {
  (void)ctx;
  uint64_t last = 0;
  for (int i = 0; i < 10000; i++) {
    const mend_time now = mend_clock_now(mend_clock_real());
    if (now.mono_ns < last || now.wall_ns == now.mono_ns) return NULL;
    last = now.mono_ns;
  }
  return mend_clock_real();
}

Test(clock, real) {
  mend_clock *clock = mend_clock_real();
  cr_assert(!mend_clock_is_virtual(clock));
  const uint64_t mono_before = system_ns(CLOCK_MONOTONIC), wall_before = system_ns(CLOCK_REALTIME);
  const mend_time now = mend_clock_now(clock);
  const uint64_t mono_after = system_ns(CLOCK_MONOTONIC), wall_after = system_ns(CLOCK_REALTIME);
  cr_assert(now.mono_ns >= mono_before && now.mono_ns <= mono_after);
  const uint64_t slack = MEND_SECOND_NS / 10;
  cr_assert(now.wall_ns + slack >= wall_before && now.wall_ns <= wall_after + slack);

  pthread_t threads[4];
  void *fine;
  for (int i = 0; i < 4; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, read_real, NULL), 0);
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], &fine);
    cr_assert_not_null(fine);
  }

  cr_assert_eq(mend_clock_retain(clock), clock);
  mend_clock_release(clock);
  mend_clock_release(clock);
  mend_clock_release(NULL);
  cr_assert_eq(mend_clock_advance(clock, 1), MEND_EINVAL);
  cr_assert_eq(mend_clock_advance_to_wall(clock, UINT64_MAX), MEND_EINVAL);
  cr_assert_eq(mend_clock_add_driver(clock, NULL), MEND_EINVAL);
  cr_assert_eq(mend_clock_remove_driver(clock, NULL), MEND_EINVAL);
}

/* ---- Drivers for the tests: a list of times, and a log of what ran when ---- */

typedef struct logbook {
  struct {
    char name;
    uint64_t now, wall;
  } entries[100];
  size_t count;
} logbook;

typedef struct scripted {
  char name;
  uint64_t times[12]; /* 0 at the end */
  size_t at;
  mend_clock *clock;
  logbook *log;
  void (*act)(struct scripted *self, uint64_t now_ns);
  void *other;
} scripted;

static uint64_t scripted_next(void *ctx) {
  const scripted *self = ctx;
  return self->times[self->at] != 0 ? self->times[self->at] : MEND_NEVER;
}

static void scripted_run(void *ctx, uint64_t now_ns) {
  scripted *self = ctx;
  while (self->times[self->at] != 0 && self->times[self->at] <= now_ns)
    self->at++;
  cr_assert(self->log->count < 100);
  self->log->entries[self->log->count].name = self->name;
  self->log->entries[self->log->count].now = now_ns;
  self->log->entries[self->log->count++].wall = mend_clock_now(self->clock).wall_ns;
  if (self->act != NULL) self->act(self, now_ns);
}

static mend_clock_driver driver_of(scripted *self) {
  return (mend_clock_driver){sizeof(mend_clock_driver), scripted_next, scripted_run, self};
}

static mend_status add(scripted *self) {
  const mend_clock_driver driver = driver_of(self);
  return mend_clock_add_driver(self->clock, &driver);
}

static mend_clock *new_clock(uint64_t mono_ns, uint64_t wall_ns) {
  mend_clock *clock;
  cr_assert_eq(mend_clock_new_virtual(NULL, (mend_time){mono_ns, wall_ns}, &clock), MEND_OK);
  return clock;
}

static void check_log(const logbook *log, const char *names, const uint64_t *times) {
  cr_assert_eq(log->count, strlen(names));
  for (size_t i = 0; i < log->count; i++) {
    cr_assert_eq(log->entries[i].name, names[i], "entry %zu is %c", i, log->entries[i].name);
    cr_assert_eq(log->entries[i].now, times[i], "entry %zu", i);
  }
}

/* ---- The virtual clock ---- */

Test(clock, virtual_stands_until_advanced) {
  mend_clock *clock = new_clock(1000, 5000);
  cr_assert(mend_clock_is_virtual(clock));
  static const struct {
    bool to_wall;
    uint64_t given, mono, wall;
  } steps[] = {
      {false, 0, 1000, 5000},
      {false, 500, 1500, 5500},
      {true, 5500, 1500, 5500},
      {true, 5499, 1500, 5500},
      {true, 0, 1500, 5500},
      {true, 6000, 2000, 6000},
      {false, UINT64_MAX, UINT64_MAX - 4000, UINT64_MAX},
      {false, 1, UINT64_MAX - 4000, UINT64_MAX},
  };
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    const mend_status status = steps[i].to_wall ? mend_clock_advance_to_wall(clock, steps[i].given)
                                                : mend_clock_advance(clock, steps[i].given);
    cr_assert_eq(status, MEND_OK);
    cr_assert_eq(mend_clock_now(clock).mono_ns, steps[i].mono, "step %zu", i);
    cr_assert_eq(mend_clock_now(clock).wall_ns, steps[i].wall, "step %zu", i);
  }
  cr_assert_eq(mend_clock_retain(clock), clock);
  mend_clock_release(clock);
  mend_clock_release(clock);
}

Test(clock, steps_to_each_deadline_in_order) {
  mend_clock *clock = new_clock(1000, 1001000);
  logbook log = {.count = 0};
  scripted a = {'a', {1010, 1030, 1030, 1100}, 0, clock, &log, NULL, NULL};
  scripted b = {'b', {500, 1020, 1030}, 0, clock, &log, NULL, NULL};
  scripted c = {'c', {400, 1200}, 0, clock, &log, NULL, NULL};
  cr_assert_eq(add(&a), MEND_OK);
  cr_assert_eq(add(&b), MEND_OK);
  cr_assert_eq(add(&c), MEND_OK);
  cr_assert_eq(mend_clock_advance(clock, 0), MEND_OK);
  check_log(&log, "cb", (const uint64_t[]){1000, 1000}); /* what is past comes at once, in order too */
  log.count = 0;
  cr_assert_eq(mend_clock_advance(clock, 99), MEND_OK);
  check_log(&log, "abab", (const uint64_t[]){1010, 1020, 1030, 1030});
  for (size_t i = 0; i < log.count; i++)
    cr_assert_eq(log.entries[i].wall, log.entries[i].now + 1000000);
  cr_assert_eq(mend_clock_now(clock).mono_ns, 1099u);
  log.count = 0;
  cr_assert_eq(mend_clock_advance_to_wall(clock, 1001100), MEND_OK);
  check_log(&log, "a", (const uint64_t[]){1100});
  mend_clock_release(clock); /* c is still there: drivers are not owned */
}

Test(clock, driver_arguments) {
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  mend_clock *clock;
  mend_test_allocator_arm(&allocator, 1, false);
  cr_assert_eq(mend_clock_new_virtual(&allocator.base, (mend_time){0, 0}, &clock), MEND_ENOMEM);
  cr_assert_eq(mend_clock_new_virtual(&allocator.base, (mend_time){0, 0}, &clock), MEND_OK);
  scripted a = {.name = 'a', .clock = clock}, b = {.name = 'b', .clock = clock};
  mend_test_allocator_arm(&allocator, 1, false);
  cr_assert_eq(add(&a), MEND_ENOMEM);
  cr_assert_eq(mend_clock_remove_driver(clock, &a), MEND_ENOENT);
  cr_assert_eq(add(&a), MEND_OK);
  cr_assert_eq(add(&a), MEND_EEXIST);
  mend_clock_driver bad[4] = {driver_of(&b), driver_of(&b), driver_of(&b), driver_of(&b)};
  bad[0].size = 0;
  bad[1].next = NULL;
  bad[2].run = NULL;
  bad[3].size = 4;
  for (size_t i = 0; i < 4; i++)
    cr_assert_eq(mend_clock_add_driver(clock, &bad[i]), MEND_EINVAL, "case %zu", i);
  cr_assert_eq(mend_clock_add_driver(clock, NULL), MEND_EINVAL);
  cr_assert_eq(mend_clock_remove_driver(clock, &a), MEND_OK);
  cr_assert_eq(mend_clock_remove_driver(clock, &a), MEND_ENOENT);
  mend_clock_release(clock);
  cr_assert_eq(allocator.blocks, 0u);
}

/* ---- What a driver's run may do ---- */

static void advance_inside(scripted *self, uint64_t now_ns) {
  (void)now_ns;
  cr_assert_eq(mend_clock_advance(self->clock, 1), MEND_EDEADLK);
  cr_assert_eq(mend_clock_advance_to_wall(self->clock, UINT64_MAX), MEND_EDEADLK);
}

static void remove_self(scripted *self, uint64_t now_ns) {
  (void)now_ns;
  cr_assert_eq(mend_clock_remove_driver(self->clock, self), MEND_OK);
}

static void remove_other(scripted *self, uint64_t now_ns) {
  cr_assert_eq(mend_clock_remove_driver(self->clock, self->other), now_ns == 10 ? MEND_OK : MEND_ENOENT);
}

static void add_others(scripted *self, uint64_t now_ns) {
  (void)now_ns;
  scripted *others = self->other;
  for (size_t i = 0; i < 10; i++)
    cr_assert_eq(add(&others[i]), MEND_OK); /* the table grows meanwhile */
}

static void arm_other(scripted *self, uint64_t now_ns) {
  scripted *other = self->other;
  other->times[other->at] = now_ns + 5;
}

Test(clock, what_a_run_may_do) {
  static const struct {
    const char *what;
    void (*act)(scripted *self, uint64_t now_ns);
    const char *names;
    uint64_t times[4];
  } cases[] = {
      {"nothing", NULL, "abab", {10, 10, 20, 30}},
      {"advance", advance_inside, "abab", {10, 10, 20, 30}},
      {"remove itself", remove_self, "abb", {10, 10, 30}},
      {"remove the other", remove_other, "aa", {10, 20}},
      {"arm the other", arm_other, "abab", {10, 15, 20, 25}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    mend_clock *clock = new_clock(1, 1);
    logbook log = {.count = 0};
    scripted b = {'b', {10, 30}, 0, clock, &log, NULL, NULL};
    scripted a = {'a', {10, 20}, 0, clock, &log, cases[i].act, &b};
    cr_assert_eq(add(&a), MEND_OK);
    cr_assert_eq(add(&b), MEND_OK);
    cr_assert_eq(mend_clock_advance(clock, 100), MEND_OK);
    cr_assert_eq(log.count, strlen(cases[i].names), "%s: %zu", cases[i].what, log.count);
    for (size_t j = 0; j < log.count; j++) {
      cr_assert_eq(log.entries[j].name, cases[i].names[j], "%s: entry %zu", cases[i].what, j);
      cr_assert_eq(log.entries[j].now, cases[i].times[j], "%s: entry %zu", cases[i].what, j);
    }
    cr_assert_eq(mend_clock_now(clock).mono_ns, 101u);
    mend_clock_release(clock);
  }
}

Test(clock, drivers_added_from_a_run) {
  mend_clock *clock = new_clock(1, 1);
  logbook log = {.count = 0};
  scripted others[10];
  for (size_t i = 0; i < 10; i++) {
    others[i] = (scripted){.name = (char)('0' + i), .times = {15, 20}, .clock = clock, .log = &log, .act = remove_self};
  }
  scripted a = {'a', {10}, 0, clock, &log, add_others, others};
  cr_assert_eq(add(&a), MEND_OK);
  cr_assert_eq(mend_clock_advance(clock, 100), MEND_OK);
  check_log(&log, "a0123456789", (const uint64_t[]){10, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15});
  mend_clock_release(clock);
}

/* ---- A driver that is never satisfied ---- */

typedef struct endless {
  uint64_t next_ns, period_ns;
  unsigned runs;
} endless;

static uint64_t endless_next(void *ctx) { return ((endless *)ctx)->next_ns; }

static void endless_run(void *ctx, uint64_t now_ns) {
  endless *self = ctx;
  self->runs++;
  (void)now_ns;
  self->next_ns += self->period_ns;
}

Test(clock, never_loops_for_ever) {
  static const struct {
    uint64_t start, period;
    mend_status status;
    unsigned runs;
    uint64_t stands_at;
  } cases[] = {
      {50, 0, MEND_ELIMIT, MEND_CLOCK_RUNS_MAX, 50},  /* next does not move */
      {50, 1, MEND_OK, 60, 109},                      /* it does */
      {1, 1, MEND_ELIMIT, MEND_CLOCK_RUNS_MAX, 5000}, /* it does, but will not come near the present */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    mend_clock *clock = new_clock(i == 2 ? 5000 : 10, 0);
    endless never = {cases[i].start, cases[i].period, 0};
    const mend_clock_driver driver = {sizeof driver, endless_next, endless_run, &never};
    cr_assert_eq(mend_clock_add_driver(clock, &driver), MEND_OK);
    cr_assert_eq(mend_clock_advance(clock, 99), cases[i].status, "case %zu", i);
    cr_assert_eq(never.runs, cases[i].runs, "case %zu: %u", i, never.runs);
    cr_assert_eq(mend_clock_now(clock).mono_ns, cases[i].stands_at, "case %zu", i);
    never.next_ns = MEND_NEVER;
    cr_assert_eq(mend_clock_advance(clock, 1), MEND_OK, "and it can go on");
    cr_assert_eq(mend_clock_now(clock).mono_ns, cases[i].stands_at + 1, "case %zu", i);
    mend_clock_release(clock);
  }
}

/* ---- Threads ---- */

/* A driver whose memory goes as soon as it is removed. */
typedef struct fleeting {
  mend_clock *clock;
  pthread_mutex_t lock;
  uint64_t next_ns;
  unsigned *runs;
} fleeting;

static uint64_t fleeting_next(void *ctx) {
  fleeting *self = ctx;
  pthread_mutex_lock(&self->lock);
  const uint64_t next_ns = self->next_ns;
  pthread_mutex_unlock(&self->lock);
  return next_ns;
}

static void fleeting_run(void *ctx, uint64_t now_ns) {
  fleeting *self = ctx;
  pthread_mutex_lock(&self->lock);
  self->next_ns = now_ns + 3;
  ++*self->runs;
  pthread_mutex_unlock(&self->lock);
}

static void *come_and_go(void *ctx) {
  unsigned runs = 0;
  for (int i = 0; i < 500; i++) {
    fleeting self = {.clock = ctx, .next_ns = 1, .runs = &runs};
    pthread_mutex_init(&self.lock, NULL);
    const mend_clock_driver driver = {sizeof driver, fleeting_next, fleeting_run, &self};
    if (mend_clock_add_driver(self.clock, &driver) != MEND_OK) return NULL;
    mend_clock_now(self.clock);
    if (i % 8 == 0) sched_yield();
    if (mend_clock_remove_driver(self.clock, &self) != MEND_OK) return NULL;
    pthread_mutex_destroy(&self.lock);
    memset(&self, 0, sizeof self);
  }
  return ctx;
}

static void *advance_often(void *ctx) {
  for (int i = 0; i < 2000; i++) {
    if (mend_clock_advance(ctx, 10) != MEND_OK) return NULL;
  }
  return ctx;
}

Test(clock, drivers_come_and_go_on_other_threads) {
  mend_clock *clock = new_clock(1, 1);
  void *(*const jobs[])(void *) = {come_and_go, come_and_go, advance_often, advance_often};
  pthread_t threads[4];
  void *fine;
  for (int i = 0; i < 4; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, jobs[i], clock), 0);
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], &fine);
    cr_assert_eq(fine, clock, "thread %d", i);
  }
  cr_assert_eq(mend_clock_now(clock).mono_ns, 40001u, "advancing is serialised");
  mend_clock_release(clock);
}

/* Removing from another thread returns only when the run that is under way has ended. */
typedef struct slow {
  mend_clock *clock;
  atomic_bool entered, removing, left, removed_too_early;
} slow;

static uint64_t slow_next(void *ctx) { return atomic_load(&((slow *)ctx)->entered) ? MEND_NEVER : 10; }

static void slow_run(void *ctx, uint64_t now_ns) {
  slow *self = ctx;
  (void)now_ns;
  atomic_store(&self->entered, true);
  while (!atomic_load(&self->removing))
    sched_yield();
  for (int i = 0; i < 1000; i++)
    sched_yield(); /* time for a wrong removal to return */
  atomic_store(&self->left, true);
}

static void *remove_slow(void *ctx) {
  slow *self = ctx;
  while (!atomic_load(&self->entered))
    sched_yield();
  atomic_store(&self->removing, true);
  const mend_status status = mend_clock_remove_driver(self->clock, self);
  atomic_store(&self->removed_too_early, !atomic_load(&self->left));
  return status == MEND_OK ? ctx : NULL;
}

Test(clock, removing_waits_for_a_run_under_way) {
  slow self = {.clock = new_clock(1, 1)};
  const mend_clock_driver driver = {sizeof driver, slow_next, slow_run, &self};
  cr_assert_eq(mend_clock_add_driver(self.clock, &driver), MEND_OK);
  pthread_t thread;
  void *fine;
  cr_assert_eq(pthread_create(&thread, NULL, remove_slow, &self), 0);
  cr_assert_eq(mend_clock_advance(self.clock, 100), MEND_OK);
  pthread_join(thread, &fine);
  cr_assert_not_null(fine);
  cr_assert(!atomic_load(&self.removed_too_early));
  mend_clock_release(self.clock);
}

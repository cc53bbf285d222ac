/* Whoever waits for the deadlines of a bus: one that is behind, because it was busy, and one that goes. */
#include "watchdogs/room.h"
#include "world.h"

static void count_wake(void *ctx) { ++*(int *)ctx; }

/* ---- Behind: a call for which another run works is watched, with 30 s; so much later the waiter comes ---- */

typedef enum deed { NOTHING, READS, DOES } deed; /* DOES: what was due by until_s */

typedef struct step {
  deed deed;
  double until_s;
  uint64_t found; /* detections afterwards */
} step;

static const struct {
  const char *title;
  double now_s;
  step steps[3];
} rows[] = {
    {"it does what is due before it reads", 35, {{DOES, 35, 1}, {READS, 0, 1}}},
    {"it reads first", 35, {{DOES, 29, 0}, {READS, 0, 0}, {DOES, 35, 0}}},
    {"nothing has come", 35, {{DOES, 29, 0}, {DOES, 30, 0}, {DOES, 30.001, 1}}},
    {"what is yet to come is not due", 29, {{DOES, 31, 0}, {DOES, 1000, 0}}},
    {"so late that time must have stood still", 41, {{DOES, 30.001, 0}, {DOES, 41, 0}}},
};

static mend_run *working_run(test_world *world, mend_run *parent) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.parent = parent;
  options.parent_call = MEND_STR("1");
  mend_run *run = NULL;
  cr_assert_eq(mend_run_new(world->bus, &options, &run, NULL), MEND_OK);
  return run;
}

static void take_step(test_world *world, mend_run *working, const step *next) {
  const uint64_t until_ns = 1000 * SECOND + (uint64_t)(next->until_s * 1e9);
  if (next->deed == DOES) cr_assert_eq(mend_bus_expire_until(world->bus, until_ns), MEND_OK);
  if (next->deed == READS) cr_assert_eq(after(working, 1), MEND_OK);
}

static void check_time(mend_run *run) {
  const mend_detection *found = latest(run);
  cr_assert_eq(found->detected_ns, 1030 * SECOND + 1, "a detection bears the time of its deadline");
  cr_assert_eq(found->wall_ns, START_WALL_NS + 30 * SECOND + 1);
  mend_detection_release(found);
}

Test(waiting, behind) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_world world;
    world_open(&world);
    int wakes = 0;
    mend_stall_watchdog_options options = MEND_STALL_WATCHDOG_OPTIONS_INIT;
    options.timeout_s = 30;
    mend_watchdog *stall;
    cr_assert_eq(mend_evidence_stall_watchdog_new(&options, &world.memory.base, &stall, NULL), MEND_OK);
    cr_assert_eq(mend_watchdog_watch_bus(stall, world.bus), MEND_OK);
    cr_assert_eq(mend_bus_set_waker(world.bus, (mend_waker){count_wake, &wakes}), MEND_OK);
    mend_run *run = world_run(&world, "r"), *working = working_run(&world, run);
    cr_assert_eq(before(run, 1, "delegate", NULL), MEND_OK);
    world_advance(&world, rows[i].now_s);
    for (size_t n = 0; n < 3 && rows[i].steps[n].deed != NOTHING; n++) {
      take_step(&world, working, &rows[i].steps[n]);
      cr_assert_eq(detections_of(run), rows[i].steps[n].found, "%s, step %zu", rows[i].title, n);
    }
    if (detections_of(run) > 0) check_time(run);
    mend_run_release(working);
    mend_run_release(run);
    mend_watchdog_release(stall);
    world_close(&world);
  }
}

/* ---- Gone: nobody calls a waker that was taken back, also where the clock has no room for the bus ---- */

static uint64_t never(void *ctx) {
  (void)ctx;
  return MEND_NEVER;
}

static void do_nothing(void *ctx, uint64_t now_ns) {
  (void)ctx;
  (void)now_ns;
}

/* Whether there was room. */
static bool waiter_goes(size_t others) {
  test_world world;
  char places[16];
  int wakes = 0;
  world_open(&world);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(mend_bus_watch(world.bus, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_bus_set_waker(world.bus, (mend_waker){count_wake, &wakes}), MEND_OK);
  for (size_t i = 0; i < others; i++) {
    const mend_clock_driver other = {sizeof other, never, do_nothing, &places[i]};
    cr_assert_eq(mend_clock_add_driver(world.clock, &other), MEND_OK);
  }
  mend_test_allocator_arm(&world.memory, 1, true);
  const mend_status status = mend_bus_set_waker(world.bus, (mend_waker){NULL, NULL});
  mend_test_allocator_arm(&world.memory, 0, false);
  cr_assert(status == MEND_OK || status == MEND_ENOMEM, "%s", mend_status_name(status));
  cr_assert_eq(before(run, 1, "fetch", NULL), MEND_OK);
  world_advance(&world, 61);
  cr_assert_eq(wakes, 0, "%zu others", others);
  cr_assert_eq(detections_of(run), status == MEND_OK ? 1u : 0u, "%zu others", others);
  for (size_t i = 0; i < others; i++)
    cr_assert_eq(mend_clock_remove_driver(world.clock, &places[i]), MEND_OK);
  mend_run_release(run);
  world_close(&world);
  return status == MEND_OK;
}

Test(waiting, gone) {
  size_t had_room = 0;
  for (size_t others = 0; others < 16; others++)
    had_room += waiter_goes(others);
  cr_assert(had_room > 0 && had_room < 16, "%zu of 16 had room", had_room);
}

/* A scenario that uses all of the room, again and again, with each of its allocations failing: once, and from there
 * on. */
#include "world.h"

static mend_status poll_quietly(void *ctx, uint64_t now_ns, mend_emitter *emitter) {
  (void)ctx;
  (void)now_ns;
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = MEND_STR("poll");
  detection.evidence = MEND_STR("[1]");
  return mend_emit(emitter, &detection);
}

static void make_calls(mend_run *run, uint64_t first) {
  static const char long_tool[] = "a tool whose name is too long to be kept inside of a record";
  for (uint64_t call = first; call < first + 30; call++) {
    before(run, call, call % 3 == 0 ? long_tool : "t", call % 2 == 0 ? "{\"a\":[1,{\"b\":2}]}" : "no json");
    if (call % 4 != 0) after(run, call);
    mend_confidence_event reading = MEND_CONFIDENCE_EVENT_INIT;
    reading.event.call = call;
    reading.confidence = call % 20 < 10 ? 0.9 : 0.2;
    mend_run_publish(run, &reading.event);
  }
}

static void live(test_world *world) {
  static const mend_watchdog_vtable vtable = {
      .size = sizeof vtable, .name = "poll", .topics = "own.* tool.*", .expire = poll_quietly};
  mend_options options = MEND_OPTIONS_INIT;
  options.regression.enable = true;
  options.loop.n = 20;
  mend_run *early = NULL, *late = NULL;
  mend_watchdog *watchdog = NULL;
  mend_run_new(world->bus, NULL, &early, NULL);
  mend_bus_watch(world->bus, &options, NULL);
  mend_run_new(world->bus, NULL, &late, NULL);
  mend_watchdog_new(&vtable, NULL, &world->memory.base, &watchdog, NULL);
  mend_run *const runs[] = {early, late};
  for (int i = 0; i < 2; i++) {
    if (runs[i] == NULL) continue;
    if (watchdog != NULL) mend_watchdog_watch_run(watchdog, runs[i]);
    make_calls(runs[i], 1);
    mend_run_emit(runs[i], "own.topic", "{}", NULL);
    reset(runs[i]);
    make_calls(runs[i], 100);
  }
  mend_clock_advance(world->clock, 100 * SECOND);
  mend_watchdog_release(watchdog);
  mend_run_release(early);
  mend_run_release(late);
}

Test(watchdog_torture, each_allocation_fails) { world_torture(live, 200); }

/* A bus that cannot be watched for want of memory is not half watched, and can be watched later. */
Test(watchdog_torture, watching_is_all_or_nothing) {
  test_world world;
  world_open(&world);
  mend_options options = MEND_OPTIONS_INIT;
  options.regression.enable = true;
  mend_run *run = world_run(&world, "r");
  bool failed = true;
  for (size_t fail_at = 1; failed; fail_at++) {
    mend_test_allocator_arm(&world.memory, fail_at, false);
    const mend_status status = mend_bus_watch(world.bus, &options, NULL);
    failed = mend_test_allocator_failed(&world.memory);
    cr_assert_eq(status, failed ? MEND_ENOMEM : MEND_OK, "allocation %zu", fail_at);
    mend_test_allocator_arm(&world.memory, 0, false);
    if (!failed) break;
    for (uint64_t call = 1; call <= 4; call++)
      cr_assert_eq(before(run, call, "t", NULL), MEND_OK);
    world_advance(&world, 61);
    cr_assert_eq(detections_of(run), 0u, "allocation %zu", fail_at);
  }
  for (uint64_t call = 1; call <= 4; call++)
    cr_assert_eq(before(run, call, "t", NULL), MEND_OK);
  cr_assert_eq(detections_of(run), 1u);
  mend_run_release(run);
  world_close(&world);
}

/* A call that is not reported for want of memory is reported when there is some: a loop with its next call, a stall a
 * poll later. */
Test(watchdog_torture, a_report_that_failed_comes_later) {
  test_world world;
  world_open(&world);
  cr_assert_eq(mend_bus_watch(world.bus, NULL, NULL), MEND_OK);
  mend_run *run = world_run(&world, "r");
  for (uint64_t call = 1; call <= 3; call++) {
    cr_assert_eq(before(run, call, "t", NULL), MEND_OK);
    cr_assert_eq(after(run, call), MEND_OK);
  }
  mend_test_allocator_arm(&world.memory, 1, true);
  cr_assert_eq(before(run, 4, "t", NULL), MEND_OK);
  cr_assert_eq(after(run, 4), MEND_OK);
  mend_test_allocator_arm(&world.memory, 0, false);
  cr_assert_eq(detections_of(run), 0u);
  cr_assert_eq(before(run, 5, "t", NULL), MEND_OK);
  cr_assert_eq(detections_of(run), 1u);
  mend_test_allocator_arm(&world.memory, 1, true);
  world_advance(&world, 60.5);
  mend_test_allocator_arm(&world.memory, 0, false);
  cr_assert_eq(detections_of(run), 1u);
  world_advance(&world, 1);
  cr_assert_eq(detections_of(run), 2u);
  mend_run_release(run);
  world_close(&world);
}

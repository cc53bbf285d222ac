/* Stall in seed mode, rule by rule (docs/watchdogs.md). */
#include "world.h"

static mend_watchdog *stall_on(test_world *world, double timeout_s) {
  mend_stall_watchdog_options options = MEND_STALL_WATCHDOG_OPTIONS_INIT;
  options.timeout_s = timeout_s;
  mend_watchdog *stall;
  cr_assert_eq(mend_stall_watchdog_new(&options, &world->memory.base, &stall, NULL), MEND_OK);
  cr_assert_eq(mend_watchdog_watch_bus(stall, world->bus), MEND_OK);
  return stall;
}

static mend_status begin(mend_run *run, uint64_t call, uint64_t attempt) {
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  event.event.call = call;
  event.tool_name = MEND_STR("t");
  event.attempt = attempt;
  return mend_run_publish(run, &event.event);
}

Test(stall, strictly_longer_and_once) {
  test_world world;
  world_open(&world);
  mend_watchdog *stall = stall_on(&world, 60);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(begin(run, 1, MEND_NONE), MEND_OK);
  world_advance(&world, 60);
  cr_assert_eq(detections_of(run), 0u);
  cr_assert_eq(mend_clock_advance(world.clock, 1), MEND_OK);
  cr_assert_eq(detections_of(run), 1u);
  world_advance(&world, 100000);
  cr_assert_eq(detections_of(run), 1u); /* once a call */
  cr_assert_eq(after(run, 1), MEND_OK);
  cr_assert_eq(begin(run, 1, MEND_NONE), MEND_OK); /* the id comes back: another call */
  world_advance(&world, 61);
  cr_assert_eq(detections_of(run), 2u);
  mend_run_release(run);
  mend_watchdog_release(stall);
  world_close(&world);
}

Test(stall, every_terminal_event_ends_a_call) {
  static const struct {
    mend_event_kind kind;
    bool ends;
  } rows[] = {
      {MEND_EVENT_TOOL_AFTER, true},   {MEND_EVENT_TOOL_ERROR, true},     {MEND_EVENT_TOOL_SKIPPED, true},
      {MEND_EVENT_TOOL_ABORTED, true}, {MEND_EVENT_TOOL_CANCELLED, true}, {MEND_EVENT_TOOL_PROGRESS, false},
      {MEND_EVENT_MODEL_DELTA, false}, {MEND_EVENT_TOOL_REFUSED, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_world world;
    world_open(&world);
    mend_watchdog *stall = stall_on(&world, 60);
    mend_run *run = world_run(&world, "r");
    cr_assert_eq(begin(run, 5, MEND_NONE), MEND_OK);
    world_advance(&world, 59);
    cr_assert_eq(publish(run, rows[i].kind, 5), MEND_OK);
    world_advance(&world, 10);
    cr_assert_eq(detections_of(run), rows[i].ends ? 0u : 1u, "row %zu", i);
    mend_run_release(run);
    mend_watchdog_release(stall);
    world_close(&world);
  }
}

Test(stall, parallel_calls_of_one_tool_pair_by_id) {
  test_world world;
  world_open(&world);
  mend_watchdog *stall = stall_on(&world, 60);
  mend_run *run = world_run(&world, "r"), *other = world_run(&world, "other");
  for (uint64_t call = 1; call <= 3; call++)
    cr_assert_eq(begin(run, call, MEND_NONE), MEND_OK);
  cr_assert_eq(begin(other, 2, MEND_NONE), MEND_OK); /* the same id in another run */
  cr_assert_eq(after(run, 3), MEND_OK);
  cr_assert_eq(after(run, 1), MEND_OK);
  cr_assert_eq(after(other, 2), MEND_OK);
  world_advance(&world, 61);
  cr_assert_eq(detections_of(other), 0u);
  cr_assert_eq(detections_of(run), 1u);
  const mend_detection *found = latest(run);
  cr_assert(text_is(found->last_call, "2"));
  mend_detection_release(found);
  mend_run_release(other);
  mend_run_release(run);
  mend_watchdog_release(stall);
  world_close(&world);
}

Test(stall, starts_told_twice_and_attempts) {
  static const struct {
    uint64_t first, second;
    bool restarts;
  } rows[] = {
      {MEND_NONE, MEND_NONE, false}, {1, 1, false}, {1, MEND_NONE, false}, {2, 1, false}, {1, 2, true},
      {MEND_NONE, 2, true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_world world;
    world_open(&world);
    mend_watchdog *stall = stall_on(&world, 60);
    mend_run *run = world_run(&world, "r");
    cr_assert_eq(begin(run, 1, rows[i].first), MEND_OK);
    world_advance(&world, 40);
    cr_assert_eq(begin(run, 1, rows[i].second), MEND_OK);
    world_advance(&world, 40);
    cr_assert_eq(detections_of(run), rows[i].restarts ? 0u : 1u, "row %zu", i);
    mend_watchdog_stats stats = {.size = sizeof stats};
    cr_assert_eq(mend_watchdog_get_stats(stall, &stats), MEND_OK);
    cr_assert_eq(stats.duplicates, rows[i].restarts ? 0u : 1u, "row %zu", i);
    world_advance(&world, 40);
    cr_assert_eq(detections_of(run), 1u, "row %zu", i);
    mend_run_release(run);
    mend_watchdog_release(stall);
    world_close(&world);
  }
}

Test(stall, what_a_detection_says) {
  test_world world;
  world_open(&world);
  mend_watchdog *stall = stall_on(&world, 60);
  mend_run *run = world_run(&world, "r");
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  event.event.call = 99;
  event.event.call_name = MEND_STR("toolu_\"9");
  event.tool_name = MEND_STR("fetch");
  world_advance(&world, 0.25);
  cr_assert_eq(mend_run_publish(run, &event.event), MEND_OK);
  world_advance(&world, 500);
  const mend_detection *found = latest(run);
  const uint64_t after_ns = 250000000 + 60 * SECOND + 1;
  cr_assert(text_is(found->detector, "stall"));
  cr_assert(text_is(found->reason, "tool_total"));
  cr_assert_eq(found->cause_seq, 0u); /* a deadline passed */
  cr_assert_eq(found->detected_ns, 1000 * SECOND + after_ns);
  cr_assert_eq(found->wall_ns, START_WALL_NS + after_ns);
  cr_assert_float_eq(found->severity, 0.5, 1e-9);
  cr_assert_str_eq(found->summary.ptr, "fetch has not returned for 60.0 s");
  cr_assert(text_is(found->tool_name, "fetch"));
  cr_assert(text_is(found->first_call, "toolu_\"9"));
  cr_assert(text_is(found->last_call, "toolu_\"9"));
  cr_assert_eq(found->count, 0u);
  cr_assert_str_eq(found->payload.ptr,
                   "{\"call_id\":\"toolu_\\\"9\",\"started_at\":1700000000.25,\"elapsed_s\":60.000000001}");
  mend_detection_release(found);
  mend_run_release(run);
  mend_watchdog_release(stall);
  world_close(&world);
}

/* Nobody waited for the deadlines (no event loop): the next event of the run finds them, and what it finds bears the
 * time of the deadline, its severity the time that has passed. Here events are stamped by hand; the clock stands
 * still. */
Test(stall, a_late_look_tells_the_right_times) {
  static const struct {
    uint64_t late_s;
    double severity;
  } rows[] = {{61, 61.0 / 120}, {90, 90.0 / 120}, {120, 1}, {4000, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_world world;
    world_open(&world);
    mend_watchdog *stall = stall_on(&world, 60);
    mend_run *run = world_run(&world, "r");
    cr_assert_eq(begin(run, 1, MEND_NONE), MEND_OK);
    mend_tool_after_event end = MEND_TOOL_AFTER_EVENT_INIT;
    end.event.call = 1;
    end.event.run = run;
    end.event.seq = 2;
    end.event.mono_ns = (1000 + rows[i].late_s) * SECOND;
    end.event.wall_ns = START_WALL_NS + rows[i].late_s * SECOND;
    cr_assert_eq(mend_bus_publish(world.bus, &end.event), MEND_OK);
    cr_assert_eq(detections_of(run), 1u);
    const mend_detection *found = latest(run);
    cr_assert_eq(found->detected_ns, 1060 * SECOND + 1);
    cr_assert_eq(found->wall_ns, START_WALL_NS + 60 * SECOND + 1);
    cr_assert_eq(found->cause_seq, 0u);
    cr_assert_float_eq(found->severity, rows[i].severity, 1e-9);
    mend_detection_release(found);
    mend_run_release(run);
    mend_watchdog_release(stall);
    world_close(&world);
  }
}

static mend_status collect_times(void *ctx, const mend_event *event) {
  double **next = ctx;
  *(*next)++ = ((const mend_detection_event *)event)->detected_at;
  return MEND_OK;
}

/* All that stall at once are told at once, others at their own time, in order, in one step of the clock. */
Test(stall, many_deadlines_in_one_step) {
  test_world world;
  world_open(&world);
  mend_watchdog *stall = stall_on(&world, 10);
  double times[8], *next = times;
  cr_assert_eq(mend_bus_subscribe(world.bus, "healing.detection", collect_times, &next, NULL, NULL, NULL), MEND_OK);
  mend_run *run = world_run(&world, "r"), *other = world_run(&world, "other");
  cr_assert_eq(begin(run, 1, 1), MEND_OK);
  cr_assert_eq(begin(run, 2, 1), MEND_OK);
  world_advance(&world, 1);
  cr_assert_eq(begin(other, 1, 1), MEND_OK);
  world_advance(&world, 1);
  cr_assert_eq(begin(run, 3, 1), MEND_OK);
  world_advance(&world, 1000);
  static const double expected[] = {10, 10, 11, 12};
  cr_assert_eq(next - times, 4);
  for (int i = 0; i < 4; i++)
    cr_assert_float_eq(times[i] - 1700000000, expected[i], 1e-6);
  mend_run_release(other);
  mend_run_release(run);
  mend_watchdog_release(stall);
  world_close(&world);
}

Test(stall, events_without_a_call_and_strays) {
  test_world world;
  world_open(&world);
  mend_watchdog *stall = stall_on(&world, 60);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(begin(run, 0, 1), MEND_OK);
  cr_assert_eq(after(run, 0), MEND_OK);
  cr_assert_eq(after(run, 7), MEND_OK); /* of a call that began before it was watched */
  world_advance(&world, 100);
  mend_watchdog_stats stats = {.size = sizeof stats};
  cr_assert_eq(mend_watchdog_get_stats(stall, &stats), MEND_OK);
  cr_assert_eq(stats.ignored, 2u);
  cr_assert_eq(detections_of(run), 0u);
  mend_run_release(run);
  mend_watchdog_release(stall);
  world_close(&world);
}

/* 65,536 open calls are watched, one more is not; all of them can end in any order and be watched again. */
Test(stall, the_bound_of_open_calls) {
  enum { MAX = 65536 };
  test_world world;
  world_open(&world);
  mend_watchdog *stall = stall_on(&world, 60);
  mend_run *run = world_run(&world, "r");
  for (uint64_t call = 1; call <= MAX + 1; call++)
    cr_assert_eq(begin(run, call * 0x9E3779B1u, 1), MEND_OK);
  mend_watchdog_stats stats = {.size = sizeof stats};
  cr_assert_eq(mend_watchdog_get_stats(stall, &stats), MEND_OK);
  cr_assert_eq(stats.unwatched, 1u);
  for (uint64_t i = 1; i <= MAX; i++) {
    const uint64_t call = (i * 48271) % MAX + 1;
    if (call != 1234) cr_assert_eq(after(run, call * 0x9E3779B1u), MEND_OK);
  }
  cr_assert_eq(begin(run, 1, 1), MEND_OK);
  cr_assert_eq(mend_watchdog_get_stats(stall, &stats), MEND_OK);
  cr_assert_eq(stats.unwatched, 1u);
  cr_assert_eq(stats.duplicates, 0u);
  world_advance(&world, 61);
  cr_assert_eq(detections_of(run), 2u); /* 1234 and the new one: every other one was found and ended */
  mend_run_release(run);
  mend_watchdog_release(stall);
  world_close(&world);
}

Test(stall, reset_forgets_open_calls) {
  test_world world;
  world_open(&world);
  mend_watchdog *stall = stall_on(&world, 60);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(begin(run, 1, 1), MEND_OK);
  cr_assert_eq(reset(run), MEND_OK);
  world_advance(&world, 61);
  cr_assert_eq(detections_of(run), 0u);
  cr_assert_eq(begin(run, 1, 1), MEND_OK);
  world_advance(&world, 61);
  cr_assert_eq(detections_of(run), 1u);
  mend_run_release(run);
  mend_watchdog_release(stall);
  world_close(&world);
}

/* Once warm a call needs no memory, whatever the length of its names. */
Test(stall, a_call_allocates_nothing_once_warm) {
  test_world world;
  world_open(&world);
  cr_assert_eq(mend_bus_watch(world.bus, NULL, NULL), MEND_OK);
  mend_run *run = world_run(&world, "r");
  size_t calls = 0;
  for (uint64_t call = 1; call <= 200; call++) {
    mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
    event.event.call = call;
    event.event.call_name = MEND_STR("a foreign id that is too long to be kept inside of a record");
    event.tool_name = MEND_STR("a tool whose name is too long to be kept inside of a record");
    event.args_hash = (mend_hash){call, call * 0x9E3779B97F4A7C15u};
    cr_assert_eq(mend_run_publish(run, &event.event), MEND_OK);
    cr_assert_eq(after(run, call), MEND_OK);
    world_advance(&world, 1);
    if (call == 100) calls = atomic_load(&world.memory.calls);
  }
  cr_assert_eq(atomic_load(&world.memory.calls), calls);
  mend_run_release(run);
  world_close(&world);
}

Test(stall, options) {
  static const struct {
    double timeout_s;
    bool fine;
  } rows[] = {
      {60, true},
      {0.001, true},
      {1e-12, true},
      {1e300, true},
      {0, false},
      {-1, false},
      {__builtin_nan(""), false},
      {__builtin_inf(), false},
  };
  cr_assert_float_eq(((mend_stall_watchdog_options)MEND_STALL_WATCHDOG_OPTIONS_INIT).timeout_s, 60, 0);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend_stall_watchdog_options options = MEND_STALL_WATCHDOG_OPTIONS_INIT;
    options.timeout_s = rows[i].timeout_s;
    mend_watchdog *stall = NULL;
    mend_error error = {0};
    const mend_status status = mend_stall_watchdog_new(&options, NULL, &stall, &error);
    cr_assert_eq(status, rows[i].fine ? MEND_OK : MEND_EINVAL, "row %zu", i);
    if (!rows[i].fine) cr_assert_not_null(strstr(error.message, "stall.timeout_s"), "%s", error.message);
    mend_watchdog_release(stall);
  }
  /* A limit of centuries never passes. */
  test_world world;
  world_open(&world);
  mend_watchdog *stall = stall_on(&world, 1e300);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(begin(run, 1, 1), MEND_OK);
  cr_assert_eq(mend_bus_next_deadline(world.bus), MEND_NEVER);
  world_advance(&world, 1e9);
  cr_assert_eq(detections_of(run), 0u);
  mend_run_release(run);
  mend_watchdog_release(stall);
  world_close(&world);
}

/* The log, its consumers, and when a detection is announced. */
#include "world.h"

static mend_watchdog *loop_with(test_world *world, uint32_t k) {
  mend_loop_watchdog_options options = MEND_LOOP_WATCHDOG_OPTIONS_INIT;
  options.k = k;
  mend_watchdog *loop;
  cr_assert_eq(mend_loop_watchdog_new(&options, &world->memory.base, &loop, NULL), MEND_OK);
  cr_assert_eq(mend_watchdog_watch_bus(loop, world->bus), MEND_OK);
  mend_watchdog_release(loop);
  return loop;
}

/* ---- The log ---- */

static size_t read_all(mend_watch *watch, mend_detection_cursor *cursor, uint64_t first_id) {
  const mend_detection *detection;
  size_t count = 0;
  for (; mend_watch_next(watch, cursor, &detection) == MEND_OK; count++) {
    cr_assert_eq(detection->id, first_id + count);
    mend_detection_release(detection);
  }
  return count;
}

static void repeat_to(mend_run *run, uint64_t detections) {
  while (detections_of(run) < detections) {
    before(run, 0, "a", NULL);
    before(run, 0, "b", NULL);
  }
}

Test(detections, each_consumer_gets_each) {
  test_world world;
  world_open(&world);
  loop_with(&world, 1);
  mend_run *run = world_run(&world, "r");
  mend_watch *watch;
  cr_assert_eq(mend_run_watch(run, &watch), MEND_OK);
  mend_detection_cursor early = MEND_DETECTION_CURSOR_INIT, late = MEND_DETECTION_CURSOR_INIT;
  const mend_detection *none;
  cr_assert_eq(mend_watch_next(watch, &early, &none), MEND_ENOENT);
  repeat_to(run, 10);
  cr_assert_eq(mend_watch_count(watch), 10u);
  cr_assert_eq(read_all(watch, &early, 1), 10u);
  repeat_to(run, 200);
  cr_assert_eq(read_all(watch, &late, 1), 200u);
  cr_assert_eq(read_all(watch, &early, 11), 190u);
  cr_assert_eq(early.lost + late.lost, 0u);
  repeat_to(run, 200 + 256 + 44); /* 44 more than the log keeps */
  cr_assert_eq(read_all(watch, &early, 245), 256u);
  cr_assert_eq(early.lost, 44u);
  repeat_to(run, 600);
  cr_assert_eq(read_all(watch, &early, 501), 100u);
  cr_assert_eq(early.lost, 44u);
  cr_assert_eq(read_all(watch, &late, 345), 256u);
  cr_assert_eq(late.lost, 144u);
  mend_run_release(run);
  world_close(&world);
}

Test(detections, one_outlives_its_run) {
  test_world world;
  world_open(&world);
  loop_with(&world, 1);
  mend_run *run = world_run(&world, "r");
  repeat_to(run, 1);
  const mend_detection *kept = latest(run);
  cr_assert_eq(mend_detection_retain(kept), kept);
  mend_detection_release(kept);
  mend_run_release(run);
  mend_bus_release(world.bus);
  cr_assert_str_eq(kept->run_id.ptr, "r");
  cr_assert_str_eq(kept->reason.ptr, "repeat");
  mend_detection_release(kept);
  mend_detection_release(NULL);
  mend_clock_release(world.clock);
  cr_assert_eq(atomic_load(&world.memory.blocks), 0u);
}

/* ---- Announcing ---- */

typedef struct observed {
  mend_topic topic;
  uint64_t seq, cause_seq;
} observed;

typedef struct observer {
  size_t count;
  observed events[64];
} observer;

static mend_status observe(void *ctx, const mend_event *event) {
  observer *all = ctx;
  cr_assert(all->count < sizeof all->events / sizeof *all->events);
  observed *next = &all->events[all->count++];
  *next = (observed){event->topic, event->seq, 0};
  if (event->kind == MEND_EVENT_DETECTION) next->cause_seq = ((const mend_detection_event *)event)->cause_seq;
  return MEND_OK;
}

/* The detection can be read by who comes right behind the watch, but is not announced before all have had the event. */
typedef struct reader {
  mend_watch *watch;
  mend_detection_cursor cursor;
  uint64_t read_at_seq;
} reader;

static mend_status read_log(void *ctx, const mend_event *event) {
  reader *consumer = ctx;
  const mend_detection *detection;
  if (mend_watch_next(consumer->watch, &consumer->cursor, &detection) != MEND_OK) return MEND_OK;
  consumer->read_at_seq = event->seq;
  mend_detection_release(detection);
  return MEND_OK;
}

Test(detections, announced_once_and_after_the_cause) {
  test_world world;
  world_open(&world);
  observer first = {0}, last = {0};
  reader consumer = {.read_at_seq = 0};
  cr_assert_eq(mend_bus_subscribe(world.bus, "*", observe, &first, NULL, NULL, NULL), MEND_OK);
  loop_with(&world, 1);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(mend_run_watch(run, &consumer.watch), MEND_OK);
  cr_assert_eq(mend_run_subscribe(run, "*", read_log, &consumer, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_run_subscribe(run, "*", observe, &last, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(before(run, 1, "a", NULL), MEND_OK);
  cr_assert_eq(before(run, 2, "a", NULL), MEND_OK);
  cr_assert_eq(before(run, 3, "b", NULL), MEND_OK);
  cr_assert_eq(consumer.read_at_seq, 2u);
  const observer *const both[] = {&first, &last};
  for (int i = 0; i < 2; i++) {
    static const observed expected[] = {
        {MEND_EVENT_TOOL_BEFORE, 1, 0},
        {MEND_EVENT_TOOL_BEFORE, 2, 0},
        {MEND_EVENT_DETECTION, 3, 2},
        {MEND_EVENT_TOOL_BEFORE, 4, 0},
    };
    cr_assert_eq(both[i]->count, 4u);
    cr_assert_eq(memcmp(both[i]->events, expected, sizeof expected), 0);
  }
  mend_run_release(run);
  world_close(&world);
}

static mend_status keep_detection(void *ctx, const mend_event *event) { return mend_event_clone(event, NULL, ctx); }

Test(detections, the_event_says_what_the_log_says) {
  test_world world;
  world_open(&world);
  mend_options options = MEND_OPTIONS_INIT;
  options.stall.timeout_s = 5;
  cr_assert_eq(mend_bus_watch(world.bus, &options, NULL), MEND_OK);
  mend_event *cloned = NULL;
  cr_assert_eq(mend_bus_subscribe(world.bus, "healing.detection", keep_detection, &cloned, NULL, NULL, NULL), MEND_OK);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(before(run, 4, "t", NULL), MEND_OK);
  world_advance(&world, 6);
  cr_assert_not_null(cloned);
  const mend_detection_event *event = (const mend_detection_event *)cloned;
  const mend_detection *logged = latest(run);
  cr_assert_eq(event->event.run, run);
  cr_assert_eq(event->detection_id, logged->id);
  cr_assert(mend_str_equal(event->detector, logged->detector));
  cr_assert(mend_str_equal(event->reason, logged->reason));
  cr_assert(mend_str_equal(event->summary, logged->summary));
  cr_assert(mend_str_equal(event->tool_name, logged->tool_name));
  cr_assert(mend_str_equal(event->first_call_id, logged->first_call));
  cr_assert(mend_str_equal(event->last_call_id, logged->last_call));
  cr_assert(mend_str_equal(event->payload, logged->payload));
  cr_assert(mend_str_equal(event->steer, logged->steer));
  cr_assert_eq(event->severity, logged->severity);
  cr_assert_eq(event->confidence, logged->confidence);
  cr_assert_eq(event->count, MEND_NONE);
  cr_assert_eq(event->period, MEND_NONE);
  cr_assert_eq(event->cause_seq, MEND_NONE);
  cr_assert_float_eq(event->detected_at, (double)logged->wall_ns / 1e9, 0);
  mend_detection_release(logged);
  mend_run_release(run); /* the clone keeps the run */
  mend_event_free(cloned);
  mend_bus_release(world.bus);
  mend_clock_release(world.clock);
}

/* A deadline that passes while an event of another run is being delivered is announced too. */
static mend_status advance_clock(void *ctx, const mend_event *event) {
  test_world *world = ctx;
  if (event->kind == MEND_EVENT_USER_MESSAGE) world_advance(world, 100);
  return MEND_OK;
}

Test(detections, found_by_a_clock_that_a_handler_moves) {
  test_world world;
  world_open(&world);
  cr_assert_eq(mend_bus_watch(world.bus, NULL, NULL), MEND_OK);
  observer all = {0};
  cr_assert_eq(mend_bus_subscribe(world.bus, "*", advance_clock, &world, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(world.bus, "*", observe, &all, NULL, NULL, NULL), MEND_OK);
  mend_run *run = world_run(&world, "r"), *other = world_run(&world, "other");
  cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
  mend_user_message_event message = MEND_USER_MESSAGE_EVENT_INIT;
  cr_assert_eq(mend_run_publish(other, &message.event), MEND_OK);
  cr_assert_eq(all.count, 3u);
  cr_assert_eq(all.events[1].topic, (mend_topic)MEND_EVENT_USER_MESSAGE);
  cr_assert_eq(all.events[2].topic, (mend_topic)MEND_EVENT_DETECTION);
  mend_run_release(other);
  mend_run_release(run);
  world_close(&world);
}

/* ---- Runs ---- */

static mend_status release_runs(void *ctx, const mend_event *event) {
  mend_run **run = ctx;
  if (event->kind != MEND_EVENT_DETECTION) return MEND_OK;
  mend_run_release(*run);
  *run = NULL;
  return MEND_OK;
}

Test(detections, runs_do_not_count_together_and_may_end_anywhere) {
  enum { RUNS = 1000 };
  test_world world;
  world_open(&world);
  loop_with(&world, 3);
  mend_options options = MEND_OPTIONS_INIT;
  options.loop.enable = false;
  cr_assert_eq(mend_bus_watch(world.bus, &options, NULL), MEND_OK);
  static mend_run *runs[RUNS];
  for (int i = 0; i < RUNS; i++) {
    char id[16];
    snprintf(id, sizeof id, "run-%d", i);
    runs[i] = world_run(&world, id);
  }
  for (uint64_t call = 1; call <= 3; call++) {
    for (int i = 0; i < RUNS; i++)
      cr_assert_eq(before(runs[i], call, "t", NULL), MEND_OK);
  }
  for (int i = 0; i < RUNS; i++)
    cr_assert_eq(detections_of(runs[i]), 0u);
  cr_assert_eq(before(runs[7], 4, "t", NULL), MEND_OK);
  for (int i = 0; i < RUNS; i++)
    cr_assert_eq(detections_of(runs[i]), i == 7 ? 1u : 0u);
  for (int i = 0; i < RUNS; i += 2)
    mend_run_release(runs[i]); /* with deadlines armed */
  world_advance(&world, 61);
  for (int i = 1; i < RUNS; i += 2) {
    cr_assert_eq(detections_of(runs[i]), i == 7 ? 5u : 3u);
    mend_run_release(runs[i]);
  }
  /* The last reference dropped by who is told of a deadline. */
  mend_run *run = world_run(&world, "short");
  cr_assert_eq(mend_run_subscribe(run, "*", release_runs, &run, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
  world_advance(&world, 61);
  cr_assert_null(run);
  world_close(&world);
}

static mend_status release_bus_and_run(void *ctx, const mend_event *event) {
  test_world *world = ctx;
  mend_bus_release(world->bus);
  world->bus = NULL;
  mend_run_release(event->run);
  return MEND_OK;
}

/* Both last references go while the clock is still in the hub's driver. */
Test(detections, the_bus_ends_in_the_announcement) {
  test_world world;
  world_open(&world);
  cr_assert_eq(mend_bus_watch(world.bus, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(world.bus, "healing.detection", release_bus_and_run, &world, NULL, NULL, NULL),
               MEND_OK);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
  world_advance(&world, 61);
  cr_assert_null(world.bus);
  world_close(&world);
}

/* A run that is known by its id and referenced by nobody is watched as well. */
Test(detections, a_run_known_by_id_only) {
  test_world world;
  world_open(&world);
  cr_assert_eq(mend_bus_watch(world.bus, NULL, NULL), MEND_OK);
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = MEND_STR("known");
  mend_run *run;
  cr_assert_eq(mend_bus_run(world.bus, &options, &run, NULL), MEND_OK);
  cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
  mend_run_release(run);
  world_advance(&world, 61);
  cr_assert_eq(mend_bus_run(world.bus, &options, &run, NULL), MEND_OK);
  cr_assert_eq(detections_of(run), 1u);
  mend_run_release(run);
  world_close(&world);
}

static mend_status keep_kind(void *ctx, const mend_event *event) {
  const mend_detection_event *found = (const mend_detection_event *)event;
  snprintf(ctx, 64, "%.*s/%.*s", MEND_STR_ARG(found->detector), MEND_STR_ARG(found->kind));
  return MEND_OK;
}

typedef struct sized {
  size_t summary, evidence;
  const char *kind;
  mend_status status;
} sized;

static mend_status emit_sized(void *ctx, const mend_event *event, mend_emitter *emitter) {
  (void)event;
  static char text[200000];
  sized *given = ctx;
  memset(text, 'x', sizeof text);
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = MEND_STR("sized");
  detection.kind = mend_str_from(given->kind);
  detection.summary = (mend_str){text, given->summary};
  if (given->evidence > 0) {
    memcpy(text, "[\"", 2);
    memcpy(text + given->evidence - 2, "\"]", 2);
    detection.evidence = (mend_str){text, given->evidence};
    detection.summary = (mend_str){text + 2, given->summary};
  }
  given->status = mend_emit(emitter, &detection);
  return MEND_OK;
}

Test(detections, kinds_and_bounds) {
  static const struct {
    size_t summary, evidence;
    const char *kind;
    mend_status want;
    size_t kept;
    const char *names;
  } rows[] = {
      {10, 0, NULL, MEND_OK, 10, "sized/sized"},       {10, 0, "budget", MEND_OK, 10, "sized/budget"},
      {4096, 0, NULL, MEND_OK, 4096, "sized/sized"},   {4097, 0, NULL, MEND_OK, 4096, "sized/sized"},
      {100000, 0, NULL, MEND_OK, 4096, "sized/sized"}, {10, 65536, NULL, MEND_OK, 10, "sized/sized"},
      {10, 65537, NULL, MEND_ELIMIT, 0, ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    test_world world;
    world_open(&world);
    char names[64] = "";
    sized given = {rows[i].summary, rows[i].evidence, rows[i].kind, MEND_OK};
    const mend_watchdog_vtable vtable = {
        .size = sizeof vtable, .name = "sized", .topics = "tool.*", .event = emit_sized};
    mend_watchdog *watchdog;
    cr_assert_eq(mend_watchdog_new(&vtable, &given, &world.memory.base, &watchdog, NULL), MEND_OK);
    mend_bus_subscribe(world.bus, "healing.detection", keep_kind, names, NULL, NULL, NULL);
    mend_run *run = world_run(&world, "r");
    mend_watchdog_watch_run(watchdog, run);
    before(run, 1, "t", NULL);
    cr_assert_eq(given.status, rows[i].want, "row %zu", i);
    cr_assert_str_eq(names, rows[i].names, "row %zu", i);
    if (rows[i].want == MEND_OK) {
      const mend_detection *found = latest(run);
      cr_assert_eq(found->summary.len, rows[i].kept, "row %zu", i);
      const mend_str texts[] = {found->detector, found->run_id,   found->kind,   found->reason,
                                found->summary,  found->evidence, found->payload};
      for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
        cr_assert(texts[k].ptr == NULL || texts[k].ptr[texts[k].len] == '\0', "row %zu, text %zu", i, k);
      mend_detection_release(found);
    }
    mend_run_release(run);
    mend_watchdog_release(watchdog);
    world_close(&world);
  }
}

static void keep_log(void *ctx, mend_log_level level, const char *message) {
  snprintf(ctx, 128, "%d %s", (int)level, message);
}

Test(detections, a_small_window_earns_a_warning) {
  static const struct {
    bool enable;
    uint32_t window_n;
    bool warns;
  } rows[] = {{false, 5, false}, {true, 5, true}, {true, 6, false}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char log[128] = "";
    mend_bus_options options = MEND_BUS_OPTIONS_INIT;
    options.log = keep_log;
    options.log_ctx = log;
    mend_bus *bus;
    cr_assert_eq(mend_bus_new(&options, &bus, NULL), MEND_OK);
    mend_options watching = MEND_OPTIONS_INIT;
    watching.regression.enable = rows[i].enable;
    watching.regression.window_n = rows[i].window_n;
    cr_assert_eq(mend_bus_watch(bus, &watching, NULL), MEND_OK);
    cr_assert_eq(log[0] != '\0', rows[i].warns, "row %zu: %s", i, log);
    if (rows[i].warns) cr_assert_eq(strncmp(log, "1 regression.window_n", 21), 0, "%s", log);
    mend_watchdog *watchdog;
    cr_assert_eq(mend_bus_watchdog(bus, "regression", &watchdog), rows[i].enable ? MEND_OK : MEND_ENOENT);
    if (rows[i].enable) {
      cr_assert_str_eq(mend_watchdog_name(watchdog), "regression");
      mend_watchdog_release(watchdog);
    }
    mend_bus_release(bus);
  }
}

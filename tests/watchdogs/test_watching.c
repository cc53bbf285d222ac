/* Custom watchdogs as equals of the built-in ones: the vtable's defaults, topics, polls, resets, failures; and
 * watching a run, a bus, with a waker and without. */
#include "world.h"

/* ---- A detector of one's own: tokens against a budget ---- */

typedef struct budget {
  uint64_t limit;
  int opened, closed, destroyed;
} budget;

typedef struct budget_state {
  budget *budget;
  uint64_t used;
  bool told;
} budget_state;

static mend_status budget_open(void *ctx, mend_run *run, void **ret_state) {
  (void)run;
  budget_state *state = calloc(1, sizeof *state);
  if (state == NULL) return MEND_ENOMEM;
  state->budget = ctx;
  state->budget->opened++;
  *ret_state = state;
  return MEND_OK;
}

static mend_status budget_event(void *ctx, const mend_event *event, mend_emitter *emitter) {
  budget_state *state = ctx;
  state->used += ((const mend_model_usage_event *)event)->tokens;
  if (state->told || state->used <= state->budget->limit) return MEND_OK;
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = MEND_STR("tokens");
  detection.summary = MEND_STR("more tokens than the budget allows");
  detection.count = state->used;
  detection.evidence = MEND_STR("[\"model.usage\"]");
  detection.severity = 7;
  state->told = true;
  return mend_emit(emitter, &detection);
}

static void budget_close(void *ctx) {
  budget_state *state = ctx;
  state->budget->closed++;
  free(state);
}

static void budget_destroy(void *ctx) { ((budget *)ctx)->destroyed++; }

static const mend_watchdog_vtable budget_vtable = {
    .size = sizeof budget_vtable,
    .name = "token-budget",
    .topics = "model.usage",
    .open = budget_open,
    .event = budget_event,
    .close = budget_close,
    .destroy = budget_destroy,
};

Test(watching, a_custom_detector_is_an_equal) {
  test_world world;
  world_open(&world);
  budget tokens = {.limit = 1000};
  mend_watchdog *watchdog;
  cr_assert_eq(mend_watchdog_new(&budget_vtable, &tokens, &world.memory.base, &watchdog, NULL), MEND_OK);
  cr_assert_str_eq(mend_watchdog_name(watchdog), "token-budget");
  mend_run *run = world_run(&world, "r"), *other = world_run(&world, "other");
  cr_assert_eq(mend_watchdog_watch_run(watchdog, run), MEND_OK);
  cr_assert_eq(mend_watchdog_watch_run(watchdog, run), MEND_OK); /* changes nothing */
  cr_assert_eq(tokens.opened, 1);
  cr_assert_eq(usage(run, 700), MEND_OK);
  cr_assert_eq(usage(other, 700), MEND_OK);
  cr_assert_eq(detections_of(run), 0u);
  cr_assert_eq(usage(run, 301), MEND_OK);
  cr_assert_eq(usage(run, 301), MEND_OK);
  cr_assert_eq(detections_of(run), 1u);
  const mend_detection *found = latest(run);
  cr_assert(text_is(found->detector, "token-budget"));
  cr_assert_eq(found->count, 1001u);
  cr_assert_float_eq(found->severity, 1, 0);
  cr_assert(text_is(found->evidence, "[\"model.usage\"]"));
  cr_assert(text_is(found->payload, NULL));
  mend_detection_release(found);
  cr_assert_eq(reset(run), MEND_OK); /* no reset of its own: closed and opened */
  cr_assert_eq(tokens.opened, 2);
  cr_assert_eq(tokens.closed, 1);
  cr_assert_eq(usage(run, 1001), MEND_OK);
  cr_assert_eq(detections_of(run), 2u);
  mend_watchdog_stats stats = {.size = sizeof stats};
  cr_assert_eq(mend_watchdog_get_stats(watchdog, &stats), MEND_ENOTSUP);
  mend_watchdog_release(watchdog);
  cr_assert_eq(tokens.destroyed, 0); /* the watch has a reference */
  mend_run_release(other);
  mend_run_release(run);
  cr_assert_eq(tokens.closed, 2);
  cr_assert_eq(tokens.destroyed, 1);
  world_close(&world);
}

Test(watching, a_bus_now_and_to_come) {
  test_world world;
  world_open(&world);
  budget tokens = {.limit = 10};
  mend_run *alive = world_run(&world, "alive");
  mend_watchdog *watchdog, *second;
  cr_assert_eq(mend_watchdog_new(&budget_vtable, &tokens, &world.memory.base, &watchdog, NULL), MEND_OK);
  cr_assert_eq(mend_watchdog_new(&budget_vtable, &tokens, &world.memory.base, &second, NULL), MEND_OK);
  cr_assert_eq(mend_watchdog_watch_bus(watchdog, world.bus), MEND_OK);
  mend_run *later = world_run(&world, "later");
  cr_assert_eq(mend_watchdog_watch_bus(watchdog, world.bus), MEND_OK); /* changes nothing */
  cr_assert_eq(tokens.opened, 2);
  cr_assert_eq(mend_watchdog_watch_bus(second, world.bus), MEND_OK); /* every run is known by now */
  cr_assert_eq(tokens.opened, 4);
  mend_run *last = world_run(&world, "last");
  cr_assert_eq(tokens.opened, 6);
  mend_run *const runs[] = {alive, later, last};
  for (int i = 0; i < 3; i++) {
    cr_assert_eq(usage(runs[i], 11), MEND_OK);
    cr_assert_eq(detections_of(runs[i]), 2u);
    mend_run_release(runs[i]);
  }
  mend_watchdog_release(watchdog);
  mend_watchdog_release(second);
  cr_assert_eq(tokens.destroyed, 0);
  world_close(&world);
  cr_assert_eq(tokens.closed, 6);
  cr_assert_eq(tokens.destroyed, 2);
}

/* ---- Topics ---- */

static mend_status count_event(void *ctx, const mend_event *event, mend_emitter *emitter) {
  (void)event;
  (void)emitter;
  ++*(unsigned *)ctx;
  return MEND_OK;
}

Test(watching, topics) {
  static const struct {
    const char
        *topics;   /* what is published: tool.before, model.usage, run.reset, own.a, own.b.c, owner, 20 times each */
    unsigned seen; /* of six */
  } rows[] = {
      {NULL, 6},
      {"*", 6},
      {"", 0},
      {"tool.before", 1},
      {"tool.*", 1},
      {"own.*", 2},
      {"own.a", 1},
      {"own.b.*", 1},
      {"own", 0},
      {"owner", 1},
      {"  tool.*   model.usage\town.b.c ", 3},
      {"tool.after", 0},
      {"tool.* tool.before", 1},
      {"run.reset", 1},
      {"*  own.a", 6},
      {"own.a.*", 0},
  };
  static const char *const own[] = {"own.a", "own.b.c", "owner"};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_world world;
    world_open(&world);
    unsigned count = 0;
    const mend_watchdog_vtable vtable = {
        .size = sizeof vtable, .name = "n", .topics = rows[i].topics, .event = count_event};
    mend_watchdog *watchdog;
    cr_assert_eq(mend_watchdog_new(&vtable, &count, &world.memory.base, &watchdog, NULL), MEND_OK, "row %zu", i);
    mend_run *run = world_run(&world, "r");
    cr_assert_eq(mend_watchdog_watch_run(watchdog, run), MEND_OK);
    for (int round = 0; round < 20; round++) {
      before(run, 1, "t", NULL);
      usage(run, 1);
      reset(run);
      for (int j = 0; j < 3; j++)
        cr_assert_eq(mend_run_emit(run, own[j], "{}", NULL), MEND_OK);
    }
    cr_assert_eq(count, rows[i].seen * 20, "row %zu: %u", i, count);
    mend_run_release(run);
    mend_watchdog_release(watchdog);
    world_close(&world);
  }
}

Test(watching, what_is_no_watchdog) {
  static const mend_watchdog_vtable rows[] = {
      {.size = 0, .name = "n"},
      {.size = sizeof rows[0], .name = NULL},
      {.size = sizeof rows[0], .name = ""},
      {.size = sizeof rows[0], .name = "Upper"},
      {.size = sizeof rows[0], .name = "a b"},
      {.size = sizeof rows[0], .name = "0123456789012345678901234567890123456789012345678901234567890123"},
      {.size = sizeof rows[0], .name = "n", .topics = "tool.bef*"},
      {.size = sizeof rows[0], .name = "n", .topics = "tool..before"},
      {.size = sizeof rows[0], .name = "n", .topics = "tool."},
      {.size = sizeof rows[0], .name = "n", .topics = "*.before"},
      {.size = sizeof rows[0], .name = "n", .topics = "tool.after,tool.error"},
      {.size = sizeof rows[0], .name = "n", .topics = "tool.after, tool.error"},
      {.size = sizeof rows[0], .name = "n", .topics = "tool.*;model.*"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend_watchdog *watchdog = NULL;
    mend_error error = {0};
    cr_assert_eq(mend_watchdog_new(&rows[i], NULL, NULL, &watchdog, &error), MEND_EINVAL, "row %zu", i);
    cr_assert_null(watchdog);
    cr_assert_neq(error.message[0], '\0');
  }
  const mend_watchdog_vtable longest = {.size = sizeof longest,
                                        .name = "012345678901234567890123456789012345678901234567890123456789-._"};
  mend_watchdog *watchdog = NULL;
  cr_assert_eq(mend_watchdog_new(&longest, NULL, NULL, &watchdog, NULL), MEND_OK);
  mend_watchdog_release(watchdog);
}

/* ---- Emitting ---- */

static mend_status emit_given(void *ctx, const mend_event *event, mend_emitter *emitter) {
  (void)event;
  return mend_emit(emitter, ctx);
}

Test(watching, what_may_be_emitted) {
  const double nan = __builtin_nan("");
#define REASON MEND_STR("r")
  const struct {
    mend_detection detection;
    mend_status status;
    double severity;
  } rows[] = {
      {{.size = sizeof(mend_detection), .reason = REASON, .severity = 0.5}, MEND_OK, 0.5},
      {{.size = sizeof(mend_detection), .reason = REASON, .severity = -1}, MEND_OK, 0},
      {{.size = sizeof(mend_detection), .reason = REASON, .severity = 1.5}, MEND_OK, 1},
      {{.size = sizeof(mend_detection), .reason = REASON, .severity = nan}, MEND_OK, 1},
      {{.size = sizeof(mend_detection), .reason = REASON, .payload = MEND_STR(" {\"a\":[]} ")}, MEND_OK, 0},
      {{.size = 0, .reason = REASON}, MEND_EINVAL, 0},
      {{.size = sizeof(mend_detection)}, MEND_EINVAL, 0},
      {{.size = sizeof(mend_detection), .reason = MEND_STR("")}, MEND_EINVAL, 0},
      {{.size = sizeof(mend_detection), .reason = REASON, .evidence = MEND_STR("{}")}, MEND_EINVAL, 0},
      {{.size = sizeof(mend_detection), .reason = REASON, .evidence = MEND_STR("[1,]")}, MEND_EINVAL, 0},
      {{.size = sizeof(mend_detection), .reason = REASON, .payload = MEND_STR("[]")}, MEND_EINVAL, 0},
      {{.size = sizeof(mend_detection), .reason = REASON, .payload = MEND_STR("")}, MEND_EINVAL, 0},
      {{.size = sizeof(mend_detection), .reason = REASON, .payload = MEND_STR("{} {}")}, MEND_EINVAL, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_world world;
    world_open(&world);
    mend_detection given = rows[i].detection;
    const mend_watchdog_vtable vtable = {.size = sizeof vtable, .name = "n", .event = emit_given, .topics = "tool.*"};
    mend_watchdog *watchdog;
    cr_assert_eq(mend_watchdog_new(&vtable, &given, &world.memory.base, &watchdog, NULL), MEND_OK);
    mend_run *run = world_run(&world, "r");
    cr_assert_eq(mend_watchdog_watch_run(watchdog, run), MEND_OK);
    cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
    mend_bus_stats stats = {.size = sizeof stats};
    mend_bus_get_stats(world.bus, &stats);
    cr_assert_eq(stats.handler_failures, rows[i].status == MEND_OK ? 0u : 1u, "row %zu", i);
    cr_assert_eq(detections_of(run), rows[i].status == MEND_OK ? 1u : 0u, "row %zu", i);
    if (rows[i].status == MEND_OK) {
      const mend_detection *found = latest(run);
      cr_assert_float_eq(found->severity, rows[i].severity, 0);
      cr_assert(text_is(found->summary, "r")); /* absent: the reason stands for it */
      mend_detection_release(found);
    }
    mend_run_release(run);
    mend_watchdog_release(watchdog);
    world_close(&world);
  }
}

static void keep_log(void *ctx, mend_log_level level, const char *message) {
  char *log = ctx;
  const size_t len = strlen(log);
  cr_assert_eq(level, MEND_LOG_WARNING);
  snprintf(log + len, 512 - len, "%s|", message);
}

Test(watching, what_was_refused_is_logged) {
  static const struct {
    mend_detection detection;
    const char *log;
  } rows[] = {
      {{.size = sizeof(mend_detection), .reason = {"r", 1}}, ""},
      {{.size = 0, .reason = {"r", 1}},
       "watchdog n: a detection was refused: mend_detection: size is 0, start from the type's _INIT or set size to "
       "sizeof(mend_detection)|"},
      {{.size = sizeof(mend_detection)}, "watchdog n: a detection was refused: mend_detection.reason: expected one|"},
      {{.size = sizeof(mend_detection), .reason = {"r", 1}, .evidence = {"{\"password\":\"tree\"}", 19}},
       "watchdog n: a detection was refused: mend_detection.evidence: {\"password\":\"***\"}, expected a JSON array|"},
      {{.size = sizeof(mend_detection), .reason = {"r", 1}, .payload = {"[]", 2}},
       "watchdog n: a detection was refused: mend_detection.payload: [], expected a JSON object|"},
      {{.size = sizeof(mend_detection), .reason = {"r", 1}, .payload = {"{}", MEND_DETECTION_JSON_MAX + 1}},
       "watchdog n: a detection was refused: mend_detection.payload: 65537 bytes, expected at most 65536|"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char log[512] = "";
    mend_bus_options options = MEND_BUS_OPTIONS_INIT;
    options.log = keep_log;
    options.log_ctx = log;
    mend_bus *bus;
    mend_run *run;
    mend_watchdog *watchdog;
    mend_detection given = rows[i].detection;
    const mend_watchdog_vtable vtable = {.size = sizeof vtable, .name = "n", .event = emit_given, .topics = "tool.*"};
    cr_assert_eq(mend_bus_new(&options, &bus, NULL), MEND_OK);
    cr_assert_eq(mend_run_new(bus, NULL, &run, NULL), MEND_OK);
    cr_assert_eq(mend_watchdog_new(&vtable, &given, NULL, &watchdog, NULL), MEND_OK);
    cr_assert_eq(mend_watchdog_watch_run(watchdog, run), MEND_OK);
    cr_assert_eq(mend_run_emit(run, "tool.before", "{\"tool_name\":\"t\",\"call_id\":\"1\"}", NULL), MEND_OK);
    cr_assert_str_eq(log, rows[i].log, "row %zu", i);
    mend_watchdog_release(watchdog);
    mend_run_release(run);
    mend_bus_release(bus);
  }
}

/* ---- Failures ---- */

static mend_status fail_event(void *ctx, const mend_event *event, mend_emitter *emitter) {
  (void)ctx;
  (void)event;
  (void)emitter;
  return MEND_EIO;
}

static mend_status fail_expire(void *ctx, uint64_t now_ns, mend_emitter *emitter) {
  (void)ctx;
  (void)now_ns;
  (void)emitter;
  return MEND_ELIMIT;
}

typedef struct failure_note {
  unsigned count;
  char handler[32], status[32];
} failure_note;

static mend_status note_failure(void *ctx, const mend_event *event) {
  failure_note *note = ctx;
  const mend_bus_handler_failed_event *failed = (const mend_bus_handler_failed_event *)event;
  note->count++;
  snprintf(note->handler, sizeof note->handler, "%.*s", MEND_STR_ARG(failed->handler));
  snprintf(note->status, sizeof note->status, "%.*s", MEND_STR_ARG(failed->status));
  return MEND_OK;
}

Test(watching, a_failing_watchdog_harms_no_other) {
  test_world world;
  world_open(&world);
  unsigned count = 0;
  const mend_watchdog_vtable failing = {
      .size = sizeof failing, .name = "failing", .topics = "tool.*", .event = fail_event, .expire = fail_expire};
  const mend_watchdog_vtable counting = {
      .size = sizeof counting, .name = "n", .topics = "tool.*", .event = count_event};
  mend_watchdog *bad, *good;
  cr_assert_eq(mend_watchdog_new(&failing, NULL, &world.memory.base, &bad, NULL), MEND_OK);
  cr_assert_eq(mend_watchdog_new(&counting, &count, &world.memory.base, &good, NULL), MEND_OK);
  failure_note note = {0};
  cr_assert_eq(mend_bus_subscribe(world.bus, "bus.handler_failed", note_failure, &note, NULL, NULL, NULL), MEND_OK);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(mend_watchdog_watch_run(bad, run), MEND_OK);
  cr_assert_eq(mend_watchdog_watch_run(good, run), MEND_OK);
  cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
  cr_assert_eq(count, 1u);
  cr_assert_eq(note.count, 1u);
  cr_assert_str_eq(note.status, "MEND_EIO");
  cr_assert_str_eq(note.handler, "failing", "the watchdog's name, not its watch's pattern");
  note.handler[0] = '\0';
  world_advance(&world, 1);
  cr_assert_eq(note.count, 2u);
  cr_assert_str_eq(note.status, "MEND_ELIMIT");
  cr_assert_str_eq(note.handler, "failing");
  mend_run_release(run);
  mend_watchdog_release(bad);
  mend_watchdog_release(good);
  world_close(&world);
}

typedef struct stubborn_ctx {
  int opened, open_fails_at, closed;
} stubborn_ctx;

static mend_status stubborn_open(void *ctx, mend_run *run, void **ret_state) {
  (void)run;
  stubborn_ctx *watchdog = ctx;
  *ret_state = watchdog;
  return ++watchdog->opened == watchdog->open_fails_at ? MEND_ELIMIT : MEND_OK;
}

static void stubborn_close(void *ctx) { ((stubborn_ctx *)ctx)->closed++; }

Test(watching, a_state_that_does_not_open) {
  static const mend_watchdog_vtable vtable = {
      .size = sizeof vtable, .name = "stubborn", .open = stubborn_open, .close = stubborn_close};
  test_world world;
  world_open(&world);
  failure_note note = {0};
  cr_assert_eq(mend_bus_subscribe(world.bus, "bus.handler_failed", note_failure, &note, NULL, NULL, NULL), MEND_OK);
  stubborn_ctx stubborn = {.open_fails_at = 2};
  mend_watchdog *watchdog;
  cr_assert_eq(mend_watchdog_new(&vtable, &stubborn, &world.memory.base, &watchdog, NULL), MEND_OK);
  mend_run *one = world_run(&world, "one"), *two = world_run(&world, "two");
  /* Of the runs alive now one fails: none is watched, and it may be tried again. */
  cr_assert_eq(mend_watchdog_watch_bus(watchdog, world.bus), MEND_ELIMIT);
  cr_assert_eq(stubborn.opened, 2);
  cr_assert_eq(stubborn.closed, 1);
  mend_run *three = world_run(&world, "three");
  cr_assert_eq(stubborn.opened, 2);
  cr_assert_eq(mend_watchdog_watch_bus(watchdog, world.bus), MEND_OK);
  cr_assert_eq(stubborn.opened, 5);
  /* A later run's failure is told on that run. */
  cr_assert_eq(note.count, 0u);
  stubborn.open_fails_at = 6;
  mend_run *four = world_run(&world, "four");
  cr_assert_eq(note.count, 1u);
  cr_assert_str_eq(note.status, "MEND_ELIMIT");
  /* A reset that cannot open leaves it out until the next one. */
  stubborn.open_fails_at = 7;
  cr_assert_eq(reset(one), MEND_OK);
  cr_assert_eq(note.count, 2u);
  cr_assert_eq(stubborn.closed, 2);
  cr_assert_eq(reset(one), MEND_OK);
  cr_assert_eq(stubborn.opened, 8);
  cr_assert_eq(stubborn.closed, 2);
  mend_run *const runs[] = {one, two, three, four};
  for (int i = 0; i < 4; i++)
    mend_run_release(runs[i]);
  mend_watchdog_release(watchdog);
  world_close(&world);
  cr_assert_eq(stubborn.closed, 5);
}

/* ---- Time ---- */

typedef struct tick_ctx {
  unsigned count;
  uint64_t last_ns;
  uint64_t due_ns, every_ns; /* for one with deadlines; every_ns 0: it does not move on */
} tick_ctx;

static mend_status tick(void *ctx, uint64_t now_ns, mend_emitter *emitter) {
  tick_ctx *ticker = ctx;
  ticker->count++;
  ticker->last_ns = now_ns;
  ticker->due_ns += ticker->every_ns;
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = MEND_STR("tick");
  const mend_status status = mend_emit(emitter, &detection);
  return status == MEND_ECLOSED ? MEND_OK : status;
}

static uint64_t tick_deadline(void *ctx) { return ((tick_ctx *)ctx)->due_ns; }

Test(watching, polls_and_the_last_one) {
  test_world world;
  world_open(&world);
  tick_ctx polled = {0};
  const mend_watchdog_vtable vtable = {.size = sizeof vtable, .name = "poll", .topics = "", .expire = tick};
  mend_watchdog *watchdog;
  cr_assert_eq(mend_watchdog_new(&vtable, &polled, &world.memory.base, &watchdog, NULL), MEND_OK);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(mend_watchdog_watch_run(watchdog, run), MEND_OK);
  world_advance(&world, 10.5);
  cr_assert_eq(polled.count, 10u); /* every second */
  cr_assert_eq(polled.last_ns, 1010 * SECOND);
  cr_assert_eq(mend_bus_set_poll_interval(world.bus, 0.1, NULL), MEND_OK); /* at once */
  world_advance(&world, 1);
  cr_assert_eq(polled.count, 20u);
  cr_assert_eq(mend_bus_set_poll_interval(world.bus, 1e6, NULL), MEND_OK);
  world_advance(&world, 1000);
  cr_assert_eq(polled.count, 20u);
  cr_assert_eq(detections_of(run), 20u);
  mend_run_release(run);
  cr_assert_eq(polled.count, 21u); /* once when the watch is closed */
  static const double bad[] = {0, -1, __builtin_nan(""), __builtin_inf()};
  for (int i = 0; i < 4; i++) {
    mend_error error = {0};
    cr_assert_eq(mend_bus_set_poll_interval(world.bus, bad[i], &error), MEND_EINVAL);
    cr_assert_not_null(strstr(error.message, "poll_interval_s"), "%s", error.message);
  }
  mend_watchdog_release(watchdog);
  world_close(&world);
}

Test(watching, deadlines) {
  test_world world;
  world_open(&world);
  tick_ctx moving = {.due_ns = 1003 * SECOND, .every_ns = 5 * SECOND}, stuck = {.due_ns = 1001 * SECOND};
  const mend_watchdog_vtable vtable = {
      .size = sizeof vtable, .name = "due", .topics = "", .deadline = tick_deadline, .expire = tick};
  mend_watchdog *a, *b;
  cr_assert_eq(mend_watchdog_new(&vtable, &moving, &world.memory.base, &a, NULL), MEND_OK);
  cr_assert_eq(mend_watchdog_new(&vtable, &stuck, &world.memory.base, &b, NULL), MEND_OK);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(mend_watchdog_watch_run(a, run), MEND_OK);
  cr_assert_eq(mend_bus_next_deadline(world.bus), 1003 * SECOND);
  world_advance(&world, 14);
  cr_assert_eq(moving.count, 3u); /* at 3, 8 and 13 */
  cr_assert_eq(moving.last_ns, 1013 * SECOND);
  cr_assert_eq(mend_watchdog_watch_run(b, run), MEND_OK); /* past already, and never anything else */
  world_advance(&world, 10);
  cr_assert_eq(stuck.count, 11u); /* at once, and once a poll */
  mend_run_release(run);
  mend_watchdog_release(a);
  mend_watchdog_release(b);
  world_close(&world);
}

static void count_wakes(void *ctx) { ++*(unsigned *)ctx; }

/* A run of ordinary calls wakes the waiter once a timeout, not once a call. */
Test(watching, who_waits_is_woken_for_earlier_deadlines_only) {
  test_world world;
  world_open(&world);
  unsigned wakes = 0;
  cr_assert_eq(mend_bus_next_deadline(world.bus), MEND_NEVER);
  cr_assert_eq(mend_bus_expire(world.bus), MEND_OK);
  cr_assert_eq(mend_bus_set_waker(world.bus, (mend_waker){count_wakes, &wakes}), MEND_OK);
  cr_assert_eq(mend_bus_watch(world.bus, NULL, NULL), MEND_OK);
  mend_run *run = world_run(&world, "r"), *other = world_run(&world, "other");
  cr_assert_eq(wakes, 0u);
  cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
  cr_assert_eq(wakes, 1u);
  cr_assert_eq(mend_bus_next_deadline(world.bus), 1060 * SECOND + 1);
  cr_assert_eq(after(run, 1), MEND_OK);
  for (uint64_t call = 2; call < 1000; call++) {
    char tool[16];
    snprintf(tool, sizeof tool, "t%u", (unsigned)call);
    cr_assert_eq(mend_clock_advance(world.clock, 1000), MEND_OK);
    cr_assert_eq(before(call % 2 ? run : other, call, tool, NULL), MEND_OK);
    cr_assert_eq(after(call % 2 ? run : other, call), MEND_OK);
  }
  cr_assert_eq(wakes, 1u);
  world_advance(&world, 61); /* what was armed finds nothing due */
  cr_assert_eq(mend_bus_expire(world.bus), MEND_OK);
  cr_assert_eq(mend_bus_next_deadline(world.bus), MEND_NEVER);
  cr_assert_eq(detections_of(run) + detections_of(other), 0u);
  cr_assert_eq(before(run, 1, "u", NULL), MEND_OK);
  cr_assert_eq(wakes, 2u);
  mend_run_release(other);
  mend_run_release(run);
  world_close(&world);
}

/* On the real clock somebody waits: here with a limit that has passed as soon as one looks. */
Test(watching, the_real_clock) {
  mend_bus *bus;
  mend_run *run;
  cr_assert_eq(mend_bus_new(NULL, &bus, NULL), MEND_OK);
  mend_options options = MEND_OPTIONS_INIT;
  options.stall.timeout_s = 1e-9;
  cr_assert_eq(mend_bus_watch(bus, &options, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(bus, NULL, &run, NULL), MEND_OK);
  const mend_time begin = mend_clock_now(mend_bus_clock(bus));
  cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
  const uint64_t due_ns = mend_bus_next_deadline(bus);
  cr_assert(due_ns >= begin.mono_ns + 2);
  while (mend_clock_now(mend_bus_clock(bus)).mono_ns < due_ns) {
  }
  cr_assert_eq(mend_bus_expire(bus), MEND_OK);
  cr_assert_eq(detections_of(run), 1u);
  const mend_detection *found = latest(run);
  cr_assert_eq(found->detected_ns, due_ns);
  cr_assert(found->wall_ns >= begin.wall_ns - SECOND && found->wall_ns <= begin.wall_ns + 60 * SECOND);
  mend_detection_release(found);
  mend_run_release(run);
  mend_bus_release(bus);
}

/* ---- By options ---- */

Test(watching, by_options) {
  static const struct {
    bool loop, stall, regression;
  } rows[] = {
      {true, true, true}, {false, false, false}, {true, false, false}, {false, true, false}, {false, false, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_world world;
    world_open(&world);
    mend_options options = MEND_OPTIONS_INIT;
    options.loop.enable = rows[i].loop;
    options.stall.enable = rows[i].stall;
    options.regression.enable = rows[i].regression;
    cr_assert_eq(mend_bus_watch(world.bus, &options, NULL), MEND_OK);
    mend_run *run = world_run(&world, "r");
    for (int j = 0; j < 4; j++)
      cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
    for (int j = 0; j < 5; j++)
      cr_assert_eq(confidence(run, j < 2 ? 1 : 0), MEND_OK);
    world_advance(&world, 61);
    cr_assert_eq(detections_of(run), (uint64_t)(rows[i].loop + rows[i].stall + rows[i].regression), "row %zu", i);
    mend_run_release(run);
    world_close(&world);
  }
}

Test(watching, options_that_are_refused) {
  test_world world;
  world_open(&world);
  mend_options window = MEND_OPTIONS_INIT, no_size = MEND_OPTIONS_INIT, poll = MEND_OPTIONS_INIT;
  window.loop.n = 3;
  no_size.size = 0;
  poll.poll_interval_s = 0;
  const struct {
    const mend_options *options;
    mend_status status;
    const char *names;
  } rows[] = {
      {&window, MEND_EINVAL, "loop.n"},
      {&no_size, MEND_EINVAL, "size"},
      {&poll, MEND_EINVAL, "poll_interval_s"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend_error error = {0};
    cr_assert_eq(mend_bus_watch(world.bus, rows[i].options, &error), rows[i].status, "row %zu", i);
    cr_assert_not_null(strstr(error.message, rows[i].names), "%s", error.message);
  }
  mend_run *run = world_run(&world, "r");
  for (int j = 0; j < 4; j++)
    cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
  cr_assert_eq(detections_of(run), 0u); /* nothing watches */
  mend_run_release(run);
  world_close(&world);
}

static void note_wake(void *ctx) { ++*(int *)ctx; }

/* Whoever gives a waker waits, also for a virtual clock: it may want to be called on a thread of its own. */
Test(watching, a_waiter_takes_over_from_a_virtual_clock) {
  test_world world;
  world_open(&world);
  int woken = 0;
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(mend_bus_watch(world.bus, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_bus_set_waker(world.bus, (mend_waker){note_wake, &woken}), MEND_OK);
  cr_assert_eq(mend_bus_next_deadline(world.bus), MEND_NEVER);
  before(run, 1, "fetch", NULL);
  cr_assert_eq(woken, 1);
  const uint64_t due_ns = mend_bus_next_deadline(world.bus);
  cr_assert_eq(due_ns, (1000 + 60) * SECOND + 1);
  world_advance(&world, 61);
  cr_assert_eq(detections_of(run), 0u, "it is the waiter's to call");
  cr_assert_eq(mend_bus_expire(world.bus), MEND_OK);
  cr_assert_eq(detections_of(run), 1u);
  cr_assert_eq(mend_bus_set_waker(world.bus, (mend_waker){NULL, NULL}), MEND_OK);
  before(run, 2, "fetch", NULL);
  world_advance(&world, 61);
  cr_assert_eq(detections_of(run), 2u, "nobody waits: the clock calls again");
  cr_assert_eq(woken, 1);
  mend_run_release(run);
  world_close(&world);
}

Test(watching, a_run_is_let_go_of) {
  static const struct {
    const char *name;
    bool by_bus, by_run;
    mend_status want;
  } rows[] = {
      {"not watched", false, false, MEND_ENOENT},
      {"watched by itself", false, true, MEND_OK},
      {"watched with the bus", true, false, MEND_OK},
      {"both", true, true, MEND_OK},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    test_world world;
    world_open(&world);
    budget tokens = {.limit = 10};
    mend_watchdog *watchdog;
    cr_assert_eq(mend_watchdog_new(&budget_vtable, &tokens, &world.memory.base, &watchdog, NULL), MEND_OK);
    mend_run *run = world_run(&world, "r");
    if (rows[i].by_bus) cr_assert_eq(mend_watchdog_watch_bus(watchdog, world.bus), MEND_OK);
    if (rows[i].by_run) cr_assert_eq(mend_watchdog_watch_run(watchdog, run), MEND_OK);
    cr_assert_eq(mend_watchdog_watches_run(watchdog, run), rows[i].by_bus || rows[i].by_run, "%s", rows[i].name);
    usage(run, 11);
    cr_assert_eq(mend_watchdog_unwatch_run(watchdog, run), rows[i].want, "%s", rows[i].name);
    cr_assert(!mend_watchdog_watches_run(watchdog, run), "%s", rows[i].name);
    cr_assert_eq(tokens.closed, tokens.opened, "%s", rows[i].name);
    usage(run, 11);
    cr_assert_eq(detections_of(run), rows[i].want == MEND_OK ? 1u : 0u, "%s: the log stays", rows[i].name);
    cr_assert_eq(mend_watchdog_unwatch_run(watchdog, run), MEND_ENOENT, "%s", rows[i].name);
    mend_run_release(run);
    mend_watchdog_release(watchdog);
    world_close(&world);
  }
}

static mend_status emit_always(void *state, const mend_event *event, mend_emitter *emitter) {
  (void)event;
  ++*(unsigned *)state;
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = MEND_STR("again");
  return mend_emit(emitter, &detection);
}

/* One that wants everything sees its own detections as well: as deep as events may nest, and no deeper. */
Test(watching, a_watchdog_that_answers_itself) {
  static const char *const topics[] = {NULL, "*", "healing.*", "healing.detection tool.before"};
  for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
    test_world world;
    world_open(&world);
    unsigned calls = 0;
    const mend_watchdog_vtable vtable = {
        .size = sizeof vtable, .name = "echo", .topics = topics[i], .event = emit_always};
    mend_watchdog *watchdog;
    cr_assert_eq(mend_watchdog_new(&vtable, &calls, &world.memory.base, &watchdog, NULL), MEND_OK);
    mend_run *run = world_run(&world, "r");
    cr_assert_eq(mend_watchdog_watch_run(watchdog, run), MEND_OK);
    before(run, 1, "t", NULL);
    mend_detection_event own = MEND_DETECTION_EVENT_INIT;
    mend_run_publish(run, &own.event);
    mend_bus_stats stats = {.size = sizeof stats};
    mend_bus_get_stats(world.bus, &stats);
    cr_assert(stats.dropped > 0, "row %zu", i);
    cr_assert(calls < 500, "row %zu: %u calls", i, calls);
    mend_run_release(run);
    mend_watchdog_release(watchdog);
    world_close(&world);
  }
}

Test(watching, the_end_of_time) {
  test_world world;
  world_open(&world);
  cr_assert_eq(mend_bus_watch(world.bus, NULL, NULL), MEND_OK);
  mend_run *run = world_run(&world, "r");
  before(run, 1, "t", NULL);
  mend_clock_advance(world.clock, UINT64_C(1) << 63);
  mend_clock_advance(world.clock, UINT64_C(1) << 63);
  before(run, 2, "t", NULL); /* its deadline is never */
  after(run, 2);
  cr_assert_eq(detections_of(run), 1u);
  mend_run_release(run);
  world_close(&world);
}

/* Loop in mode evidence, rule by rule (docs/internals/loop-evidence.md); whole traces are in tests/data/watchdogs. */
#include "world.h"

static mend_watchdog *watch(test_world *world, const mend_loop_watchdog_options *options) {
  mend_watchdog *loop;
  mend_error error = {0};
  const mend_status status = mend_evidence_loop_watchdog_new(options, &world->memory.base, &loop, &error);
  cr_assert_eq(status, MEND_OK, "%s", error.message);
  cr_assert_eq(mend_watchdog_watch_bus(loop, world->bus), MEND_OK);
  return loop;
}

static mend_status answer(mend_run *run, uint64_t call, const char *result) {
  mend_tool_after_event event = MEND_TOOL_AFTER_EVENT_INIT;
  event.event.call = call;
  event.result = mend_str_from(result);
  return mend_run_publish(run, &event.event);
}

static mend_status fail(mend_run *run, uint64_t call, const char *message) {
  mend_tool_error_event event = MEND_TOOL_ERROR_EVENT_INIT;
  event.event.call = call;
  event.error_message = mend_str_from(message);
  return mend_run_publish(run, &event.event);
}

static mend_status skip(mend_run *run, uint64_t call) {
  mend_tool_skipped_event event = MEND_TOOL_SKIPPED_EVENT_INIT;
  event.event.call = call;
  event.hook = MEND_STR("watchdog");
  return mend_run_publish(run, &event.event);
}

/* ---- When it fires ---- */

/* What comes behind the letter of a call: how it ends. */
static mend_status end_call(mend_run *run, uint64_t call, char ending) {
  const char result[] = {'"', ending, '"', '\0'};
  switch (ending) {
  case '?': return MEND_OK; /* it does not */
  case '!': return fail(run, call, "boom");
  case '-': return skip(run, call);
  default: return answer(run, call, result);
  }
}

/* A letter is a call of the tool of that name, a capital one has just been reported; '|' is a person, '/' the next
 * request to the model. */
static void check_trace(uint32_t k, uint32_t n, mend_loop_rearm rearm, const char *trace) {
  test_world world;
  world_open(&world);
  mend_loop_watchdog_options options = MEND_LOOP_WATCHDOG_OPTIONS_INIT;
  options.k = k;
  options.n = n;
  options.rearm = rearm;
  mend_watchdog *loop = watch(&world, &options);
  mend_run *run = world_run(&world, "r");
  uint64_t reported = 0, call = 0;
  for (const char *at = trace; *at != '\0'; at++) {
    if (*at == '|') cr_assert_eq(publish(run, MEND_EVENT_USER_MESSAGE, 0), MEND_OK);
    if (*at == '/') cr_assert_eq(publish(run, MEND_EVENT_MODEL_REQUEST, 0), MEND_OK);
    if (*at == '|' || *at == '/') continue;
    const char tool[] = {(char)(*at | 0x20), '\0'};
    reported += (*at & 0x20) == 0;
    cr_assert_eq(before(run, ++call, tool, "{\"x\":1}"), MEND_OK);
    cr_assert_eq(detections_of(run), reported, "k %u, n %u, %s: at %s", k, n, trace, at);
    cr_assert_eq(end_call(run, call, *++at), MEND_OK);
  }
  mend_run_release(run);
  mend_watchdog_release(loop);
  world_close(&world);
}

Test(evidence_loop, when_it_fires) {
  static const struct {
    uint32_t k, n;
    mend_loop_rearm rearm;
    const char *trace;
  } rows[] = {
      {3, 10, MEND_LOOP_REARM_LEAVE_WINDOW, "a1a1a1A1a1a1a1"},  /* k equal answers, and once more; then silent */
      {3, 10, MEND_LOOP_REARM_LEAVE_WINDOW, "a1a2a3a4a5a6a7"},  /* it always says something else */
      {3, 10, MEND_LOOP_REARM_LEAVE_WINDOW, "a1a1a2a2a2A2"},    /* the last k count */
      {3, 10, MEND_LOOP_REARM_LEAVE_WINDOW, "a!a!a!A!"},        /* errors are outcomes too */
      {3, 10, MEND_LOOP_REARM_LEAVE_WINDOW, "a!a!a1a!a!a1a!"},  /* it worked in between */
      {3, 10, MEND_LOOP_REARM_LEAVE_WINDOW, "a-a-a-a-a-a-"},    /* what did not run is no outcome */
      {3, 10, MEND_LOOP_REARM_LEAVE_WINDOW, "a1a1a-a1A1"},      /* nor does it end a row */
      {3, 10, MEND_LOOP_REARM_LEAVE_WINDOW, "a1a1a1|a1a1a1A1"}, /* a person has spoken */
      {3, 10, MEND_LOOP_REARM_LEAVE_WINDOW, "a?a?a?a?a?a?"},    /* all of it is in flight at once */
      {3, 10, MEND_LOOP_REARM_LEAVE_WINDOW, "/a?/a?/a?/A?"},    /* turn after turn; nobody knows what came of it */
      {3, 10, MEND_LOOP_REARM_LEAVE_WINDOW, "/a1a1a1/a1a1/a1a1/A1a1"}, /* a turn is one decision */
      {3, 10, MEND_LOOP_REARM_LEAVE_WINDOW, "a1b1a1b1a1b1A1b1a1b1"},   /* in turn: one cycle, not two repeats */
      {3, 10, MEND_LOOP_REARM_LEAVE_WINDOW, "a1b1a1b2a1b3A1b4"},       /* the one that says the same */
      {3, 10, MEND_LOOP_REARM_LEAVE_WINDOW, "a1a1a1b1c1d1e1f1g1h1a1"}, /* the others have left the window of ten */
      {3, 10, MEND_LOOP_REARM_LEAVE_WINDOW, "a1a1a1A1b1c1d1e1f1g1h1i1j1k1a1a1a1A1"}, /* and then it begins anew */
      {3, 10, MEND_LOOP_REARM_PAIR_CHANGE, "a1a1a1A1a1b1A1a1"},
      {2, 9, MEND_LOOP_REARM_BACKOFF, "a1a1A1a1A1a1a1a1A1a1a1a1a1a1a1a1A1"}, /* after 2, 4, 8, 16 */
      {1, 2, MEND_LOOP_REARM_LEAVE_WINDOW, "a1A1"},
      {1, 2, MEND_LOOP_REARM_LEAVE_WINDOW, "a1A2a1a2"}, /* one answer is always equal to itself */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check_trace(rows[i].k, rows[i].n, rows[i].rearm, rows[i].trace);
}

/* ---- What it says ---- */

static const mend_detection *report_of(test_world *world, mend_run *run, const char *tool, const char *result) {
  for (uint64_t call = 1; call <= 4; call++) {
    world_advance(world, 2);
    cr_assert_eq(before(run, call, tool, "{\"q\":[1,2]}"), MEND_OK);
    world_advance(world, 1);
    if (result != NULL) cr_assert_eq(answer(run, call, result), MEND_OK);
  }
  return latest(run);
}

Test(evidence_loop, what_it_says) {
  test_world world;
  world_open(&world);
  mend_watchdog *loop = watch(&world, NULL);
  mend_run *run = world_run(&world, "r");
  static char result[600];
  snprintf(result, sizeof result, "\"%0500d\"", 7); /* more than evidence shows */
  const mend_detection *found = report_of(&world, run, "search", result);
  cr_assert(text_is(found->detector, "loop"));
  cr_assert(text_is(found->kind, "loop"));
  cr_assert(text_is(found->reason, "repeat"));
  cr_assert(text_is(found->tool_name, "search"));
  cr_assert(text_is(found->first_call, "1"));
  cr_assert(text_is(found->last_call, "4"));
  cr_assert_eq(found->count, 4u);
  cr_assert_eq(found->period, 0u);
  cr_assert_float_eq(found->severity, 4 / 6.0, 1e-9);
  cr_assert_float_eq(found->confidence, 0.9, 1e-9);
  cr_assert(text_is(found->summary, "search was called 4 times with the same arguments and the same answer"));
  cr_assert(found->steer.len > 0);
  cr_assert_not_null(strstr(found->incident.ptr, "repeat/search/"));
  cr_assert_not_null(strstr(found->evidence.ptr, "{\"call_id\":\"1\",\"ts\":"));
  cr_assert_not_null(strstr(found->evidence.ptr, "\"outcome\":\"ok\",\"result\":\"0000"));
  cr_assert(found->evidence.len < 3 * 200, "%s", found->evidence.ptr);
  cr_assert_not_null(strstr(found->payload.ptr, "\"count\":4,\"limit\":3,\"window_size\":10}"));
  mend_detection_release(found);
  mend_run_release(run);
  mend_watchdog_release(loop);
  world_close(&world);
}

/* The same trouble has the same name, whatever its calls are called; another one has another. */
Test(evidence_loop, incidents) {
  static const struct {
    const char *tool, *result;
  } rows[] = {{"search", "\"a\""}, {"search", "\"b\""}, {"seek", "\"a\""}};
  char incidents[3][64];
  for (size_t i = 0; i < 3; i++) {
    test_world world;
    world_open(&world);
    mend_watchdog *loop = watch(&world, NULL);
    mend_run *run = world_run(&world, "r");
    const mend_detection *found = report_of(&world, run, rows[i].tool, rows[i].result);
    cr_assert(found->incident.len < sizeof incidents[i]);
    snprintf(incidents[i], sizeof incidents[i], "%s", found->incident.ptr);
    mend_detection_release(found);
    mend_run_release(run);
    mend_watchdog_release(loop);
    world_close(&world);
  }
  cr_assert_str_eq(incidents[0], incidents[1]);
  cr_assert(strcmp(incidents[0], incidents[2]) != 0);
}

Test(evidence_loop, how_sure_it_is) {
  static const struct {
    const char *idempotent;
    const char *result; /* NULL: nobody says */
    double confidence;
  } rows[] = {
      {NULL, "\"a\"", 0.9},
      {"[\"search\"]", "\"a\"", 0.4},
      {"[\"sea*\"]", "\"a\"", 0.4},
      {"[\"other\"]", "\"a\"", 0.9},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_world world;
    world_open(&world);
    mend_loop_watchdog_options options = MEND_LOOP_WATCHDOG_OPTIONS_INIT;
    options.idempotent = mend_str_from(rows[i].idempotent);
    mend_watchdog *loop = watch(&world, &options);
    mend_run *run = world_run(&world, "r");
    const mend_detection *found = report_of(&world, run, "search", rows[i].result);
    cr_assert_float_eq(found->confidence, rows[i].confidence, 1e-9, "row %zu", i);
    mend_detection_release(found);
    mend_run_release(run);
    mend_watchdog_release(loop);
    world_close(&world);
  }
}

Test(evidence_loop, of_what_nobody_tells_it_is_not_sure) {
  test_world world;
  world_open(&world);
  mend_watchdog *loop = watch(&world, NULL);
  mend_run *run = world_run(&world, "r");
  for (uint64_t call = 1; call <= 4; call++) {
    cr_assert_eq(publish(run, MEND_EVENT_MODEL_REQUEST, 0), MEND_OK);
    cr_assert_eq(before(run, call, "t", NULL), MEND_OK);
  }
  const mend_detection *found = latest(run);
  cr_assert_float_eq(found->confidence, 0.4, 1e-9);
  cr_assert_not_null(strstr(found->summary.ptr, "what came of it is unknown"));
  mend_detection_release(found);
  mend_run_release(run);
  mend_watchdog_release(loop);
  world_close(&world);
}

/* ---- Attempts of one call are one decision: how the last one ends counts ---- */

static mend_status attempt(mend_run *run, uint64_t call, uint64_t number) {
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  event.event.call = call;
  event.tool_name = MEND_STR("t");
  event.attempt = number;
  return mend_run_publish(run, &event.event);
}

Test(evidence_loop, attempts) {
  test_world world;
  world_open(&world);
  mend_watchdog *loop = watch(&world, NULL);
  mend_run *run = world_run(&world, "r");
  for (uint64_t number = 1; number <= 9; number++) {
    cr_assert_eq(attempt(run, 1, number), MEND_OK);
    cr_assert_eq(fail(run, 1, "no"), MEND_OK);
  }
  cr_assert_eq(detections_of(run), 0u);
  for (uint64_t call = 2; call <= 4; call++) {
    cr_assert_eq(attempt(run, call, 1), MEND_OK);
    cr_assert_eq(fail(run, call, "no"), MEND_OK);
    cr_assert_eq(attempt(run, call, 2), MEND_OK);
    cr_assert_eq(answer(run, call, "\"yes\""), MEND_OK);
  }
  cr_assert_eq(detections_of(run), 0u); /* an error once, and "yes" three times */
  cr_assert_eq(attempt(run, 5, 1), MEND_OK);
  cr_assert_eq(detections_of(run), 1u);
  mend_run_release(run);
  mend_watchdog_release(loop);
  world_close(&world);
}

/* ---- Bounds, counters, options ---- */

static void make_different_calls(mend_run *run, uint64_t first, uint64_t count) {
  for (uint64_t call = first; call < first + count; call++) {
    char args[48], tool[24];
    snprintf(args, sizeof args, "{\"n\":%llu}", (unsigned long long)call);
    snprintf(tool, sizeof tool, "tool%llu", (unsigned long long)(call % 3000));
    cr_assert_eq(before(run, call, tool, args), MEND_OK);
    cr_assert_eq(answer(run, call, args), MEND_OK);
  }
}

Test(evidence_loop, memory_is_bounded) {
  test_world world;
  world_open(&world);
  mend_watchdog *loop = watch(&world, NULL);
  mend_run *run = world_run(&world, "r");
  make_different_calls(run, 1, 20000);
  const size_t blocks = atomic_load(&world.memory.blocks);
  mend_test_allocator_arm(&world.memory, 0, false);
  make_different_calls(run, 20001, 20000);
  cr_assert_eq(atomic_load(&world.memory.calls), 0u); /* no allocation any more */
  cr_assert_eq(atomic_load(&world.memory.blocks), blocks);
  cr_assert_eq(detections_of(run), 0u);
  mend_run_release(run);
  mend_watchdog_release(loop);
  world_close(&world);
}

Test(evidence_loop, what_it_cannot_use_it_counts) {
  test_world world;
  world_open(&world);
  mend_watchdog *loop = watch(&world, NULL);
  mend_run *run = world_run(&world, "r");
  for (int i = 0; i < 5; i++)
    cr_assert_eq(before(run, 1, "", "{}"), MEND_OK);
  cr_assert_eq(before(run, 2, "t", "no json"), MEND_OK);
  cr_assert_eq(before(run, 2, "t", "no json"), MEND_OK);
  cr_assert_eq(answer(run, 99, "\"whose?\""), MEND_OK);
  mend_watchdog_stats stats = {.size = sizeof stats};
  cr_assert_eq(mend_watchdog_get_stats(loop, &stats), MEND_OK);
  cr_assert_eq(stats.ignored, 5u);
  cr_assert_eq(stats.raw, 2u);
  cr_assert_eq(stats.duplicates, 1u);
  cr_assert_eq(reset(run), MEND_OK);
  cr_assert_eq(detections_of(run), 0u);
  char *dump;
  cr_assert_eq(mend_run_watch_dump(run, NULL, &dump), MEND_OK);
  cr_assert_not_null(strstr(dump, "decisions 0"), "%s", dump);
  mend_free(NULL, dump);
  mend_run_release(run);
  mend_watchdog_release(loop);
  world_close(&world);
}

Test(evidence_loop, options) {
  mend_loop_watchdog_options options = MEND_LOOP_WATCHDOG_OPTIONS_INIT;
  mend_watchdog *loop = NULL;
  mend_error error = {0};
  options.k = options.n;
  cr_assert_eq(mend_evidence_loop_watchdog_new(&options, NULL, &loop, &error), MEND_EINVAL);
  cr_assert_not_null(strstr(error.message, "loop.n"), "%s", error.message);
  options.size = 0;
  cr_assert_eq(mend_evidence_loop_watchdog_new(&options, NULL, &loop, NULL), MEND_EINVAL);
  cr_assert_null(loop);
}

/* ---- Without memory ---- */

static void live(test_world *world) {
  static const char long_tool[] = "a tool whose name is too long to be kept inside of a record";
  mend_loop_watchdog_options options = MEND_LOOP_WATCHDOG_OPTIONS_INIT;
  options.ignore_args = MEND_STR("{\"t*\":[\"a\"]}");
  options.tool_k = MEND_STR("{\"t\":4}");
  mend_watchdog *loop;
  mend_run *run;
  if (mend_evidence_loop_watchdog_new(&options, &world->memory.base, &loop, NULL) != MEND_OK) return;
  static char args[4000];
  size_t len = 0;
  for (int i = 0; i < 200; i++)
    len += (size_t)snprintf(args + len, sizeof args - len, "%s\"k%d\":%d", i ? "," : "{", i, i);
  snprintf(args + len, sizeof args - len, "}");
  mend_watchdog_watch_bus(loop, world->bus);
  if (mend_run_new(world->bus, NULL, &run, NULL) == MEND_OK) {
    for (uint64_t call = 1; call <= 60; call++) {
      mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
      event.event.call = call;
      event.event.call_name = MEND_STR("call_with_a_name_that_is_longer_than_what_is_kept_inside");
      event.tool_name = call % 3 == 0 ? mend_str_from(long_tool) : MEND_STR("t");
      event.args = call % 20 == 19 ? mend_str_from(args) : MEND_STR("{\"a\":1}");
      mend_run_publish(run, &event.event);
      if (call % 5 != 0) answer(run, call, "\"same\"");
      if (call == 40) publish(run, MEND_EVENT_USER_MESSAGE, 0);
      if (call == 30) publish(run, MEND_EVENT_MODEL_RETRY, 0);
    }
    mend_run_release(run);
  }
  mend_watchdog_release(loop);
}

Test(evidence_loop, each_allocation_fails) { world_torture(live, 60); }

/* A call that is not reported for want of memory is reported with the next one. */
Test(evidence_loop, a_report_that_failed_comes_later) {
  test_world world;
  world_open(&world);
  mend_watchdog *loop = watch(&world, NULL);
  mend_run *run = world_run(&world, "r");
  for (uint64_t call = 1; call <= 5; call++) {
    if (call == 4) mend_test_allocator_arm(&world.memory, 1, true);
    before(run, call, "t", NULL);
    if (call == 4) mend_test_allocator_arm(&world.memory, 0, false);
    cr_assert_eq(detections_of(run), call == 5 ? 1u : 0u, "call %llu", (unsigned long long)call);
    cr_assert_eq(answer(run, call, "\"a\""), MEND_OK);
  }
  mend_run_release(run);
  mend_watchdog_release(loop);
  world_close(&world);
}

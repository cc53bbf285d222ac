/* Budget, beyond what the recorded cases show: what a detection says, what counts, bounds and memory. */
#include "world.h"

static mend_status budget_of(test_world *world, const mend_budget_watchdog_options *options) {
  mend_watchdog *budget;
  mend_status status = mend_budget_watchdog_new(options, &world->memory.base, &budget, NULL);
  if (status == MEND_OK) status = mend_watchdog_watch_bus(budget, world->bus);
  if (status == MEND_OK) mend_watchdog_release(budget);
  return status;
}

static mend_status ask_model(mend_run *run) {
  mend_model_request_event event = MEND_MODEL_REQUEST_EVENT_INIT;
  return mend_run_publish(run, &event.event);
}

static mend_status use(mend_run *run, uint64_t tokens, uint64_t input, uint64_t output, double cost_usd) {
  mend_model_usage_event event = MEND_MODEL_USAGE_EVENT_INIT;
  event.tokens = tokens;
  event.input_tokens = input;
  event.output_tokens = output;
  event.cost_usd = cost_usd;
  return mend_run_publish(run, &event.event);
}

Test(budget, what_a_detection_says) {
  enum { CALLS, TOOL_CALLS, TOKENS, COST, TIME };
  static const struct {
    const char *reason, *summary, *incident, *payload;
    const char *tool, *call;
  } rows[] = {
      [CALLS] = {"calls", "the run has made 2 tool calls of the 2 it may, and is about to go on", "calls",
                 "{\"limit\":\"budget.calls\",\"used\":2,\"of\":2}", NULL, "3"},
      [TOOL_CALLS] = {"calls", "the run has made 2 tool calls of t of the 2 it may, and is about to go on", "calls/t",
                      "{\"limit\":\"budget.tool_calls\",\"used\":2,\"of\":2}", "t", "3"},
      [TOKENS] = {"tokens", "the run has used 1500 tokens of the 1000 it may, and is about to go on", "tokens",
                  "{\"limit\":\"budget.tokens\",\"used\":1500,\"of\":1000}", NULL, NULL},
      [COST] = {"cost", "the run has cost 0.75 US dollars of the 0.5 it may, and is about to go on", "cost",
                "{\"limit\":\"budget.cost_usd\",\"used\":0.75,\"of\":0.5}", NULL, NULL},
      [TIME] = {"time", "the run has taken 60.0 s of the 60.0 it may", "time",
                "{\"limit\":\"budget.time_s\",\"used\":60.000000001,\"of\":60}", NULL, NULL},
  };
  for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
    test_world world;
    world_open(&world);
    mend_budget_watchdog_options options = MEND_BUDGET_WATCHDOG_OPTIONS_INIT;
    if (i == CALLS) options.calls = 2;
    if (i == TOOL_CALLS) options.tool_calls = MEND_STR("{\"t*\": 2}");
    if (i == TOKENS) options.tokens = 1000;
    if (i == COST) options.cost_usd = 0.5;
    if (i == TIME) options.time_s = 60;
    cr_assert_eq(budget_of(&world, &options), MEND_OK);
    mend_run *run = world_run(&world, "r");
    cr_assert_eq(use(run, 1500, 1000, 500, 0.75), MEND_OK);
    cr_assert_eq(detections_of(run), 0u, "row %d", i);
    cr_assert_eq(ask_model(run), MEND_OK);
    for (uint64_t call = 1; call <= 4; call++)
      cr_assert_eq(before(run, call, "t", NULL), MEND_OK);
    world_advance(&world, 61);
    cr_assert_eq(ask_model(run), MEND_OK);
    cr_assert_eq(detections_of(run), 1u, "row %d", i);
    const mend_detection *found = latest(run);
    cr_assert(text_is(found->detector, "budget"));
    cr_assert(text_is(found->kind, "budget"));
    cr_assert(text_is(found->reason, rows[i].reason), "row %d", i);
    cr_assert_str_eq(found->summary.ptr, rows[i].summary);
    cr_assert(text_is(found->incident, rows[i].incident), "row %d", i);
    cr_assert_str_eq(found->payload.ptr, rows[i].payload);
    cr_assert(text_is(found->tool_name, rows[i].tool), "row %d", i);
    cr_assert(text_is(found->last_call, rows[i].call), "row %d", i);
    cr_assert(text_is(found->first_call, rows[i].call), "row %d", i);
    cr_assert(found->evidence.len > 2 && found->steer.len > 0);
    cr_assert_eq(found->rung, MEND_RUNG_ACT);
    cr_assert_eq(found->cause_seq != 0, i != TIME, "row %d", i);
    mend_detection_release(found);
    mend_run_release(run);
    world_close(&world);
  }
}

Test(budget, what_counts_as_usage) {
  static const struct {
    uint64_t tokens, input, output;
    double cost_usd;
    bool spends_tokens, spends_money;
  } rows[] = {
      {100, MEND_NONE, MEND_NONE, __builtin_nan(""), true, false},
      {MEND_NONE, 60, 40, 0, true, false},
      {MEND_NONE, 100, MEND_NONE, 0, true, false},
      {MEND_NONE, MEND_NONE, 100, 1, true, true},
      {99, 100, 100, 0, false, false}, /* what is said of the whole counts */
      {MEND_NONE, MEND_NONE, MEND_NONE, 1, false, true},
      {0, 0, 0, -5, false, false},
      {MEND_NONE - 1, 0, 0, 0, true, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_world world;
    world_open(&world);
    mend_budget_watchdog_options options = MEND_BUDGET_WATCHDOG_OPTIONS_INIT;
    options.tokens = 100;
    options.cost_usd = 1;
    cr_assert_eq(budget_of(&world, &options), MEND_OK);
    mend_run *run = world_run(&world, "r");
    cr_assert_eq(use(run, rows[i].tokens, rows[i].input, rows[i].output, rows[i].cost_usd), MEND_OK);
    cr_assert_eq(ask_model(run), MEND_OK);
    cr_assert_eq(detections_of(run), (uint64_t)rows[i].spends_tokens + rows[i].spends_money, "row %zu", i);
    mend_run_release(run);
    world_close(&world);
  }
}

/* The time of a run begins with it, and anew with a reset. */
Test(budget, time_of_each_run) {
  test_world world;
  world_open(&world);
  mend_budget_watchdog_options options = MEND_BUDGET_WATCHDOG_OPTIONS_INIT;
  options.time_s = 60;
  cr_assert_eq(budget_of(&world, &options), MEND_OK);
  mend_run *first = world_run(&world, "first");
  world_advance(&world, 40);
  mend_run *second = world_run(&world, "second");
  world_advance(&world, 20);
  cr_assert_eq(detections_of(first), 0u);
  world_advance(&world, 1);
  cr_assert_eq(detections_of(first), 1u);
  cr_assert_eq(detections_of(second), 0u);
  cr_assert_eq(reset(second), MEND_OK);
  world_advance(&world, 60);
  cr_assert_eq(detections_of(second), 0u);
  world_advance(&world, 1);
  cr_assert_eq(detections_of(second), 1u);
  world_advance(&world, 1000);
  cr_assert_eq(detections_of(first) + detections_of(second), 2u);
  mend_run_release(first);
  mend_run_release(second);
  world_close(&world);
}

/* What a budget allows is looked at with each call, and a call needs no memory for it. */
Test(budget, a_call_allocates_nothing) {
  test_world world;
  world_open(&world);
  mend_budget_watchdog_options options = MEND_BUDGET_WATCHDOG_OPTIONS_INIT;
  options.calls = 1000000;
  options.tool_calls = MEND_STR("{\"t\": 1000}");
  cr_assert_eq(budget_of(&world, &options), MEND_OK);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
  const size_t calls = atomic_load(&world.memory.calls);
  for (uint64_t call = 2; call <= 500; call++)
    cr_assert_eq(before(run, call, call % 2 == 0 ? "t" : "other", NULL), MEND_OK);
  cr_assert_eq(atomic_load(&world.memory.calls), calls);
  mend_run_release(run);
  world_close(&world);
}

/* A pattern can name as many tools as there are; so many of a run are counted. */
Test(budget, the_bound_of_tools) {
  enum { MAX = 4096 };
  test_world world;
  world_open(&world);
  mend_budget_watchdog_options options = MEND_BUDGET_WATCHDOG_OPTIONS_INIT;
  options.tool_calls = MEND_STR("{\"t*\": 1}");
  mend_watchdog *budget;
  cr_assert_eq(mend_budget_watchdog_new(&options, &world.memory.base, &budget, NULL), MEND_OK);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(mend_watchdog_watch_run(budget, run), MEND_OK);
  for (int round = 0; round < 2; round++) {
    for (unsigned tool = 0; tool <= MAX; tool++) {
      char name[16];
      snprintf(name, sizeof name, "t%u", tool);
      cr_assert_eq(before(run, 1, name, NULL), MEND_OK);
    }
    cr_assert_eq(detections_of(run), round == 0 ? 0u : (uint64_t)MAX);
  }
  mend_watchdog_stats stats = {.size = sizeof stats};
  cr_assert_eq(mend_watchdog_get_stats(budget, &stats), MEND_OK);
  cr_assert_eq(stats.unwatched, 2u);
  mend_run_release(run);
  mend_watchdog_release(budget);
  world_close(&world);
}

Test(budget, options) {
  static const struct {
    mend_budget_watchdog_options options;
    const char *option; /* the one that is wrong; NULL: all are fine */
  } rows[] = {
      {MEND_BUDGET_WATCHDOG_OPTIONS_INIT, NULL},
      {{.size = sizeof rows[0].options, .cost_usd = 1.5, .time_s = 0.25}, NULL},
      {{.size = sizeof rows[0].options, .cost_usd = -1}, "budget.cost_usd"},
      {{.size = sizeof rows[0].options, .time_s = __builtin_inf()}, "budget.time_s"},
      {{.size = sizeof rows[0].options, .tool_calls = {"{\"t\": 0}", 8}}, "budget.tool_calls"},
      {{.size = sizeof rows[0].options, .tool_calls = {"[\"t\"]", 5}}, "budget.tool_calls"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend_watchdog *budget = NULL;
    mend_error error = {0};
    const mend_status status = mend_budget_watchdog_new(&rows[i].options, NULL, &budget, &error);
    cr_assert_eq(status, rows[i].option == NULL ? MEND_OK : MEND_EINVAL, "row %zu: %s", i, error.message);
    if (rows[i].option != NULL) cr_assert_not_null(strstr(error.message, rows[i].option), "%s", error.message);
    mend_watchdog_release(budget);
  }
}

/* Whatever a recording says that a reply has cost, what is told is a number. */
Test(budget, costs_without_sense) {
  static const struct {
    double cost;
    const char *used; /* NULL: nothing is told */
  } rows[] = {{1e308, "\"used\":1e+15,"},
              {__builtin_inf(), "\"used\":1e+15,"},
              {1e14, "\"used\":200000000000000,"},
              {2, "\"used\":4,"},
              {-1e308, NULL},
              {__builtin_nan(""), NULL}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_world world;
    world_open(&world);
    mend_budget_watchdog_options options = MEND_BUDGET_WATCHDOG_OPTIONS_INIT;
    options.cost_usd = 3;
    mend_watchdog *budget;
    cr_assert_eq(mend_budget_watchdog_new(&options, NULL, &budget, NULL), MEND_OK);
    cr_assert_eq(mend_watchdog_watch_bus(budget, world.bus), MEND_OK);
    mend_run *run = world_run(&world, "r");
    for (int times = 0; times < 2; times++)
      use(run, MEND_NONE, MEND_NONE, MEND_NONE, rows[i].cost);
    before(run, 1, "t", NULL);
    cr_assert_eq(detections_of(run), rows[i].used != NULL ? 1u : 0u, "row %zu", i);
    if (rows[i].used != NULL) {
      const mend_detection *found = latest(run);
      cr_assert(found->evidence.len > 0 &&
                    memmem(found->evidence.ptr, found->evidence.len, rows[i].used, strlen(rows[i].used)) != NULL,
                "row %zu: %.*s", i, (int)found->evidence.len, found->evidence.ptr);
      mend_detection_release(found);
    }
    mend_run_release(run);
    mend_watchdog_release(budget);
    world_close(&world);
  }
}

/* ---- Torture ---- */

static void live(test_world *world) {
  mend_budget_watchdog_options options = MEND_BUDGET_WATCHDOG_OPTIONS_INIT;
  options.calls = 3;
  options.tokens = 10;
  options.cost_usd = 1;
  options.time_s = 5;
  options.tool_calls = MEND_STR("{\"t\": 1, \"u*\": 2}");
  mend_run *run = NULL;
  mend_watchdog *budget = NULL;
  if (mend_budget_watchdog_new(&options, &world->memory.base, &budget, NULL) != MEND_OK) return;
  mend_watchdog_watch_bus(budget, world->bus);
  mend_run_new(world->bus, NULL, &run, NULL);
  for (uint64_t call = 1; run != NULL && call <= 8; call++) {
    before(run, call, call % 2 == 0 ? "t" : "u", NULL);
    use(run, 6, MEND_NONE, MEND_NONE, 0.6);
  }
  mend_clock_advance(world->clock, 20 * SECOND);
  if (run != NULL) reset(run);
  mend_run_release(run);
  mend_watchdog_release(budget);
}

Test(budget, each_allocation_fails) { world_torture(live, 20); }

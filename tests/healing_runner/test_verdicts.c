/* What a hung, a looping and a declining agent come to in a healing scope, and who finds it out. */
#include "world.h"

/* ---- What becomes of agents that go wrong ---- */

Test(healing, by_default_everything_ends_in_an_abort) {
  static const struct {
    const char *tool;
    int calls;
    const char *reason, *log;
  } rows[] = {
      {"echo", 4, "loop: echo was called 4 times with the same arguments in the last 10 calls",
       OWN_RUN("tool.before tool.after tool.before tool.after tool.before tool.after tool.before "
               "healing.detection healing.action tool.aborted ")},
      {"decline", 5, "regression: ", NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    open_world(&w);
    mend_options config = MEND_OPTIONS_INIT;
    config.loop.enable = i == 0;
    config.regression.enable = true;
    config.regression.window_n = 4;
    mend_healing_runner *runner = new_runner(&w, &config);
    mend_healing_report report = MEND_HEALING_REPORT_INIT;
    mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
    options.ret_report = &report;
    agent a = {.runner = runner, .tool = rows[i].tool};
    MEND_HEALING_SCOPE(runner, &options) run_agent(&a);
    cr_assert_eq(a.last, MEND_ABORTED, "%s", rows[i].tool);
    cr_assert_eq(a.calls, rows[i].calls, "%s: %d calls", rows[i].tool, a.calls);
    cr_assert_eq(report.status, MEND_ABORTED);
    cr_assert_eq(report.detections, 1u);
    cr_assert_eq(report.actions, 1u);
    cr_assert_eq(report.abandoned, 0u);
    cr_assert_str_eq(report.abort_source, "watchdog");
    cr_assert_eq(strncmp(report.abort_reason, rows[i].reason, strlen(rows[i].reason)), 0, "%s", report.abort_reason);
    if (rows[i].log != NULL) cr_assert_str_eq(w.log, rows[i].log, "%s", w.log);
    mend_healing_runner_release(runner);
    close_world(&w);
  }
}

/* Blocked on its token for an hour; after 60 s and a nanosecond of virtual time the loop's thread cancels it. */
Test(healing, a_hung_call_is_cancelled_at_its_deadline) {
  world w;
  open_world(&w);
  mend_healing_runner *runner = new_runner(&w, NULL);
  mend_healing_report report = MEND_HEALING_REPORT_INIT;
  mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
  options.ret_report = &report;
  agent a = {.runner = runner, .tool = "hang"};
  pthread_t thread;
  MEND_HEALING_SCOPE(runner, &options) {
    cr_assert_eq(pthread_create(&thread, NULL, run_agent, &a), 0);
    await_hanging(&w);
    cr_assert_eq(mend_clock_advance(w.clock, 60 * SECOND), MEND_OK);
    cr_assert(!atomic_load(&a.done), "60 s are allowed");
    cr_assert_eq(mend_clock_advance(w.clock, 1), MEND_OK);
    pthread_join(thread, NULL);
  }
  cr_assert_eq(a.last, MEND_ABORTED);
  cr_assert_eq(a.calls, 1);
  cr_assert_eq(report.status, MEND_ABORTED);
  cr_assert_str_eq(w.log, OWN_RUN("tool.before healing.detection healing.action tool.cancelled "), "%s", w.log);
  mend_healing_runner_release(runner);
  close_world(&w);
}

static mend_status ask_a_person(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  (void)ctx;
  *ret_action = mend_action_escalate("is %.*s right?", MEND_STR_ARG(detection->tool_name));
  return MEND_OK;
}

Test(healing, an_escalation_asks_and_the_run_goes_on) {
  world w;
  open_world(&w);
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.bus = w.bus;
  options.tools = w.tools;
  options.policy = ask_a_person;
  mend_healing_runner *runner;
  cr_assert_eq(mend_healing_runner_new(&options, &runner, NULL), MEND_OK);
  mend_result result = MEND_RESULT_INIT;
  MEND_HEALING_SCOPE(runner, NULL) {
    mend_boundary *boundary = mend_healing_boundary(runner);
    for (int i = 0; i < 4; i++)
      cr_assert_eq(mend_boundary_call(boundary, MEND_STR("echo"), MEND_STR("{}"), NULL, &result), MEND_OK);
    cr_assert_eq(result.outcome, MEND_OUTCOME_ESCALATED);
    cr_assert(mend_str_equal(result.question, MEND_STR("is echo right?")));
    cr_assert(mend_str_equal(result.value, MEND_STR("{\"escalation_question\":\"is echo right?\"}")), "%.*s",
              MEND_STR_ARG(result.value));
    cr_assert_eq(mend_boundary_call(boundary, MEND_STR("echo"), MEND_STR("{\"yes\":1}"), NULL, &result), MEND_OK);
    cr_assert_eq(result.outcome, MEND_OUTCOME_OK, "asked once, answered, and on it goes");
  }
  mend_result_clear(&result);
  mend_healing_runner_release(runner);
  close_world(&w);
}

/* ---- Who waits ---- */

static mend_status note_thread(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  pthread_getname_np(pthread_self(), ctx, 32);
  return mend_default_policy(NULL, detection, ret_action);
}

Test(healing, a_deadline_is_decided_about_on_the_loops_thread) {
  world w;
  open_world(&w);
  const size_t threads = mend_test_threads();
  char name[32] = "";
  mend_healing_runner *runner = runner_with(&w, NULL, note_thread, name);
  agent a = {.runner = runner, .tool = "hang"};
  pthread_t thread;
  MEND_HEALING_SCOPE(runner, NULL) {
    pthread_create(&thread, NULL, run_agent, &a);
    await_hanging(&w);
    mend_clock_advance(w.clock, 61 * SECOND);
    pthread_join(thread, NULL);
  }
  cr_assert_str_eq(name, "mend-loop");
  cr_assert_eq(a.last, MEND_ABORTED);
  mend_healing_runner_release(runner);
  close_world(&w);
  cr_assert(mend_test_threads_are(threads) || threads == 1);
}

Test(healing, polls_come_as_often_as_the_config_says) {
  static const struct {
    double interval_s;
    unsigned polls; /* in ten seconds */
  } rows[] = {{1, 10}, {0.1, 100}, {20, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    open_world(&w);
    unsigned polls = 0;
    const mend_watchdog_vtable vtable = {.size = sizeof vtable, .name = "inspector", .expire = find_at_the_end};
    mend_watchdog *inspector;
    mend_watchdog_new(&vtable, &polls, NULL, &inspector, NULL);
    mend_options config = MEND_OPTIONS_INIT;
    config.poll_interval_s = rows[i].interval_s;
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    options.bus = w.bus;
    options.config = &config;
    options.watchdogs = &inspector;
    options.watchdog_count = 1;
    mend_healing_runner *runner;
    cr_assert_eq(mend_healing_runner_new(&options, &runner, NULL), MEND_OK);
    MEND_HEALING_SCOPE(runner, NULL) {
      mend_clock_advance(w.clock, 10 * SECOND);
      cr_assert_eq(polls, rows[i].polls, "row %zu: %u", i, polls);
    }
    cr_assert_eq(polls, rows[i].polls + 1, "and once at the end");
    mend_healing_runner_release(runner);
    mend_watchdog_release(inspector);
    close_world(&w);
  }
}

/* ---- Others on the bus, and on the run ---- */

Test(healing, two_runners_on_one_bus_do_not_see_each_others_runs) {
  world w;
  open_world(&w);
  mend_healing_runner *one = new_runner(&w, NULL), *two = new_runner(&w, NULL);
  cr_assert_eq(mend_healing_enter(one, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_healing_enter(two, NULL, NULL), MEND_OK);
  for (int i = 0; i < 3; i++) {
    cr_assert_eq(call(one, "echo", "{}"), MEND_OK);
    cr_assert_eq(call(two, "echo", "{}"), MEND_OK);
  }
  cr_assert_eq(call(one, "echo", "{}"), MEND_ABORTED);
  cr_assert(!mend_run_is_aborted(mend_healing_current_run(two)));
  cr_assert_eq(mend_healing_exit(one, NULL), MEND_OK);
  agent a = {.runner = two, .tool = "hang"};
  pthread_t thread;
  pthread_create(&thread, NULL, run_agent, &a);
  await_hanging(&w);
  mend_clock_advance(w.clock, 61 * SECOND);
  pthread_join(thread, NULL);
  cr_assert_eq(a.last, MEND_ABORTED, "somebody still waits for the other one's deadlines");
  cr_assert_eq(mend_healing_exit(two, NULL), MEND_OK);
  mend_healing_runner_release(one);
  mend_healing_runner_release(two);
  close_world(&w);
}

/* The bus is watched already, and a call is open when the scope is entered: the loop learns of it at once, and one loop
 * is reported once. */
Test(healing, a_bus_that_is_watched_already) {
  world w;
  open_world(&w);
  cr_assert_eq(mend_bus_watch(w.bus, NULL, NULL), MEND_OK);
  mend_run *run;
  mend_run_new(w.bus, NULL, &run, NULL);
  mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
  before.event.call = 77;
  before.tool_name = MEND_STR("outside");
  mend_run_publish(run, &before.event);
  char name[32] = "";
  mend_healing_runner *runner = runner_with(&w, NULL, note_thread, name);
  mend_healing_report report = MEND_HEALING_REPORT_INIT;
  mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
  options.run = run;
  options.ret_report = &report;
  MEND_HEALING_SCOPE(runner, &options) {
    mend_clock_advance(w.clock, 61 * SECOND);
    cr_assert_str_eq(name, "mend-loop");
    cr_assert_eq(mend_run_reset(run, MEND_STR("go on")), MEND_OK);
    for (int i = 0; i < 4; i++)
      call(runner, "echo", "{}");
  }
  cr_assert_eq(report.detections, 2u, "a stall and a loop, each once");
  mend_healing_runner_release(runner);
  mend_run_release(run);
  close_world(&w);
}

/* A scope takes away no more than it has brought. */
Test(healing, runners_with_one_watchdog_on_one_run) {
  for (int watched = 0; watched < 2; watched++) {
    world w;
    open_world(&w);
    unsigned polls = 0;
    const mend_watchdog_vtable vtable = {.size = sizeof vtable, .name = "inspector", .expire = find_at_the_end};
    mend_watchdog *inspector;
    mend_watchdog_new(&vtable, &polls, NULL, &inspector, NULL);
    mend_run *run;
    mend_run_new(w.bus, NULL, &run, NULL);
    if (watched) cr_assert_eq(mend_watchdog_watch_run(inspector, run), MEND_OK);
    mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
    options.run = run;
    mend_healing_runner *one = runner_with(&w, inspector, ask_a_person, NULL),
                        *two = runner_with(&w, inspector, ask_a_person, NULL);
    MEND_HEALING_SCOPE(one, &options) {
      cr_assert_eq(mend_healing_enter(two, &options, NULL), MEND_EEXIST);
      cr_assert(mend_watchdog_watches_run(inspector, run), "the one that was refused has taken nothing away");
    }
    cr_assert_eq(mend_watchdog_watches_run(inspector, run), (bool)watched);
    MEND_HEALING_SCOPE(two, &options) { cr_assert(mend_watchdog_watches_run(inspector, run)); }
    cr_assert_eq(mend_watchdog_watches_run(inspector, run), (bool)watched);
    mend_healing_runner_release(one);
    mend_healing_runner_release(two);
    mend_watchdog_release(inspector);
    mend_run_release(run);
    close_world(&w);
  }
}

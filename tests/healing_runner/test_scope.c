/* Healing scopes: what is set up and taken down, how a scope may be left, whose run it is, and what a hung, a looping and a
 * declining agent come to. */
#include "mend/healing.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND MEND_SECOND_NS

/* ---- A world: a bus on a virtual clock, a few tools, a log of what was published ---- */

typedef struct world {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_bus *bus;
  mend_tools *tools;
  double confidence;
  _Atomic unsigned hanging; /* calls that have begun to hang */
  char log[8192];
} world;

static mend_status write_log(void *ctx, const mend_event *event) {
  world *w = ctx;
  const size_t len = strlen(w->log);
  snprintf(w->log + len, sizeof w->log - len, "%.*s ",
           MEND_STR_ARG(mend_bus_topic_name(mend_run_bus(event->run), event->topic)));
  return MEND_OK;
}

static mend_status echo(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, mend_call_args(call));
}

/* Blocked for an hour, unless it is cancelled. */
static mend_status hang(void *ctx, mend_call *call) {
  atomic_fetch_add(&((world *)ctx)->hanging, 1);
  mend_token_wait(mend_call_token(call), 3600 * SECOND);
  return mend_call_succeed(call, MEND_STR("\"late\""));
}

static mend_status decline(void *ctx, mend_call *call) {
  world *w = ctx;
  mend_confidence_event event = MEND_CONFIDENCE_EVENT_INIT;
  event.event.call = mend_call_number(call);
  event.confidence = w->confidence;
  w->confidence -= 0.2;
  mend_run_publish(mend_call_run(call), &event.event);
  return mend_call_succeed(call, MEND_STR("1"));
}

static void open_world(world *w) {
  static const mend_tool tools[] = {{sizeof tools[0], "echo", MEND_EFFECT_READ_ONLY, echo, NULL},
                                    {sizeof tools[0], "hang", MEND_EFFECT_READ_ONLY, hang, NULL},
                                    {sizeof tools[0], "decline", MEND_EFFECT_READ_ONLY, decline, NULL}};
  memset(w, 0, sizeof *w);
  mend_test_allocator_init(&w->memory);
  w->confidence = 1.0;
  cr_assert_eq(mend_clock_new_virtual(&w->memory.base, (mend_time){SECOND, SECOND}, &w->clock), MEND_OK);
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = &w->memory.base;
  options.clock = w->clock;
  cr_assert_eq(mend_bus_new(&options, &w->bus, NULL), MEND_OK);
  cr_assert_eq(mend_tools_new(&w->memory.base, &w->tools), MEND_OK);
  for (size_t i = 0; i < 3; i++)
    cr_assert_eq(mend_tools_add(w->tools, &tools[i], w, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(w->bus, "*", write_log, w, NULL, NULL), MEND_OK);
}

static void close_world(world *w) {
  mend_tools_release(w->tools);
  mend_bus_release(w->bus);
  mend_clock_release(w->clock);
  cr_assert_eq(atomic_load(&w->memory.blocks), 0u, "%zu blocks are left", (size_t)atomic_load(&w->memory.blocks));
}

static mend_healing_runner *new_runner(world *w, const mend_options *config) {
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.bus = w->bus;
  options.tools = w->tools;
  options.config = config;
  mend_healing_runner *runner = NULL;
  mend_error error = {0};
  cr_assert_eq(mend_healing_runner_new(&options, &runner, &error), MEND_OK, "%s", error.message);
  return runner;
}

static mend_status call(mend_healing_runner *runner, const char *tool, const char *args) {
  mend_result result = MEND_RESULT_INIT;
  mend_status status =
      mend_boundary_call(mend_healing_boundary(runner), mend_str_from(tool), mend_str_from(args), NULL, &result);
  mend_result_clear(&result);
  return status;
}

/* ---- How a scope is left ---- */

enum { BY_ITS_END, BY_BREAK, BY_CONTINUE, BY_RETURN, BY_GOTO, WAYS };

static int leave_by(mend_healing_runner *runner, int way, mend_healing_report *report) {
  mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
  options.ret_report = report;
  int bodies = 0;
  MEND_HEALING_SCOPE(runner, &options) {
    bodies++;
    cr_assert_not_null(mend_healing_boundary(runner));
    cr_assert_eq(call(runner, "echo", "{}"), MEND_OK);
    if (way == BY_BREAK) break;
    if (way == BY_CONTINUE) continue;
    if (way == BY_RETURN) return bodies;
    if (way == BY_GOTO) goto out;
  }
out:
  return bodies;
}

Test(healing, a_scope_may_be_left_in_every_way) {
  for (int way = 0; way < WAYS; way++) {
    const size_t files = mend_test_open_files();
    world w;
    open_world(&w);
    mend_healing_runner *runner = new_runner(&w, NULL);
    mend_healing_report report = MEND_HEALING_REPORT_INIT;
    cr_assert_eq(leave_by(runner, way, &report), 1, "way %d", way);
    cr_assert_null(mend_healing_boundary(runner), "way %d", way);
    cr_assert_null(mend_healing_current_run(runner), "way %d", way);
    cr_assert_eq(report.status, MEND_OK, "way %d", way);
    cr_assert_str_eq(w.log, "healing.started tool.before tool.after healing.stopped ", "way %d: %s", way, w.log);
    mend_healing_runner_release(runner);
    close_world(&w);
    cr_assert_eq(mend_test_open_files(), files, "way %d", way);
  }
}

Test(healing, nested_scopes_of_one_run_only_count) {
  world w;
  open_world(&w);
  mend_healing_runner *runner = new_runner(&w, NULL);
  mend_healing_report outer = MEND_HEALING_REPORT_INIT, inner = MEND_HEALING_REPORT_INIT;
  mend_scope_options options = MEND_SCOPE_OPTIONS_INIT, nested = MEND_SCOPE_OPTIONS_INIT;
  options.ret_report = &outer;
  nested.ret_report = &inner;
  MEND_HEALING_SCOPE(runner, &options) {
    mend_boundary *boundary = mend_healing_boundary(runner);
    MEND_HEALING_SCOPE(runner, &nested) { cr_assert_eq(mend_healing_boundary(runner), boundary); }
    cr_assert_eq(mend_healing_boundary(runner), boundary, "the outer one is still open");
    cr_assert_eq(call(runner, "echo", "{}"), MEND_OK);
  }
  cr_assert_eq(mend_healing_exit(runner, NULL), MEND_EINVAL);
  cr_assert_str_eq(w.log, "healing.started tool.before tool.after healing.stopped ");
  mend_healing_runner_release(runner);
  close_world(&w);
}

Test(healing, a_runner_belongs_to_one_run) {
  world w;
  open_world(&w);
  mend_healing_runner *runner = new_runner(&w, NULL);
  mend_run *first, *second, *foreign;
  mend_bus *other;
  mend_run_options named = MEND_RUN_OPTIONS_INIT;
  named.id = MEND_STR("first");
  mend_run_new(w.bus, &named, &first);
  named.id = MEND_STR("second");
  mend_run_new(w.bus, &named, &second);
  mend_bus_new(NULL, &other, NULL);
  mend_run_new(other, NULL, &foreign);
  const struct {
    const char *name;
    mend_run *run;
    mend_status want;
    const char *sentence;
  } rows[] = {
      {"of another bus", foreign, MEND_EINVAL, "another bus"},
      {"the first", first, MEND_OK, ""},
      {"again", first, MEND_OK, ""},
      {"no run named: its own", NULL, MEND_OK, ""},
      {"a second, after the first was left", second, MEND_EINVAL, "belongs to run first"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend_healing_report report = MEND_HEALING_REPORT_INIT;
    mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
    options.run = rows[i].run;
    options.ret_report = &report;
    int bodies = 0;
    MEND_HEALING_SCOPE(runner, &options) bodies++;
    cr_assert_eq(bodies, rows[i].want == MEND_OK, "%s", rows[i].name);
    cr_assert_eq(report.status, rows[i].want, "%s", rows[i].name);
    cr_assert_not_null(strstr(report.error.message, rows[i].sentence), "%s: %s", rows[i].name, report.error.message);
  }
  mend_healing_runner_release(runner);
  mend_run_release(first);
  mend_run_release(second);
  mend_run_release(foreign);
  mend_bus_release(other);
  close_world(&w);
}

/* ---- What becomes of agents that go wrong ---- */

typedef struct agent {
  mend_healing_runner *runner;
  const char *tool;
  mend_status last;
  int calls;
  _Atomic bool done;
} agent;

static void *run_agent(void *ctx) {
  agent *a = ctx;
  a->last = MEND_OK;
  for (a->calls = 0; a->calls < 10 && a->last == MEND_OK; a->calls++)
    a->last = call(a->runner, a->tool, "{}");
  atomic_store(&a->done, true);
  return NULL;
}

Test(healing, by_default_everything_ends_in_an_abort) {
  static const struct {
    const char *tool;
    int calls;
    const char *reason, *log;
  } rows[] = {
      {"echo", 4, "loop: echo was called 4 times with the same arguments in the last 10 calls",
       "healing.started tool.before tool.after tool.before tool.after tool.before tool.after tool.before "
       "healing.detection healing.action tool.aborted healing.stopped "},
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

static void await_hanging(world *w) {
  while (atomic_load(&w->hanging) == 0)
    sched_yield();
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
  cr_assert_str_eq(w.log,
                   "healing.started tool.before healing.detection healing.action tool.cancelled healing.stopped ", "%s",
                   w.log);
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

/* ---- Two runners on one bus ---- */

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

/* ---- Calls that outlive their scope ---- */

static mend_status ignore_token(void *ctx, mend_call *call) {
  _Atomic int *stage = ctx;
  atomic_store(stage, 1);
  while (atomic_load(stage) < 2)
    sched_yield();
  return mend_call_succeed(call, MEND_STR("1"));
}

Test(healing, a_call_that_does_not_end_is_abandoned) {
  world w;
  open_world(&w);
  _Atomic int stage = 0;
  const mend_tool deaf = {sizeof deaf, "deaf", MEND_EFFECT_READ_ONLY, ignore_token, NULL};
  mend_tools_add(w.tools, &deaf, &stage, NULL);
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.bus = w.bus;
  options.tools = w.tools;
  options.exit_grace_s = 0;
  mend_healing_runner *runner;
  cr_assert_eq(mend_healing_runner_new(&options, &runner, NULL), MEND_OK);
  mend_healing_report report = MEND_HEALING_REPORT_INIT;
  mend_scope_options scope = MEND_SCOPE_OPTIONS_INIT;
  scope.ret_report = &report;
  agent a = {.runner = runner, .tool = "deaf"};
  pthread_t thread;
  MEND_HEALING_SCOPE(runner, &scope) {
    pthread_create(&thread, NULL, run_agent, &a);
    while (atomic_load(&stage) < 1)
      sched_yield();
  }
  cr_assert_eq(report.abandoned, 1u);
  mend_healing_runner_release(runner);
  atomic_store(&stage, 2);
  pthread_join(thread, NULL);
  cr_assert_neq(a.last, MEND_OK);
  close_world(&w);
}

/* ---- Options ---- */

Test(healing, options_that_cannot_be) {
  static const struct {
    const char *option, *value, *sentence;
    mend_status want;
  } rows[] = {
      {"stall_timeout_s", "0.001", "", MEND_OK},
      {"loop_threshold_k", "10", "loop.n", MEND_EINVAL},
      {"mode", "evidence", "evidence", MEND_ENOTSUP},
      {"fallback_models", "[]", "", MEND_OK},
      {"fallback_models", "[\"openai:gpt-4.1\"]", "fallback.models", MEND_ENOTSUP},
      {"loop.poll_tools", "[\"wait\"]", "", MEND_OK},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend_option_tree *tree;
    mend_option_tree_new(NULL, &tree);
    cr_assert_eq(mend_option_tree_set(tree, mend_str_from(rows[i].option), mend_str_from(rows[i].value), NULL),
                 MEND_OK);
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    options.config = mend_option_tree_get(tree);
    mend_healing_runner *runner = NULL;
    mend_error error = {0};
    cr_assert_eq(mend_healing_runner_new(&options, &runner, &error), rows[i].want, "%s: %s", rows[i].option,
                 error.message);
    cr_assert_not_null(strstr(error.message, rows[i].sentence), "%s: %s", rows[i].option, error.message);
    mend_option_tree_free(tree); /* what the runner needs of it is its own */
    int bodies = 0;
    MEND_HEALING_SCOPE(runner, NULL) bodies++; /* without a runner the body is skipped */
    cr_assert_eq(bodies, rows[i].want == MEND_OK, "%s", rows[i].option);
    mend_healing_runner_release(runner);
  }
  static const double graces[] = {-1, (double)INFINITY, (double)NAN};
  for (size_t i = 0; i < 3; i++) {
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    options.exit_grace_s = graces[i];
    mend_healing_runner *runner;
    mend_error error = {0};
    cr_assert_eq(mend_healing_runner_new(&options, &runner, &error), MEND_EINVAL);
    cr_assert_not_null(strstr(error.message, "exit_grace_s"));
  }
}

static mend_status keep_notices(void *ctx, const mend_event *event) {
  char *text = ctx;
  const mend_str notices = ((const mend_healing_started_event *)event)->notices;
  snprintf(text, 512, "%.*s", MEND_STR_ARG(notices));
  return MEND_OK;
}

Test(healing, notices) {
  static const struct {
    bool regression;
    uint32_t window_n;
    const char *notices[2];
  } rows[] = {
      {false, 5, {"", ""}},
      {true, 5, {"publishes metacognition.confidence", "window_n is below 6"}},
      {true, 6, {"publishes metacognition.confidence", ""}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    open_world(&w);
    char notices[512] = "";
    mend_bus_subscribe(w.bus, "healing.started", keep_notices, notices, NULL, NULL);
    mend_options config = MEND_OPTIONS_INIT;
    config.regression.enable = rows[i].regression;
    config.regression.window_n = rows[i].window_n;
    mend_healing_runner *runner = new_runner(&w, &config);
    MEND_HEALING_SCOPE(runner, NULL) {}
    if (!rows[i].regression) cr_assert_str_eq(notices, "");
    for (int j = 0; j < 2; j++)
      cr_assert_not_null(strstr(notices, rows[i].notices[j]), "%s", notices);
    if (rows[i].window_n == 6) cr_assert_null(strstr(notices, "below 6"));
    mend_healing_runner_release(runner);
    close_world(&w);
  }
}

/* ---- Out of memory at every point: an error, nothing left, and the next enter works ---- */

static mend_status scenario(world *w) {
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.bus = w->bus;
  options.tools = w->tools;
  mend_healing_runner *runner;
  mend_status status = mend_healing_runner_new(&options, &runner, NULL);
  if (status != MEND_OK) return status;
  status = mend_healing_enter(runner, NULL, NULL);
  if (status == MEND_OK) {
    status = call(runner, "echo", "{}");
    mend_healing_exit(runner, NULL);
  }
  mend_healing_runner_release(runner);
  return status;
}

Test(healing, out_of_memory_at_every_point) {
  for (size_t n = 1;; n++) {
    world w;
    open_world(&w);
    mend_test_allocator_arm(&w.memory, n, false);
    const mend_status status = scenario(&w);
    const bool failed = mend_test_allocator_failed(&w.memory);
    mend_test_allocator_arm(&w.memory, 0, false);
    cr_assert(status == MEND_OK || status == MEND_ENOMEM || status == MEND_EFAILED, "point %zu: %s", n,
              mend_status_name(status));
    cr_assert_eq(scenario(&w), MEND_OK, "after a failure at point %zu everything works", n);
    close_world(&w);
    if (!failed) {
      cr_assert(n > 10, "only %zu points", n);
      break;
    }
  }
}

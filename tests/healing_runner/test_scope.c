/* Healing scopes: what is set up and taken down, how a scope may be left, whose run it is, and what a hung, a looping
 * and a declining agent come to. */
#include "mend/healing.h"
#include "mend/json.h"
#include "mend/metacognition.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND MEND_SECOND_NS

/* ---- A world: a bus on a virtual clock, a few tools, a log of what was published ---- */

typedef struct world {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_bus *bus;
  mend_tools *tools;
  double confidence;
  _Atomic unsigned hanging; /* calls that have begun to hang */
  pthread_mutex_t lock;     /* covers the log: agents and loops publish at once */
  char log[8192];
} world;

static mend_status write_log(void *ctx, const mend_event *event) {
  world *w = ctx;
  const mend_str topic = mend_bus_topic_name(mend_run_bus(event->run), event->topic);
  pthread_mutex_lock(&w->lock);
  const size_t len = strlen(w->log);
  snprintf(w->log + len, sizeof w->log - len, "%.*s ", MEND_STR_ARG(topic));
  pthread_mutex_unlock(&w->lock);
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
  static const mend_tool tools[] = {
      {sizeof tools[0], "echo", MEND_EFFECT_READ_ONLY, echo, NULL, MEND_TOOL_BLOCKING},
      {sizeof tools[0], "hang", MEND_EFFECT_READ_ONLY, hang, NULL, MEND_TOOL_BLOCKING},
      {sizeof tools[0], "decline", MEND_EFFECT_READ_ONLY, decline, NULL, MEND_TOOL_BLOCKING}};
  *w = (world){.confidence = 1.0, .lock = PTHREAD_MUTEX_INITIALIZER};
  mend_test_allocator_init(&w->memory);
  cr_assert_eq(mend_clock_new_virtual(&w->memory.base, (mend_time){SECOND, SECOND}, &w->clock), MEND_OK);
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = &w->memory.base;
  options.clock = w->clock;
  cr_assert_eq(mend_bus_new(&options, &w->bus, NULL), MEND_OK);
  cr_assert_eq(mend_tools_new(&w->memory.base, &w->tools), MEND_OK);
  for (size_t i = 0; i < 3; i++)
    cr_assert_eq(mend_tools_add(w->tools, &tools[i], w, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(w->bus, "*", write_log, w, NULL, NULL, NULL), MEND_OK);
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

/* What is heard of a run that the scope makes. */
#define OWN_RUN(events) "run.started healing.started " events "healing.stopped run.finished "

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
    cr_assert_str_eq(w.log, OWN_RUN("tool.before tool.after "), "way %d: %s", way, w.log);
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
  cr_assert_str_eq(w.log, OWN_RUN("tool.before tool.after "));
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
  mend_run_new(w.bus, &named, &first, NULL);
  named.id = MEND_STR("second");
  mend_run_new(w.bus, &named, &second, NULL);
  mend_bus_new(NULL, &other, NULL);
  mend_run_new(other, NULL, &foreign, NULL);
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

/* ---- Whose run it is ---- */

typedef struct run_told {
  char text[256];
  size_t len;
} run_told;

static mend_status hear_of_run(void *ctx, const mend_event *event) {
  run_told *told = ctx;
  const bool begins = event->kind == MEND_EVENT_RUN_STARTED;
  const mend_str what =
      begins ? ((const mend_run_started_event *)event)->source : ((const mend_run_finished_event *)event)->status;
  told->len += (size_t)snprintf(told->text + told->len, sizeof told->text - told->len, "%s(%.*s) ",
                                begins ? "started" : "finished", MEND_STR_ARG(what));
  return MEND_OK;
}

/* Each time it is entered; the caller's own is the caller's to tell. */
Test(healing, tells_of_a_run_of_its_own) {
  static const struct {
    bool own;
    int times;
    bool aborts;
    const char *told;
  } rows[] = {
      {true, 1, false, "started(healing) finished(ok) "},
      {true, 2, false, "started(healing) finished(ok) started(healing) finished(ok) "},
      {true, 1, true, "started(healing) finished(aborted) "},
      {false, 2, true, ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    open_world(&w);
    run_told told = {.text = ""};
    mend_run *run = NULL;
    mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
    mend_healing_runner *runner = new_runner(&w, NULL);
    cr_assert_eq(mend_bus_subscribe(w.bus, "run.*", hear_of_run, &told, NULL, NULL, NULL), MEND_OK);
    if (!rows[i].own) cr_assert_eq(mend_run_new(w.bus, NULL, &run, NULL), MEND_OK);
    options.run = run;
    for (int time = 0; time < rows[i].times; time++) {
      MEND_HEALING_SCOPE(runner, &options) {
        if (rows[i].aborts) mend_run_abort(mend_healing_current_run(runner), MEND_STR("no"), MEND_STR("me"));
      }
    }
    cr_assert_str_eq(told.text, rows[i].told, "row %zu: %s", i, told.text);
    mend_run_release(run);
    mend_healing_runner_release(runner);
    close_world(&w);
  }
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
  const mend_tool deaf = {sizeof deaf, "deaf", MEND_EFFECT_READ_ONLY, ignore_token, NULL, MEND_TOOL_BLOCKING};
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
      {"mode", "evidence", "", MEND_OK},
      {"fallback_models", "[]", "", MEND_OK},
      {"fallback_models", "[\"openai:gpt-4.1\"]", "fallback.models", MEND_EINVAL},
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

Test(healing, options_that_do_not_fit_together) {
  world w;
  open_world(&w);
  mend_loop *loop;
  cr_assert_eq(mend_loop_new(NULL, &loop, NULL), MEND_OK);
  const struct {
    mend_loop *loop;
    size_t watchdog_count, report_size;
    const char *sentence;
  } rows[] = {{NULL, 0, sizeof(mend_healing_report), ""},
              {loop, 0, sizeof(mend_healing_report), "another clock than the bus"},
              {NULL, 1, sizeof(mend_healing_report), "watchdogs: NULL, expected watchdog_count (1)"},
              {NULL, 0, sizeof(mend_healing_report) - 1, "mend_healing_report: its size is too small"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    options.bus = w.bus;
    options.loop = rows[i].loop;
    options.watchdog_count = rows[i].watchdog_count;
    mend_healing_report report = MEND_HEALING_REPORT_INIT;
    report.size = rows[i].report_size;
    mend_scope_options scope = MEND_SCOPE_OPTIONS_INIT;
    scope.ret_report = &report;
    mend_healing_runner *runner = NULL;
    mend_error error = MEND_ERROR_INIT;
    mend_status status = mend_healing_runner_new(&options, &runner, &error);
    if (status == MEND_OK) status = mend_healing_enter(runner, &scope, &error);
    if (status == MEND_OK) mend_healing_exit(runner, NULL);
    cr_assert_eq(status, rows[i].sentence[0] == '\0' ? MEND_OK : MEND_EINVAL, "row %zu", i);
    cr_assert_not_null(strstr(error.message, rows[i].sentence), "%s", error.message);
    mend_healing_runner_release(runner);
  }
  mend_loop_release(loop);
  close_world(&w);
}

static mend_status keep_notices(void *ctx, const mend_event *event) {
  char *text = ctx;
  const mend_str notices = ((const mend_healing_started_event *)event)->notices;
  snprintf(text, 512, "%.*s", MEND_STR_ARG(notices));
  return MEND_OK;
}

Test(healing, notices) {
  static const struct {
    bool regression, publishes;
    uint32_t window_n;
    bool says_nobody_publishes, says_small_window;
    bool budget;
    const char *tool_timeouts;
  } rows[] = {
      {false, false, 5, false, false, false, NULL}, {true, false, 5, true, true, false, NULL},
      {true, false, 6, true, false, false, "{}"},   {true, true, 5, false, true, true, "{\"search\":9}"},
      {true, true, 6, false, false, false, NULL},   {false, false, 5, false, false, true, NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    open_world(&w);
    char notices[512] = "";
    mend_bus_subscribe(w.bus, "healing.started", keep_notices, notices, NULL, NULL, NULL);
    mend_options config = MEND_OPTIONS_INIT;
    config.regression.enable = rows[i].regression;
    config.regression.window_n = rows[i].window_n;
    config.budget.enable = rows[i].budget;
    config.stall.tool_timeout_s = mend_str_from(rows[i].tool_timeouts);
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    options.bus = w.bus;
    options.config = &config;
    cr_assert_eq(mend_hooks_new(&w.memory.base, &options.hooks), MEND_OK);
    if (rows[i].publishes) cr_assert_eq(mend_hooks_add_metacognition(options.hooks, NULL, NULL), MEND_OK);
    mend_healing_runner *runner;
    cr_assert_eq(mend_healing_runner_new(&options, &runner, NULL), MEND_OK);
    MEND_HEALING_SCOPE(runner, NULL) {}
    const bool nobody_publishes = strstr(notices, "until somebody in this scope publishes") != NULL;
    const bool small_window = strstr(notices, "window_n is below 6") != NULL;
    cr_assert_eq(nobody_publishes, rows[i].says_nobody_publishes, "row %zu: %s", i, notices);
    cr_assert_eq(small_window, rows[i].says_small_window, "row %zu: %s", i, notices);
    cr_assert_eq(strstr(notices, "budget.enable has no effect") != NULL, rows[i].budget, "row %zu: %s", i, notices);
    const bool says_timeouts = strstr(notices, "tool_timeout_s has no effect") != NULL;
    cr_assert_eq(says_timeouts, rows[i].tool_timeouts != NULL && strlen(rows[i].tool_timeouts) > 2, "row %zu", i);
    if (notices[0] != '\0') cr_assert_eq(mend_json_check(mend_str_from(notices), 64, NULL), MEND_OK, "%s", notices);
    mend_healing_runner_release(runner);
    mend_hooks_release(options.hooks);
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

/* ---- The end of a scope ---- */

static mend_status find_at_the_end(void *state, uint64_t now_ns, mend_emitter *emitter) {
  (void)now_ns;
  ++*(unsigned *)state;
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = MEND_STR("late");
  return mend_emit(emitter, &detection);
}

static mend_healing_runner *runner_with(world *w, mend_watchdog *watchdog, mend_policy policy, void *ctx) {
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.bus = w->bus;
  options.tools = w->tools;
  options.watchdogs = &watchdog;
  options.watchdog_count = watchdog != NULL;
  options.policy = policy;
  options.policy_ctx = ctx;
  mend_healing_runner *runner = NULL;
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_healing_runner_new(&options, &runner, &error), MEND_OK, "%s", error.message);
  return runner;
}

static mend_status echo_once(void *ctx, mend_boundary *boundary) {
  mend_result result = MEND_RESULT_INIT;
  const mend_status status = mend_boundary_call(boundary, MEND_STR("echo"), MEND_STR("{}"), NULL, &result);
  mend_result_clear(&result);
  *(mend_boundary **)ctx = mend_boundary_retain(boundary);
  return status;
}

Test(healing, the_last_look_the_last_decision_and_nothing_afterwards) {
  world w;
  open_world(&w);
  unsigned polls = 0;
  const mend_watchdog_vtable vtable = {.size = sizeof vtable, .name = "inspector", .expire = find_at_the_end};
  mend_watchdog *inspector;
  cr_assert_eq(mend_watchdog_new(&vtable, &polls, NULL, &inspector, NULL), MEND_OK);
  mend_healing_runner *runner = runner_with(&w, inspector, NULL, NULL);
  mend_run *run;
  mend_run_new(w.bus, NULL, &run, NULL);
  mend_healing_report report = MEND_HEALING_REPORT_INIT;
  mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
  options.run = run;
  options.ret_report = &report;
  mend_boundary *kept = NULL;
  cr_assert_eq(mend_healing_run(runner, &options, echo_once, &kept), MEND_ABORTED,
               "aborted by what was found at the end");
  cr_assert_eq(polls, 1u);
  cr_assert_eq(report.detections, 1u);
  cr_assert_eq(report.actions, 1u);
  cr_assert_eq(report.status, MEND_ABORTED);
  cr_assert_str_eq(report.abort_reason, "inspector: late");
  cr_assert_str_eq(w.log, "healing.started tool.before tool.after healing.detection healing.action healing.stopped ",
                   "%s", w.log);
  cr_assert(!mend_watchdog_watches_run(inspector, run), "nothing is watched any more");
  cr_assert_eq(mend_run_reset(run, MEND_STR("again")), MEND_OK);
  w.log[0] = '\0';
  mend_result result = MEND_RESULT_INIT;
  for (int i = 0; i < 5; i++)
    cr_assert_eq(mend_boundary_call(kept, MEND_STR("echo"), MEND_STR("{}"), NULL, &result), MEND_ECLOSED);
  cr_assert_str_eq(w.log, "", "a call through a kept boundary is refused in silence");
  mend_result_clear(&result);
  mend_boundary_release(kept);
  mend_clock_advance(w.clock, 3600 * SECOND);
  cr_assert_eq(polls, 1u);
  mend_run_release(run);
  mend_healing_runner_release(runner);
  mend_watchdog_release(inspector);
  close_world(&w);
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

Test(healing, watchdogs_have_names_of_their_own) {
  static const struct {
    const char *names[2];
    const char *refused; /* NULL: none */
  } rows[] = {{{"a", "b"}, NULL},
              {{"loop", "a"}, "loop"},
              {{"a", "a"}, "a"},
              {{"a", "stall"}, "stall"},
              {{"regression", "a"}, NULL}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    open_world(&w);
    mend_watchdog *watchdogs[2];
    for (size_t each = 0; each < 2; each++) {
      const mend_watchdog_vtable vtable = {
          .size = sizeof vtable, .name = rows[i].names[each], .expire = find_at_the_end};
      cr_assert_eq(mend_watchdog_new(&vtable, NULL, NULL, &watchdogs[each], NULL), MEND_OK);
    }
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    options.bus = w.bus;
    options.watchdogs = watchdogs;
    options.watchdog_count = 2;
    mend_healing_runner *runner = NULL;
    mend_error error = MEND_ERROR_INIT;
    const mend_status status = mend_healing_runner_new(&options, &runner, &error);
    cr_assert_eq(status, rows[i].refused == NULL ? MEND_OK : MEND_EEXIST, "row %zu: %s", i, error.message);
    if (rows[i].refused != NULL) cr_assert_not_null(strstr(error.message, rows[i].refused), "%s", error.message);
    mend_healing_runner_release(runner);
    for (size_t each = 0; each < 2; each++)
      mend_watchdog_release(watchdogs[each]);
    close_world(&w);
  }
}

/* ---- A scope that is not entered says so, where it can, and the log has why ---- */

static void keep_log(void *ctx, mend_log_level level, const char *message) {
  if (level == MEND_LOG_ERROR) snprintf(ctx, 256, "%s", message);
}

Test(healing, a_scope_that_is_not_entered) {
  mend_healing_report report = MEND_HEALING_REPORT_INIT, small = MEND_HEALING_REPORT_INIT;
  small.size = 8;
  const struct {
    mend_scope_options options;
    const char *logged;
  } rows[] = {
      {{.size = 0, .ret_report = &report}, "mend_scope_options"},
      {{.size = sizeof(mend_scope_options), .ret_report = &small}, "mend_healing_report"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char logged[256] = "";
    mend_bus_options bus_options = MEND_BUS_OPTIONS_INIT;
    bus_options.log = keep_log;
    bus_options.log_ctx = logged;
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    cr_assert_eq(mend_bus_new(&bus_options, &options.bus, NULL), MEND_OK);
    mend_healing_runner *runner;
    cr_assert_eq(mend_healing_runner_new(&options, &runner, NULL), MEND_OK);
    MEND_HEALING_SCOPE(runner, &rows[i].options) { cr_fail("it was entered"); }
    cr_assert_eq(rows[i].options.ret_report->status, MEND_EINVAL, "row %zu", i);
    cr_assert(rows[i].options.ret_report->error.message[0] != '\0', "row %zu", i);
    cr_assert_not_null(strstr(logged, rows[i].logged), "row %zu: %s", i, logged);
    mend_healing_runner_release(runner);
    mend_bus_release(options.bus);
  }
}

/* ---- Left while another thread publishes ---- */

typedef struct publisher {
  mend_run *run;
  atomic_bool stops;
  atomic_uint published;
} publisher;

static void *publish_detections(void *ctx) {
  publisher *self = ctx;
  mend_detection_event event = MEND_DETECTION_EVENT_INIT;
  while (!atomic_load(&self->stops)) {
    mend_run_publish(self->run, &event.event);
    atomic_fetch_add(&self->published, 1);
  }
  return NULL;
}

/* What the publish under way still counts may be gone with its scope, and is not the next one's. */
Test(healing, a_scope_is_left_while_its_run_publishes) {
  mend_bus *bus;
  publisher self = {.run = NULL};
  pthread_t thread;
  mend_options config = MEND_OPTIONS_INIT;
  config.stall.enable = false;
  config.loop.enable = false;
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  mend_scope_options scope = MEND_SCOPE_OPTIONS_INIT;
  cr_assert_eq(mend_bus_new(NULL, &bus, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(bus, NULL, &self.run, NULL), MEND_OK);
  cr_assert_eq(mend_loop_new(NULL, &options.loop, NULL), MEND_OK);
  options.bus = bus;
  options.config = &config;
  scope.run = self.run;
  cr_assert_eq(pthread_create(&thread, NULL, publish_detections, &self), 0);
  for (int round = 0; round < 300; round++) {
    mend_healing_runner *runner;
    mend_healing_report report = MEND_HEALING_REPORT_INIT;
    cr_assert_eq(mend_healing_runner_new(&options, &runner, NULL), MEND_OK);
    cr_assert_eq(mend_healing_enter(runner, &scope, NULL), MEND_OK);
    const unsigned before = atomic_load(&self.published);
    while (atomic_load(&self.published) < before + 2)
      sched_yield();
    cr_assert_eq(mend_healing_exit(runner, &report), MEND_OK);
    cr_assert(report.detections > 0);
    mend_healing_runner_release(runner);
  }
  atomic_store(&self.stops, true);
  cr_assert_eq(pthread_join(thread, NULL), 0);
  cr_assert_null(mend_healing_boundary(NULL));
  cr_assert_null(mend_healing_current_run(NULL));
  mend_run_release(self.run);
  mend_loop_release(options.loop);
  mend_bus_release(bus);
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

/* ---- More than one scope ---- */

Test(healing, two_runners_with_one_watchdog_on_one_run) {
  world w;
  open_world(&w);
  unsigned polls = 0;
  const mend_watchdog_vtable vtable = {.size = sizeof vtable, .name = "inspector", .expire = find_at_the_end};
  mend_watchdog *inspector;
  mend_watchdog_new(&vtable, &polls, NULL, &inspector, NULL);
  mend_run *run;
  mend_run_new(w.bus, NULL, &run, NULL);
  mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
  options.run = run;
  mend_healing_runner *one = runner_with(&w, inspector, ask_a_person, NULL),
                      *two = runner_with(&w, inspector, ask_a_person, NULL);
  cr_assert_eq(mend_healing_enter(one, &options, NULL), MEND_OK);
  cr_assert_eq(mend_healing_enter(two, &options, NULL), MEND_OK);
  cr_assert_eq(mend_healing_exit(one, NULL), MEND_OK);
  cr_assert(mend_watchdog_watches_run(inspector, run), "the other scope still wants it");
  cr_assert_eq(mend_healing_exit(two, NULL), MEND_OK);
  cr_assert(!mend_watchdog_watches_run(inspector, run));
  mend_healing_runner_release(one);
  mend_healing_runner_release(two);
  mend_watchdog_release(inspector);
  mend_run_release(run);
  close_world(&w);
}

Test(healing, each_exit_fills_in_its_own_report) {
  world w;
  open_world(&w);
  mend_healing_runner *runner = new_runner(&w, NULL);
  mend_healing_report inner = MEND_HEALING_REPORT_INIT, outer = MEND_HEALING_REPORT_INIT;
  cr_assert_eq(mend_healing_enter(runner, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_healing_enter(runner, NULL, NULL), MEND_OK);
  for (int i = 0; i < 4; i++)
    call(runner, "echo", "{}");
  cr_assert_eq(mend_healing_exit(runner, &inner), MEND_OK);
  cr_assert_eq(inner.status, MEND_ABORTED);
  cr_assert_eq(inner.detections, 1u);
  mend_healing_runner_release(runner); /* the last reference: the scope has its own */
  cr_assert_eq(call(runner, "echo", "{}"), MEND_ABORTED);
  cr_assert_eq(mend_healing_exit(runner, &outer), MEND_OK);
  cr_assert_eq(outer.detections, 1u);
  close_world(&w);
}

static mend_status fail_to_open(void *ctx, mend_run *run, void **ret_state) {
  (void)run;
  *ret_state = ctx;
  return MEND_EIO;
}

Test(healing, an_enter_that_fails_leaves_nothing) {
  world w;
  open_world(&w);
  const mend_watchdog_vtable vtable = {.size = sizeof vtable, .name = "broken", .open = fail_to_open};
  mend_watchdog *broken;
  mend_watchdog_new(&vtable, NULL, NULL, &broken, NULL);
  mend_healing_runner *runner = runner_with(&w, broken, NULL, NULL);
  const size_t files = mend_test_open_files();
  mend_run *runs[2];
  for (int i = 0; i < 2; i++) {
    mend_run_new(w.bus, NULL, &runs[i], NULL);
    mend_healing_report report = MEND_HEALING_REPORT_INIT;
    mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
    options.run = runs[i]; /* a failed enter does not bind the runner to its run */
    options.ret_report = &report;
    int bodies = 0;
    MEND_HEALING_SCOPE(runner, &options) bodies++;
    cr_assert_eq(bodies, 0);
    cr_assert_eq(report.status, MEND_EIO);
    cr_assert_not_null(strstr(report.error.message, "broken"), "%s", report.error.message);
    cr_assert_eq(mend_test_open_files(), files);
  }
  cr_assert_str_eq(w.log, "", "%s", w.log);
  mend_run_release(runs[0]);
  mend_run_release(runs[1]);
  mend_healing_runner_release(runner);
  mend_watchdog_release(broken);
  close_world(&w);
}

/* ---- Tools that never return ---- */

static mend_status never_return(void *ctx, mend_call *call) {
  atomic_store((_Atomic int *)ctx, 1);
  while (call != NULL)
    pause();
  return MEND_OK;
}

/* In a process of its own, on the real clock: leaving takes the grace and no longer. */
static int leave_with_a_deaf_tool(void) {
  _Atomic int began = 0;
  const mend_tool deaf = {sizeof deaf, "deaf", MEND_EFFECT_READ_ONLY, never_return, NULL, MEND_TOOL_BLOCKING};
  mend_tools *tools;
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  mend_healing_runner *runner;
  if (mend_tools_new(NULL, &tools) != MEND_OK || mend_tools_add(tools, &deaf, &began, NULL) != MEND_OK) return 1;
  options.tools = tools;
  options.exit_grace_s = 0.02;
  if (mend_healing_runner_new(&options, &runner, NULL) != MEND_OK) return 2;
  if (mend_healing_enter(runner, NULL, NULL) != MEND_OK) return 3;
  agent a = {.runner = runner, .tool = "deaf"};
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_agent, &a) != 0) return 4;
  while (atomic_load(&began) == 0)
    sched_yield();
  mend_healing_report report = MEND_HEALING_REPORT_INIT;
  if (mend_healing_exit(runner, &report) != MEND_OK) return 5;
  return report.abandoned == 1 && !atomic_load(&a.done) ? 0 : 6;
}

Test(healing, a_tool_that_never_returns_is_let_go_of_at_exit) {
  const pid_t child = fork();
  if (child == 0) _exit(leave_with_a_deaf_tool());
  int status = -1;
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert(WIFEXITED(status));
  cr_assert_eq(WEXITSTATUS(status), 0);
}

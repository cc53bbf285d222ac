/* The end of a healing scope: calls and tools that go on, the last look, others who publish meanwhile. */
#include "world.h"

#include <sys/wait.h>
#include <unistd.h>

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
  const mend_tool deaf = {
      .size = sizeof deaf, .name = "deaf", .effect = MEND_EFFECT_READ_ONLY, .execute = ignore_token};
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

/* ---- The last look ---- */

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
  char sentence[128];
  snprintf(sentence, sizeof sentence, "aborted by %s: inspector: late", report.abort_source);
  cr_assert_eq(report.error.status, MEND_ABORTED);
  cr_assert_str_eq(report.error.message, sentence);
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
  const mend_tool deaf = {
      .size = sizeof deaf, .name = "deaf", .effect = MEND_EFFECT_READ_ONLY, .execute = never_return};
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

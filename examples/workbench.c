/* Two agents on one workbench, each in a healing scope of its own. One searches in circles until its run is aborted,
 * the other comes to an end. Then: what happened last, and what took how long. */
#include <mend.h>

#include <stdio.h>
#include <stdlib.h>

#define MILLISECOND UINT64_C(1000000)

/* ---- Tools ---- */

static void take_a_while(const mend_call *call, uint64_t ms) {
  mend_token_wait(mend_call_token(call), ms * MILLISECOND);
}

static mend_status search(void *ctx, mend_call *call) {
  (void)ctx;
  take_a_while(call, 12);
  return mend_call_succeed(call, MEND_STR("[]"));
}

static mend_status read_page(void *ctx, mend_call *call) {
  (void)ctx;
  take_a_while(call, 20);
  return mend_call_succeed_text(call, MEND_STR("Trams run every ten minutes."));
}

/* Calls another tool in its own execution: `within` says so, and the tracer shows it. */
static mend_status summarise(void *ctx, mend_call *call) {
  mend_boundary *boundary = mend_healing_boundary(ctx);
  mend_result page = MEND_RESULT_INIT;
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  options.within = call;
  mend_status status = mend_boundary_call(boundary, MEND_STR("read_page"), mend_call_args(call), &options, &page);
  take_a_while(call, 8);
  if (status == MEND_OK) status = mend_call_succeed(call, page.value);
  mend_result_clear(&page);
  return status;
}

/* ---- The agents ---- */

/* A run that we made is ours to end; one that the scope makes it ends itself. */
static void say_finished(mend_run *run) {
  mend_run_finished_event event = MEND_RUN_FINISHED_EVENT_INIT;
  event.status = mend_run_is_aborted(run) ? MEND_STR("aborted") : MEND_STR("done");
  mend_run_publish(run, &event.event);
}

static void call_often(mend_boundary *boundary, mend_str tool, mend_str args, int times) {
  mend_result result = MEND_RESULT_INIT;
  while (times-- > 0 && mend_boundary_call(boundary, tool, args, NULL, &result) == MEND_OK) {
  }
  mend_result_clear(&result);
}

typedef struct agent {
  const char *name, *tool;
  int times;
} agent;

static void work_in_scope(mend_healing_runner *runner, mend_run *run, const agent *a) {
  mend_scope_options scope = MEND_SCOPE_OPTIONS_INIT;
  scope.run = run;
  MEND_HEALING_SCOPE(runner, &scope) {
    call_often(mend_healing_boundary(runner), mend_str_from(a->tool), MEND_STR("{\"about\":\"trams\"}"), a->times);
    say_finished(run);
  }
}

static mend_status work(mend_workbench *workbench, const agent *a, mend_tools *tools, mend_error *error) {
  const mend_tool summarise_tool = {.size = sizeof(mend_tool), .name = "summarise", .execute = summarise};
  mend_healing_runner *runner = NULL;
  mend_run *run = NULL;
  mend_run_options run_options = MEND_RUN_OPTIONS_INIT;
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  run_options.agent = mend_str_from(a->name);
  options.tools = tools;
  mend_status status = mend_run_new(mend_workbench_bus(workbench), &run_options, &run, NULL);
  if (status == MEND_OK) status = mend_workbench_with_healing(workbench, &options, &runner, error);
  if (status == MEND_OK) status = mend_tools_add(tools, &summarise_tool, runner, error);
  if (status == MEND_OK) work_in_scope(runner, run, a);
  mend_tools_remove(tools, MEND_STR("summarise"));
  mend_healing_runner_release(runner);
  mend_run_release(run);
  return status;
}

/* ---- Afterwards ---- */

static bool print_line(void *ctx, mend_str line) {
  const int width = 110;
  (void)ctx;
  printf("%.*s%s\n", line.len < (size_t)width ? (int)line.len : width, line.ptr, line.len > (size_t)width ? "..." : "");
  return true;
}

static mend_status look_back(mend_workbench *workbench) {
  puts("The last events:");
  mend_workbench_each_recent(workbench, print_line, NULL);
  char *picture;
  const mend_status status = mend_tracer_draw(mend_workbench_tracer(workbench), NULL, NULL, &picture);
  if (status != MEND_OK) return status;
  printf("\nWhat took how long:\n%s", picture);
  mend_free(NULL, picture);
  return MEND_OK;
}

int main(void) {
  static const mend_tool shared[] = {
      {.size = sizeof(mend_tool), .name = "search", .effect = MEND_EFFECT_READ_ONLY, .execute = search},
      {.size = sizeof(mend_tool), .name = "read_page", .effect = MEND_EFFECT_READ_ONLY, .execute = read_page},
  };
  static const agent agents[] = {{"goes in circles", "search", 10}, {"comes to an end", "summarise", 2}};
  mend_error error = MEND_ERROR_INIT;
  mend_workbench_options options = MEND_WORKBENCH_OPTIONS_INIT;
  options.recent_events = 10;
  mend_workbench *workbench = NULL;
  mend_tools *tools = NULL;
  mend_status status = mend_workbench_new(&options, &workbench, &error);
  if (status == MEND_OK) status = mend_tools_new(NULL, &tools);
  for (size_t i = 0; i < sizeof shared / sizeof shared[0] && status == MEND_OK; i++)
    status = mend_tools_add(tools, &shared[i], NULL, &error);
  for (size_t i = 0; i < sizeof agents / sizeof agents[0] && status == MEND_OK; i++)
    status = work(workbench, &agents[i], tools, &error);
  if (status == MEND_OK) status = look_back(workbench);
  mend_tools_release(tools);
  mend_workbench_release(workbench);
  if (status != MEND_OK) fprintf(stderr, "workbench: %s\n", mend_error_sentence(&error, status));
  return status == MEND_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

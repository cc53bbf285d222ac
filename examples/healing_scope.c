/* An agent that goes wrong in three ways, each in a healing scope of its own: a tool that hangs, a search that repeats,
 * a confidence that falls. First the default policy, which aborts; then one of ours, which asks a person and goes on.
 *
 * The agent is a list of calls here. In yours a model decides what to call; the rest is the same. */
#include <mend.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- Tools ---- */

/* A server that never answers. A good blocking tool waits on its token as well: that is what makes it stoppable. */
static mend_status fetch_page(void *ctx, mend_call *call) {
  (void)ctx;
  if (mend_token_wait(mend_call_token(call), 3600 * MEND_SECOND_NS) == MEND_ECANCELLED) {
    return mend_call_fail(call, MEND_STR("cancelled"), mend_token_reason(mend_call_token(call)));
  }
  return mend_call_succeed_text(call, MEND_STR("<html>"));
}

static mend_status search(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, MEND_STR("[]"));
}

/* Each draft is a little worse, and the tool says so. */
static mend_status write_draft(void *ctx, mend_call *call) {
  double *confidence = ctx;
  mend_confidence_event event = MEND_CONFIDENCE_EVENT_INIT;
  event.event.call = mend_call_number(call);
  event.tool_name = mend_call_tool(call);
  event.confidence = *confidence;
  event.source = MEND_STR("self-rating");
  *confidence -= 0.12;
  mend_run_publish(mend_call_run(call), &event.event);
  return mend_call_succeed_text(call, MEND_STR("a draft"));
}

static mend_status add_tools(mend_tools *tools, double *confidence, mend_error *error) {
  static const mend_tool fetch = {
      .size = sizeof fetch, .name = "fetch_page", .effect = MEND_EFFECT_READ_ONLY, .execute = fetch_page};
  static const mend_tool find = {
      .size = sizeof find, .name = "search", .effect = MEND_EFFECT_READ_ONLY, .execute = search};
  static const mend_tool draft = {
      .size = sizeof draft, .name = "write_draft", .effect = MEND_EFFECT_IDEMPOTENT, .execute = write_draft};
  mend_status status = mend_tools_add(tools, &fetch, NULL, error);
  if (status == MEND_OK) status = mend_tools_add(tools, &find, NULL, error);
  if (status == MEND_OK) status = mend_tools_add(tools, &draft, confidence, error);
  return status;
}

/* ---- The agent ---- */

/* What the person says when the agent is stuck; without a terminal an answer is at hand. */
static void ask(mend_str question, char *ret_answer, size_t size) {
  printf("    agent asks: %.*s\n    you answer: ", MEND_STR_ARG(question));
  fflush(stdout);
  snprintf(ret_answer, size, "look in the archive");
  if (isatty(STDIN_FILENO) && fgets(ret_answer, (int)size, stdin) != NULL) {
    for (char *c = ret_answer; *c != '\0'; c++) {
      if (*c == '\n' || *c == '"' || *c == '\\') *c = '\0';
    }
  } else {
    puts(ret_answer);
  }
}

/* Calls one tool up to eight times, as an agent does that does not notice. */
static void work(mend_boundary *boundary, mend_str tool, mend_str args) {
  mend_result result = MEND_RESULT_INIT;
  char answer[128], new_args[256];
  for (int turn = 1; turn <= 8; turn++) {
    mend_status status = mend_boundary_call(boundary, tool, args, NULL, &result);
    printf("    call %d: %s %.*s\n", turn, mend_outcome_name(result.outcome), MEND_STR_ARG(result.value));
    if (status == MEND_ABORTED) break; /* an abort is an abort: here, at the outermost place, and nowhere else */
    if (result.outcome != MEND_OUTCOME_ESCALATED) continue;
    ask(result.question, answer, sizeof answer);
    snprintf(new_args, sizeof new_args, "{\"q\":\"tram timetable\",\"hint\":\"%s\"}", answer);
    mend_boundary_call(boundary, tool, mend_str_from(new_args), NULL, &result);
    printf("    call with the answer: %s %.*s\n", mend_outcome_name(result.outcome), MEND_STR_ARG(result.value));
    break;
  }
  mend_result_clear(&result);
}

/* ---- The scope ---- */

typedef struct story {
  const char *title, *tool, *args;
  bool is_of_a_loop;  /* the others repeat a call, too, and are of something else */
  mend_policy policy; /* NULL: the default */
} story;

static mend_status ask_about_loops(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  if (!mend_str_equal(detection->detector, MEND_STR("loop"))) return mend_default_policy(ctx, detection, ret_action);
  *ret_action = mend_action_escalate("I keep asking the same thing (%.*s, %llu times). What shall I do?",
                                     MEND_STR_ARG(detection->tool_name), (unsigned long long)detection->count);
  return MEND_OK;
}

static mend_status heal(const story *told, mend_tools *tools, const mend_options *config, mend_error *error) {
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.config = config;
  options.tools = tools;
  options.policy = told->policy;
  mend_healing_runner *runner;
  mend_status status = mend_healing_runner_new(&options, &runner, error);
  if (status != MEND_OK) return status;

  mend_healing_report report = MEND_HEALING_REPORT_INIT;
  mend_scope_options scope = MEND_SCOPE_OPTIONS_INIT;
  scope.ret_report = &report;
  printf("\n  %s\n", told->title);
  MEND_HEALING_SCOPE(runner, &scope) {
    work(mend_healing_boundary(runner), mend_str_from(told->tool), mend_str_from(told->args));
  }
  printf("    -> %llu detected, %s %s\n", (unsigned long long)report.detections,
         report.status == MEND_ABORTED ? "aborted:" : "the run goes on", report.abort_reason);
  if (report.status != MEND_OK && report.status != MEND_ABORTED) *error = report.error;
  mend_healing_runner_release(runner);
  return report.status == MEND_ABORTED ? MEND_OK : report.status;
}

int main(void) {
  static const story stories[] = {
      {"A tool that hangs (limit: half a second)", "fetch_page", "{\"url\":\"http://tram.example\"}", false, NULL},
      {"A search that repeats", "search", "{\"q\":\"tram timetable\"}", true, NULL},
      {"A confidence that falls", "write_draft", "{\"about\":\"trams\"}", false, NULL},
      {"The search again, with a policy that asks", "search", "{\"q\":\"tram timetable\"}", true, ask_about_loops},
  };
  double confidence = 0.95;
  mend_error error = MEND_ERROR_INIT;
  mend_options config = MEND_OPTIONS_INIT;
  config.stall.timeout_s = 0.5;
  config.regression.enable = true;
  config.regression.window_n = 6;

  mend_tools *tools = NULL;
  mend_status status = mend_tools_new(NULL, &tools);
  if (status == MEND_OK) status = add_tools(tools, &confidence, &error);
  for (size_t i = 0; i < sizeof stories / sizeof stories[0] && status == MEND_OK; i++) {
    config.loop.enable = stories[i].is_of_a_loop;
    status = heal(&stories[i], tools, &config, &error);
  }
  mend_tools_release(tools);
  if (status != MEND_OK) fprintf(stderr, "healing_scope: %s\n", mend_error_sentence(&error, status));
  return status == MEND_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* From what an agent says of itself to the abort of its run: protocol, hook, regression, policy, and the scope's
 * report. */
#include "mend/healing.h"
#include "metacognition/room.h"
#include "world.h"

static const double confidences[] = {0.9, 0.85, 0.9, 0.88, 0.86, 0.6, 0.5, 0.4, 0.3};

static mend_status agent(void *ctx, mend_call *call, mend_str prompt) {
  unsigned *turn = ctx;
  char output[64];
  (void)prompt;
  snprintf(output, sizeof output, "{\"answer\":%u,\"self_confidence\":%g}", *turn, confidences[*turn]);
  return mend_call_succeed(call, mend_str_from(output));
}

/* How many turns succeed; the status of the last. */
static unsigned ask(mend_boundary *boundary, mend_protocol *protocol, mend_status *ret_status) {
  unsigned turn = 0;
  const mend_compound_tool tool = {.size = sizeof tool, .name = "agent", .ctx = &turn, .agent = agent};
  mend_result result = MEND_RESULT_INIT;
  for (*ret_status = MEND_OK; turn < sizeof confidences / sizeof confidences[0]; turn++) {
    char prompt[16];
    snprintf(prompt, sizeof prompt, "ask %u", turn);
    const mend_str words = mend_str_from(prompt);
    *ret_status = protocol != NULL ? mend_boundary_compound_enriched(boundary, &tool, protocol, words, &result)
                                   : mend_boundary_compound(boundary, &tool, words, &result);
    if (*ret_status != MEND_OK) break;
  }
  mend_result_clear(&result);
  return turn;
}

static mend_healing_runner *runner_of(world *w, mend_hooks *hooks) {
  mend_options config = MEND_OPTIONS_INIT;
  config.regression.enable = true;
  config.regression.window_n = 6;
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.bus = w->bus;
  options.config = &config;
  options.hooks = hooks;
  mend_healing_runner *runner = NULL;
  cr_assert_eq(mend_healing_runner_new(&options, &runner, NULL), MEND_OK);
  return runner;
}

static const struct {
  const char *title;
  bool hook, protocol;
  unsigned answered;
  mend_status last;
  const char *reason;
} rows[] = {
    {"the whole chain", true, true, 7, MEND_ABORTED, "regression: confidence fell from 0.877 to 0.653"},
    {"no protocol: nobody says how sure it is", true, false, 9, MEND_OK, ""},
    {"no hook: nobody publishes it", false, true, 9, MEND_OK, ""},
};

Test(substrate, an_agent_that_gets_unsure_is_stopped) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    world_open(&w);
    mend_hooks *hooks = NULL;
    mend_protocol *protocol = NULL;
    if (rows[i].hook) hooks = world_hooks(&w);
    if (rows[i].protocol) cr_assert_eq(mend_protocol_new_structured(NULL, &protocol, NULL), MEND_OK);
    mend_healing_runner *runner = runner_of(&w, hooks);
    mend_healing_report report = MEND_HEALING_REPORT_INIT;
    mend_scope_options scope = MEND_SCOPE_OPTIONS_INIT;
    scope.run = w.run;
    scope.ret_report = &report;
    unsigned answered = 0, later = 1;
    mend_status last = MEND_OK, refused = MEND_OK;
    MEND_HEALING_SCOPE(runner, &scope) {
      answered = ask(mend_healing_boundary(runner), protocol, &last);
      if (last == MEND_ABORTED) later = ask(mend_healing_boundary(runner), protocol, &refused);
    }
    cr_assert_eq(answered, rows[i].answered, "%s: %u", rows[i].title, answered);
    cr_assert_eq(last, rows[i].last, "%s", rows[i].title);
    cr_assert_eq(report.status, rows[i].last, "%s", rows[i].title);
    cr_assert_eq(report.detections, rows[i].last == MEND_ABORTED ? 1u : 0u, "%s", rows[i].title);
    cr_assert_str_eq(report.abort_reason, rows[i].reason, "%s: %s", rows[i].title, report.abort_reason);
    if (last == MEND_ABORTED) {
      cr_assert_eq(later, 0u);
      cr_assert_eq(refused, MEND_ABORTED);
      cr_assert_not_null(strstr(w.log, "agent 0.5  \"\" by structured, metacognition says r/7/1, attempt 1, 0 ms\n"
                                       "regression: confidence fell from 0.877 to 0.653\n"
                                       "abort: regression: confidence fell from 0.877 to 0.653\n"
                                       "tool.aborted\n"
                                       "tool.refused\n"),
                         "%s", w.log);
    } else {
      cr_assert_null(strstr(w.log, "regression"), "%s: %s", rows[i].title, w.log);
    }
    mend_healing_runner_release(runner);
    mend_hooks_release(hooks);
    mend_protocol_release(protocol);
    world_close(&w);
  }
}

/* A second hook cannot come in by the scope either. */
Test(substrate, a_scope_with_a_second_hook_is_not_entered) {
  world w;
  world_open(&w);
  mend_hooks *first = world_hooks(&w), *second = world_hooks(&w);
  mend_boundary *boundary = world_boundary(w.run, first);
  mend_healing_runner *runner = runner_of(&w, second);
  mend_scope_options scope = MEND_SCOPE_OPTIONS_INIT;
  mend_error error = MEND_ERROR_INIT;
  scope.run = w.run;
  cr_assert_eq(mend_healing_enter(runner, &scope, &error), MEND_EEXIST);
  cr_assert_not_null(strstr(error.message, "another metacognition hook publishes its confidence"), "%s", error.message);
  mend_boundary_release(boundary);
  cr_assert_eq(mend_healing_enter(runner, &scope, &error), MEND_OK, "%s", error.message);
  cr_assert_eq(mend_healing_exit(runner, NULL), MEND_OK);
  mend_healing_runner_release(runner);
  mend_hooks_release(first);
  mend_hooks_release(second);
  world_close(&w);
}

/* An agent that says how sure it is, and is stopped when it loses its way.
 *
 *   agent -> structured protocol -> metacognition hook -> bus -> RegressionDetector -> default policy -> abort
 *
 * Nobody in this chain knows more than the next link. The agent is a list of answers here; in yours a model gives
 * them, and its output format asks for self_confidence and uncertain_about. */
#include <mend.h>

#include <stdio.h>
#include <stdlib.h>

/* ---- The agent, as a compound tool ---- */

typedef struct exchange {
  const char *question, *answer;
} exchange;

static const exchange script[] = {
    {"Who built the tram line?", "{\"text\":\"A. Berg\",\"self_confidence\":0.9}"},
    {"When was it opened?", "{\"text\":\"In 1874\",\"self_confidence\":0.85}"},
    {"Where did it end?", "{\"text\":\"At the harbour\",\"self_confidence\":0.9}"},
    {"How long was it?", "{\"text\":\"6 km\",\"self_confidence\":0.88}"},
    {"What drew the cars?", "{\"text\":\"Horses\",\"self_confidence\":0.86}"},
    {"Who was the first driver?",
     "{\"text\":\"J. Holm\",\"self_confidence\":0.6,\"uncertain_about\":[\"the spelling of the name\"]}"},
    {"What did a ticket cost?",
     "{\"text\":\"Perhaps 10 ore\",\"self_confidence\":0.5,\"uncertain_about\":[\"the price\",\"the currency\"]}"},
    {"Why was it closed?",
     "{\"text\":\"No idea\",\"self_confidence\":0.4,\"outside_my_capability\":\"no source says\"}"},
    {"What stands there now?", "{\"text\":\"A house?\",\"self_confidence\":0.3}"},
};
enum { QUESTIONS = sizeof script / sizeof script[0] };

static mend_status answer(void *ctx, mend_call *call, mend_str prompt) {
  (void)ctx;
  for (size_t i = 0; i < QUESTIONS; i++) {
    if (mend_str_equal(prompt, mend_str_from(script[i].question))) {
      return mend_call_succeed(call, mend_str_from(script[i].answer));
    }
  }
  return mend_call_fail(call, MEND_STR("no_answer"), MEND_STR("the script has no answer to this"));
}

/* ---- What the bus hears ---- */

/* Each goes on where the question ended. */
static mend_status tell(void *ctx, const mend_event *event) {
  (void)ctx;
  if (event->kind == MEND_EVENT_CONFIDENCE) {
    const mend_confidence_event *reading = (const mend_confidence_event *)event;
    printf(" sure: %.2f", reading->confidence);
    if (reading->uncertainty_targets.len > 0) printf(", not of %.*s", MEND_STR_ARG(reading->uncertainty_targets));
  } else if (event->kind == MEND_EVENT_DETECTION) {
    const mend_detection_event *found = (const mend_detection_event *)event;
    printf("\n    found by %.*s: %.*s", MEND_STR_ARG(found->detector), MEND_STR_ARG(found->summary));
  } else if (event->kind == MEND_EVENT_ACTION) {
    const mend_action_event *action = (const mend_action_event *)event;
    printf("\n    decided by the policy: %.*s", MEND_STR_ARG(action->action));
  }
  return MEND_OK;
}

/* ---- The run ---- */

/* Goes on after an abort, to show that nothing gets through any more; yours should stop. Returns how many were
 * answered. */
static size_t ask_everything(mend_boundary *boundary, mend_protocol *protocol) {
  const mend_compound_tool historian = {.size = sizeof historian, .name = "historian", .agent = answer};
  mend_result result = MEND_RESULT_INIT;
  size_t answered = 0;
  for (size_t i = 0; i < QUESTIONS; i++) {
    printf("%2zu  %-26s", i + 1, script[i].question);
    const mend_status status =
        mend_boundary_compound_enriched(boundary, &historian, protocol, mend_str_from(script[i].question), &result);
    if (status == MEND_OK) answered++;
    puts(status == MEND_OK ? "" : "\n    the agent is not asked, the run is aborted");
  }
  mend_result_clear(&result);
  return answered;
}

static mend_status make_runner(mend_hooks *hooks, mend_healing_runner **ret_runner, mend_error *error) {
  mend_options config = MEND_OPTIONS_INIT;
  config.regression.enable = true;
  config.regression.window_n = 6; /* the mean of three readings against that of the three before */
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.config = &config;
  options.hooks = hooks;
  return mend_healing_runner_new(&options, ret_runner, error);
}

static size_t run_in_scope(mend_healing_runner *runner, mend_protocol *protocol, mend_healing_report *report) {
  mend_scope_options scope = MEND_SCOPE_OPTIONS_INIT;
  scope.ret_report = report;
  size_t answered = 0;
  MEND_HEALING_SCOPE(runner, &scope) {
    mend_run_subscribe(mend_healing_current_run(runner), "*", tell, NULL, NULL, NULL, NULL);
    answered = ask_everything(mend_healing_boundary(runner), protocol);
  }
  return answered;
}

int main(void) {
  mend_error error = MEND_ERROR_INIT;
  mend_protocol *protocol = NULL;
  mend_hooks *hooks = NULL;
  mend_healing_runner *runner = NULL;
  mend_status status = mend_protocol_new_structured(NULL, &protocol, &error);
  if (status == MEND_OK) status = mend_hooks_new(NULL, &hooks);
  if (status == MEND_OK) status = mend_hooks_add_metacognition(hooks, NULL, &error);
  if (status == MEND_OK) status = make_runner(hooks, &runner, &error);

  mend_healing_report report = MEND_HEALING_REPORT_INIT;
  size_t answered = 0;
  if (status == MEND_OK) {
    answered = run_in_scope(runner, protocol, &report);
    printf("\n%zu of %d questions were answered. The report says why: %s (hook: %s)\n", answered, QUESTIONS,
           report.abort_reason, report.abort_source);
  } else {
    fprintf(stderr, "cognitive_substrate: %s\n", mend_error_sentence(&error, status));
  }
  mend_healing_runner_release(runner);
  mend_hooks_release(hooks);
  mend_protocol_release(protocol);
  return report.status == MEND_ABORTED && answered == 7 ? EXIT_SUCCESS : EXIT_FAILURE;
}

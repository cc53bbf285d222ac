/* What docs/porting-from-orqest.md and docs/guide/healing.md quote. */
#include "mend/metacognition.h"
#include "mend/workbench.h"

#include <stdatomic.h>
#include <stdio.h>

/* ---- The bus ----------------------------------------------------------------------------------------------- */

mend_status print_event(void *ctx, const mend_event *event);
mend_status count_detection(void *ctx, const mend_event *event);

mend_status print_event(void *ctx, const mend_event *event) {
  char *line;
  size_t len;
  (void)ctx;
  mend_status status = mend_event_to_json(event, NULL, NULL, &line, &len);
  if (status != MEND_OK) return status;
  puts(line);
  mend_free(NULL, line);
  return MEND_OK;
}

mend_status count_detection(void *ctx, const mend_event *event) {
  const mend_detection_event *found = (const mend_detection_event *)event;
  printf("%.*s\n", MEND_STR_ARG(found->summary));
  atomic_fetch_add((atomic_int *)ctx, 1);
  return MEND_OK;
}

mend_status use_a_bus(atomic_int *detections, mend_error *error);

mend_status use_a_bus(atomic_int *detections, mend_error *error) {
  mend_bus *bus = NULL;
  mend_run *run = NULL;
  mend_subscription *found = NULL, *all = NULL;

  mend_status status = mend_bus_new(NULL, &bus, error);
  if (status != MEND_OK) return status;
  status = mend_bus_subscribe(bus, "healing.detection", count_detection, detections, NULL, &found, NULL);
  if (status == MEND_OK) status = mend_bus_subscribe(bus, "*", print_event, NULL, NULL, &all, NULL);
  if (status == MEND_OK) status = mend_run_new(bus, NULL, &run, NULL);
  if (status == MEND_OK) status = mend_run_emit(run, "billing.charged", "{\"cents\": 12}", error);
  mend_subscription_close(&all);
  mend_subscription_close(&found);
  mend_run_release(run);
  mend_bus_release(bus);
  return status;
}

/* ---- Hooks ------------------------------------------------------------------------------------------------- */

mend_status keep_branches(void *ctx, const mend_hook_call *call, mend_decision *decision);
mend_status try_the_mirror(void *ctx, const mend_hook_call *call, mend_decision *decision);
mend_status add_hooks(mend_hooks *hooks, mend_error *error);

mend_status keep_branches(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  if (!mend_str_equal(call->tool_name, MEND_STR("delete_branch"))) return MEND_OK; /* Continue */
  return mend_decision_skip(decision, MEND_STR("branches are kept"), MEND_STR("{\"deleted\": false}"));
}

mend_status try_the_mirror(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  if (!mend_str_equal(call->tool_name, MEND_STR("download"))) return MEND_OK;
  const mend_str args = MEND_STR("{\"host\": \"mirror.example\"}"); /* merged over the call's */
  return mend_decision_redirect(decision, MEND_STR("the host does not answer"), MEND_STR("download_slowly"), args);
}

mend_status add_hooks(mend_hooks *hooks, mend_error *error) {
  static const mend_hook keeper = {.size = sizeof keeper, .name = "keeper", .before = keep_branches};
  static const mend_hook mirror = {.size = sizeof mirror, .name = "mirror", .on_error = try_the_mirror};
  mend_hook_options closed = MEND_HOOK_OPTIONS_INIT;
  closed.fail_closed = true; /* its failure aborts */
  mend_status status = mend_hooks_add(hooks, &keeper, NULL, &closed, error);
  if (status == MEND_OK) status = mend_hooks_add(hooks, &mirror, NULL, NULL, error);
  return status;
}

/* A tool loop that is not mend's asks the hooks itself. */
mend_status run_before(mend_hooks *hooks, mend_run *run, mend_decision *decision);

mend_status run_before(mend_hooks *hooks, mend_run *run, mend_decision *decision) {
  mend_hook_call call = {.size = sizeof call, .run = run, .call = mend_run_next_call(run), .attempt = 1};
  call.tool_name = MEND_STR("download");
  call.args = MEND_STR("{\"host\": \"example.org\"}");
  mend_str hook;
  return mend_hooks_before(hooks, &call, decision, &hook); /* MEND_ABORTED for Abort */
}

/* ---- Policy ------------------------------------------------------------------------------------------------ */

mend_status ask_about_loops(void *ctx, const mend_detection *detection, mend_action *ret_action);

mend_status ask_about_loops(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  if (!mend_str_equal(detection->detector, MEND_STR("loop"))) return mend_default_policy(ctx, detection, ret_action);
  *ret_action = mend_action_escalate("%.*s. Go on?", MEND_STR_ARG(detection->summary));
  return MEND_OK;
}

/* ---- The runner -------------------------------------------------------------------------------------------- */

mend_status load_config(mend_option_tree *tree, mend_error *error);

mend_status load_config(mend_option_tree *tree, mend_error *error) {
  const mend_str config = MEND_STR("{\"stall_timeout_s\": 120, \"loop_threshold_k\": 5, \"loop_window_n\": 20}");
  return mend_option_tree_load(tree, config, error);
}

static bool next_call(mend_str *ret_tool, mend_str *ret_args) {
  *ret_tool = MEND_STR("search");
  *ret_args = MEND_STR("{\"q\": \"weather\"}");
  return true;
}

mend_status protect(mend_bus *bus, mend_tools *tools, mend_hooks *hooks, mend_error *error);

mend_status protect(mend_bus *bus, mend_tools *tools, mend_hooks *hooks, mend_error *error) {
  mend_option_tree *tree = NULL;
  mend_status status = mend_option_tree_new(NULL, &tree);
  if (status == MEND_OK) status = load_config(tree, error);

  mend_healing_runner *runner = NULL;
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.bus = bus;
  options.tools = tools;
  options.hooks = hooks;
  options.policy = ask_about_loops;
  if (status == MEND_OK) {
    options.config = mend_option_tree_get(tree);
    status = mend_healing_runner_new(&options, &runner, error);
  }
  if (status != MEND_OK) goto done;

  mend_healing_report report = MEND_HEALING_REPORT_INIT;
  mend_scope_options scope = MEND_SCOPE_OPTIONS_INIT;
  scope.ret_report = &report;
  MEND_HEALING_SCOPE(runner, &scope) {
    mend_boundary *boundary = mend_healing_boundary(runner);
    mend_result result = MEND_RESULT_INIT;
    mend_str tool, args;
    while (next_call(&tool, &args)) {
      status = mend_boundary_call(boundary, tool, args, NULL, &result);
      if (status == MEND_ABORTED) break;
      if (result.outcome == MEND_OUTCOME_ESCALATED) printf("%.*s\n", MEND_STR_ARG(result.question));
    }
    mend_result_clear(&result);
  }
  if (report.status == MEND_ABORTED) printf("%s: %s\n", report.abort_source, report.abort_reason);

done:
  mend_healing_runner_release(runner);
  mend_option_tree_free(tree);
  return status;
}

/* ---- Retry ------------------------------------------------------------------------------------------------- */

mend_status call_with_retry(mend_boundary *boundary, mend_result *result);

mend_status call_with_retry(mend_boundary *boundary, mend_result *result) {
  mend_retry_options retry = MEND_RETRY_OPTIONS_INIT;
  retry.max_attempts = 3;
  retry.note = MEND_STR("Fetch the weather.");
  retry.backoff_s = 0.5;
  retry.jitter = true;
  return mend_boundary_retry(boundary, MEND_STR("fetch"), MEND_STR("{\"q\": \"weather\"}"), &retry, result);
}

/* ---- A sub-agent tool -------------------------------------------------------------------------------------- */

/* Yours, as in docs/api/flows.md. */
mend_status write_letter(void *ctx, mend_call *call, mend_str prompt);
mend_status typeset(void *ctx, mend_call *call, mend_str letter);
mend_status keep_letter(void *ctx, void *state, mend_str letter, mend_str page);
mend_status fits_the_page(void *ctx, mend_call *call, mend_str prompt, mend_str letter, mend_str page, bool *ret_passed,
                          char **ret_feedback);
mend_status ask_for_less(void *ctx, mend_str prompt, mend_str page, mend_str feedback, char **ret_prompt);

mend_status send_letter(mend_boundary *boundary, mend_result *result);

mend_status send_letter(mend_boundary *boundary, mend_result *result) {
  const mend_subagent_tool tool = {.size = sizeof tool,
                                   .name = "letter",
                                   .agent = write_letter,
                                   .executor = typeset,
                                   .commit = keep_letter,
                                   .evaluate = fits_the_page,
                                   .build_prompt = ask_for_less,
                                   .max_refinements = 1};
  mend_refinement_report report = MEND_REFINEMENT_REPORT_INIT;
  const mend_status status = mend_boundary_subagent(boundary, &tool, MEND_STR("Thank the host."), result, &report);
  printf("%s, %u refinements\n", mend_refinement_exit_name(report.exit), report.refinements);
  return status;
}

/* ---- A plan ------------------------------------------------------------------------------------------------ */

mend_status plan_trip(void *ctx, const mend_plan_request *request, mend_plan_draft *draft);
mend_status travel(mend_boundary *boundary, mend_result *result);

mend_status plan_trip(void *ctx, const mend_plan_request *request, mend_plan_draft *draft) {
  (void)ctx, (void)request; /* the goal, what has been found out, what is to be replaced */
  mend_subtask look = MEND_SUBTASK_INIT, book = MEND_SUBTASK_INIT;
  look.name = MEND_STR("find a train");
  look.tool = MEND_STR("search_trains");
  look.args = MEND_STR("{\"to\": \"Basel\"}");
  book.name = MEND_STR("book it");
  book.tool = MEND_STR("book_train");
  const mend_status status = mend_plan_add(draft, &look, NULL);
  return status == MEND_OK ? mend_plan_add(draft, &book, NULL) : status;
}

mend_status travel(mend_boundary *boundary, mend_result *result) {
  mend_plan plan = MEND_PLAN_INIT;
  plan.planner = plan_trip;
  plan.confidence = mend_enriched_confidence;
  plan.redecompose_threshold = 0.6;
  plan.max_subtasks = 10;
  const mend_status status = mend_boundary_plan(boundary, &plan, MEND_STR("Get me to Basel."), result);
  printf("%.*s\n", MEND_STR_ARG(result->value)); /* {"success": ..., "outputs": {...}, "subtasks": [...], ...} */
  return status;
}

/* ---- Metacognition ----------------------------------------------------------------------------------------- */

mend_status publish_confidence(mend_hooks *hooks, mend_error *error);
mend_status ask_surely(mend_boundary *boundary, const mend_compound_tool *tool, mend_str prompt, mend_result *result,
                       mend_error *error);

mend_status publish_confidence(mend_hooks *hooks, mend_error *error) {
  return mend_hooks_add_metacognition(hooks, NULL, error); /* before the boundary is made */
}

mend_status ask_surely(mend_boundary *boundary, const mend_compound_tool *tool, mend_str prompt, mend_result *result,
                       mend_error *error) {
  mend_protocol *protocol;
  mend_status status = mend_protocol_new_structured(NULL, &protocol, error);
  if (status != MEND_OK) return status;
  status = mend_boundary_compound_enriched(boundary, tool, protocol, prompt, result);
  mend_protocol_release(protocol);
  return status;
}

/* ---- The workbench ----------------------------------------------------------------------------------------- */

bool print_recent(void *ctx, mend_str line);
mend_status look_at_work(mend_workbench *workbench);

bool print_recent(void *ctx, mend_str line) {
  (void)ctx;
  printf("%.*s\n", MEND_STR_ARG(line));
  return true;
}

mend_status look_at_work(mend_workbench *workbench) {
  char *picture;
  mend_workbench_each_recent(workbench, print_recent, NULL);
  const mend_status status = mend_tracer_draw(mend_workbench_tracer(workbench), NULL, NULL, &picture);
  if (status != MEND_OK) return status;
  fputs(picture, stdout);
  mend_free(NULL, picture);
  return MEND_OK;
}

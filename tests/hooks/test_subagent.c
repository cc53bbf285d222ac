/* The sub-agent tool: tests/data/flows/subagent.case, each case once and then with each of its allocations failing. */
#include "flow_world.h"

/* What its functions do, written down as for tools; "" for one that is absent. */
typedef struct subagent {
  flow_world *world;
  scripted agent, executor, commit, evaluate, prompt;
} subagent;

static subagent flow;

/* ---- Its functions ---- */

__attribute__((format(printf, 2, 3))) static void note_ran(subagent *self, const char *format, ...) {
  char word[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(word, sizeof word, format, arguments);
  va_end(arguments);
  note_word(&self->world->scenario.ran, word);
}

/* The next item of a function that answers nothing: continues, fails, or aborts the run. */
static mend_status play_step(scripted *part, item *ret_item) {
  *ret_item = next_item(part, 0);
  split_item(ret_item);
  if (is(ret_item, "abort")) return mend_run_abort(part->scenario->run, MEND_STR("enough"), mend_str_from(part->name));
  if (is(ret_item, "cancel")) mend_token_cancel(part->scenario->token, MEND_STR("enough"));
  return is(ret_item, "fail") ? MEND_EIO : MEND_OK;
}

static mend_status agent(void *ctx, mend_call *call, mend_str prompt) {
  subagent *self = ctx;
  note_ran(self, "agent(%.*s)", MEND_STR_ARG(prompt));
  return play_part(&self->agent, call);
}

static mend_status executor(void *ctx, mend_call *call, mend_str output) {
  subagent *self = ctx;
  note_ran(self, "executor(%.*s)", MEND_STR_ARG(output));
  return play_part(&self->executor, call);
}

static mend_status commit(void *ctx, void *state, mend_str output, mend_str result) {
  subagent *self = ctx;
  item next;
  cr_assert_eq(state, &self->world->scenario);
  note_ran(self, "commit(%.*s,%.*s)", MEND_STR_ARG(output), MEND_STR_ARG(result));
  return play_step(&self->commit, &next);
}

static mend_status evaluate(void *ctx, mend_call *call, mend_str prompt, mend_str output, mend_str result,
                            bool *ret_passed, char **ret_feedback) {
  subagent *self = ctx;
  item next;
  cr_assert_not_null(call);
  cr_assert(!*ret_passed);
  note_ran(self, "evaluate(%.*s,%.*s,%.*s)", MEND_STR_ARG(prompt), MEND_STR_ARG(output), MEND_STR_ARG(result));
  const mend_status status = play_step(&self->evaluate, &next);
  *ret_passed = is(&next, "pass");
  if (*next.first != '\0') *ret_feedback = strdup(next.first);
  return status;
}

static mend_status build_prompt(void *ctx, mend_str prompt, mend_str result, mend_str feedback, char **ret_prompt) {
  subagent *self = ctx;
  item next;
  note_ran(self, "prompt(%.*s,%.*s,%.*s)", MEND_STR_ARG(prompt), MEND_STR_ARG(result), MEND_STR_ARG(feedback));
  const mend_status status = play_step(&self->prompt, &next);
  if (!is(&next, "none")) *ret_prompt = strdup(next.first);
  return status;
}

/* ---- Lines ---- */

static void set_script(subagent *self, scripted *part, const char *name, const char *script) {
  *part = (scripted){.scenario = &self->world->scenario};
  snprintf(part->name, sizeof part->name, "%s", name);
  snprintf(part->scripts[0], sizeof part->scripts[0], "%s", script);
}

static bool is_there(const scripted *part) { return part->scripts[0][0] != '\0'; }

static mend_subagent_tool describe_tool(subagent *self, uint32_t max_refinements) {
  return (mend_subagent_tool){.size = sizeof(mend_subagent_tool),
                              .name = "sub",
                              .ctx = self,
                              .max_refinements = max_refinements,
                              .agent = agent,
                              .executor = is_there(&self->executor) ? executor : NULL,
                              .commit = is_there(&self->commit) ? commit : NULL,
                              .evaluate = is_there(&self->evaluate) ? evaluate : NULL,
                              .build_prompt = is_there(&self->prompt) ? build_prompt : NULL};
}

static void call_subagent(subagent *self, char *rest) {
  scenario *s = &self->world->scenario;
  const mend_subagent_tool tool = describe_tool(self, (uint32_t)strtoul(take_word(&rest), NULL, 10));
  mend_result result = MEND_RESULT_INIT;
  mend_refinement_report report = MEND_REFINEMENT_REPORT_INIT;
  note_result(s, mend_boundary_subagent(s->boundary, &tool, mend_str_from(rest), &result, &report), &result);
  note(&s->result, " exit=%s/%u", mend_refinement_exit_name(report.exit), report.refinements);
  cr_assert(result.value.ptr != NULL || report.exit == MEND_REFINEMENT_ENDED, "%s", s->place);
  mend_result_clear(&result);
}

static bool play_own(flow_world *world, const char *word, char *rest) {
  subagent *self = world->flow;
  const struct {
    const char *word;
    scripted *part;
  } parts[] = {{"agent", &self->agent},
               {"executor", &self->executor},
               {"commit", &self->commit},
               {"evaluate", &self->evaluate},
               {"prompt", &self->prompt}};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    if (strcmp(parts[i].word, word) != 0) continue;
    set_script(self, parts[i].part, word, rest);
    return true;
  }
  if (strcmp(word, "subagent") != 0) return false;
  call_subagent(self, rest);
  return true;
}

static void clear_subagent(void *ctx) {
  subagent *self = ctx;
  *self = (subagent){.world = self->world};
}

static size_t play_once(const char *name, unsigned line, const char *text) {
  flow.world = flow_world_new(&flow, clear_subagent);
  const size_t differences = flow_play_case(flow.world, name, line, text, true, play_own);
  free(flow.world);
  return differences;
}

static size_t play_without_memory(const char *name, unsigned line, const char *text) {
  flow.world = flow_world_new(&flow, clear_subagent);
  const size_t points = flow_torture_case(flow.world, name, line, text, play_own);
  cr_assert(points > 40, "%s:%u: %zu", name, line, points);
  free(flow.world);
  return 0;
}

Test(subagent, cases) {
  case_count count = {0, 0};
  each_case("flows/subagent.case", play_once, &count);
  cr_assert(count.cases > 20, "%zu cases", count.cases);
  cr_assert_eq(count.differences, 0u, "%zu differences", count.differences);
}

Test(subagent, each_allocation_fails) {
  case_count count = {0, 0};
  each_case("flows/subagent.case", play_without_memory, &count);
}

/* An answer that there was no memory for is none, whatever the agent returns: it does not become null. */
Test(subagent, nothing_is_lost) {
  flow.world = flow_world_new(&flow, clear_subagent);
  scenario *s = &flow.world->scenario;
  bool failed = true;
  for (size_t fail_at = 1; failed; fail_at++) {
    mend_result result = MEND_RESULT_INIT;
    scenario_clear(s);
    clear_subagent(&flow);
    set_script(&flow, &flow.agent, "agent", "ok={\"a\":1}");
    set_script(&flow, &flow.executor, "executor", "ok={\"b\":2}");
    const mend_subagent_tool tool = describe_tool(&flow, 0);
    mend_test_allocator_arm(&s->memory, fail_at, false);
    if (scenario_try_open(s) == MEND_OK &&
        mend_boundary_subagent(s->boundary, &tool, MEND_STR("do"), &result, NULL) == MEND_OK) {
      cr_assert(mend_str_equal(result.value, MEND_STR("{\"b\":2}")), "allocation %zu", fail_at);
      cr_assert(strstr(s->ran.text, "executor({\"a\":1})") != NULL, "allocation %zu", fail_at);
    }
    failed = mend_test_allocator_failed(&s->memory);
    mend_result_clear(&result);
    scenario_close(s);
  }
  free(flow.world);
}

/* ---- Bad input ---- */

static const struct {
  bool agent, evaluate, prompt;
  uint32_t max_refinements;
  size_t report_size;
  const char *sentence;
} refused[] = {
    {false, true, true, 0, sizeof(mend_refinement_report), "mend_subagent_tool.agent: NULL, expected a function"},
    {true, true, true, 1001, sizeof(mend_refinement_report),
     "mend_subagent_tool.max_refinements: 1001 is out of range, expected 0 to 1000"},
    {true, false, true, 1, sizeof(mend_refinement_report),
     "mend_subagent_tool.evaluate: NULL, expected a function because max_refinements is 1"},
    {true, true, false, 3, sizeof(mend_refinement_report),
     "mend_subagent_tool.build_prompt: NULL, expected a function because max_refinements is 3"},
    {true, true, true, 1, 0, "mend_refinement_report: its size is too small, start from MEND_REFINEMENT_REPORT_INIT"},
};

static void expect_refused(mend_status status, const mend_result *result, const char *sentence) {
  cr_assert_eq(status, MEND_EINVAL);
  cr_assert_eq(result->outcome, MEND_OUTCOME_FAILED);
  cr_assert(mend_str_equal(result->error_message, mend_str_from(sentence)), "%.*s",
            MEND_STR_ARG(result->error_message));
}

Test(subagent, bad_input) {
  flow.world = flow_world_new(&flow, clear_subagent);
  scenario *s = &flow.world->scenario;
  mend_result result = MEND_RESULT_INIT;
  const mend_str prompt = MEND_STR("do");
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    mend_refinement_report report = {.size = refused[i].report_size, .refinements = 77};
    const mend_subagent_tool tool = {.size = sizeof tool,
                                     .name = "sub",
                                     .max_refinements = refused[i].max_refinements,
                                     .agent = refused[i].agent ? agent : NULL,
                                     .evaluate = refused[i].evaluate ? evaluate : NULL,
                                     .build_prompt = refused[i].prompt ? build_prompt : NULL};
    expect_refused(mend_boundary_subagent(s->boundary, &tool, prompt, &result, &report), &result, refused[i].sentence);
    cr_assert_eq(report.refinements, 77u);
  }
  mend_subagent_tool tool = {.size = 0, .name = "sub", .agent = agent};
  expect_refused(mend_boundary_subagent(s->boundary, NULL, prompt, &result, NULL), &result,
                 "mend_subagent_tool: NULL, expected one");
  expect_refused(
      mend_boundary_subagent(s->boundary, &tool, prompt, &result, NULL), &result,
      "mend_subagent_tool: size is 0, start from the type's _INIT or set size to sizeof(mend_subagent_tool)");
  tool.size = sizeof tool;
  tool.name = NULL;
  expect_refused(mend_boundary_subagent(s->boundary, &tool, prompt, &result, NULL), &result,
                 "mend_subagent_tool.name: NULL, expected a name");
  tool.name = "";
  expect_refused(mend_boundary_subagent(s->boundary, &tool, prompt, &result, NULL), &result,
                 "mend_subagent_tool.name: \"\", expected a name");
  cr_assert_eq(mend_boundary_subagent(NULL, &tool, prompt, &result, NULL), MEND_EINVAL);
  cr_assert_eq(mend_boundary_subagent(s->boundary, &tool, prompt, NULL, NULL), MEND_EINVAL);
  cr_assert_str_eq(s->events.text, "");
  mend_result_clear(&result);
  scenario_close(s);
  free(flow.world);
}

Test(subagent, exit_names) {
  cr_assert_str_eq(mend_refinement_exit_name(MEND_REFINEMENT_PASSED), "passed");
  cr_assert_str_eq(mend_refinement_exit_name(MEND_REFINEMENT_MAX), "max_refinements");
  cr_assert_str_eq(mend_refinement_exit_name(MEND_REFINEMENT_KEPT_ORIGINAL), "refinement_failed_keep_original");
  cr_assert_str_eq(mend_refinement_exit_name(MEND_REFINEMENT_ENDED), "ended");
  cr_assert_str_eq(mend_refinement_exit_name((mend_refinement_exit)99), "unknown");
}

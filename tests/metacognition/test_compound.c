/* Compound tools and tools whose results are enriched. */
#include "world.h"

/* ---- A compound tool that follows a script ---- */

typedef struct actor {
  const char *outputs[4]; /* of the agent's runs; "!": it fails; "?": it answers nothing; then the last again */
  const char *result;     /* the executor's; NULL: there is no executor; "!" and "?" as above */
  unsigned runs;
  char told[512]; /* what add_prompt, the agent's later runs, the executor and update_state were given */
} actor;

static void tell(actor *self, const char *who, mend_str what) {
  const size_t len = strlen(self->told);
  snprintf(self->told + len, sizeof self->told - len, "%s %.*s; ", who, MEND_STR_ARG(what));
}

static mend_status act(mend_call *call, const char *answer) {
  if (strcmp(answer, "!") == 0) return mend_call_fail(call, MEND_STR("tired"), MEND_STR("enough for today"));
  if (strcmp(answer, "?") == 0) return MEND_OK;
  return mend_call_succeed(call, mend_str_from(answer));
}

static mend_status add_prompt(void *ctx, void *state, mend_str prompt) {
  cr_assert_null(state);
  tell(ctx, "prompt", prompt);
  return MEND_OK;
}

static mend_status agent(void *ctx, mend_call *call, mend_str prompt) {
  actor *self = ctx;
  unsigned run = self->runs++;
  while (run > 0 && (run >= 4 || self->outputs[run] == NULL))
    run--;
  if (self->runs > 1) tell(self, "again", prompt);
  return act(call, self->outputs[run]);
}

static mend_status executor(void *ctx, mend_call *call, mend_str output) {
  actor *self = ctx;
  tell(self, "execute", output);
  return act(call, self->result);
}

static mend_status update_state(void *ctx, void *state, mend_str output, mend_str result) {
  cr_assert_null(state);
  tell(ctx, "update", output);
  tell(ctx, "with", result);
  return MEND_OK;
}

static mend_compound_tool tool_of(actor *self) {
  return (mend_compound_tool){.size = sizeof(mend_compound_tool),
                              .name = "actor",
                              .ctx = self,
                              .add_prompt = add_prompt,
                              .agent = agent,
                              .executor = self->result != NULL ? executor : NULL,
                              .update_state = update_state};
}

enum protocol_kind { STRUCTURED, ENSEMBLE };

static mend_protocol *protocol_of(enum protocol_kind kind, const mend_allocator *allocator) {
  mend_structured_options structured = MEND_STRUCTURED_OPTIONS_INIT;
  mend_ensemble_options ensemble = MEND_ENSEMBLE_OPTIONS_INIT;
  mend_protocol *protocol = NULL;
  structured.allocator = ensemble.allocator = allocator;
  if (kind == STRUCTURED) mend_protocol_new_structured(&structured, &protocol, NULL);
  if (kind == ENSEMBLE) mend_protocol_new_ensemble(&ensemble, &protocol, NULL);
  return protocol;
}

#define NOTHING_ELSE "\"uncertainty_targets\":[],\"capability_boundary\":null,"

static const struct {
  const char *title;
  actor self;
  enum protocol_kind kind;
  mend_status status;
  const char *value, *told, *log;
} cases[] = {
    {"the output is the result",
     {{"{\"self_confidence\":0.5}"}, NULL, 0, ""},
     STRUCTURED,
     MEND_OK,
     "{\"output\":{\"self_confidence\":0.5},\"confidence\":0.5," NOTHING_ELSE
     "\"protocol_name\":\"structured\",\"metadata\":{}}",
     "prompt ask; update {\"self_confidence\":0.5}; with "
     "{\"output\":{\"self_confidence\":0.5},\"confidence\":0.5," NOTHING_ELSE
     "\"protocol_name\":\"structured\",\"metadata\":{}}; ",
     "actor 0.5  \"\" by structured, metacognition says r/1/1, attempt 1, 0 ms\n"},
    {"the executor's result, the agent's confidence",
     {{"{\"self_confidence\":0.5}"}, "[1]", 0, ""},
     STRUCTURED,
     MEND_OK,
     "{\"output\":[1],\"confidence\":0.5," NOTHING_ELSE "\"protocol_name\":\"structured\",\"metadata\":{}}",
     "prompt ask; execute {\"self_confidence\":0.5}; update {\"self_confidence\":0.5}; with {\"output\":[1],"
     "\"confidence\":0.5," NOTHING_ELSE "\"protocol_name\":\"structured\",\"metadata\":{}}; ",
     "actor 0.5  \"\" by structured, metacognition says r/1/1, attempt 1, 0 ms\n"},
    {"an executor that says nothing",
     {{"{\"self_confidence\":1}"}, "?", 0, ""},
     STRUCTURED,
     MEND_OK,
     "{\"output\":null,\"confidence\":1," NOTHING_ELSE "\"protocol_name\":\"structured\",\"metadata\":{}}",
     NULL,
     "actor 1  \"\" by structured, metacognition says r/1/1, attempt 1, 0 ms\n"},
    {"nothing to go by: no event, no error",
     {{"\"I am sure\""}, NULL, 0, ""},
     STRUCTURED,
     MEND_OK,
     "{\"output\":\"I am sure\",\"confidence\":null," NOTHING_ELSE "\"protocol_name\":\"structured\",\"metadata\":{"
     "\"protocol_error\":\"the output says nothing of itself: it is a string, expected an object\"}}",
     NULL,
     ""},
    {"the agent is run again with the same prompt",
     {{"1", "1", "2"}, "\"done\"", 0, ""},
     ENSEMBLE,
     MEND_OK,
     "{\"output\":\"done\",\"confidence\":0.3333333333333333," NOTHING_ELSE
     "\"protocol_name\":\"ensemble\",\"metadata\":{\"runs\":3,\"failed\":0}}",
     "prompt ask; execute 1; again ask; again ask; update 1; with {\"output\":\"done\",\"confidence\":"
     "0.3333333333333333," NOTHING_ELSE "\"protocol_name\":\"ensemble\",\"metadata\":{\"runs\":3,\"failed\":0}}; ",
     "actor 0.333333  \"\" by ensemble, metacognition says r/1/1, attempt 1, 0 ms\n"},
    {"a later run that fails is left out",
     {{"{\"a\":1}", "!", "{\"a\":1}"}, NULL, 0, ""},
     ENSEMBLE,
     MEND_OK,
     "{\"output\":{\"a\":1},\"confidence\":1," NOTHING_ELSE
     "\"protocol_name\":\"ensemble\",\"metadata\":{\"runs\":3,\"failed\":1}}",
     NULL,
     "actor 1  \"\" by ensemble, metacognition says r/1/1, attempt 1, 0 ms\n"},
    {"later runs that say nothing say null",
     {{"1", "?"}, NULL, 0, ""},
     ENSEMBLE,
     MEND_OK,
     "{\"output\":1,\"confidence\":0.3333333333333333," NOTHING_ELSE
     "\"protocol_name\":\"ensemble\",\"metadata\":{\"runs\":3,\"failed\":0}}",
     NULL,
     "actor 0.333333  \"\" by ensemble, metacognition says r/1/1, attempt 1, 0 ms\n"},
    {"an agent that fails", {{"!"}, "1", 0, ""}, ENSEMBLE, MEND_EFAILED, NULL, "prompt ask; ", ""},
    {"an executor that fails", {{"1"}, "!", 0, ""}, ENSEMBLE, MEND_EFAILED, NULL, "prompt ask; execute 1; ", ""},
    {"an executor that is wrong", {{"1"}, "[", 0, ""}, STRUCTURED, MEND_EFAILED, NULL, NULL, ""},
};

static void run_case(size_t index) {
  world w;
  world_open(&w);
  mend_hooks *hooks = world_hooks(&w);
  mend_boundary *boundary = world_boundary(w.run, hooks);
  mend_protocol *protocol = protocol_of(cases[index].kind, &w.memory.base);
  actor self = cases[index].self;
  const mend_compound_tool tool = tool_of(&self);
  mend_result result = MEND_RESULT_INIT;
  const char *title = cases[index].title;
  cr_assert_eq(mend_boundary_compound_enriched(boundary, &tool, protocol, MEND_STR("ask"), &result),
               cases[index].status, "%s", title);
  if (cases[index].value != NULL) cr_assert_str_eq(result.value.ptr, cases[index].value, "%s", title);
  if (cases[index].value == NULL) cr_assert_null(result.value.ptr, "%s: %s", title, result.value.ptr);
  if (cases[index].told != NULL) cr_assert_str_eq(self.told, cases[index].told, "%s: %s", title, self.told);
  cr_assert_str_eq(w.log, cases[index].log, "%s", title);
  mend_result_clear(&result);
  mend_protocol_release(protocol);
  mend_boundary_release(boundary);
  mend_hooks_release(hooks);
  world_close(&w);
}

Test(compound, what_becomes_of_it) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    run_case(i);
}

/* ---- What is refused ---- */

static void expect_refused(mend_status status, mend_result *result, const char *sentence) {
  cr_assert_eq(status, MEND_EINVAL, "%s", sentence);
  cr_assert_eq(result->outcome, MEND_OUTCOME_FAILED);
  cr_assert(mend_str_equal(result->error_type, MEND_STR("MEND_EINVAL")));
  cr_assert_not_null(strstr(result->error_message.ptr, sentence), "%s", result->error_message.ptr);
}

Test(compound, what_is_refused) {
  world w;
  world_open(&w);
  mend_boundary *boundary = world_boundary(w.run, NULL);
  mend_protocol *protocol = protocol_of(STRUCTURED, NULL);
  actor self = {.outputs = {"1"}};
  mend_compound_tool tool = tool_of(&self);
  mend_result result = MEND_RESULT_INIT;
  const mend_str prompt = MEND_STR("ask");
  expect_refused(mend_boundary_compound_enriched(boundary, &tool, NULL, prompt, &result), &result,
                 "protocol: NULL, expected one");
  expect_refused(mend_boundary_compound_enriched(NULL, &tool, protocol, prompt, &result), &result, "boundary: NULL");
  expect_refused(mend_boundary_compound_enriched(boundary, NULL, protocol, prompt, &result), &result,
                 "mend_compound_tool: NULL");
  tool.agent = NULL;
  expect_refused(mend_boundary_compound_enriched(boundary, &tool, protocol, prompt, &result), &result,
                 "mend_compound_tool.agent: NULL");
  tool.size = 0;
  expect_refused(mend_boundary_compound_enriched(boundary, &tool, protocol, prompt, &result), &result, "size is 0");
  cr_assert_eq(mend_boundary_compound_enriched(boundary, &tool, NULL, prompt, NULL), MEND_EINVAL);
  cr_assert_eq(self.runs, 0u);
  mend_result_clear(&result);
  mend_protocol_release(protocol);
  mend_boundary_release(boundary);
  world_close(&w);
}

/* ---- Cancelled while the agent is run again ---- */

static mend_status cancel_itself(void *ctx, mend_call *call, mend_str prompt) {
  actor *self = ctx;
  (void)prompt;
  if (++self->runs == 2) mend_run_cancel_call(mend_call_run(call), mend_call_number(call), MEND_STR("enough"));
  return mend_call_succeed(call, MEND_STR("1"));
}

Test(compound, a_cancelled_call_runs_its_agent_no_more) {
  world w;
  world_open(&w);
  mend_boundary *boundary = world_boundary(w.run, NULL);
  mend_protocol *protocol = protocol_of(ENSEMBLE, &w.memory.base);
  actor self = {.outputs = {"1"}};
  mend_compound_tool tool = tool_of(&self);
  tool.agent = cancel_itself;
  mend_result result = MEND_RESULT_INIT;
  cr_assert_eq(mend_boundary_compound_enriched(boundary, &tool, protocol, MEND_STR("ask"), &result), MEND_ECANCELLED);
  cr_assert_eq(result.outcome, MEND_OUTCOME_CANCELLED);
  cr_assert_eq(self.runs, 2u);
  mend_result_clear(&result);
  mend_protocol_release(protocol);
  mend_boundary_release(boundary);
  world_close(&w);
}

/* ---- A tool of any kind that enriches its answer ---- */

static const struct {
  const char *output, *value, *error_message;
  mend_status status;
} answers[] = {
    {"{\"self_confidence\":0.5}",
     "{\"output\":{\"self_confidence\":0.5},\"confidence\":0.5," NOTHING_ELSE
     "\"protocol_name\":\"structured\",\"metadata\":{}}",
     NULL, MEND_OK},
    {"{\"self_confidence\"", NULL, "expected a colon, found the end of the text", MEND_ESYNTAX},
    {"\"\xff\"", NULL, "expected UTF-8, found byte 0xFF", MEND_ESYNTAX},
};

typedef struct answering {
  mend_protocol *protocol;
  size_t index;
} answering;

static mend_status answer_enriched(void *ctx, mend_call *call) {
  const answering *self = ctx;
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  input.output = mend_str_from(answers[self->index].output);
  const mend_status status = mend_call_succeed_enriched(call, self->protocol, &input);
  cr_assert_eq(status, answers[self->index].status, "%zu: %s", self->index, mend_status_name(status));
  cr_assert_eq(mend_call_succeed_enriched(call, self->protocol, &input), status == MEND_OK ? MEND_EEXIST : status);
  cr_assert_eq(mend_call_succeed_enriched(call, NULL, &input), MEND_EINVAL);
  return status;
}

Test(compound, a_tool_answers_with_something_enriched) {
  world w;
  world_open(&w);
  mend_boundary *boundary = world_boundary(w.run, NULL);
  answering self = {protocol_of(STRUCTURED, &w.memory.base), 0};
  const mend_tool tool = {.size = sizeof tool, .name = "t", .execute = answer_enriched};
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  options.tool = &tool;
  options.tool_ctx = &self;
  for (; self.index < sizeof answers / sizeof answers[0]; self.index++) {
    mend_result result = MEND_RESULT_INIT;
    mend_boundary_call(boundary, MEND_STR("t"), (mend_str)MEND_ABSENT, &options, &result);
    if (answers[self.index].value != NULL) cr_assert_str_eq(result.value.ptr, answers[self.index].value);
    if (answers[self.index].error_message != NULL) {
      cr_assert_str_eq(result.error_type.ptr, "bad_result");
      cr_assert_str_eq(result.error_message.ptr, answers[self.index].error_message);
    }
    mend_result_clear(&result);
  }
  mend_protocol_release(self.protocol);
  mend_boundary_release(boundary);
  world_close(&w);
}

/* ---- Torture ---- */

static mend_status live(world *w, mend_result *result) {
  actor self = {.outputs = {"{\"a\":1}"}, .result = "[2]"};
  const mend_compound_tool tool = tool_of(&self);
  mend_boundary *boundary = NULL;
  mend_protocol *protocol = protocol_of(ENSEMBLE, &w->memory.base);
  mend_status status = protocol != NULL ? world_try_boundary(w->run, NULL, &boundary, NULL) : MEND_ENOMEM;
  if (status == MEND_OK) status = mend_boundary_compound_enriched(boundary, &tool, protocol, MEND_STR("ask"), result);
  mend_protocol_release(protocol);
  mend_boundary_release(boundary);
  return status;
}

static void torture(bool fail_after) {
  world w;
  mend_test_allocator_init(&w.memory);
  size_t fail_at = 1;
  for (bool failed = true; failed; fail_at++) {
    mend_result result = MEND_RESULT_INIT;
    mend_test_allocator_arm(&w.memory, fail_at, fail_after);
    mend_status status = world_try_open(&w);
    if (status == MEND_OK) status = live(&w, &result);
    failed = mend_test_allocator_failed(&w.memory);
    cr_assert(status == MEND_OK || failed, "allocation %zu: %s", fail_at, mend_status_name(status));
    cr_assert(status != MEND_OK || mend_str_equal((mend_str){result.value.ptr, 14}, MEND_STR("{\"output\":[2],")),
              "allocation %zu: %.*s", fail_at, MEND_STR_ARG(result.value));
    mend_result_clear(&result);
    mend_test_allocator_arm(&w.memory, 0, false);
    world_close(&w);
  }
  cr_assert(fail_at > 20, "%zu", fail_at);
}

Test(compound, torture) {
  torture(false);
  torture(true);
}

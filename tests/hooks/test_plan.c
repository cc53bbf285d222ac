/* The plan: tests/data/flows/plan.case, each case once and then with each of its allocations failing. */
#include "flow_world.h"
#include "hooks/scope.h"

#include <math.h>
#include <pthread.h>

enum { DRAFTS_MAX = 8, CONFIDENCES_MAX = 16 };

/* A planner whose drafts are written down, and what else a plan is given. */
typedef struct scripted_plan {
  flow_world *world;
  mend_plan options;
  char drafts[DRAFTS_MAX][256];
  size_t drafts_len, asked; /* the last one counts for all later times */
  char confidences[CONFIDENCES_MAX][32];
  size_t confidences_len, said; /* likewise */
  scripted execute;
} scripted_plan;

static scripted_plan flow;

static scenario *scenario_of(const scripted_plan *self) { return &self->world->scenario; }

__attribute__((format(printf, 2, 3))) static void note_ran(scripted_plan *self, const char *format, ...) {
  char word[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(word, sizeof word, format, arguments);
  va_end(arguments);
  note_word(&scenario_of(self)->ran, word);
}

/* ---- Its functions ---- */

/* "NAME|TOOL|ARGS|PROMPT", "-" for absent. */
static mend_status add_subtask(mend_plan_draft *draft, char *text) {
  mend_subtask subtask = MEND_SUBTASK_INIT;
  char *fields[4] = {"", "", "", ""};
  for (size_t i = 0; i < 4 && text != NULL; i++)
    fields[i] = strsep(&text, "|");
  subtask.name = mend_str_from(fields[0]);
  subtask.tool = optional(fields[1]);
  subtask.args = optional(fields[2]);
  subtask.prompt = optional(fields[3]);
  return mend_plan_add(draft, &subtask, NULL);
}

/* Words before the steps: "fail" returns an error at the end, "abort" aborts the run, "careless" goes on after a
 * refusal. */
static mend_status planner(void *ctx, const mend_plan_request *request, mend_plan_draft *draft) {
  scripted_plan *self = ctx;
  char text[256], *rest = text;
  mend_status end = MEND_OK, status = MEND_OK;
  bool careless = false;
  cr_assert(self->drafts_len > 0);
  snprintf(text, sizeof text, "%s", self->drafts[self->asked < self->drafts_len ? self->asked : self->drafts_len - 1]);
  self->asked++;
  note_ran(self, "planner(%.*s,%.*s,%.*s,%g,%u)", MEND_STR_ARG(request->goal), MEND_STR_ARG(request->context),
           MEND_STR_ARG(request->remaining), request->confidence, request->redecompositions);
  for (char *word; status == MEND_OK && *(word = take_word(&rest)) != '\0';) {
    if (strcmp(word, "fail") == 0) {
      end = MEND_EIO;
    } else if (strcmp(word, "abort") == 0) {
      mend_run_abort(scenario_of(self)->run, MEND_STR("no plan"), MEND_STR("planner"));
    } else if (strcmp(word, "careless") == 0) {
      careless = true;
    } else {
      status = add_subtask(draft, word);
      if (careless) status = MEND_OK;
    }
  }
  return status != MEND_OK ? status : end;
}

static mend_status execute(void *ctx, mend_call *call, const mend_subtask *subtask, mend_str context) {
  scripted_plan *self = ctx;
  note_ran(self, "execute(%.*s,%.*s,%.*s,%.*s,%.*s)", MEND_STR_ARG(subtask->name), MEND_STR_ARG(subtask->tool),
           MEND_STR_ARG(subtask->args), MEND_STR_ARG(subtask->prompt), MEND_STR_ARG(context));
  return play_part(&self->execute, call);
}

/* A number, "-" for nothing said, or "abort": aborts the run. */
static double confidence(void *ctx, const mend_subtask *subtask, const mend_result *result) {
  scripted_plan *self = ctx;
  const char *said = self->confidences[self->said < self->confidences_len ? self->said : self->confidences_len - 1];
  self->said++;
  note_ran(self, "confidence(%.*s,%.*s)", MEND_STR_ARG(subtask->name), MEND_STR_ARG(result->value));
  if (strcmp(said, "abort") == 0) mend_run_abort(scenario_of(self)->run, MEND_STR("unsure"), MEND_STR("confidence"));
  return strcmp(said, "-") == 0 ? (double)NAN : strtod(said, NULL);
}

/* ---- Lines ---- */

static void set_drafts(scripted_plan *self, char *rest) {
  cr_assert(self->drafts_len < DRAFTS_MAX);
  snprintf(self->drafts[self->drafts_len++], sizeof self->drafts[0], "%s", rest);
}

static void set_confidences(scripted_plan *self, char *rest) {
  self->options.confidence = confidence;
  for (char *word; *(word = take_word(&rest)) != '\0';) {
    cr_assert(self->confidences_len < CONFIDENCES_MAX);
    snprintf(self->confidences[self->confidences_len++], sizeof self->confidences[0], "%s", word);
  }
}

static void set_execute(scripted_plan *self, char *rest) {
  self->options.execute = execute;
  self->execute = (scripted){.scenario = scenario_of(self), .name = "execute"};
  snprintf(self->execute.scripts[0], sizeof self->execute.scripts[0], "%s", rest);
}

static void set_limits(scripted_plan *self, char *rest) {
  for (char *word; *(word = take_word(&rest)) != '\0';) {
    if (strcmp(word, "confine") == 0) self->options.confine_abort = true;
    if (strncmp(word, "max=", 4) == 0) self->options.max_redecompositions = (uint32_t)strtoul(word + 4, NULL, 10);
    if (strncmp(word, "threshold=", 10) == 0) self->options.redecompose_threshold = strtod(word + 10, NULL);
    if (strncmp(word, "subtasks=", 9) == 0) self->options.max_subtasks = (uint32_t)strtoul(word + 9, NULL, 10);
  }
}

/* The value is a line of its own. */
static void carry_out(scripted_plan *self, char *rest) {
  scenario *s = scenario_of(self);
  mend_result result = MEND_RESULT_INIT;
  const mend_status status = mend_boundary_plan(s->boundary, &self->options, mend_str_from(rest), &result);
  cr_assert_eq(result.call, 0u);
  cr_assert(result.value.ptr == NULL || mend_json_check(result.value, MEND_JSON_DEPTH_MAX, NULL) == MEND_OK);
  cr_assert(status != MEND_OK || result.value.ptr != NULL);
  cr_assert(status != MEND_ENOMEM || result.outcome != MEND_OUTCOME_FAILED ||
            mend_str_equal(result.error_message, mend_str_from(mend_status_message(MEND_ENOMEM))));
  clear_log(&self->world->value);
  note(&self->world->value, "%.*s", MEND_STR_ARG(result.value));
  result.value = (mend_str)MEND_ABSENT;
  note_result(s, status, &result);
  if (result.duration_ms > 0) note(&s->result, " took=%g", result.duration_ms);
  mend_result_clear(&result);
}

static bool play_own(flow_world *world, const char *word, char *rest) {
  static const struct {
    const char *word;
    void (*play)(scripted_plan *self, char *rest);
  } lines[] = {{"draft", set_drafts},
               {"confidences", set_confidences},
               {"execute", set_execute},
               {"limits", set_limits},
               {"plan", carry_out}};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    if (strcmp(lines[i].word, word) != 0) continue;
    lines[i].play(world->flow, rest);
    return true;
  }
  return false;
}

static void clear_plan(void *ctx) {
  scripted_plan *self = ctx;
  *self = (scripted_plan){.world = self->world, .options = MEND_PLAN_INIT};
  self->options.ctx = self;
  self->options.planner = planner;
}

static size_t play_once(const char *name, unsigned line, const char *text) {
  flow.world = flow_world_new(&flow, clear_plan);
  const size_t differences = flow_play_case(flow.world, name, line, text, true, play_own);
  free(flow.world);
  return differences;
}

static size_t play_without_memory(const char *name, unsigned line, const char *text) {
  flow.world = flow_world_new(&flow, clear_plan);
  const size_t points = flow_torture_case(flow.world, name, line, text, play_own);
  cr_assert(points > 30, "%s:%u: %zu", name, line, points);
  free(flow.world);
  return 0;
}

Test(plan, cases) {
  case_count count = {0, 0};
  each_case("flows/plan.case", play_once, &count);
  cr_assert(count.cases > 40, "%zu cases", count.cases);
  cr_assert_eq(count.differences, 0u, "%zu differences", count.differences);
}

Test(plan, each_allocation_fails) {
  case_count count = {0, 0};
  each_case("flows/plan.case", play_without_memory, &count);
}

/* ---- Bad input ---- */

static void expect_refused(mend_status status, const mend_result *result, const char *sentence) {
  cr_assert_eq(status, MEND_EINVAL);
  cr_assert_eq(result->outcome, MEND_OUTCOME_FAILED);
  cr_assert(mend_str_equal(result->error_message, mend_str_from(sentence)), "%.*s",
            MEND_STR_ARG(result->error_message));
}

static const struct {
  double threshold;
  uint32_t max_redecompositions, max_subtasks;
  const char *sentence;
} bad_plans[] = {
    {NAN, 2, 100, "mend_plan.redecompose_threshold: NaN is out of range, expected 0 to 1"},
    {-0.1, 2, 100, "mend_plan.redecompose_threshold: -0.1 is out of range, expected 0 to 1"},
    {1.1, 2, 100, "mend_plan.redecompose_threshold: 1.1 is out of range, expected 0 to 1"},
    {0.5, 1001, 100, "mend_plan.max_redecompositions: 1001 is out of range, expected 0 to 1000"},
    {0.5, 2, 0, "mend_plan.max_subtasks: 0 is out of range, expected 1 to 10000"},
    {0.5, 2, 10001, "mend_plan.max_subtasks: 10001 is out of range, expected 1 to 10000"},
};

Test(plan, bad_plans) {
  scenario *s = scenario_new();
  mend_result result = MEND_RESULT_INIT;
  mend_plan plan = MEND_PLAN_INIT;
  const mend_str goal = MEND_STR("g");
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  expect_refused(mend_boundary_plan(s->boundary, NULL, goal, &result), &result, "mend_plan: NULL, expected one");
  expect_refused(mend_boundary_plan(s->boundary, &plan, goal, &result), &result,
                 "mend_plan.planner: NULL, expected a function");
  for (size_t i = 0; i < sizeof bad_plans / sizeof bad_plans[0]; i++) {
    plan = (mend_plan)MEND_PLAN_INIT;
    plan.planner = planner;
    plan.redecompose_threshold = bad_plans[i].threshold;
    plan.max_redecompositions = bad_plans[i].max_redecompositions;
    plan.max_subtasks = bad_plans[i].max_subtasks;
    expect_refused(mend_boundary_plan(s->boundary, &plan, goal, &result), &result, bad_plans[i].sentence);
  }
  plan.size = 0;
  expect_refused(mend_boundary_plan(s->boundary, &plan, goal, &result), &result,
                 "mend_plan: size is 0, start from the type's _INIT or set size to sizeof(mend_plan)");
  cr_assert_eq(mend_boundary_plan(NULL, &plan, goal, &result), MEND_EINVAL);
  cr_assert_eq(mend_boundary_plan(s->boundary, &plan, goal, NULL), MEND_EINVAL);
  cr_assert_str_eq(s->events.text, "");
  mend_result_clear(&result);
  scenario_close(s);
  free(s);
}

/* ---- What a planner may add ---- */

static const struct {
  const char *name; /* NULL: absent */
  size_t repeated;  /* so often, 1 for once */
  const char *args;
  mend_status status;
  const char *sentence;
} additions[] = {
    {NULL, 1, NULL, MEND_EINVAL, "mend_subtask.name: none, expected 1 to 120 bytes"},
    {"", 1, NULL, MEND_EINVAL, "mend_subtask.name: none, expected 1 to 120 bytes"},
    {"x", 121, NULL, MEND_EINVAL,
     "mend_subtask.name: \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\", expected 1 to 120 bytes"},
    {"x", 120, NULL, MEND_OK, NULL},
    {"\n", 121, NULL, MEND_EINVAL, "mend_subtask.name: expected UTF-8 without control characters"},
    {"two\nlines", 1, NULL, MEND_EINVAL, "mend_subtask.name: expected UTF-8 without control characters"},
    {"\x7F", 1, NULL, MEND_EINVAL, "mend_subtask.name: expected UTF-8 without control characters"},
    {"\xC2\x9B", 1, NULL, MEND_EINVAL, "mend_subtask.name: expected UTF-8 without control characters"},
    {"\xC3", 1, NULL, MEND_EINVAL, "mend_subtask.name: expected UTF-8 without control characters"},
    {"a \"quoted\" \\ \u00e9", 1, "{\"a\": [1]}", MEND_OK, NULL},
    {"a", 1, "", MEND_EINVAL, "subtask a: args, line 1, column 1: expected a value, found the end of the text"},
    {"a", 1, "{\n\"a\" 1}", MEND_EINVAL, "subtask a: args, line 2, column 5: expected a colon, found '1'"},
    {"a", 1, "[1]", MEND_EINVAL, "subtask a: args: expected an object, found [1]"},
    {"a", 1, " \"123456789 123456789 123456789 123456789 123456789\"", MEND_EINVAL,
     "subtask a: args: expected an object, found  \"123456789 123456789 123456789 12345678"},
    {"a", 1, "{}", MEND_OK, NULL},
    {"a", 1, "{}", MEND_EEXIST, "subtask a: one of this name is in the plan already"},
};

static mend_status add_all(void *ctx, const mend_plan_request *request, mend_plan_draft *draft) {
  (void)ctx;
  (void)request;
  for (size_t i = 0; i < sizeof additions / sizeof additions[0]; i++) {
    mend_subtask subtask = MEND_SUBTASK_INIT;
    mend_error error = MEND_ERROR_INIT;
    char name[256] = "";
    for (size_t j = 0; additions[i].name != NULL && j < additions[i].repeated; j++)
      strcat(name, additions[i].name);
    subtask.name = additions[i].name != NULL ? mend_str_from(name) : (mend_str)MEND_ABSENT;
    subtask.args = mend_str_from(additions[i].args);
    cr_assert_eq(mend_plan_add(draft, &subtask, &error), additions[i].status, "%zu", i);
    if (additions[i].sentence != NULL) cr_assert_str_eq(error.message, additions[i].sentence, "%s", error.message);
  }
  mend_subtask subtask = MEND_SUBTASK_INIT;
  subtask.size = 0;
  cr_assert_eq(mend_plan_add(draft, &subtask, NULL), MEND_EINVAL);
  cr_assert_eq(mend_plan_add(draft, NULL, NULL), MEND_EINVAL);
  return MEND_OK;
}

static mend_status answer_true(void *ctx, mend_call *call, const mend_subtask *subtask, mend_str context) {
  (void)ctx;
  (void)subtask;
  (void)context;
  return mend_call_succeed(call, MEND_STR("true"));
}

/* What is allowed is carried out, and comes out as it went in. */
Test(plan, additions) {
  scenario *s = scenario_new();
  mend_result result = MEND_RESULT_INIT;
  mend_plan plan = MEND_PLAN_INIT;
  plan.planner = add_all;
  plan.execute = answer_true;
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  cr_assert_eq(mend_boundary_plan(s->boundary, &plan, MEND_STR("g"), &result), MEND_OK);
  cr_assert_not_null(strstr(result.value.ptr, "\"a \\\"quoted\\\" \\\\ \u00e9\":true,\"a\":true}"));
  mend_result_clear(&result);
  scenario_close(s);
  free(s);
}

/* ---- What a planner is told when it plans anew ---- */

typedef struct told_planner {
  unsigned asked;
  char done[2][1024];
} told_planner;

static mend_status note_done(void *ctx, const mend_plan_request *request, mend_plan_draft *draft) {
  told_planner *self = ctx;
  char steps[][8] = {"a", "b", "c"};
  cr_assert(self->asked < 2);
  snprintf(self->done[self->asked], sizeof self->done[0], "%.*s", MEND_STR_ARG(request->done));
  if (self->asked++ > 0) return MEND_EIO; /* the rest stays */
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
    add_subtask(draft, steps[i]);
  return MEND_OK;
}

static mend_status fail_first(void *ctx, mend_call *call, const mend_subtask *subtask, mend_str context) {
  (void)ctx;
  (void)context;
  if (mend_str_equal(subtask->name, MEND_STR("a"))) return mend_call_fail(call, MEND_STR("timeout"), MEND_STR("late"));
  return mend_call_succeed(call, MEND_STR("1"));
}

static double unsure(void *ctx, const mend_subtask *subtask, const mend_result *result) {
  (void)ctx;
  (void)subtask;
  (void)result;
  return 0.25;
}

/* The second time what failed, why, and the names that are taken. */
Test(plan, done) {
  scenario *s = scenario_new();
  told_planner told = {.asked = 0};
  mend_result result = MEND_RESULT_INIT;
  mend_plan plan = MEND_PLAN_INIT;
  plan.ctx = &told;
  plan.planner = note_done;
  plan.execute = fail_first;
  plan.confidence = unsure;
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  cr_assert_eq(mend_boundary_plan(s->boundary, &plan, MEND_STR("g"), &result), MEND_EFAILED);
  cr_assert_eq(told.asked, 2u);
  cr_assert_str_eq(told.done[0], "[]");
  cr_assert_str_eq(told.done[1],
                   "[{\"name\":\"a\",\"tool\":null,\"outcome\":\"failed\",\"call_id\":\"1\",\"duration_ms\":0,"
                   "\"confidence\":null,\"question\":null,\"error_type\":\"timeout\",\"error_message\":\"late\"},"
                   "{\"name\":\"b\",\"tool\":null,\"outcome\":\"ok\",\"call_id\":\"2\",\"duration_ms\":0,"
                   "\"confidence\":0.25,\"question\":null,\"error_type\":null,\"error_message\":null}]",
                   "%s", told.done[1]);
  mend_result_clear(&result);
  scenario_close(s);
  free(s);
}

/* ---- Values that are nested deeply ---- */

typedef struct deep_plan {
  unsigned depth; /* of the first step's value */
} deep_plan;

static mend_status plan_two(void *ctx, const mend_plan_request *request, mend_plan_draft *draft) {
  char names[][8] = {"a", "b"};
  (void)ctx;
  (void)request;
  add_subtask(draft, names[0]);
  return add_subtask(draft, names[1]);
}

static mend_status answer_deep(void *ctx, mend_call *call, const mend_subtask *subtask, mend_str context) {
  const deep_plan *self = ctx;
  char text[2 * MEND_JSON_DEPTH_MAX];
  const unsigned depth = mend_str_equal(subtask->name, MEND_STR("a")) ? self->depth : 1;
  cr_assert_eq(mend_json_check(context, MEND_JSON_DEPTH_MAX, NULL), MEND_OK);
  memset(text, '[', depth);
  memset(text + depth, ']', depth);
  return mend_call_succeed(call, (mend_str){text, 2 * (size_t)depth});
}

/* Too deep for the arguments of other steps: that step failed, and the others are carried out. */
Test(plan, deep_values) {
  static const struct {
    unsigned depth;
    const char *message; /* NULL: success */
  } cases[] = {
      {MEND__VALUE_DEPTH - 2, NULL},
      {MEND__VALUE_DEPTH - 1, "1 of 2 subtasks failed, the first: a: bad_result: the result is nested too deeply to be "
                              "shown to other subtasks"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    scenario *s = scenario_new();
    mend_result result = MEND_RESULT_INIT;
    mend_plan plan = MEND_PLAN_INIT;
    deep_plan deep = {cases[i].depth};
    plan.ctx = &deep;
    plan.planner = plan_two;
    plan.execute = answer_deep;
    cr_assert_eq(scenario_try_open(s), MEND_OK);
    const mend_status status = mend_boundary_plan(s->boundary, &plan, MEND_STR("g"), &result);
    cr_assert_eq(status, cases[i].message == NULL ? MEND_OK : MEND_EFAILED);
    cr_assert(mend_str_equal(result.error_message, mend_str_from(cases[i].message)), "%.*s",
              MEND_STR_ARG(result.error_message));
    cr_assert_eq(mend_json_check(result.value, MEND__VALUE_DEPTH, NULL), MEND_OK);
    cr_assert_not_null(strstr(result.value.ptr, "\"b\":[]"));
    mend_result_clear(&result);
    scenario_close(s);
    free(s);
  }
}

/* ---- A plan in a call ---- */

static double never_sure(void *ctx, const mend_subtask *subtask, const mend_result *result) {
  (void)ctx;
  (void)subtask;
  (void)result;
  return 0;
}

typedef struct inner_plan {
  scenario *s;
  mend_token *outer;
  bool cancels;
  mend_status status;
  mend_result result;
} inner_plan;

static mend_status cancel_outer(void *ctx, mend_call *call, const mend_subtask *subtask, mend_str context) {
  const inner_plan *self = ctx;
  (void)subtask;
  (void)context;
  if (self->cancels) mend_token_cancel(self->outer, MEND_STR("enough"));
  return mend_call_succeed(call, MEND_STR("1"));
}

static mend_status plan_in_call(void *ctx, mend_call *call) {
  inner_plan *self = ctx;
  mend_plan plan = MEND_PLAN_INIT;
  plan.ctx = self;
  plan.planner = plan_two;
  plan.execute = cancel_outer;
  plan.confidence = never_sure;
  plan.within = call;
  self->outer = mend_call_token(call);
  self->status = mend_boundary_plan(self->s->boundary, &plan, MEND_STR("g"), &self->result);
  return mend_call_succeed(call, self->result.value);
}

static const struct {
  bool cancels;
  mend_status status;
  mend_outcome outcome;
  const char *reason, *shown;
} inner_plans[] = {
    {false, MEND_OK, MEND_OUTCOME_OK, NULL, "2/within:1 2/redecomposition:0<0.5#1,1 3/within:1"},
    {true, MEND_ECANCELLED, MEND_OUTCOME_CANCELLED, "enough", "2/within:1"},
};

/* Its steps are shown as the call's, and it ends when the call is cancelled. */
Test(plan, in_a_call) {
  for (size_t i = 0; i < sizeof inner_plans / sizeof inner_plans[0]; i++) {
    flow.world = flow_world_new(&flow, clear_plan);
    scenario *s = scenario_of(&flow);
    inner_plan inner = {.s = s, .cancels = inner_plans[i].cancels, .result = MEND_RESULT_INIT};
    const mend_tool tool = {.size = sizeof tool, .name = "outer", .execute = plan_in_call};
    mend_call_options options = MEND_CALL_OPTIONS_INIT;
    mend_result result = MEND_RESULT_INIT;
    options.tool = &tool;
    options.tool_ctx = &inner;
    cr_assert_eq(scenario_try_open(s), MEND_OK);
    cr_assert_eq(mend_bus_subscribe(s->bus, "*", on_flow_event, flow.world, NULL, NULL, NULL), MEND_OK);
    mend_boundary_call(s->boundary, (mend_str)MEND_ABSENT, (mend_str)MEND_ABSENT, &options, &result);
    cr_assert_eq(inner.status, inner_plans[i].status);
    cr_assert_eq(inner.result.outcome, inner_plans[i].outcome);
    cr_assert(mend_str_equal(inner.result.reason, mend_str_from(inner_plans[i].reason)));
    cr_assert_not_null(inner.result.value.ptr);
    cr_assert_str_eq(flow.world->shown.text, inner_plans[i].shown);
    mend_result_clear(&inner.result);
    mend_result_clear(&result);
    scenario_close(s);
    free(flow.world);
  }
}

/* ---- The end of its scope, other threads ---- */

static mend_status leave_scope(void *ctx, mend_call *call, const mend_subtask *subtask, mend_str context) {
  (void)subtask;
  (void)context;
  mend__boundary_close(ctx);
  return mend_call_succeed(call, MEND_STR("1"));
}

Test(plan, scope_left) {
  scenario *s = scenario_new();
  mend_result result = MEND_RESULT_INIT;
  mend_plan plan = MEND_PLAN_INIT;
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  plan.ctx = s->boundary;
  plan.planner = plan_two;
  plan.execute = leave_scope;
  cr_assert_eq(mend_boundary_plan(s->boundary, &plan, MEND_STR("g"), &result), MEND_ECLOSED);
  cr_assert_eq(result.outcome, MEND_OUTCOME_FAILED);
  cr_assert(mend_str_equal(result.error_type, MEND_STR("MEND_ECLOSED")));
  cr_assert(mend_str_equal(result.error_message, MEND_STR("the healing scope of this run was left")));
  cr_assert_not_null(strstr(result.value.ptr, "{\"success\":false,\"outputs\":{\"a\":1},"));
  cr_assert_not_null(
      strstr(result.value.ptr, "{\"name\":\"b\",\"tool\":null,\"outcome\":\"failed\",\"call_id\":null,"));
  cr_assert_str_eq(s->events.text, "before#1:meta:a after#1:meta:a");
  mend_result_clear(&result);
  scenario_close(s);
  free(s);
}

typedef struct long_plan {
  scenario *s;
  mend_plan plan;
  atomic_bool started;
  mend_status status;
  mend_outcome outcome;
} long_plan;

static mend_status wait_for_token(void *ctx, mend_call *call, const mend_subtask *subtask, mend_str context) {
  long_plan *self = ctx;
  (void)subtask;
  (void)context;
  atomic_store(&self->started, true);
  return mend_token_wait(mend_call_token(call), MEND_NEVER);
}

static void *carry_out_long(void *ctx) {
  long_plan *self = ctx;
  mend_result result = MEND_RESULT_INIT;
  self->status = mend_boundary_plan(self->s->boundary, &self->plan, MEND_STR("g"), &result);
  self->outcome = result.outcome;
  mend_result_clear(&result);
  return NULL;
}

Test(plan, aborted_by_another_thread) {
  long_plan self = {.s = scenario_new(), .plan = MEND_PLAN_INIT};
  pthread_t thread;
  self.plan.ctx = &self;
  self.plan.planner = plan_two;
  self.plan.execute = wait_for_token;
  cr_assert_eq(scenario_try_open(self.s), MEND_OK);
  cr_assert_eq(pthread_create(&thread, NULL, carry_out_long, &self), 0);
  while (!atomic_load(&self.started))
    sched_yield();
  cr_assert_eq(mend_run_abort(self.s->run, MEND_STR("enough"), MEND_STR("me")), MEND_OK);
  cr_assert_eq(pthread_join(thread, NULL), 0);
  cr_assert_eq(self.status, MEND_ABORTED);
  cr_assert_eq(self.outcome, MEND_OUTCOME_ABORTED);
  cr_assert_str_eq(self.s->events.text, "before#1:meta:a cancelled#1:meta:a");
  scenario_close(self.s);
  free(self.s);
}

/* Plans on one boundary at once have nothing to do with each other. */
enum { THREADS = 4, PLANS = 50 };

typedef struct many_plans {
  mend_boundary *boundary;
  unsigned number, wrong;
} many_plans;

static mend_status answer_number(void *ctx, mend_call *call, const mend_subtask *subtask, mend_str context) {
  char text[32];
  (void)subtask;
  (void)context;
  snprintf(text, sizeof text, "%u", ((many_plans *)ctx)->number);
  return mend_call_succeed(call, mend_str_from(text));
}

static void *carry_out_many(void *ctx) {
  many_plans *self = ctx;
  mend_plan plan = MEND_PLAN_INIT;
  char expected[64];
  snprintf(expected, sizeof expected, "\"outputs\":{\"a\":%u,\"b\":%u}", self->number, self->number);
  plan.ctx = self;
  plan.planner = plan_two;
  plan.execute = answer_number;
  plan.confidence = never_sure;
  for (int i = 0; i < PLANS; i++) {
    mend_result result = MEND_RESULT_INIT;
    const mend_status status = mend_boundary_plan(self->boundary, &plan, MEND_STR("g"), &result);
    if (status != MEND_OK || strstr(result.value.ptr, expected) == NULL) self->wrong++;
    mend_result_clear(&result);
  }
  return NULL;
}

Test(plan, many_at_once) {
  mend_boundary *boundary;
  pthread_t threads[THREADS];
  many_plans plans[THREADS];
  cr_assert_eq(mend_boundary_new(NULL, &boundary, NULL), MEND_OK);
  for (unsigned i = 0; i < THREADS; i++) {
    plans[i] = (many_plans){.boundary = boundary, .number = i};
    cr_assert_eq(pthread_create(&threads[i], NULL, carry_out_many, &plans[i]), 0);
  }
  for (unsigned i = 0; i < THREADS; i++) {
    cr_assert_eq(pthread_join(threads[i], NULL), 0);
    cr_assert_eq(plans[i].wrong, 0u);
  }
  mend_boundary_release(boundary);
}

/* A plan whose steps say how sure they are: mend_enriched_confidence replans the rest, and each step is read once. */
#include "world.h"

typedef struct project {
  const char *confidences; /* of the steps in the order they are carried out, a digit each, in tenths; '-': none */
  size_t done;
  unsigned drafts;
} project;

/* Four steps at first; each time the rest, under new names. */
static mend_status plan_steps(void *ctx, const mend_plan_request *request, mend_plan_draft *draft) {
  project *self = ctx;
  (void)request;
  mend_status status = MEND_OK;
  for (size_t step = self->done; step < 4 && status == MEND_OK; step++) {
    char name[16];
    snprintf(name, sizeof name, "%c%zu", 'a' + (char)self->drafts, step + 1);
    mend_subtask subtask = MEND_SUBTASK_INIT;
    subtask.name = mend_str_from(name);
    subtask.tool = MEND_STR("work");
    status = mend_plan_add(draft, &subtask, NULL);
  }
  self->drafts++;
  return status;
}

static mend_status work(void *ctx, mend_call *call) {
  project *self = ctx;
  const char digit = self->confidences[self->done++];
  mend_enriched enriched = MEND_ENRICHED_INIT;
  char *json = NULL;
  size_t len = 0;
  enriched.output = MEND_STR("\"done\"");
  if (digit != '-') enriched.confidence = (digit - '0') / 10.0;
  enriched.protocol_name = MEND_STR("p");
  cr_assert_eq(mend_enriched_write(&enriched, NULL, &json, &len), MEND_OK);
  const mend_status status = mend_call_succeed(call, (mend_str){json, len});
  mend_free(NULL, json);
  return status;
}

static mend_status work_directly(void *ctx, mend_call *call, const mend_subtask *subtask, mend_str context) {
  (void)subtask;
  (void)context;
  return work(ctx, call);
}

static const struct {
  const char *confidences;
  unsigned drafts, readings;
} rows[] = {
    {"9999", 1, 4}, {"4999", 2, 4}, {"4499", 3, 4}, {"4444", 3, 4}, /* twice is enough */
    {"9994", 1, 4},                                                 /* nothing is left to plan */
    {"4-9-", 2, 2}, {"----", 1, 0},
};

static unsigned count_lines(const char *text) {
  unsigned count = 0;
  for (; *text != '\0'; text++)
    count += *text == '\n';
  return count;
}

static void carry_out(size_t row, bool directly) {
  world w;
  world_open(&w);
  project self = {.confidences = rows[row].confidences};
  const mend_tool tool = {.size = sizeof tool, .name = "work", .execute = work};
  mend_tools *tools = NULL;
  cr_assert_eq(mend_tools_new(&w.memory.base, &tools), MEND_OK);
  cr_assert_eq(mend_tools_add(tools, &tool, &self, NULL), MEND_OK);
  mend_hooks *hooks = world_hooks(&w);
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  options.run = w.run;
  options.tools = tools;
  options.hooks = hooks;
  mend_boundary *boundary = NULL;
  cr_assert_eq(mend_boundary_new(&options, &boundary, NULL), MEND_OK);
  mend_plan plan = MEND_PLAN_INIT;
  plan.ctx = &self;
  plan.planner = plan_steps;
  plan.confidence = mend_enriched_confidence;
  if (directly) plan.execute = work_directly;
  mend_result result = MEND_RESULT_INIT;
  cr_assert_eq(mend_boundary_plan(boundary, &plan, MEND_STR("goal"), &result), MEND_OK);
  cr_assert_eq(self.done, 4u, "%s", self.confidences);
  cr_assert_eq(self.drafts, rows[row].drafts, "%s: %u drafts", self.confidences, self.drafts);
  cr_assert_eq(count_lines(w.log), rows[row].readings, "%s, %d: %s", self.confidences, directly, w.log);
  mend_result_clear(&result);
  mend_boundary_release(boundary);
  mend_hooks_release(hooks);
  mend_tools_release(tools);
  world_close(&w);
}

Test(metacognition_plan, unsure_steps_have_the_rest_planned_anew_and_are_read_once) {
  for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
    carry_out(row, false);
    carry_out(row, true);
  }
}

/* ---- Many calls at once that pass on what a call within them said ---- */

typedef struct relay {
  unsigned depth;  /* so many calls, one within the execution of the other */
  unsigned within; /* so many readings within each */
  unsigned passed; /* the one that it passes on, from 0 */
} relay;

static const struct {
  relay relay;
  unsigned readings;
} relays[] = {
    {{1, 1, 0}, 1},       {{40, 1, 0}, 40},     {{40, 3, 1}, 120},
    {{1, 1024, 0}, 1024}, {{1, 1025, 0}, 1026}, /* the oldest was forgotten */
};

typedef struct relaying {
  relay relay;
  mend_boundary *boundary;
  unsigned depth, said;
} relaying;

static mend_status count_reading(void *ctx, const mend_event *event) {
  (void)event;
  ++*(unsigned *)ctx;
  return MEND_OK;
}

static void write_reading(char text[96], unsigned depth, unsigned number) {
  snprintf(text, 96, "{\"output\":[%u,%u],\"protocol_name\":\"p\",\"confidence\":0.5}", depth, number);
}

static mend_status say(void *ctx, mend_call *call) {
  relaying *self = ctx;
  char text[96];
  write_reading(text, self->depth, self->said++);
  return mend_call_succeed(call, mend_str_from(text));
}

static void call_tool(mend_boundary *boundary, const mend_tool *tool, void *ctx, const mend_call *within) {
  mend_result result = MEND_RESULT_INIT;
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  options.tool = tool;
  options.tool_ctx = ctx;
  options.within = within;
  cr_assert_eq(mend_boundary_call(boundary, (mend_str)MEND_ABSENT, (mend_str)MEND_ABSENT, &options, &result), MEND_OK);
  mend_result_clear(&result);
}

static mend_status pass_on(void *ctx, mend_call *call) {
  static const mend_tool sayer = {.size = sizeof sayer, .name = "say", .execute = say};
  static const mend_tool passer = {.size = sizeof passer, .name = "pass", .execute = pass_on};
  relaying *self = ctx;
  const unsigned depth = ++self->depth;
  char text[96];
  self->said = 0;
  while (self->said < self->relay.within)
    call_tool(self->boundary, &sayer, self, call);
  if (depth < self->relay.depth) call_tool(self->boundary, &passer, self, NULL);
  write_reading(text, depth, self->relay.passed);
  return mend_call_succeed(call, mend_str_from(text));
}

Test(metacognition_plan, what_many_calls_pass_on_is_read_once) {
  static const mend_tool passer = {.size = sizeof passer, .name = "pass", .execute = pass_on};
  for (size_t row = 0; row < sizeof relays / sizeof relays[0]; row++) {
    world w;
    unsigned readings = 0;
    world_open(&w);
    mend_hooks *hooks = world_hooks(&w);
    relaying self = {.relay = relays[row].relay, .boundary = world_boundary(w.run, hooks)};
    cr_assert_eq(mend_bus_subscribe(w.bus, "metacognition.confidence", count_reading, &readings, NULL, NULL, NULL),
                 MEND_OK);
    call_tool(self.boundary, &passer, &self, NULL);
    cr_assert_eq(readings, relays[row].readings, "row %zu: %u", row, readings);
    mend_boundary_release(self.boundary);
    mend_hooks_release(hooks);
    world_close(&w);
  }
}

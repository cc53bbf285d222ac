/* An agent that works within a call of another one, and ends with that call. */
#include "agent/world.h"

#include <stdio.h>

enum { NEVER, BEFORE, WHILE_ASKING, WHILE_CALLING, BY_ITSELF, BY_ABORT };

typedef struct sub_case {
  const char *model; /* of the sub-agent */
  int when;          /* the call that it works within is cancelled */
  bool own_run;      /* of the sub-agent */
  mend_status status;
  mend_agent_end end;
  uint32_t turns;
  unsigned cancelled; /* calls of the sub-agent's; an abort finds some before they run */
  size_t messages;    /* of its conversation */
} sub_case;

typedef struct delegation {
  world w;
  const sub_case *each;
  mend_boundary *boundary; /* of the sub-agent */
  mend_agent_report report;
  mend_status status; /* of its run */
  size_t messages;
  mend_status outer_status;
} delegation;

static void cancel_outer(delegation *self) {
  mend_run *run = mend_boundary_run(mend_healing_boundary(self->w.runner));
  cr_assert_eq(mend_run_cancel_call(run, mend_call_from_name(MEND_STR("outer")), MEND_STR("enough")), MEND_OK);
}

static mend_status cancel_by_tool(void *ctx, mend_call *call) {
  cancel_outer(ctx);
  return mend_call_succeed(call, MEND_STR("1"));
}

/* The tool in which the sub-agent works. */
static mend_status delegate(void *ctx, mend_call *call) {
  delegation *self = ctx;
  mend_error error = MEND_ERROR_INIT;
  mend_tool_spec specs[] = {{.size = sizeof specs[0], .name = MEND_STR("hang")}};
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  mend_agent *agent = NULL;
  options.model = self->w.model;
  options.boundary = self->boundary;
  options.tools = specs;
  options.tool_count = 1;
  options.within = call;
  cr_assert_eq(mend_agent_new(&options, &agent, &error), MEND_OK, "%s", error.message);
  if (self->each->when == BEFORE) cancel_outer(self);
  self->status = mend_agent_run(agent, mend_call_args(call), &self->report, &error);
  self->messages = mend_messages_count(mend_agent_messages(agent));
  mend_agent_free(agent);
  return mend_call_succeed(call, MEND_STR("\"done\""));
}

static void *call_outer(void *ctx) {
  delegation *self = ctx;
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  mend_result result = MEND_RESULT_INIT;
  options.call_name = MEND_STR("outer");
  self->outer_status = mend_boundary_call(mend_healing_boundary(self->w.runner), MEND_STR("delegate"), MEND_STR("{}"),
                                          &options, &result);
  mend_result_clear(&result);
  return NULL;
}

static void open_delegation(delegation *self, const sub_case *each) {
  const mend_tool tools[] = {
      {.size = sizeof tools[0], .name = "delegate", .execute = delegate},
      {.size = sizeof tools[0], .name = "cancel_outer", .execute = cancel_by_tool},
  };
  char name[512];
  *self = (delegation){.each = each, .report = MEND_AGENT_REPORT_INIT};
  world_open(&self->w, NULL);
  snprintf(name, sizeof name, "scripted:%s/agent/%s", MEND_TEST_DATA, each->model);
  world_open_model(&self->w, name);
  for (size_t i = 0; i < 2; i++)
    cr_assert_eq(mend_tools_add(self->w.tools, &tools[i], self, NULL), MEND_OK);
  if (!each->own_run) {
    self->boundary = mend_boundary_retain(mend_healing_boundary(self->w.runner));
    return;
  }
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  cr_assert_eq(mend_run_new(self->w.bus, NULL, &options.run, NULL), MEND_OK);
  options.tools = self->w.tools;
  cr_assert_eq(mend_boundary_new(&options, &self->boundary, NULL), MEND_OK);
  mend_run_release(options.run);
}

static void wait_for(const delegation *self, mend_event_kind kind, unsigned count) {
  while (atomic_load(&self->w.of_kind[kind]) < count)
    sched_yield();
}

/* The calls of the sub-agent are those behind the outer one. */
static void end_outer(delegation *self) {
  mend_run *run = mend_boundary_run(mend_healing_boundary(self->w.runner));
  switch (self->each->when) {
  case WHILE_ASKING:
    wait_for(self, MEND_EVENT_MODEL_REQUEST, 1);
    cancel_outer(self);
    break;
  case WHILE_CALLING:
    wait_for(self, MEND_EVENT_TOOL_BEFORE, 3);
    cancel_outer(self);
    break;
  case BY_ABORT:
    wait_for(self, MEND_EVENT_TOOL_BEFORE, 3);
    cr_assert_eq(mend_run_abort(run, MEND_STR("stop"), MEND_STR("me")), MEND_OK);
    break;
  default: break;
  }
}

static void want_end(const sub_case *each, size_t index) {
  delegation self;
  pthread_t thread;
  open_delegation(&self, each);
  pthread_create(&thread, NULL, call_outer, &self);
  end_outer(&self);
  pthread_join(thread, NULL);
  const bool is_cancelled = each->status == MEND_ECANCELLED;
  cr_assert_eq(self.status, each->status, "%zu: %s", index, mend_status_name(self.status));
  cr_assert_eq(self.outer_status, each->status, "%zu: %s", index, mend_status_name(self.outer_status));
  cr_assert_eq(self.report.end, each->end, "%zu: %s", index, mend_agent_end_name(self.report.end));
  cr_assert_eq(self.report.turns, each->turns, "%zu: %u", index, self.report.turns);
  cr_assert_eq(self.messages, each->messages, "%zu: %zu", index, self.messages);
  const unsigned cancelled = self.w.of_kind[MEND_EVENT_TOOL_CANCELLED];
  if (each->when != BY_ABORT) cr_assert_eq(cancelled, each->cancelled + is_cancelled, "%zu: %u", index, cancelled);
  cr_assert_eq(self.w.of_kind[MEND_EVENT_AGENT_END], 1);
  if (is_cancelled) cr_assert_str_eq(self.report.reason.ptr, "enough");
  cr_assert_eq(mend_run_is_aborted(mend_boundary_run(mend_healing_boundary(self.w.runner))), each->when == BY_ABORT);
  mend_agent_report_clear(&self.report);
  mend_boundary_release(self.boundary);
  world_close(&self.w);
}

Test(subagent, ends_with_the_call_it_works_within) {
  static const sub_case rows[] = {
      {"enriched/plain.json", NEVER, false, MEND_OK, MEND_AGENT_DONE, 1, 0, 2},
      {"enriched/plain.json", BEFORE, false, MEND_ECANCELLED, MEND_AGENT_CANCELLED, 0, 0, 1},
      {"hanging_model.json", WHILE_ASKING, false, MEND_ECANCELLED, MEND_AGENT_CANCELLED, 1, 0, 1},
      {"hanging_model.json", WHILE_ASKING, true, MEND_ECANCELLED, MEND_AGENT_CANCELLED, 1, 0, 1},
      {"hanging_tool.json", WHILE_CALLING, false, MEND_ECANCELLED, MEND_AGENT_CANCELLED, 1, 2, 3},
      {"hanging_tool.json", WHILE_CALLING, true, MEND_ECANCELLED, MEND_AGENT_CANCELLED, 1, 2, 3},
      {"cancels.json", BY_ITSELF, false, MEND_ECANCELLED, MEND_AGENT_CANCELLED, 1, 2, 3},
      {"cancels.json", BY_ITSELF, true, MEND_ECANCELLED, MEND_AGENT_CANCELLED, 1, 2, 3},
      {"hanging_tool.json", BY_ABORT, false, MEND_ABORTED, MEND_AGENT_ABORTED, 1, 0, 3},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    want_end(&rows[i], i);
}

/* At any moment: it always ends, and leaves nothing behind. */
Test(subagent, a_cancel_at_any_moment) {
  static const sub_case each = {"endless.json", BY_ITSELF, false, MEND_OK, MEND_AGENT_TURNS, 0, 0, 0};
  for (unsigned round = 2; round <= 40; round += 2) {
    delegation self;
    pthread_t thread;
    open_delegation(&self, &each);
    pthread_create(&thread, NULL, call_outer, &self);
    world_wait_for_events(&self.w, round);
    mend_run_cancel_call(mend_boundary_run(self.boundary), mend_call_from_name(MEND_STR("outer")), MEND_STR("enough"));
    pthread_join(thread, NULL);
    const bool is_aborted = mend_run_is_aborted(mend_boundary_run(self.boundary)); /* by the loop watchdog */
    cr_assert_eq(self.status, is_aborted ? MEND_ABORTED : MEND_ECANCELLED, "%s", mend_status_name(self.status));
    mend_agent_report_clear(&self.report);
    mend_boundary_release(self.boundary);
    world_close(&self.w);
  }
}

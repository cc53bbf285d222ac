/* Agents without memory: each allocation fails once, and from one on all do. Whatever was out of reach, the agent says
 * so, leaves nothing behind, and works again when there is memory. */
#include "agent/world.h"

typedef struct scarce_case {
  const char *model;
  uint32_t max_turns;
  bool enriches;      /* asking several times */
  bool within;        /* in a call of another one */
  bool lists;         /* tools of its own */
  mend_status status; /* with memory */
} scarce_case;

typedef struct scarcity {
  world w;
  const scarce_case *each;
  mend_call *within;
  mend_status status;
} scarcity;

static mend_status try_run(mend_agent *agent) {
  mend_agent_report report = MEND_AGENT_REPORT_INIT;
  const mend_status status = mend_agent_run(agent, MEND_STR("go"), &report, NULL);
  mend_agent_report_clear(&report);
  return status;
}

static mend_status try_enriched(world *w, mend_agent *agent) {
  mend_ensemble_options options = MEND_ENSEMBLE_OPTIONS_INIT;
  mend_protocol *protocol = NULL;
  mend_enriched enriched = MEND_ENRICHED_INIT;
  options.allocator = &w->memory.base;
  mend_status status = mend_protocol_new_ensemble(&options, &protocol, NULL);
  if (status == MEND_OK) status = mend_agent_run_enriched(agent, MEND_STR("go"), protocol, &enriched, NULL, NULL);
  mend_enriched_clear(&enriched);
  mend_protocol_release(protocol);
  return status;
}

static mend_status try_agent(scarcity *self) {
  const mend_tool_spec spec = {.size = sizeof spec, .name = MEND_STR("weather"), .schema = MEND_STR("{}")};
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  mend_agent *agent = NULL;
  request.stop = MEND_STR("[\"END\"]");
  request.tool_choice = MEND_STR("auto");
  options.model = self->w.model;
  options.boundary = mend_healing_boundary(self->w.runner);
  if (self->each->lists) {
    options.tools = &spec;
    options.tool_count = 1;
  }
  options.request = &request;
  options.instructions = "Be brief.";
  options.max_turns = self->each->max_turns;
  options.within = self->within;
  mend_status status = mend_agent_new(&options, &agent, NULL);
  if (status == MEND_OK) status = self->each->enriches ? try_enriched(&self->w, agent) : try_run(agent);
  mend_agent_free(agent);
  return status;
}

static mend_status try_within(void *ctx, mend_call *call) {
  scarcity *self = ctx;
  self->within = call;
  self->status = try_agent(self);
  return mend_call_succeed(call, MEND_STR("1"));
}

static mend_status try_case(scarcity *self) {
  if (!self->each->within) return try_agent(self);
  const mend_tool tool = {.size = sizeof tool, .name = "outer", .execute = try_within};
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  mend_result result = MEND_RESULT_INIT;
  options.tool = &tool;
  options.tool_ctx = self;
  self->status = MEND_ENOMEM; /* unless it gets there */
  mend_boundary_call(mend_healing_boundary(self->w.runner), MEND_STR("outer"), MEND_STR("{}"), &options, &result);
  mend_result_clear(&result);
  return self->status;
}

/* Returns whether there were so many allocations. */
static bool try_point(const scarce_case *each, size_t n, bool from_then_on) {
  scarcity self = {.each = each};
  world_open(&self.w, NULL);
  world_open_model(&self.w, each->model);
  mend_test_allocator_arm(&self.w.memory, n, from_then_on);
  const mend_status status = try_case(&self);
  const bool failed = mend_test_allocator_failed(&self.w.memory);
  mend_test_allocator_arm(&self.w.memory, 0, false);
  const bool is_allowed = status == each->status || (failed && (status == MEND_ENOMEM || status == MEND_EFAILED));
  cr_assert(is_allowed, "%s, point %zu: %s", each->model, n, mend_status_name(status));
  world_close(&self.w);
  return failed;
}

Test(agent_memory, any_of_it_may_be_missing) {
  static const scarce_case rows[] = {
      {"scripted:" MEND_TEST_DATA "/agent/stories/tools.json", 5, false, false, true, MEND_OK},
      {"scripted:" MEND_TEST_DATA "/agent/stories/tools.json", 1, false, false, false, MEND_OK},
      {"scripted:" MEND_TEST_DATA "/agent/stories/errors.json", 5, false, true, false, MEND_OK},
      {"scripted:" MEND_TEST_DATA "/agent/stories/question.json", 5, false, false, true, MEND_OK},
      {"scripted:" MEND_TEST_DATA "/agent/stories/failure.json", 5, false, false, true, MEND_EFAILED},
      {"scripted:" MEND_TEST_DATA "/agent/enriched/several.json", 5, true, false, true, MEND_OK},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (int from_then_on = 0; from_then_on < 2; from_then_on++) {
      size_t n = 1;
      while (try_point(&rows[i], n, from_then_on))
        n++;
      cr_assert(n > 20, "only %zu points", n);
    }
  }
}

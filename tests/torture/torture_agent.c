/* An agent on a chain of models of which the first is dead. The loop has a thread of its own, which only works
 * while the agent waits for it. */
#include "fallback/scripted.h"
#include "mend/agent.h"
#include "torture/torture.h"

#define DEAD MEND_STR("{\"replies\": [{\"fault\": \"refused\"}]}")
#define ALIVE                                                                                                          \
  MEND_STR("{\"replies\": [{\"text\": \"I look.\", \"calls\": [{\"id\": \"a\", \"name\": \"look\", \"args\": {}}, "    \
           "{\"id\": \"b\", \"name\": \"look\", \"args\": \"{broken\"}, {\"id\": \"c\", \"name\": \"gone\"}]}, "       \
           "{\"text\": \"{\\\"self_confidence\\\": 0.5}\", \"usage\": {\"input\": 3, \"output\": 2}}]}")

typedef struct world {
  mend_loop *loop;
  mend_model *models[2], *chain;
  mend_tools *tools;
  mend_boundary *boundary;
  mend_agent *agent;
} world;

static mend_status look(void *ctx, mend_call *call) {
  ((torture *)ctx)->events++;
  return mend_call_succeed_text(call, MEND_STR("seen"));
}

static mend_status open_models(torture *t, world *w) {
  mend_loop_options loop = MEND_LOOP_OPTIONS_INIT;
  mend_fallback_options chain = MEND_FALLBACK_OPTIONS_INIT;
  loop.allocator = chain.allocator = t->allocator;
  loop.clock = t->clock;
  mend_status status = mend_loop_new(&loop, &w->loop, NULL);
  if (status == MEND_OK) status = mend__scripted_new("dead", DEAD, w->loop, t->allocator, NULL, &w->models[0], NULL);
  if (status == MEND_OK) status = mend__scripted_new("alive", ALIVE, w->loop, t->allocator, NULL, &w->models[1], NULL);
  chain.loop = w->loop;
  return status == MEND_OK ? mend_fallback_of(w->models, 2, &chain, &w->chain, NULL) : status;
}

static mend_status open_boundary(torture *t, world *w) {
  const mend_tool tool = {.size = sizeof tool, .name = "look", .execute = look};
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  mend_status status = mend_tools_new(t->allocator, &w->tools);
  if (status == MEND_OK) status = mend_tools_add(w->tools, &tool, t, NULL);
  options.run = t->run;
  options.tools = w->tools;
  return status == MEND_OK ? mend_boundary_new(&options, &w->boundary, NULL) : status;
}

static mend_status open_agent(world *w) {
  const mend_tool_spec spec = {.size = sizeof spec, .name = MEND_STR("look"), .description = MEND_STR("looks")};
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  options.model = w->chain;
  options.boundary = w->boundary;
  options.tools = &spec;
  options.tool_count = 1;
  options.instructions = "Be brief.";
  return mend_agent_new(&options, &w->agent, NULL);
}

static mend_status open_world(torture *t, world *w) {
  mend_status status = torture_open_bus(t);
  if (status == MEND_OK) status = open_models(t, w);
  if (status == MEND_OK) status = open_boundary(t, w);
  return status == MEND_OK ? open_agent(w) : status;
}

static void close_world(torture *t, world *w) {
  mend_agent_free(w->agent);
  mend_boundary_release(w->boundary);
  mend_tools_release(w->tools);
  mend_model_release(w->chain);
  mend_model_release(w->models[0]);
  mend_model_release(w->models[1]);
  mend_loop_release(w->loop);
  torture_close_bus(t);
}

static mend_status run(torture *t) {
  world w = {.loop = NULL};
  mend_agent_report report = MEND_AGENT_REPORT_INIT;
  mend_status status = open_world(t, &w);
  if (status != MEND_OK) goto end;
  TRY(mend_agent_run(w.agent, MEND_STR("look"), &report, NULL));
  torture_must(t, report.end == MEND_AGENT_DONE && report.turns == 2 && report.calls == 3, "the task is done");
  torture_must(t, mend_messages_count(mend_agent_messages(w.agent)) == 5, "the conversation is whole");
  torture_must(t, t->events == 1, "the tool ran once");
end:
  mend_agent_report_clear(&report);
  close_world(t, &w);
  return status;
}

static mend_status run_enriched(torture *t) {
  world w = {.loop = NULL};
  mend_protocol *protocol = NULL;
  mend_enriched enriched = MEND_ENRICHED_INIT;
  mend_structured_options options = MEND_STRUCTURED_OPTIONS_INIT;
  mend_status status = open_world(t, &w);
  options.allocator = t->allocator;
  if (status != MEND_OK) goto end;
  TRY(mend_protocol_new_structured(&options, &protocol, NULL));
  TRY(mend_agent_run_enriched(w.agent, MEND_STR("look"), protocol, &enriched, NULL, NULL));
  torture_must(t, enriched.confidence == 0.5, "it says how sure it is");
end:
  mend_enriched_clear(&enriched);
  mend_protocol_release(protocol);
  close_world(t, &w);
  return status;
}

static const torture_scenario scenarios[] = {
    {"a task with failover and tools", run, NULL, NULL},
    {"the same, enriched", run_enriched, NULL, NULL},
};
const torture_room torture_agent = TORTURE_ROOM("agent", scenarios);

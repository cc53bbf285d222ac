/* Healing scopes, on a loop in a base that nobody but this thread dispatches. */
#include "mend/healing.h"
#include "torture/torture.h"

#include <event2/event.h>

static mend_status look(void *ctx, mend_call *call) {
  ((torture *)ctx)->events++;
  return mend_call_succeed(call, MEND_STR("[]"));
}

static mend_status work(void *ctx, mend_boundary *boundary) {
  (void)ctx;
  mend_result result = MEND_RESULT_INIT;
  mend_status status = MEND_OK;
  for (int i = 0; i < 6 && status == MEND_OK; i++)
    status = mend_boundary_call(boundary, MEND_STR("look"), MEND_STR("{\"at\": 1}"), NULL, &result);
  mend_result_clear(&result);
  return status;
}

static mend_status make_runner(torture *t, mend_loop *loop, mend_healing_runner **ret_runner) {
  const mend_tool tool = {.size = sizeof tool, .name = "look", .execute = look};
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  mend_tools *tools = NULL;
  mend_status status = mend_tools_new(t->allocator, &tools);
  if (status != MEND_OK) return status;
  TRY(mend_tools_add(tools, &tool, t, NULL));
  options.bus = t->bus;
  options.tools = tools;
  options.loop = loop;
  TRY(mend_healing_runner_new(&options, ret_runner, NULL));
end:
  mend_tools_release(tools);
  return status;
}

static mend_status make_loop(torture *t, struct event_base *base, mend_loop **ret_loop) {
  mend_loop_options options = MEND_LOOP_OPTIONS_INIT;
  options.allocator = t->allocator;
  options.clock = t->clock;
  options.base = base;
  return mend_loop_new(&options, ret_loop, NULL);
}

/* An agent in a loop: the scope aborts it. */
static mend_status heal_loop(torture *t) {
  mend_healing_report report = MEND_HEALING_REPORT_INIT;
  mend_scope_options scope = MEND_SCOPE_OPTIONS_INIT;
  mend_healing_runner *runner = NULL;
  mend_loop *loop = NULL;
  struct event_base *base = event_base_new();
  mend_status status = base == NULL ? MEND_ENOMEM : torture_open_bus(t);
  if (status == MEND_OK) status = make_loop(t, base, &loop);
  if (status == MEND_OK) status = make_runner(t, loop, &runner);
  if (status != MEND_OK) goto end;
  scope.run = t->run;
  scope.ret_report = &report;
  status = mend_healing_run(runner, &scope, work, t);
  torture_claim(t, status != MEND_OK && (status != MEND_ABORTED || report.abort_reason[0] != '\0'),
                "the run is aborted, for a reason");
  if (status == MEND_ABORTED && report.status == MEND_ABORTED) status = MEND_OK;
end:
  mend_healing_runner_release(runner);
  mend_loop_release(loop);
  torture_close_bus(t);
  if (base != NULL) event_base_free(base);
  return status;
}

/* A chain of two models, one of which has no key and is left out, as healing.started says. */
static mend_status heal_with_models(torture *t) {
  const mend_key key = {"openai", "not-a-secret"};
  mend_options config = MEND_OPTIONS_INIT;
  mend_fallback_options models = MEND_FALLBACK_OPTIONS_INIT;
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  mend_scope_options scope = MEND_SCOPE_OPTIONS_INIT;
  mend_healing_runner *runner = NULL;
  mend_status status = torture_open_bus(t);
  if (status != MEND_OK) goto end;
  config.fallback.models = MEND_STR("[\"openai:a\", \"anthropic:b\"]");
  models.keys = &key;
  models.key_count = 1;
  options.bus = t->bus;
  options.config = &config;
  options.models = &models;
  TRY(mend_healing_runner_new(&options, &runner, NULL));
  torture_must(t, mend_healing_model(runner) != NULL, "it has a model");
  scope.run = t->run;
  TRY(mend_healing_enter(runner, &scope, NULL));
  status = mend_healing_exit(runner, NULL);
end:
  mend_healing_runner_release(runner);
  torture_close_bus(t);
  return status;
}

static const torture_scenario scenarios[] = {
    {"a scope that aborts a loop", heal_loop, NULL, NULL},
    {"a scope with a chain of models", heal_with_models, NULL, NULL},
};
const torture_room torture_healing = TORTURE_ROOM("healing", scenarios);

/* The tracer by itself, and a workbench, whose loop is in a base that nobody but this thread dispatches. */
#include "mend/workbench.h"
#include "torture/torture.h"

#include <event2/event.h>

static mend_status publish_call(mend_run *run) {
  mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
  mend_tool_after_event after = MEND_TOOL_AFTER_EVENT_INIT;
  before.event.call = after.event.call = mend_run_next_call(run);
  before.tool_name = after.tool_name = MEND_STR("look");
  const mend_status status = mend_run_publish(run, &before.event);
  return status == MEND_OK ? mend_run_publish(run, &after.event) : status;
}

static bool write_span(void *ctx, const mend_span *span) {
  torture *t = ctx;
  char *json = NULL;
  if (span->call != 0) t->events++;
  if (mend_span_to_json(span, t->allocator, &json, NULL) == MEND_ENOMEM) t->reported = true;
  mend_free(t->allocator, json);
  return true;
}

static mend_status trace(torture *t) {
  mend_tracer_stats stats = {.size = sizeof stats};
  mend_tracer *tracer = NULL;
  char *text = NULL;
  mend_status status = torture_open_bus(t);
  if (status == MEND_OK) status = mend_tracer_new(t->bus, NULL, &tracer, NULL);
  if (status != MEND_OK) goto end;
  TRY(publish_call(t->run));
  TRY(publish_call(t->run));
  mend_tracer_get_stats(tracer, &stats);
  if (stats.untraced > 0) t->reported = true;
  mend_tracer_each(tracer, write_span, t);
  torture_claim(t, t->events == 2, "two calls are two spans");
  TRY(mend_tracer_draw(tracer, NULL, t->allocator, &text));
end:
  mend_free(t->allocator, text);
  mend_tracer_free(tracer);
  torture_close_bus(t);
  return status;
}

static bool count_line(void *ctx, mend_str line) {
  (void)line;
  ((torture *)ctx)->events++;
  return true;
}

static mend_status work(void *ctx, mend_boundary *boundary) {
  (void)ctx;
  return publish_call(mend_boundary_run(boundary));
}

static mend_status heal(mend_workbench *workbench) {
  mend_healing_runner *runner;
  mend_status status = mend_workbench_with_healing(workbench, NULL, &runner, NULL);
  if (status != MEND_OK) return status;
  status = mend_healing_run(runner, NULL, work, NULL);
  mend_healing_runner_release(runner);
  return status;
}

static mend_status use_workbench(torture *t) {
  mend_bus_options bus = MEND_BUS_OPTIONS_INIT;
  mend_workbench_options options = MEND_WORKBENCH_OPTIONS_INIT;
  mend_bus_stats stats = {.size = sizeof stats};
  mend_workbench *workbench = NULL;
  struct event_base *base = event_base_new();
  mend_status status = base == NULL ? MEND_ENOMEM : MEND_OK;
  if (status == MEND_OK) status = mend_clock_new_virtual(t->allocator, (mend_time){1000, 1000}, &t->clock);
  if (status != MEND_OK) goto end;
  bus.allocator = t->allocator;
  bus.clock = t->clock;
  bus.id_seed = 7;
  options.bus = &bus;
  options.base = base;
  TRY(mend_workbench_new(&options, &workbench, NULL));
  TRY(heal(workbench));
  if (mend_workbench_each_recent(workbench, count_line, t) == 0) t->reported = true; /* its word for want of memory */
  mend_bus_get_stats(mend_workbench_bus(workbench), &stats);
  if (stats.handler_failures > 0) t->reported = true;
  torture_claim(t, t->events == 6, "the recent events are there: of the run, of the scope, of the call");
end:
  mend_workbench_release(workbench);
  mend_clock_release(t->clock);
  t->clock = NULL;
  if (base != NULL) event_base_free(base);
  return status;
}

static const torture_scenario scenarios[] = {
    {"a tracer, two calls, JSON, a picture", trace, NULL, NULL},
    {"a workbench with a healing scope", use_workbench, NULL, NULL},
};
const torture_room torture_workbench = TORTURE_ROOM("workbench", scenarios);

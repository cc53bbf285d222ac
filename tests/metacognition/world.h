/* A bus on a virtual clock and counted memory with one run, and a log of what is said of confidence. */
#ifndef MEND_TESTS_METACOGNITION_WORLD_H
#define MEND_TESTS_METACOGNITION_WORLD_H

#include "mend/metacognition.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>

enum { LOG_SIZE = 1 << 14 };

typedef struct world {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_bus *bus;
  mend_run *run;
  size_t log_len;
  char log[LOG_SIZE];
} world;

static inline void write_log(world *w, const char *line) {
  const int len = snprintf(w->log + w->log_len, LOG_SIZE - w->log_len, "%s\n", line);
  if (len > 0 && (size_t)len < LOG_SIZE - w->log_len) w->log_len += (size_t)len;
}

static inline mend_status log_event(void *ctx, const mend_event *event) {
  char line[1024] = "";
  if (event->kind == MEND_EVENT_CONFIDENCE) {
    const mend_confidence_event *reading = (const mend_confidence_event *)event;
    snprintf(line, sizeof line, "%.*s %g %.*s \"%.*s\" by %.*s, %.*s says %.*s, attempt %llu, %g ms",
             MEND_STR_ARG(reading->tool_name), reading->confidence, MEND_STR_ARG(reading->uncertainty_targets),
             MEND_STR_ARG(reading->capability_boundary), MEND_STR_ARG(reading->protocol), MEND_STR_ARG(reading->source),
             MEND_STR_ARG(reading->event_id), (unsigned long long)reading->attempt, reading->duration_ms);
  } else if (event->kind == MEND_EVENT_HOOK_FAILED) {
    const mend_hook_failed_event *failed = (const mend_hook_failed_event *)event;
    snprintf(line, sizeof line, "%.*s failed: %.*s", MEND_STR_ARG(failed->hook), MEND_STR_ARG(failed->error));
  } else if (event->kind == MEND_EVENT_DETECTION) {
    const mend_detection_event *found = (const mend_detection_event *)event;
    snprintf(line, sizeof line, "%.*s: %.*s", MEND_STR_ARG(found->detector), MEND_STR_ARG(found->summary));
  } else if (event->kind == MEND_EVENT_ACTION) {
    const mend_action_event *action = (const mend_action_event *)event;
    snprintf(line, sizeof line, "%.*s: %.*s", MEND_STR_ARG(action->action), MEND_STR_ARG(action->reason));
  } else if (event->kind == MEND_EVENT_TOOL_ABORTED || event->kind == MEND_EVENT_TOOL_REFUSED) {
    snprintf(line, sizeof line, "%.*s", MEND_STR_ARG(mend_bus_topic_name(mend_run_bus(event->run), event->topic)));
  }
  if (line[0] != '\0') write_log(ctx, line);
  return MEND_OK;
}

static inline mend_run *world_run(world *w, const char *id) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = mend_str_from(id);
  mend_run *run = NULL;
  mend_run_new(w->bus, &options, &run, NULL);
  return run;
}

/* With memory that may fail: what could not be made is NULL. */
static inline mend_status world_try_open(world *w) {
  w->clock = NULL;
  w->bus = NULL;
  w->run = NULL;
  w->log_len = 0;
  w->log[0] = '\0';
  const mend_time start = {1000 * MEND_SECOND_NS, UINT64_C(1700000000) * MEND_SECOND_NS};
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = &w->memory.base;
  mend_status status = mend_clock_new_virtual(&w->memory.base, start, &w->clock);
  options.clock = w->clock;
  if (status == MEND_OK) status = mend_bus_new(&options, &w->bus, NULL);
  if (status == MEND_OK) status = mend_bus_subscribe(w->bus, "*", log_event, w, NULL, NULL, NULL);
  if (status != MEND_OK) return status;
  w->run = world_run(w, "r");
  return w->run != NULL ? MEND_OK : MEND_ENOMEM;
}

static inline void world_open(world *w) {
  mend_test_allocator_init(&w->memory);
  cr_assert_eq(world_try_open(w), MEND_OK);
}

/* Nothing may be left. */
static inline void world_close(world *w) {
  mend_run_release(w->run);
  mend_bus_release(w->bus);
  mend_clock_release(w->clock);
  cr_assert_eq(atomic_load(&w->memory.blocks), 0u, "%zu blocks are left", (size_t)atomic_load(&w->memory.blocks));
}

static inline mend_hooks *world_hooks(world *w) {
  mend_hooks *hooks = NULL;
  cr_assert_eq(mend_hooks_new(&w->memory.base, &hooks), MEND_OK);
  cr_assert_eq(mend_hooks_add_metacognition(hooks, NULL, NULL), MEND_OK);
  return hooks;
}

static inline mend_status world_try_boundary(mend_run *run, mend_hooks *hooks, mend_boundary **ret_boundary,
                                             mend_error *error) {
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  options.run = run;
  options.hooks = hooks;
  return mend_boundary_new(&options, ret_boundary, error);
}

static inline mend_boundary *world_boundary(mend_run *run, mend_hooks *hooks) {
  mend_boundary *boundary = NULL;
  cr_assert_eq(world_try_boundary(run, hooks, &boundary, NULL), MEND_OK);
  return boundary;
}

static inline mend_status give_args(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, mend_call_args(call));
}

/* A call whose result is its arguments. */
static inline mend_status call_echo(mend_boundary *boundary, mend_str args) {
  static const mend_tool echo = {.size = sizeof echo, .name = "echo", .execute = give_args};
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  options.tool = &echo;
  mend_result result = MEND_RESULT_INIT;
  const mend_status status = mend_boundary_call(boundary, (mend_str)MEND_ABSENT, args, &options, &result);
  mend_result_clear(&result);
  return status;
}

#endif

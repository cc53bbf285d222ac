/* A bus on a virtual clock, a few tools, a log of what was published; runners, and agents that call in them. */
#ifndef MEND_TESTS_HEALING_RUNNER_WORLD_H
#define MEND_TESTS_HEALING_RUNNER_WORLD_H

#include "mend/healing.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND MEND_SECOND_NS

/* ---- The world ---- */

typedef struct world {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_bus *bus;
  mend_tools *tools;
  double confidence;
  _Atomic unsigned hanging; /* calls that have begun to hang */
  pthread_mutex_t lock;     /* covers the log: agents and loops publish at once */
  char log[8192];
} world;

static inline mend_status write_log(void *ctx, const mend_event *event) {
  world *w = ctx;
  const mend_str topic = mend_bus_topic_name(mend_run_bus(event->run), event->topic);
  pthread_mutex_lock(&w->lock);
  const size_t len = strlen(w->log);
  snprintf(w->log + len, sizeof w->log - len, "%.*s ", MEND_STR_ARG(topic));
  pthread_mutex_unlock(&w->lock);
  return MEND_OK;
}

static inline mend_status echo(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, mend_call_args(call));
}

/* Blocked for an hour, unless it is cancelled. */
static inline mend_status hang(void *ctx, mend_call *call) {
  atomic_fetch_add(&((world *)ctx)->hanging, 1);
  mend_token_wait(mend_call_token(call), 3600 * SECOND);
  return mend_call_succeed(call, MEND_STR("\"late\""));
}

static inline mend_status decline(void *ctx, mend_call *call) {
  world *w = ctx;
  mend_confidence_event event = MEND_CONFIDENCE_EVENT_INIT;
  event.event.call = mend_call_number(call);
  event.confidence = w->confidence;
  w->confidence -= 0.2;
  mend_run_publish(mend_call_run(call), &event.event);
  return mend_call_succeed(call, MEND_STR("1"));
}

static inline void open_world(world *w) {
  static const mend_tool tools[] = {
      {.size = sizeof tools[0], .name = "echo", .effect = MEND_EFFECT_READ_ONLY, .execute = echo},
      {.size = sizeof tools[0], .name = "hang", .effect = MEND_EFFECT_READ_ONLY, .execute = hang},
      {.size = sizeof tools[0], .name = "decline", .effect = MEND_EFFECT_READ_ONLY, .execute = decline}};
  *w = (world){.confidence = 1.0, .lock = PTHREAD_MUTEX_INITIALIZER};
  mend_test_allocator_init(&w->memory);
  cr_assert_eq(mend_clock_new_virtual(&w->memory.base, (mend_time){SECOND, SECOND}, &w->clock), MEND_OK);
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = &w->memory.base;
  options.clock = w->clock;
  cr_assert_eq(mend_bus_new(&options, &w->bus, NULL), MEND_OK);
  cr_assert_eq(mend_tools_new(&w->memory.base, &w->tools), MEND_OK);
  for (size_t i = 0; i < 3; i++)
    cr_assert_eq(mend_tools_add(w->tools, &tools[i], w, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(w->bus, "*", write_log, w, NULL, NULL, NULL), MEND_OK);
}

static inline void close_world(world *w) {
  mend_tools_release(w->tools);
  mend_bus_release(w->bus);
  mend_clock_release(w->clock);
  cr_assert_eq(atomic_load(&w->memory.blocks), 0u, "%zu blocks are left", (size_t)atomic_load(&w->memory.blocks));
}

static inline mend_healing_runner *new_runner(world *w, const mend_options *config) {
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.bus = w->bus;
  options.tools = w->tools;
  options.config = config;
  mend_healing_runner *runner = NULL;
  mend_error error = {0};
  cr_assert_eq(mend_healing_runner_new(&options, &runner, &error), MEND_OK, "%s", error.message);
  return runner;
}

static inline mend_status call(mend_healing_runner *runner, const char *tool, const char *args) {
  mend_result result = MEND_RESULT_INIT;
  mend_status status =
      mend_boundary_call(mend_healing_boundary(runner), mend_str_from(tool), mend_str_from(args), NULL, &result);
  mend_result_clear(&result);
  return status;
}

/* What is heard of a run that the scope makes. */
#define OWN_RUN(events) "run.started healing.started " events "healing.stopped run.finished "

/* ---- An agent, on a thread of its own ---- */

typedef struct agent {
  mend_healing_runner *runner;
  const char *tool;
  mend_status last;
  int calls;
  _Atomic bool done;
} agent;

static inline void *run_agent(void *ctx) {
  agent *a = ctx;
  a->last = MEND_OK;
  for (a->calls = 0; a->calls < 10 && a->last == MEND_OK; a->calls++)
    a->last = call(a->runner, a->tool, "{}");
  atomic_store(&a->done, true);
  return NULL;
}

static inline void await_hanging(world *w) {
  while (atomic_load(&w->hanging) == 0)
    sched_yield();
}

static inline mend_status find_at_the_end(void *state, uint64_t now_ns, mend_emitter *emitter) {
  (void)now_ns;
  ++*(unsigned *)state;
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = MEND_STR("late");
  return mend_emit(emitter, &detection);
}

static inline mend_healing_runner *runner_with(world *w, mend_watchdog *watchdog, mend_policy policy, void *ctx) {
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.bus = w->bus;
  options.tools = w->tools;
  options.watchdogs = &watchdog;
  options.watchdog_count = watchdog != NULL;
  options.policy = policy;
  options.policy_ctx = ctx;
  mend_healing_runner *runner = NULL;
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_healing_runner_new(&options, &runner, &error), MEND_OK, "%s", error.message);
  return runner;
}

#endif

/* An agent in a healing scope, with tools of every kind, on a model that a test brings. */
#ifndef MEND_TEST_AGENT_WORLD_H
#define MEND_TEST_AGENT_WORLD_H

#include "core/buffer.h"
#include "mend/agent.h"
#include "mend/fallback.h"
#include "mend/healing.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

typedef struct world {
  mend_test_allocator memory;
  mend_clock *clock; /* NULL: the real one */
  mend_bus *bus;
  mend_loop *loop;
  mend_tools *tools;
  mend_hooks *hooks;
  mend_healing_runner *runner;
  mend_model *model;
  mend_agent *agent;
  atomic_uint of_kind[MEND_EVENT_KIND_COUNT]; /* how many events of each kind there were */
  atomic_uint events;                         /* of all kinds */
  size_t threads;

  pthread_mutex_t lock; /* covers what follows */
  pthread_cond_t met;
  unsigned meeting;    /* calls of `meet` that are in it */
  mend__buffer topics; /* of the run's events but those of tools and pieces of replies, in order */
} world;

/* Tools that run at once end in any order. The agent's thread publishes, and the loop's what watchdogs find. */
static inline mend_status note_event(void *ctx, const mend_event *event) {
  world *w = ctx;
  const mend_str topic = mend_bus_topic_name(w->bus, event->topic);
  atomic_fetch_add(&w->of_kind[event->kind], 1);
  atomic_fetch_add(&w->events, 1);
  if (event->kind == MEND_EVENT_MODEL_DELTA || memcmp(topic.ptr, "tool.", 5) == 0) return MEND_OK;
  pthread_mutex_lock(&w->lock);
  mend__buffer_printf(&w->topics, " %.*s", MEND_STR_ARG(topic));
  pthread_mutex_unlock(&w->lock);
  return MEND_OK;
}

static inline void world_forget_events(world *w) {
  pthread_mutex_lock(&w->lock);
  mend__buffer_clear(&w->topics);
  pthread_mutex_unlock(&w->lock);
  for (size_t i = 0; i < MEND_EVENT_KIND_COUNT; i++)
    atomic_store(&w->of_kind[i], 0);
  atomic_store(&w->events, 0);
}

/* Until there were so many, or an agent's run is over. */
static inline void world_wait_for_events(const world *w, unsigned count) {
  while (atomic_load(&w->events) < count && atomic_load(&w->of_kind[MEND_EVENT_AGENT_END]) == 0)
    sched_yield();
}

/* ---- Tools ---- */

static inline mend_status echo(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, mend_call_args(call));
}

static inline mend_status weather(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed_text(call, MEND_STR("rain, \"heavy\""));
}

static inline mend_status fail(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_fail(call, MEND_STR("timeout"), MEND_STR("nobody answered"));
}

/* Ends when two calls of it run at once. */
static inline mend_status meet(void *ctx, mend_call *call) {
  world *w = ctx;
  pthread_mutex_lock(&w->lock);
  w->meeting++;
  pthread_cond_broadcast(&w->met);
  while (w->meeting < 2)
    pthread_cond_wait(&w->met, &w->lock);
  pthread_mutex_unlock(&w->lock);
  return mend_call_succeed(call, mend_call_args(call));
}

static inline void answer_later(void *ctx) {
  mend_call *call = ctx;
  mend_call_succeed_text(call, MEND_STR("later"));
  mend_call_release(call);
}

static inline mend_status later(void *ctx, mend_call *call) {
  const world *w = ctx;
  return mend_loop_post(w->loop, answer_later, mend_call_retain(call));
}

static inline mend_status hang(void *ctx, mend_call *call) {
  (void)ctx;
  mend_token_wait(mend_call_token(call), MEND_NEVER);
  return mend_call_fail(call, MEND_STR("cancelled"), MEND_STR(""));
}

static inline mend_status abort_run(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_run_abort(mend_call_run(call), MEND_STR("the tool said so"), MEND_STR("abort_run"));
}

#define WORLD_TOOL(its_name, function, its_kind)                                                                       \
  { .size = sizeof(mend_tool), .name = its_name, .execute = function, .kind = its_kind, .description = "a tool" }
static const mend_tool world_tools[] = {
    WORLD_TOOL("echo", echo, MEND_TOOL_BLOCKING),
    WORLD_TOOL("ponder", echo, MEND_TOOL_BLOCKING),
    WORLD_TOOL("weather", weather, MEND_TOOL_BLOCKING),
    WORLD_TOOL("fail", fail, MEND_TOOL_BLOCKING),
    WORLD_TOOL("pooled", echo, MEND_TOOL_POOLED),
    WORLD_TOOL("meet", meet, MEND_TOOL_POOLED),
    WORLD_TOOL("later", later, MEND_TOOL_ASYNC),
    WORLD_TOOL("hang", hang, MEND_TOOL_POOLED),
    WORLD_TOOL("abort_run", abort_run, MEND_TOOL_BLOCKING),
};
enum { WORLD_TOOLS = sizeof world_tools / sizeof world_tools[0] };

/* `secret` has a stub instead of a result. */
static inline mend_status skip_secrets(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  if (!mend_str_equal(call->tool_name, MEND_STR("secret"))) return MEND_OK;
  return mend_decision_skip(decision, MEND_STR("not here"), MEND_STR("{\"kept\":\"back\"}"));
}

/* Who ponders too long asks; others are aborted. */
static inline mend_status ask_ponderers(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  if (!mend_str_equal(detection->tool_name, MEND_STR("ponder"))) return mend_default_policy(ctx, detection, ret_action);
  *ret_action = mend_action_escalate("What shall I do?");
  return MEND_OK;
}

/* ---- Life ---- */

/* clock: retained; NULL: the real one. */
static inline void world_open(world *w, mend_clock *clock) {
  static const mend_hook hook = {.size = sizeof hook, .name = "secrets", .before = skip_secrets};
  *w = (world){
      .threads = mend_test_threads_before(), .lock = PTHREAD_MUTEX_INITIALIZER, .met = PTHREAD_COND_INITIALIZER};
  mend_test_allocator_init(&w->memory);
  mend__buffer_init(&w->topics, NULL);
  if (clock != NULL) w->clock = mend_clock_retain(clock);
  mend_bus_options bus = MEND_BUS_OPTIONS_INIT;
  mend_loop_options loop = MEND_LOOP_OPTIONS_INIT;
  bus.allocator = loop.allocator = &w->memory.base;
  bus.clock = loop.clock = clock;
  cr_assert_eq(mend_bus_new(&bus, &w->bus, NULL), MEND_OK);
  cr_assert_eq(mend_loop_new(&loop, &w->loop, NULL), MEND_OK);
  cr_assert_eq(mend_tools_new(&w->memory.base, &w->tools), MEND_OK);
  for (size_t i = 0; i < WORLD_TOOLS; i++)
    cr_assert_eq(mend_tools_add(w->tools, &world_tools[i], w, NULL), MEND_OK);
  cr_assert_eq(mend_hooks_new(&w->memory.base, &w->hooks), MEND_OK);
  cr_assert_eq(mend_hooks_add(w->hooks, &hook, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(w->bus, "*", note_event, w, NULL, NULL, NULL), MEND_OK);
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.bus = w->bus;
  options.loop = w->loop;
  options.tools = w->tools;
  options.hooks = w->hooks;
  options.policy = ask_ponderers;
  cr_assert_eq(mend_healing_runner_new(&options, &w->runner, NULL), MEND_OK);
  cr_assert_eq(mend_healing_enter(w->runner, NULL, NULL), MEND_OK);
  world_forget_events(w);
}

static inline void world_open_model(world *w, const char *name) {
  mend_error error = MEND_ERROR_INIT;
  mend_fallback_options options = MEND_FALLBACK_OPTIONS_INIT;
  options.allocator = &w->memory.base;
  options.loop = w->loop;
  cr_assert_eq(mend_model_open(name, &options, &w->model, &error), MEND_OK, "%s: %s", name, error.message);
}

/* options: its model and boundary are the world's. */
static inline void world_open_agent(world *w, mend_agent_options options) {
  mend_error error = MEND_ERROR_INIT;
  options.model = w->model;
  options.boundary = mend_healing_boundary(w->runner);
  cr_assert_eq(mend_agent_new(&options, &w->agent, &error), MEND_OK, "%s", error.message);
}

static inline void world_close(world *w) {
  mend_agent_free(w->agent);
  mend_model_release(w->model);
  mend_healing_exit(w->runner, NULL);
  mend_healing_runner_release(w->runner);
  mend_hooks_release(w->hooks);
  mend_tools_release(w->tools);
  mend_loop_release(w->loop);
  mend_bus_release(w->bus);
  if (w->clock != NULL) mend_clock_release(w->clock);
  mend__buffer_free(&w->topics);
  /* A pool's thread lets go of its last call a little later than that ends. */
  cr_assert(mend_test_threads_are(w->threads), "%zu threads are left", mend_test_threads() - w->threads);
  cr_assert_eq(w->memory.blocks, 0, "%zu blocks are left", (size_t)w->memory.blocks);
}

#endif

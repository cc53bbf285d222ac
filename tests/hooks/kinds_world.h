/* A boundary whose calls are counted from any thread, and a tool that keeps its calls for the test to answer. */
#ifndef MEND_TESTS_HOOKS_KINDS_WORLD_H
#define MEND_TESTS_HOOKS_KINDS_WORLD_H

#include "hooks/scope.h"
#include "scenario.h"

typedef struct kinds_world {
  mend_test_allocator memory;
  size_t threads; /* before it was opened */
  mend_clock *clock;
  mend_bus *bus;
  mend_run *run;
  mend_tools *tools;
  mend_hooks *hooks;
  mend_boundary *boundary;
  atomic_uint befores, ends, cancelled, late, aborted, succeeded, failed; /* events */
  atomic_uint begun, done;                                                /* started calls */
} kinds_world;

static inline mend_status count_event(void *ctx, const mend_event *event) {
  kinds_world *w = ctx;
  switch (event->kind) {
  case MEND_EVENT_TOOL_BEFORE: atomic_fetch_add(&w->befores, 1); return MEND_OK;
  case MEND_EVENT_TOOL_AFTER: atomic_fetch_add(&w->succeeded, 1); break;
  case MEND_EVENT_TOOL_ERROR: atomic_fetch_add(&w->failed, 1); break;
  case MEND_EVENT_TOOL_ABORTED: atomic_fetch_add(&w->aborted, 1); break;
  case MEND_EVENT_TOOL_CANCELLED:
    atomic_fetch_add(&w->cancelled, 1);
    if (((const mend_tool_cancelled_event *)event)->late_result) atomic_fetch_add(&w->late, 1);
    break;
  case MEND_EVENT_TOOL_SKIPPED: break;
  default: return MEND_OK;
  }
  atomic_fetch_add(&w->ends, 1);
  return MEND_OK;
}

/* On the real clock, or on a virtual one that stands still. */
static inline mend_status kinds_try_open(kinds_world *w, bool is_virtual) {
  mend_bus_options bus_options = MEND_BUS_OPTIONS_INIT;
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  mend_status status = MEND_OK;
  if (is_virtual) status = mend_clock_new_virtual(&w->memory.base, (mend_time){MEND_SECOND_NS, 0}, &w->clock);
  bus_options.allocator = &w->memory.base;
  bus_options.clock = w->clock;
  if (status == MEND_OK) status = mend_bus_new(&bus_options, &w->bus, NULL);
  if (status == MEND_OK) status = mend_bus_subscribe(w->bus, "tool.*", count_event, w, NULL, NULL, NULL);
  if (status == MEND_OK) status = mend_run_new(w->bus, NULL, &w->run, NULL);
  if (status == MEND_OK) status = mend_tools_new(&w->memory.base, &w->tools);
  if (status == MEND_OK) status = mend_hooks_new(&w->memory.base, &w->hooks);
  options.run = w->run;
  options.tools = w->tools;
  options.hooks = w->hooks;
  options.state = w;
  if (status == MEND_OK) status = mend_boundary_new(&options, &w->boundary, NULL);
  return status;
}

static inline void kinds_open(kinds_world *w) {
  *w = (kinds_world){.threads = count_threads()};
  mend_test_allocator_init(&w->memory);
  cr_assert_eq(kinds_try_open(w, true), MEND_OK);
}

static inline void kinds_release(kinds_world *w) {
  mend_boundary_release(w->boundary);
  mend_hooks_release(w->hooks);
  mend_tools_release(w->tools);
  mend_run_release(w->run);
  mend_bus_release(w->bus);
  mend_clock_release(w->clock);
  w->boundary = NULL;
}

/* Nothing may be left, once the threads are gone. */
static inline void kinds_check(kinds_world *w) {
  cr_assert(mend_test_threads_are(w->threads), "%zu threads, expected %zu", mend_test_threads(), w->threads);
  cr_assert_eq(atomic_load(&w->memory.blocks), 0u, "%zu blocks left", atomic_load(&w->memory.blocks));
  cr_assert_eq(atomic_load(&w->begun), atomic_load(&w->done));
  cr_assert_eq(atomic_load(&w->befores), atomic_load(&w->ends));
}

static inline void kinds_close(kinds_world *w) {
  kinds_release(w);
  kinds_check(w);
}

static inline void kinds_add(kinds_world *w, const char *name, mend_tool_kind kind,
                             mend_status (*execute)(void *ctx, mend_call *call), void *ctx) {
  const mend_tool tool = {.size = sizeof tool, .name = name, .execute = execute, .kind = kind};
  mend_tools_add(w->tools, &tool, ctx, NULL);
}

static inline void count_done(void *ctx, mend_status status, const mend_result *result) {
  (void)status;
  (void)result;
  atomic_fetch_add(&((kinds_world *)ctx)->done, 1);
}

static inline uint64_t kinds_start(kinds_world *w, const char *tool) {
  uint64_t number = 0;
  atomic_fetch_add(&w->begun, 1);
  cr_assert_eq(
      mend_boundary_start(w->boundary, mend_str_from(tool), (mend_str)MEND_ABSENT, NULL, count_done, w, &number),
      MEND_OK);
  return number;
}

static inline mend_status kinds_call(kinds_world *w, const char *tool, mend_outcome *ret_outcome) {
  mend_result result = MEND_RESULT_INIT;
  const mend_status status = mend_boundary_call(w->boundary, mend_str_from(tool), (mend_str)MEND_ABSENT, NULL, &result);
  if (ret_outcome != NULL) *ret_outcome = result.outcome;
  mend_result_clear(&result);
  return status;
}

/* ---- A place where one thread leaves a call and another finds it ---- */

typedef struct handover {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  mend_call *call;
  bool is_over; /* there will be no more */
} handover;
#define HANDOVER_INIT                                                                                                  \
  { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, false }

static inline void hand_over(handover *place, mend_call *call) {
  pthread_mutex_lock(&place->lock);
  while (place->call != NULL)
    pthread_cond_wait(&place->changed, &place->lock);
  place->call = call;
  pthread_cond_broadcast(&place->changed);
  pthread_mutex_unlock(&place->lock);
}

/* NULL when there will be no more. */
static inline mend_call *receive_call(handover *place) {
  pthread_mutex_lock(&place->lock);
  while (place->call == NULL && !place->is_over)
    pthread_cond_wait(&place->changed, &place->lock);
  mend_call *call = place->call;
  place->call = NULL;
  pthread_cond_broadcast(&place->changed);
  pthread_mutex_unlock(&place->lock);
  return call;
}

static inline void end_handover(handover *place) {
  pthread_mutex_lock(&place->lock);
  place->is_over = true;
  pthread_cond_broadcast(&place->changed);
  pthread_mutex_unlock(&place->lock);
}

/* An asynchronous tool. */
static inline mend_status keep_call(void *ctx, mend_call *call) {
  hand_over(ctx, mend_call_retain(call));
  return MEND_OK;
}

#endif

/* Pooled tools: their threads, what waits for one, and what happens when they are stuck. */
#include "kinds_world.h"

#include <signal.h>

/* ---- Options ---- */

Test(pool, options) {
  static const struct {
    uint32_t threads, waiting;
    const char *sentence;
  } rows[] = {{0, 1, "the pool's threads: 0 is out of range, expected 1 to 256"},
              {257, 1, "the pool's threads: 257 is out of range, expected 1 to 256"},
              {1, 0, "the pool's waiting calls: 0 is out of range, expected 1 to 1048576"},
              {1, 1048577, "the pool's waiting calls: 1048577 is out of range, expected 1 to 1048576"},
              {256, 1048576, NULL},
              {1, 1, NULL}};
  mend_tools *tools;
  cr_assert_eq(mend_tools_new(NULL, &tools), MEND_OK);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend_error error = MEND_ERROR_INIT;
    const mend_status status = mend_tools_set_pool(tools, rows[i].threads, rows[i].waiting, &error);
    cr_assert_eq(status, rows[i].sentence == NULL ? MEND_OK : MEND_EINVAL, "%zu", i);
    if (rows[i].sentence != NULL) cr_assert_str_eq(error.message, rows[i].sentence);
  }
  cr_assert_not_null(mend__tools_pool(tools));
  cr_assert_eq(mend_tools_set_pool(tools, 2, 2, NULL), MEND_EEXIST);
  mend_tools_release(tools);
}

/* ---- The threads ---- */

typedef struct seen_thread {
  pthread_t caller;
  bool is_caller, takes_signals;
  char name[16];
} seen_thread;

static mend_status look_at_thread(void *ctx, mend_call *call) {
  seen_thread *seen = ctx;
  sigset_t blocked;
  seen->is_caller = pthread_equal(seen->caller, pthread_self());
  pthread_getname_np(pthread_self(), seen->name, sizeof seen->name);
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  seen->takes_signals = !sigismember(&blocked, SIGTERM) || !sigismember(&blocked, SIGCHLD);
  return mend_call_succeed(call, MEND_STR("1"));
}

Test(pool, threads) {
  kinds_world w;
  kinds_open(&w);
  seen_thread seen = {.caller = pthread_self()};
  sigset_t before, after;
  kinds_add(&w, "look", MEND_TOOL_POOLED, look_at_thread, &seen);
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  cr_assert_eq(kinds_call(&w, "look", NULL), MEND_OK);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  cr_assert(!seen.is_caller);
  cr_assert(!seen.takes_signals);
  cr_assert_str_eq(seen.name, "mend-pool");
  cr_assert_eq(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
  for (int i = 0; i < 50; i++)
    cr_assert_eq(kinds_call(&w, "look", NULL), MEND_OK);
  kinds_close(&w);
}

/* ---- Cancelled while the pool is being made ---- */

typedef struct cancelling_memory {
  mend_allocator base;
  mend_run *run; /* whose first call is cancelled by the next allocation; NULL: none is */
} cancelling_memory;

static void *allocate(void *ctx, size_t size) {
  cancelling_memory *self = ctx;
  mend_run *run = self->run;
  self->run = NULL;
  if (run != NULL) mend_run_cancel_call(run, 1, MEND_STR("enough"));
  return malloc(size);
}

static void *reallocate(void *ctx, void *pointer, size_t size) {
  (void)ctx;
  return realloc(pointer, size);
}

static void release(void *ctx, void *pointer) {
  (void)ctx;
  free(pointer);
}

static mend_status count_run(void *ctx, mend_call *call) {
  atomic_fetch_add((atomic_uint *)ctx, 1);
  return mend_call_succeed(call, MEND_STR("1"));
}

/* Its tool does not run. */
Test(pool, cancelled_while_it_is_made) {
  kinds_world w;
  kinds_open(&w);
  atomic_uint ran = 0;
  cancelling_memory memory = {.base = {sizeof memory.base, &memory, allocate, reallocate, release}};
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  const mend_tool tool = {.size = sizeof tool, .name = "count", .execute = count_run, .kind = MEND_TOOL_POOLED};
  mend_boundary *boundary;
  mend_result result = MEND_RESULT_INIT;
  options.run = w.run;
  cr_assert_eq(mend_tools_new(&memory.base, &options.tools), MEND_OK);
  cr_assert_eq(mend_tools_add(options.tools, &tool, &ran, NULL), MEND_OK);
  cr_assert_eq(mend_boundary_new(&options, &boundary, NULL), MEND_OK);
  memory.run = w.run;
  cr_assert_eq(mend_boundary_call(boundary, MEND_STR("count"), (mend_str)MEND_ABSENT, NULL, &result), MEND_ECANCELLED);
  cr_assert_eq(result.outcome, MEND_OUTCOME_CANCELLED);
  mend_result_clear(&result);
  mend_boundary_release(boundary);
  mend_tools_release(options.tools);
  cr_assert_eq(atomic_load(&ran), 0u);
  kinds_close(&w);
}

/* ---- Waiting for a thread ---- */

typedef struct blocker {
  gate begun, may_end;
  atomic_uint ran;
} blocker;
#define BLOCKER_INIT                                                                                                   \
  { .begun = GATE_INIT, .may_end = GATE_INIT }

/* Looks at nothing. */
static mend_status block(void *ctx, mend_call *call) {
  blocker *self = ctx;
  atomic_fetch_add(&self->ran, 1);
  gate_add(&self->begun);
  gate_await(&self->may_end, 1);
  return mend_call_succeed(call, MEND_STR("1"));
}

/* One thread, room for one more: the third call is too many. One that is cancelled before a thread has taken it never
 * runs, and makes room. */
Test(pool, full) {
  static const struct {
    bool aborts;
    unsigned cancelled, aborted; /* events */
  } rows[] = {{false, 1, 0}, {true, 1, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    kinds_world w;
    kinds_open(&w);
    blocker self = BLOCKER_INIT;
    cr_assert_eq(mend_tools_set_pool(w.tools, 1, 1, NULL), MEND_OK);
    kinds_add(&w, "block", MEND_TOOL_POOLED, block, &self);
    kinds_start(&w, "block");
    gate_await(&self.begun, 1);
    const uint64_t waiting = kinds_start(&w, "block");
    mend_result result = MEND_RESULT_INIT;
    cr_assert_eq(mend_boundary_call(w.boundary, MEND_STR("block"), (mend_str)MEND_ABSENT, NULL, &result), MEND_EFAILED);
    cr_assert(mend_str_equal(result.error_type, MEND_STR("pool_full")));
    mend_result_clear(&result);
    kinds_start(&w, "block");
    cr_assert_eq(atomic_load(&w.done), 1u); /* refused */
    cr_assert_eq(atomic_load(&w.failed), 2u);
    if (rows[i].aborts) {
      cr_assert_eq(mend_run_abort(w.run, MEND_STR("all"), MEND_STR("me")), MEND_OK);
      cr_assert_eq(atomic_load(&w.done), 3u); /* at once, both of them */
    } else {
      cr_assert_eq(mend_run_cancel_call(w.run, waiting, MEND_STR("enough")), MEND_OK);
      cr_assert_eq(atomic_load(&w.done), 2u);
      const uint64_t another = kinds_start(&w, "block");
      cr_assert_eq(mend_run_cancel_call(w.run, another, MEND_STR("enough")), MEND_OK);
      cr_assert_eq(atomic_load(&w.done), 3u);
      cr_assert_eq(atomic_load(&w.cancelled), 2u);
    }
    if (rows[i].aborts) {
      cr_assert_eq(atomic_load(&w.cancelled), rows[i].cancelled);
      cr_assert_eq(atomic_load(&w.aborted), rows[i].aborted);
    }
    gate_add(&self.may_end);
    kinds_close(&w);
    cr_assert_eq(atomic_load(&self.ran), 1u);
  }
}

/* ---- Stuck ---- */

/* A tool that looks at nothing keeps its thread. Its scope waits the grace, lets go, and everything is freed when it
 * comes to its end. */
Test(pool, stuck) {
  kinds_world w;
  kinds_open(&w);
  blocker self = BLOCKER_INIT;
  kinds_add(&w, "block", MEND_TOOL_POOLED, block, &self);
  kinds_start(&w, "block");
  kinds_start(&w, "block");
  gate_await(&self.begun, 2);
  mend__boundary_close(w.boundary);
  cr_assert_eq(mend__boundary_drain(w.boundary, MEND_STR("over"), 1000000), 2u);
  cr_assert_eq(atomic_load(&w.done), 2u);
  cr_assert_eq(atomic_load(&w.cancelled), 2u);
  kinds_release(&w);
  gate_add(&self.may_end);
  kinds_check(&w);
}

/* What ends within the grace is not counted. */
Test(pool, drained) {
  kinds_world w;
  kinds_open(&w);
  blocker self = BLOCKER_INIT;
  kinds_add(&w, "block", MEND_TOOL_POOLED, block, &self);
  for (int i = 0; i < 4; i++)
    kinds_start(&w, "block");
  gate_await(&self.begun, 4);
  gate_add(&self.may_end);
  mend__boundary_close(w.boundary);
  cr_assert_eq(mend__boundary_drain(w.boundary, MEND_STR("over"), 3600 * MEND_SECOND_NS), 0u);
  cr_assert_eq(atomic_load(&w.done), 4u);
  kinds_close(&w);
}

/* ---- Many callers ---- */

enum { CALLERS = 4, CALLS_EACH = 200 };

static mend_status answer_one(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, MEND_STR("1"));
}

static void *call_many(void *ctx) {
  for (int i = 0; i < CALLS_EACH; i++)
    kinds_call(ctx, "one", NULL);
  return NULL;
}

static void *cancel_some(void *ctx) {
  kinds_world *w = ctx;
  for (uint64_t number = 1; number < CALLERS * CALLS_EACH; number += 3) {
    while (atomic_load(&w->befores) < number)
      sched_yield();
    mend_run_cancel_call(w->run, number, MEND_STR("enough"));
  }
  return NULL;
}

Test(pool, many_callers) {
  kinds_world w;
  kinds_open(&w);
  pthread_t threads[CALLERS + 1];
  cr_assert_eq(mend_tools_set_pool(w.tools, 3, 2, NULL), MEND_OK);
  kinds_add(&w, "one", MEND_TOOL_POOLED, answer_one, NULL);
  for (int i = 0; i <= CALLERS; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, i < CALLERS ? call_many : cancel_some, &w), 0);
  for (int i = 0; i <= CALLERS; i++)
    cr_assert_eq(pthread_join(threads[i], NULL), 0);
  cr_assert_eq(atomic_load(&w.ends), (unsigned)(CALLERS * CALLS_EACH));
  kinds_close(&w);
}

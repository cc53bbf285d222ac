/* Leaving a scope while tools run on: pooled ones that ignore their token, asynchronous ones that never answer. */
#include "mend/healing.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { GRACE_S = 30 };

typedef struct world {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_bus *bus;
  mend_tools *tools;
  mend_healing_runner *runner;
  mend_healing_report report;
  atomic_uint running;   /* tools that have begun */
  atomic_uint cancelled; /* calls that have ended so */
  atomic_bool may_return, left;
  atomic_int late; /* what the pooled tool was told about its answer */
  mend_call *mute;
  uint64_t stopped_abandoned;
} world;

/* ---- Tools ---- */

/* Pooled, and deaf: it looks at nothing but its own flag. */
static mend_status ignore_token(void *ctx, mend_call *call) {
  world *w = ctx;
  atomic_fetch_add(&w->running, 1);
  while (!atomic_load(&w->may_return))
    sched_yield();
  const mend_status status = mend_call_succeed(call, MEND_STR("1"));
  atomic_store(&w->late, (int)status);
  return MEND_OK;
}

/* Pooled, and well-behaved. */
static mend_status wait_for_token(void *ctx, mend_call *call) {
  world *w = ctx;
  atomic_fetch_add(&w->running, 1);
  mend_token_wait(mend_call_token(call), MEND_NEVER);
  return mend_call_fail(call, MEND_STR("stopped"), mend_token_reason(mend_call_token(call)));
}

/* Asynchronous, and mute. */
static mend_status keep(void *ctx, mend_call *call) {
  world *w = ctx;
  w->mute = mend_call_retain(call);
  atomic_fetch_add(&w->running, 1);
  return MEND_OK;
}

static void answer(void *ctx) {
  mend_call_fail(ctx, MEND_STR("stopped"), MEND_STR("as asked"));
  mend_call_release(ctx);
}

/* Asynchronous; answers when it is cancelled. */
static mend_status answer_when_cancelled(void *ctx, mend_call *call) {
  world *w = ctx;
  atomic_fetch_add(&w->running, 1);
  return mend_token_on_cancel(mend_call_token(call), answer, mend_call_retain(call), NULL);
}

/* ---- The world ---- */

static mend_status on_stopped(void *ctx, const mend_event *event) {
  ((world *)ctx)->stopped_abandoned = ((const mend_healing_stopped_event *)event)->abandoned;
  return MEND_OK;
}

static void open_world(world *w) {
  static const mend_tool tools[] = {
      {.size = sizeof(mend_tool), .name = "deaf", .execute = ignore_token, .kind = MEND_TOOL_POOLED},
      {.size = sizeof(mend_tool), .name = "heeding", .execute = wait_for_token, .kind = MEND_TOOL_POOLED},
      {.size = sizeof(mend_tool), .name = "mute", .execute = keep, .kind = MEND_TOOL_ASYNC},
      {.size = sizeof(mend_tool), .name = "polite", .execute = answer_when_cancelled, .kind = MEND_TOOL_ASYNC},
  };
  memset(w, 0, sizeof *w);
  mend_test_allocator_init(&w->memory);
  cr_assert_eq(mend_clock_new_virtual(&w->memory.base, (mend_time){0, 0}, &w->clock), MEND_OK);
  mend_bus_options bus = MEND_BUS_OPTIONS_INIT;
  bus.allocator = &w->memory.base;
  bus.clock = w->clock;
  cr_assert_eq(mend_bus_new(&bus, &w->bus, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(w->bus, "healing.stopped", on_stopped, w, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_tools_new(&w->memory.base, &w->tools), MEND_OK);
  for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
    cr_assert_eq(mend_tools_add(w->tools, &tools[i], w, NULL), MEND_OK);
  mend_options config = MEND_OPTIONS_INIT;
  config.stall.enable = false; /* time passes as fast as threads are scheduled */
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.bus = w->bus;
  options.config = &config;
  options.tools = w->tools;
  options.exit_grace_s = GRACE_S;
  cr_assert_eq(mend_healing_runner_new(&options, &w->runner, NULL), MEND_OK);
  w->report = (mend_healing_report)MEND_HEALING_REPORT_INIT;
}

/* The tools may still run. */
static void close_bus(world *w) {
  mend_healing_runner_release(w->runner);
  mend_bus_release(w->bus);
}

static void close_rest(world *w) {
  mend_tools_release(w->tools);
  mend_clock_release(w->clock);
  /* A thread that was left behind goes by itself, with what it holds. With a leak this never ends. */
  while (atomic_load(&w->memory.blocks) > 0)
    sched_yield();
}

/* ---- Leaving ---- */

static void count_cancelled(void *ctx, mend_status status, const mend_result *result) {
  world *w = ctx;
  if (status == MEND_ECANCELLED && result->outcome == MEND_OUTCOME_CANCELLED) atomic_fetch_add(&w->cancelled, 1);
}

static void *leave(void *ctx) {
  world *w = ctx;
  mend_healing_exit(w->runner, &w->report);
  atomic_store(&w->left, true);
  return NULL;
}

/* How much virtual time leaving took. */
static uint64_t leave_on_thread(world *w) {
  pthread_t thread;
  const uint64_t start_ns = mend_clock_now(w->clock).mono_ns;
  cr_assert_eq(pthread_create(&thread, NULL, leave, w), 0);
  while (!atomic_load(&w->left)) {
    mend_clock_advance(w->clock, MEND_SECOND_NS / 10);
    sched_yield();
  }
  pthread_join(thread, NULL);
  return mend_clock_now(w->clock).mono_ns - start_ns;
}

Test(running_on, leaving_waits_for_the_grace_and_lets_go) {
  static const struct {
    const char *tools[3];
    uint64_t abandoned;
  } rows[] = {
      {{NULL}, 0}, {{"heeding", "polite"}, 0}, {{"mute"}, 1}, {{"deaf"}, 1}, {{"mute", "deaf", "heeding"}, 2},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    open_world(&w);
    cr_assert_eq(mend_healing_enter(w.runner, NULL, NULL), MEND_OK);
    unsigned count = 0;
    for (; count < 3 && rows[i].tools[count] != NULL; count++) {
      cr_assert_eq(mend_boundary_start(mend_healing_boundary(w.runner), mend_str_from(rows[i].tools[count]),
                                       MEND_STR("{}"), NULL, count_cancelled, &w, NULL),
                   MEND_OK);
    }
    while (atomic_load(&w.running) < count)
      sched_yield();
    const uint64_t took_ns = leave_on_thread(&w);
    if (rows[i].abandoned > 0) cr_assert(took_ns >= GRACE_S * MEND_SECOND_NS, "row %zu", i);
    cr_assert_eq(atomic_load(&w.cancelled), count, "row %zu", i); /* everybody has been told */
    cr_assert_eq(w.report.abandoned, rows[i].abandoned, "row %zu: %llu", i, (unsigned long long)w.report.abandoned);
    cr_assert_eq(w.stopped_abandoned, rows[i].abandoned, "row %zu", i);
    close_bus(&w);
    if (w.mute != NULL) {
      cr_assert_eq(mend_call_succeed(w.mute, MEND_STR("1")), MEND_ECANCELLED, "row %zu", i);
      mend_call_release(w.mute);
    }
    atomic_store(&w.may_return, true);
    close_rest(&w);
    cr_assert(atomic_load(&w.late) == MEND_OK || atomic_load(&w.late) == MEND_ECANCELLED);
  }
}

/* Fan-out: mend_boundary_call_all. */
#include "kinds_world.h"

enum { BATCH_MAX = 4 };

typedef struct batch_row {
  const char *steps;            /* of a scenario: hooks and tools, separated by | */
  const char *tools[BATCH_MAX]; /* to be called */
  mend_status status;
  mend_status statuses[BATCH_MAX]; /* of the calls */
  const char *events, *ran;
} batch_row;

static const batch_row rows[] = {
    {"tool b ok=1|async a ok=2",
     {"b", "a", "b"},
     MEND_OK,
     {MEND_OK, MEND_OK, MEND_OK},
     "before#1:a after#1:a 2/before#1:b 2/after#1:b 3/before#1:b 3/after#1:b",
     "a({}) b({}) b({})"},
    {"async a fail=x=y|tool b ok=1",
     {"a", "b", "missing"},
     MEND_EFAILED,
     {MEND_EFAILED, MEND_OK, MEND_EFAILED},
     "before#1:a error#1:a!x 2/before#1:b 2/after#1:b 3/before#1:missing 3/error#1:missing!unknown_tool",
     "a({}) b({})"},
    /* An abort ends what is under way and refuses the rest. */
    {"async a keep|tool b abort=no|tool c ok=1",
     {"c", "b", "c", "a"},
     MEND_ABORTED,
     {MEND_OK, MEND_ABORTED, MEND_ABORTED, MEND_ABORTED},
     "before#1:a 2/before#1:c 2/after#1:c 3/before#1:b cancelled#1:a 3/cancelled#1:b~late 4/refused:c",
     "a({}) c({}) b({})"},
    /* One that is redirected to an asynchronous tool is waited for too. */
    {"hook h before=redirect=a=-|async a none|tool b ok=1",
     {"b", "b"},
     MEND_EFAILED,
     {MEND_EFAILED, MEND_EFAILED},
     "before#1:b error#1:b>a<h!no_answer 2/before#1:b 2/error#1:b>a<h!no_answer",
     "h.before(b,{}) a({}) h.before(b,{}) a({})"},
    {"hook h on_error=redirect=b=-|async a fail=x=y|tool b ok=1",
     {"a", "a"},
     MEND_OK,
     {MEND_OK, MEND_OK},
     "before#1:a error#1:a!x before#2:b after#2:b<h 2/before#1:a 2/error#1:a!x 2/before#2:b 2/after#2:b<h",
     "a({}) h.on_error(a,{}) b({}) a({}) h.on_error(a,{}) b({})"},
};

static void play_steps(scenario *s, const char *steps) {
  char text[256], *rest = text;
  snprintf(text, sizeof text, "%s", steps);
  for (char *step; (step = strsep(&rest, "|")) != NULL;)
    play_line(s, step);
}

static size_t take_calls(const batch_row *row, mend_batch_call calls[BATCH_MAX]) {
  size_t count = 0;
  for (; count < BATCH_MAX && row->tools[count] != NULL; count++) {
    calls[count] = (mend_batch_call)MEND_BATCH_CALL_INIT;
    calls[count].tool = mend_str_from(row->tools[count]);
  }
  return count;
}

Test(batch, rows) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    scenario *s = scenario_new();
    mend_batch_call calls[BATCH_MAX];
    cr_assert_eq(scenario_try_open(s), MEND_OK);
    play_steps(s, rows[i].steps);
    const size_t count = take_calls(&rows[i], calls);
    cr_assert_eq(mend_boundary_call_all(s->boundary, calls, count), rows[i].status, "%zu", i);
    for (size_t k = 0; k < count; k++) {
      cr_assert_eq(calls[k].status, rows[i].statuses[k], "%zu: %zu", i, k);
      mend_result_clear(&calls[k].result);
    }
    cr_assert_str_eq(s->events.text, rows[i].events, "%zu: %s", i, s->events.text);
    cr_assert_str_eq(s->ran.text, rows[i].ran, "%zu: %s", i, s->ran.text);
    scenario_close(s);
    free(s);
  }
}

static mend_status succeed_here(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, MEND_STR("1"));
}

/* With each allocation failing, once and from there on: every before has its end. A call that is kept would be waited
 * for when there was no memory for what ends it. */
Test(batch, without_memory) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (strstr(rows[i].steps, "keep") != NULL) continue;
    for (int fail_after = 0; fail_after < 2; fail_after++) {
      scenario *s = scenario_new();
      bool failed = true;
      for (size_t fail_at = 1; failed; fail_at++) {
        mend_batch_call calls[BATCH_MAX];
        scenario_clear(s);
        const size_t count = take_calls(&rows[i], calls);
        mend_test_allocator_arm(&s->memory, fail_at, fail_after == 1);
        if (scenario_try_open(s) == MEND_OK) {
          play_steps(s, rows[i].steps);
          mend_boundary_call_all(s->boundary, calls, count);
        }
        failed = mend_test_allocator_failed(&s->memory);
        for (size_t k = 0; k < count; k++)
          mend_result_clear(&calls[k].result);
        scenario_close(s);
      }
      free(s);
    }
  }
}

static void count_destroyed(void *ctx) { atomic_fetch_add((atomic_uint *)ctx, 1); }

/* A tool of the caller's is destroyed once, also when there is no memory to begin. */
Test(batch, own_tools_without_memory) {
  bool failed = true;
  for (size_t fail_at = 1; failed; fail_at++) {
    kinds_world w;
    kinds_open(&w);
    atomic_uint destroyed = 0;
    const mend_tool tool = {.size = sizeof tool,
                            .name = "own",
                            .kind = MEND_TOOL_ASYNC,
                            .execute = succeed_here,
                            .destroy = count_destroyed};
    mend_call_options options = MEND_CALL_OPTIONS_INIT;
    options.tool = &tool;
    options.tool_ctx = &destroyed;
    mend_batch_call calls[2] = {MEND_BATCH_CALL_INIT, MEND_BATCH_CALL_INIT};
    calls[0].options = &options;
    calls[1].options = &options;
    mend_test_allocator_arm(&w.memory, fail_at, true);
    mend_boundary_call_all(w.boundary, calls, 2);
    failed = mend_test_allocator_failed(&w.memory);
    mend_result_clear(&calls[0].result);
    mend_result_clear(&calls[1].result);
    kinds_close(&w);
    cr_assert_eq(atomic_load(&destroyed), 2u, "allocation %zu", fail_at);
  }
}

/* ---- At once ---- */

typedef struct meeting {
  pthread_barrier_t barrier;
  kinds_world *w;
  atomic_bool waits; /* a call of the batch is to abort the run */
} meeting;

/* Returns when all of them are here. */
static mend_status meet(void *ctx, mend_call *call) {
  pthread_barrier_wait(&((meeting *)ctx)->barrier);
  return mend_call_succeed(call, MEND_STR("1"));
}

static mend_status wait_for_end(void *ctx, mend_call *call) {
  (void)ctx;
  mend_token_wait(mend_call_token(call), MEND_NEVER);
  return MEND_ECANCELLED;
}

static mend_status abort_all(void *ctx, mend_call *call) {
  mend_run_abort(((meeting *)ctx)->w->run, MEND_STR("all"), MEND_STR("me"));
  return mend_call_succeed(call, MEND_STR("1"));
}

/* Three pooled calls and a blocking one meet, so all of them run at once; a pooled one aborts those that wait. */
Test(batch, at_once) {
  for (int aborts = 0; aborts < 2; aborts++) {
    kinds_world w;
    kinds_open(&w);
    meeting self = {.w = &w};
    mend_batch_call calls[4];
    cr_assert_eq(pthread_barrier_init(&self.barrier, NULL, 4), 0);
    kinds_add(&w, "pooled", MEND_TOOL_POOLED, aborts ? wait_for_end : meet, &self);
    kinds_add(&w, "blocking", MEND_TOOL_BLOCKING, meet, &self);
    kinds_add(&w, "abort", MEND_TOOL_POOLED, abort_all, &self);
    for (size_t i = 0; i < 4; i++) {
      calls[i] = (mend_batch_call)MEND_BATCH_CALL_INIT;
      calls[i].tool = i > 0 ? MEND_STR("pooled") : aborts ? MEND_STR("abort") : MEND_STR("blocking");
    }
    const mend_status expected = aborts ? MEND_ABORTED : MEND_OK;
    cr_assert_eq(mend_boundary_call_all(w.boundary, calls, 4), expected);
    for (size_t i = 0; i < 4; i++) {
      cr_assert_eq(calls[i].status, expected);
      mend_result_clear(&calls[i].result);
    }
    kinds_close(&w);
    pthread_barrier_destroy(&self.barrier);
  }
}

/* ---- Beside a blocking tool, which does not hold back the ends of the others ---- */

typedef struct company {
  kinds_world *w;
  gate stuck;          /* that tool runs */
  gate answers, ended; /* the quick tool may answer; its call has ended */
  gate cancelled;      /* the stuck tool's call has ended, by whichever thread noticed first */
  atomic_uint stalls;
  char stalled[16]; /* the tool that was found first */
} company;

static void pass_ms(const company *self, uint64_t ms) {
  mend_clock_advance(self->w->clock, ms * (MEND_SECOND_NS / 1000));
}

static mend_status answer_when_told(void *ctx, mend_call *call) {
  gate_await(&((company *)ctx)->answers, 1);
  return mend_call_succeed(call, MEND_STR("1"));
}

static mend_status get_stuck(void *ctx, mend_call *call) {
  gate_add(&((company *)ctx)->stuck);
  return wait_for_end(NULL, call);
}

/* The quick call ends after 10 ms, a cancelled one at once, and this tool after 400 ms. */
static mend_status take_long(void *ctx, mend_call *call) {
  company *self = ctx;
  gate_await(&self->stuck, 1);
  pass_ms(self, 10);
  gate_add(&self->answers);
  gate_await(&self->ended, 1);
  mend_run_cancel_call(self->w->run, mend_call_from_name(MEND_STR("toolu_01")), MEND_STR("enough"));
  gate_await(&self->cancelled, 1);
  pass_ms(self, 390);
  return mend_call_succeed(call, MEND_STR("2"));
}

static mend_status note_end(void *ctx, const mend_event *event) {
  company *self = ctx;
  const mend_any_event *any = (const mend_any_event *)(const void *)event;
  const bool ends = event->kind == MEND_EVENT_TOOL_AFTER;
  if (ends && mend_str_equal(any->tool_after.tool_name, MEND_STR("quick"))) gate_add(&self->ended);
  if (event->kind == MEND_EVENT_TOOL_CANCELLED) gate_add(&self->cancelled);
  return MEND_OK;
}

static mend_status note_stall(void *ctx, const mend_event *event) {
  company *self = ctx;
  const mend_any_event *any = (const mend_any_event *)(const void *)event;
  if (atomic_fetch_add(&self->stalls, 1) > 0) return MEND_OK;
  snprintf(self->stalled, sizeof self->stalled, "%.*s", MEND_STR_ARG(any->detection.tool_name));
  return MEND_OK;
}

static void watch_stalls(kinds_world *w, double timeout_s) {
  mend_options options = MEND_OPTIONS_INIT;
  options.loop.enable = false;
  options.stall.timeout_s = timeout_s;
  cr_assert_eq(mend_bus_watch(w->bus, &options, NULL), MEND_OK);
}

Test(batch, beside_a_blocking_tool) {
  static const char *const tools[] = {"quick", "stuck", "long"};
  static const double durations_ms[] = {10, 10, 400};
  static const mend_status statuses[] = {MEND_OK, MEND_ECANCELLED, MEND_OK};
  kinds_world w;
  kinds_open(&w);
  company self = {.w = &w, .stuck = GATE_INIT, .answers = GATE_INIT, .ended = GATE_INIT, .cancelled = GATE_INIT};
  mend_batch_call calls[3];
  mend_call_options named = MEND_CALL_OPTIONS_INIT;
  named.call_name = MEND_STR("toolu_01");
  watch_stalls(&w, 0.2);
  /* As the watchdogs do, and after them: what is noted here they have seen. */
  cr_assert_eq(mend_run_subscribe(w.run, "*", note_end, &self, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(w.bus, "healing.detection", note_stall, &self, NULL, NULL, NULL), MEND_OK);
  kinds_add(&w, "quick", MEND_TOOL_POOLED, answer_when_told, &self);
  kinds_add(&w, "stuck", MEND_TOOL_POOLED, get_stuck, &self);
  kinds_add(&w, "long", MEND_TOOL_BLOCKING, take_long, &self);
  for (size_t i = 0; i < 3; i++) {
    calls[i] = (mend_batch_call)MEND_BATCH_CALL_INIT;
    calls[i].tool = mend_str_from(tools[i]);
    if (i == 1) calls[i].options = &named;
  }
  cr_assert_eq(mend_boundary_call_all(w.boundary, calls, 3), MEND_ECANCELLED);
  for (size_t i = 0; i < 3; i++) {
    cr_assert_eq(calls[i].status, statuses[i], "%s", tools[i]);
    cr_assert_eq(calls[i].result.duration_ms, durations_ms[i], "%s: %g", tools[i], calls[i].result.duration_ms);
    mend_result_clear(&calls[i].result);
  }
  cr_assert_eq(atomic_load(&w.cancelled), 1u);
  cr_assert_eq(atomic_load(&self.stalls), 1u, "%u, first %s", atomic_load(&self.stalls), self.stalled);
  cr_assert_str_eq(self.stalled, "long");
  kinds_close(&w);
}

/* From a thread of the pool pooled calls run one after the other. */
static mend_status call_batch(void *ctx, mend_call *call) {
  meeting *self = ctx;
  mend_batch_call calls[3];
  for (size_t i = 0; i < 3; i++) {
    calls[i] = (mend_batch_call)MEND_BATCH_CALL_INIT;
    calls[i].tool = MEND_STR("one");
  }
  const mend_status status = mend_boundary_call_all(self->w->boundary, calls, 3);
  for (size_t i = 0; i < 3; i++)
    mend_result_clear(&calls[i].result);
  return status == MEND_OK ? mend_call_succeed(call, MEND_STR("3")) : status;
}

static mend_status answer_one(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, MEND_STR("1"));
}

Test(batch, from_the_pool) {
  kinds_world w;
  kinds_open(&w);
  meeting self = {.w = &w};
  cr_assert_eq(mend_tools_set_pool(w.tools, 1, 1, NULL), MEND_OK);
  kinds_add(&w, "batch", MEND_TOOL_POOLED, call_batch, &self);
  kinds_add(&w, "one", MEND_TOOL_POOLED, answer_one, NULL);
  cr_assert_eq(kinds_call(&w, "batch", NULL), MEND_OK);
  cr_assert_eq(atomic_load(&w.succeeded), 4u);
  kinds_close(&w);
}

/* ---- Odd arguments ---- */

Test(batch, refused) {
  kinds_world w;
  kinds_open(&w);
  mend_batch_call calls[2] = {MEND_BATCH_CALL_INIT, MEND_BATCH_CALL_INIT};
  mend_call_options bad = {.size = 0};
  kinds_add(&w, "a", MEND_TOOL_ASYNC, answer_one, NULL);
  cr_assert_eq(mend_boundary_call_all(w.boundary, NULL, 0), MEND_OK);
  cr_assert_eq(mend_boundary_call_all(w.boundary, NULL, 1), MEND_EINVAL);
  calls[0].tool = MEND_STR("a");
  calls[1].size = 0;
  cr_assert_eq(mend_boundary_call_all(w.boundary, calls, 2), MEND_EINVAL);
  calls[1] = (mend_batch_call)MEND_BATCH_CALL_INIT;
  calls[1].result.size = 0;
  cr_assert_eq(mend_boundary_call_all(w.boundary, calls, 2), MEND_EINVAL);
  cr_assert_eq(atomic_load(&w.befores), 0u);
  calls[1] = (mend_batch_call)MEND_BATCH_CALL_INIT;
  cr_assert_eq(mend_boundary_call_all(NULL, calls, 2), MEND_EINVAL);
  cr_assert_eq(calls[1].status, MEND_EINVAL);
  calls[1].tool = MEND_STR("a");
  calls[1].options = &bad;
  cr_assert_eq(mend_boundary_call_all(w.boundary, calls, 2), MEND_EINVAL);
  cr_assert_eq(calls[0].status, MEND_OK);
  cr_assert_eq(calls[1].status, MEND_EINVAL);
  mend_result_clear(&calls[0].result);
  mend_result_clear(&calls[1].result);
  kinds_close(&w);
}

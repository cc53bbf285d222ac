/* Fan-out: mend_boundary_call_all, where threads or numbers matter. The order of its events is data:
 * hooks_boundary/fanout.case. */
#include "hooks/until.h"
#include "kinds_world.h"

static mend_status succeed_here(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, MEND_STR("1"));
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

/* From a thread of the pool. */
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

/* Also when all of its threads do so. */
Test(batch, from_the_pool) {
  static const struct {
    uint32_t threads;
    size_t outer; /* at once */
  } rows[] = {{1, 1}, {1, 4}, {2, 2}, {2, 8}, {3, 8}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    kinds_world w;
    kinds_open(&w);
    meeting self = {.w = &w};
    mend_batch_call calls[8];
    cr_assert_eq(mend_tools_set_pool(w.tools, rows[i].threads, 8, NULL), MEND_OK);
    kinds_add(&w, "batch", MEND_TOOL_POOLED, call_batch, &self);
    kinds_add(&w, "one", MEND_TOOL_POOLED, answer_one, NULL);
    for (size_t k = 0; k < rows[i].outer; k++) {
      calls[k] = (mend_batch_call)MEND_BATCH_CALL_INIT;
      calls[k].tool = MEND_STR("batch");
    }
    cr_assert_eq(mend_boundary_call_all(w.boundary, calls, rows[i].outer), MEND_OK, "%zu", i);
    for (size_t k = 0; k < rows[i].outer; k++)
      mend_result_clear(&calls[k].result);
    cr_assert_eq(atomic_load(&w.succeeded), 4 * rows[i].outer, "%zu", i);
    kinds_close(&w);
  }
}

/* ---- Inputs ---- */

static mend_status repeat_args(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, mend_call_args(call));
}

/* What a call's result held may be another one's input: none is replaced before all are over. */
Test(batch, results_as_arguments) {
  static const char *const tools[] = {"async", "pooled", "blocking"};
  enum { COUNT = 6 };
  kinds_world w;
  mend_batch_call calls[COUNT];
  char values[COUNT][64];
  kinds_open(&w);
  kinds_add(&w, "async", MEND_TOOL_ASYNC, repeat_args, NULL);
  kinds_add(&w, "pooled", MEND_TOOL_POOLED, repeat_args, NULL);
  kinds_add(&w, "blocking", MEND_TOOL_BLOCKING, repeat_args, NULL);
  for (size_t i = 0; i < COUNT; i++) {
    snprintf(values[i], sizeof values[i], "{\"value\":\"%040zu\"}", i);
    calls[i] = (mend_batch_call)MEND_BATCH_CALL_INIT;
    calls[i].args = mend_str_from(values[i]);
  }
  for (size_t round = 0; round < COUNT; round++) {
    for (size_t i = 0; i < COUNT; i++)
      calls[i].tool = mend_str_from(tools[(i + round) % 3]);
    cr_assert_eq(mend_boundary_call_all(w.boundary, calls, COUNT), MEND_OK);
    for (size_t i = 0; i < COUNT; i++) {
      cr_assert(mend_str_equal(calls[i].result.value, mend_str_from(values[(i + round) % COUNT])), "%zu: %zu", round,
                i);
      calls[i].args = calls[(i + 1) % COUNT].result.value;
    }
  }
  for (size_t i = 0; i < COUNT; i++)
    mend_result_clear(&calls[i].result);
  kinds_close(&w);
}

/* ---- Ended by a token ---- */

typedef struct ending {
  kinds_world *w;
  mend_token *until;
  handover kept, other;
} ending;

/* What the batch has kept; and under the name of a call of the batch that is over, one that is none of its. */
static mend_status end_the_others(void *ctx, mend_call *call) {
  ending *self = ctx;
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  options.call_name = MEND_STR("toolu_01");
  atomic_fetch_add(&self->w->begun, 1);
  mend_boundary_start(self->w->boundary, MEND_STR("other"), (mend_str)MEND_ABSENT, &options, count_done, self->w, NULL);
  mend_token_cancel(self->until, MEND_STR("enough"));
  return mend_call_succeed(call, MEND_STR("1"));
}

static void ending_open(kinds_world *w, ending *self) {
  kinds_open(w);
  *self = (ending){.w = w, .kept = HANDOVER_INIT, .other = HANDOVER_INIT};
  cr_assert_eq(mend_token_new(&w->memory.base, NULL, &self->until), MEND_OK);
  kinds_add(w, "one", MEND_TOOL_ASYNC, answer_one, NULL);
  kinds_add(w, "keep", MEND_TOOL_ASYNC, keep_call, &self->kept);
  kinds_add(w, "end", MEND_TOOL_BLOCKING, end_the_others, self);
  kinds_add(w, "last", MEND_TOOL_BLOCKING, answer_one, NULL);
  kinds_add(w, "other", MEND_TOOL_ASYNC, keep_call, &self->other);
}

/* Its call that was not of the batch goes on. */
static void ending_close(ending *self, bool has_other) {
  if (has_other) {
    mend_call_release(receive_call(&self->kept));
    mend_call *other = receive_call(&self->other);
    cr_assert_eq(mend_call_succeed(other, MEND_STR("1")), MEND_OK);
    mend_call_release(other);
  }
  mend_token_release(self->until);
  kinds_close(self->w);
}

/* It ends those that are open and those that begin afterwards, and nobody else. */
Test(batch, until_a_token_is_cancelled) {
  static const struct {
    bool before; /* the batch begins */
    mend_status statuses[4];
    unsigned befores, cancelled;
  } rows[] = {{false, {MEND_OK, MEND_ECANCELLED, MEND_ECANCELLED, MEND_ECANCELLED}, 5, 3},
              {true, {MEND_ECANCELLED, MEND_ECANCELLED, MEND_ECANCELLED, MEND_ECANCELLED}, 4, 4}};
  static const char *const tools[] = {"one", "keep", "end", "last"};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    kinds_world w;
    ending self;
    mend_batch_call calls[4];
    mend_call_options named = MEND_CALL_OPTIONS_INIT;
    named.call_name = MEND_STR("toolu_01");
    ending_open(&w, &self);
    for (size_t k = 0; k < 4; k++) {
      calls[k] = (mend_batch_call)MEND_BATCH_CALL_INIT;
      calls[k].tool = mend_str_from(tools[k]);
    }
    calls[0].options = &named;
    if (rows[i].before) mend_token_cancel(self.until, MEND_STR("enough"));
    cr_assert_eq(mend__boundary_call_all_until(w.boundary, calls, 4, self.until), MEND_ECANCELLED, "%zu", i);
    for (size_t k = 0; k < 4; k++) {
      cr_assert_eq(calls[k].status, rows[i].statuses[k], "%zu: %zu", i, k);
      cr_assert(mend_str_equal(calls[k].result.reason, k > 0 || rows[i].before ? MEND_STR("enough") : MEND_STR("")));
      mend_result_clear(&calls[k].result);
    }
    cr_assert_eq(atomic_load(&w.befores), rows[i].befores);
    cr_assert_eq(atomic_load(&w.cancelled), rows[i].cancelled);
    ending_close(&self, !rows[i].before);
  }
}

/* ---- As many as may be open ---- */

enum { MOST = MEND__OPEN_MAX };

typedef struct crowd {
  mend_call **calls;
  size_t count;
} crowd;

/* The last one that is let in answers them all, so all of them are open at once. */
static mend_status wait_for_the_last(void *ctx, mend_call *call) {
  crowd *self = ctx;
  self->calls[self->count++] = mend_call_retain(call);
  for (size_t i = 0; self->count == MOST && i < MOST; i++) {
    mend_call_succeed(self->calls[i], MEND_STR("1"));
    mend_call_release(self->calls[i]);
  }
  return MEND_OK;
}

Test(batch, as_many_as_may_be_open) {
  kinds_world w;
  kinds_open(&w);
  crowd self = {.calls = calloc(MOST, sizeof(mend_call *))};
  mend_batch_call *calls = calloc(MOST, sizeof *calls);
  cr_assert(self.calls != NULL && calls != NULL);
  kinds_add(&w, "wait", MEND_TOOL_ASYNC, wait_for_the_last, &self);
  for (size_t i = 0; i < MOST; i++) {
    calls[i] = (mend_batch_call)MEND_BATCH_CALL_INIT;
    calls[i].tool = MEND_STR("wait");
  }
  cr_assert_eq(mend_boundary_call_all(w.boundary, calls, MOST), MEND_OK);
  for (size_t i = 0; i < MOST; i++) {
    cr_assert_eq(calls[i].status, MEND_OK);
    mend_result_clear(&calls[i].result);
  }
  cr_assert_eq(atomic_load(&w.befores), (unsigned)MOST);
  cr_assert_eq(atomic_load(&w.succeeded), (unsigned)MOST);
  free(self.calls);
  free(calls);
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

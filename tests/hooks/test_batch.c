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
     "before#1:a 2/before#1:c 2/after#1:c 3/before#1:b 3/cancelled#1:b~late cancelled#1:a 4/refused:c",
     "a({}) c({}) b({})"},
    /* The one that is redirected to an asynchronous tool is waited for too, which lets go of it when all of them are
     * begun. */
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

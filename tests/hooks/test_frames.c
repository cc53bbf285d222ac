/* Aborting and going on, as a caller of mend_run_* sees it; what a healing scope does at its end. */
#include "hooks/scope.h"
#include "scenario.h"

#include <pthread.h>

/* ---- Reasons ---- */

static const struct {
  const char *reason, *source;
  size_t size;
  const char *cut_reason, *cut_source;
} reasons[] = {
    {"enough", "me", 64, "enough", "me"},          {"", "", 64, "", ""},        {"enough", "me", 4, "eno", "me"},
    {"h\u00e9", "\u00e9\u00e9", 3, "h", "\u00e9"}, {"enough", "me", 1, "", ""},
};

Test(frames, reasons) {
  for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
    scenario *s = scenario_new();
    char reason[64], source[64];
    cr_assert_eq(scenario_try_open(s), MEND_OK);
    cr_assert(!mend_run_is_aborted(s->run));
    cr_assert_eq(mend_run_abort_reason(s->run, reason, sizeof reason, source, sizeof source), MEND_ENOENT);
    cr_assert_eq(mend_run_abort(s->run, mend_str_from(reasons[i].reason), mend_str_from(reasons[i].source)), MEND_OK);
    cr_assert_eq(mend_run_abort(s->run, MEND_STR("later"), MEND_STR("other")), MEND_OK);
    cr_assert(mend_run_is_aborted(s->run));
    cr_assert_eq(mend_run_abort_reason(s->run, reason, reasons[i].size, source, reasons[i].size), MEND_OK);
    cr_assert_str_eq(reason, reasons[i].cut_reason);
    cr_assert_str_eq(source, reasons[i].cut_source);
    cr_assert_eq(mend_run_abort_reason(s->run, NULL, 0, NULL, 0), MEND_OK);
    cr_assert_eq(mend_run_reset(s->run, MEND_STR("again")), MEND_OK);
    cr_assert(!mend_run_is_aborted(s->run));
    scenario_close(s);
    free(s);
  }
}

/* A run that no boundary knows can be aborted, asked and reset; a boundary made later refuses. */
Test(frames, without_a_boundary) {
  scenario *s = scenario_new();
  mend_run *run;
  mend_boundary *boundary;
  mend_result result = MEND_RESULT_INIT;
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  cr_assert_eq(mend_run_new(s->bus, NULL, &run, NULL), MEND_OK);
  cr_assert(!mend_run_is_aborted(run));
  cr_assert_eq(mend_run_reset(run, MEND_STR("why not")), MEND_OK);
  cr_assert_eq(mend_run_abort(run, MEND_STR("enough"), MEND_STR("me")), MEND_OK);
  cr_assert(mend_run_is_aborted(run));
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  options.run = run;
  cr_assert_eq(mend_boundary_new(&options, &boundary, NULL), MEND_OK);
  cr_assert_eq(mend_boundary_call(boundary, MEND_STR("a"), (mend_str)MEND_ABSENT, NULL, &result), MEND_ABORTED);
  cr_assert(mend_str_equal(result.reason, MEND_STR("enough")));
  mend_result_clear(&result);
  mend_boundary_release(boundary);
  mend_run_release(run);
  scenario_close(s);
  free(s);
}

/* An abort is an abort, also without memory for its reason. */
Test(frames, abort_without_memory) {
  scenario *s = scenario_new();
  char reason[64], source[64];
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  mend_test_allocator_arm(&s->memory, 1, true);
  cr_assert_eq(mend_run_abort(s->run, MEND_STR("enough"), MEND_STR("me")), MEND_OK);
  mend_test_allocator_arm(&s->memory, 0, false);
  cr_assert(mend_run_is_aborted(s->run));
  cr_assert_eq(mend_run_abort_reason(s->run, reason, sizeof reason, source, sizeof source), MEND_OK);
  cr_assert_str_eq(reason, "aborted, out of memory for the reason");
  cr_assert_str_eq(source, "");
  scenario_close(s);
  free(s);
}

/* ---- Making a boundary ---- */

Test(frames, boundaries) {
  scenario *s = scenario_new();
  mend_error error = MEND_ERROR_INIT;
  mend_boundary *boundary = NULL;
  mend_hooks *publishing;
  char long_name[80];
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  options.size = 0;
  cr_assert_eq(mend_boundary_new(&options, &boundary, &error), MEND_EINVAL);
  options = (mend_boundary_options)MEND_BOUNDARY_OPTIONS_INIT;
  cr_assert_eq(mend_hooks_new(&s->memory.base, &publishing), MEND_OK);
  cr_assert_eq(mend_hooks_add_publishing(publishing, NULL), MEND_OK);
  options.hooks = publishing;
  cr_assert_eq(mend_boundary_new(&options, &boundary, &error), MEND_EINVAL);
  cr_assert_str_eq(error.message, "mend_boundary_options.hooks: they publish calls, which a boundary does by itself");
  cr_assert_null(boundary);
  mend_hooks_release(publishing);

  memset(long_name, 'x', sizeof long_name);
  long_name[sizeof long_name - 1] = '\0';
  cr_assert_eq(mend_boundary_add_watchdog_hook(s->boundary, "", NULL, NULL, &error), MEND_EINVAL);
  cr_assert_eq(mend_boundary_add_watchdog_hook(s->boundary, long_name, NULL, NULL, &error), MEND_EINVAL);
  long_name[63] = '\0';
  cr_assert_eq(mend_boundary_add_watchdog_hook(s->boundary, long_name, NULL, NULL, &error), MEND_OK);
  cr_assert_eq(mend_boundary_run(s->boundary), s->run);
  scenario_close(s);
  free(s);
}

static mend_status always_skip(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  ++*(unsigned *)ctx;
  cr_assert_not_null(call->run);
  return mend_decision_skip(decision, MEND_STR("no"), MEND_STR("0"));
}

/* Hooks without a bus decide in silence; all that is there may be nothing. */
Test(frames, half_wired) {
  unsigned asked = 0;
  mend_hooks *hooks;
  mend_boundary *boundary;
  mend_result result = MEND_RESULT_INIT;
  const mend_hook hook = {.size = sizeof hook, .name = "h", .before = always_skip};
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  cr_assert_eq(mend_boundary_new(&options, &boundary, NULL), MEND_OK);
  cr_assert_eq(mend_boundary_call(boundary, MEND_STR("a"), (mend_str)MEND_ABSENT, NULL, &result), MEND_EFAILED);
  cr_assert(mend_str_equal(result.error_type, MEND_STR("unknown_tool")));
  mend_boundary_release(boundary);

  cr_assert_eq(mend_hooks_new(NULL, &hooks), MEND_OK);
  cr_assert_eq(mend_hooks_add(hooks, &hook, &asked, NULL, NULL), MEND_OK);
  options.hooks = hooks;
  cr_assert_eq(mend_boundary_new(&options, &boundary, NULL), MEND_OK);
  mend_hooks_release(hooks);
  cr_assert_eq(mend_boundary_call(boundary, MEND_STR("a"), (mend_str)MEND_ABSENT, NULL, &result), MEND_OK);
  cr_assert_eq(result.outcome, MEND_OUTCOME_SKIPPED);
  cr_assert_eq(asked, 1u);
  mend_result_clear(&result);
  mend_boundary_release(boundary);
}

/* ---- The end of a scope ---- */

typedef struct long_call {
  scenario *s;
  atomic_bool started;
  bool obeys;
  atomic_bool may_end;
  mend_status status;
  mend_outcome outcome;
} long_call;

static mend_status wait_long(void *ctx, mend_call *call) {
  long_call *self = ctx;
  atomic_store(&self->started, true);
  if (self->obeys) return mend_token_wait(mend_call_token(call), 3600 * MEND_SECOND_NS);
  while (!atomic_load(&self->may_end))
    sched_yield();
  return MEND_OK;
}

static void *work(void *ctx) {
  long_call *self = ctx;
  mend_result result = MEND_RESULT_INIT;
  self->status = mend_boundary_call(self->s->boundary, MEND_STR("wait"), (mend_str)MEND_ABSENT, NULL, &result);
  self->outcome = result.outcome;
  mend_result_clear(&result);
  return NULL;
}

/* Open calls are cancelled and waited for; what ignores that is counted and let go of; nothing new begins. */
Test(frames, drain) {
  for (int obeys = 0; obeys < 2; obeys++) {
    scenario *s = scenario_new();
    long_call worker = {.s = s, .obeys = obeys == 1};
    const mend_tool tool = {.size = sizeof tool, .name = "wait", .execute = wait_long};
    mend_result result = MEND_RESULT_INIT;
    pthread_t thread;
    cr_assert_eq(scenario_try_open(s), MEND_OK);
    cr_assert_eq(mend__boundary_drain(s->boundary, MEND_STR("over"), MEND_SECOND_NS), 0u);
    cr_assert_eq(mend_tools_add(s->tools, &tool, &worker, NULL), MEND_OK);
    cr_assert_eq(pthread_create(&thread, NULL, work, &worker), 0);
    while (!atomic_load(&worker.started))
      sched_yield();
    mend__boundary_close(s->boundary);
    cr_assert_eq(mend_boundary_call(s->boundary, MEND_STR("wait"), (mend_str)MEND_ABSENT, NULL, &result), MEND_ECLOSED);
    cr_assert_eq(result.outcome, MEND_OUTCOME_FAILED);
    cr_assert(mend_str_equal(result.error_message, MEND_STR("the healing scope of this run was left")));
    /* The clock stands still: only a call that ends can end the wait, so no grace is given to one that does not. */
    const uint64_t grace_ns = worker.obeys ? MEND_SECOND_NS : 0;
    cr_assert_eq(mend__boundary_drain(s->boundary, MEND_STR("over"), grace_ns), worker.obeys ? 0u : 1u);
    atomic_store(&worker.may_end, true);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert_eq(worker.status, MEND_ECANCELLED);
    cr_assert_eq(worker.outcome, MEND_OUTCOME_CANCELLED);
    mend_result_clear(&result);
    scenario_close(s);
    free(s);
  }
}

/* ---- Steps that do not close in the order they were opened, as those of two threads ---- */

Test(frames, in_any_order) {
  static const struct {
    unsigned opened, order[3]; /* how they are closed */
    unsigned marked;           /* which is aborted */
  } rows[] = {
      {2, {0, 1}, 2}, {2, {1, 0}, 2}, {3, {0, 1, 2}, 3}, {3, {1, 0, 2}, 3}, {3, {1, 2, 0}, 0}, {3, {2, 0, 1}, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    scenario *s = scenario_new();
    mend__abort_frame frames[3];
    mend__run_state *state;
    cr_assert_eq(scenario_try_open(s), MEND_OK);
    cr_assert_eq(mend__run_state_get(s->run, &state), MEND_OK);
    for (unsigned each = 0; each < rows[i].opened; each++) {
      mend__frame_open(state, &frames[each]);
      if (rows[i].marked == each) mend__run_state_abort(state, NULL, MEND_STR("enough"), MEND_STR("me"));
    }
    for (unsigned each = 0; each < rows[i].opened; each++) {
      const unsigned which = rows[i].order[each];
      mend__frame_close(state, &frames[which]);
      cr_assert_eq(frames[which].marked, which == rows[i].marked, "row %zu, frame %u", i, which);
      memset(&frames[which], 0x5A, sizeof frames[which]);
    }
    cr_assert_eq(state->innermost, &state->of_run, "row %zu", i);
    cr_assert(!mend_run_is_aborted(s->run), "row %zu", i);
    scenario_close(s);
    free(s);
  }
}

/* The flows: what their options do, and the compound tool. How attempts follow each other is data:
 * hooks_boundary/retry.case. */
#include "hooks/flows_internal.h"
#include "scenario.h"

#include <math.h>
#include <pthread.h>

/* ---- Options ---- */

static const struct {
  double backoff_s, backoff_max_s;
  uint32_t max_attempts;
  const char *sentence;
} bad_retries[] = {
    {0, 30, 0, "mend_retry_options.max_attempts: 0 is out of range, expected 1 to 1000"},
    {0, 30, 1001, "mend_retry_options.max_attempts: 1001 is out of range, expected 1 to 1000"},
    {-1, 30, 2, "mend_retry_options.backoff_s: -1 is out of range, expected seconds >= 0"},
    {INFINITY, 30, 2, "mend_retry_options.backoff_s: infinity is out of range, expected seconds >= 0"},
    {0, -0.5, 2, "mend_retry_options.backoff_max_s: -0.5 is out of range, expected seconds >= 0"},
    {0, NAN, 2, "mend_retry_options.backoff_max_s: NaN is out of range, expected seconds >= 0"},
};

static void expect_refused(mend_status status, const mend_result *result, const char *sentence) {
  cr_assert_eq(status, MEND_EINVAL);
  cr_assert_eq(result->outcome, MEND_OUTCOME_FAILED);
  cr_assert(mend_str_equal(result->error_type, MEND_STR("MEND_EINVAL")));
  cr_assert(mend_str_equal(result->error_message, mend_str_from(sentence)), "%.*s",
            MEND_STR_ARG(result->error_message));
}

Test(flows, options) {
  scenario *s = scenario_new();
  mend_result result = MEND_RESULT_INIT;
  const mend_str tool = MEND_STR("a"), none = MEND_ABSENT;
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  for (size_t i = 0; i < sizeof bad_retries / sizeof bad_retries[0]; i++) {
    mend_retry_options options = MEND_RETRY_OPTIONS_INIT;
    options.max_attempts = bad_retries[i].max_attempts;
    options.backoff_s = bad_retries[i].backoff_s;
    options.backoff_max_s = bad_retries[i].backoff_max_s;
    expect_refused(mend_boundary_retry(s->boundary, tool, none, &options, &result), &result, bad_retries[i].sentence);
  }
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  const mend_tool useless = {.size = sizeof useless, .name = "a"};
  expect_refused(mend_boundary_call(s->boundary, none, none, NULL, &result), &result, "tool: none, expected a name");
  options.tool = &useless;
  expect_refused(mend_boundary_call(s->boundary, tool, none, &options, &result), &result,
                 "mend_call_options.tool: it has no execute");
  options.size = 0;
  cr_assert_eq(mend_boundary_call(s->boundary, tool, none, &options, &result), MEND_EINVAL);
  const mend_compound_tool headless = {.size = sizeof headless, .name = "c"};
  expect_refused(mend_boundary_compound(s->boundary, &headless, tool, &result), &result,
                 "mend_compound_tool.agent: NULL, expected a function");
  mend_result_clear(&result);
  cr_assert_str_eq(s->events.text, "");
  scenario_close(s);
  free(s);
}

/* ---- A call by a tool in no registry, by a foreign name ---- */

typedef struct own_call {
  scenario *s;
  uint64_t number;
  mend_status inner;
} own_call;

static mend_status look(void *ctx, mend_call *call) {
  own_call *self = ctx;
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  mend_result result = MEND_RESULT_INIT;
  self->number = mend_call_number(call);
  cr_assert_eq(mend_call_run(call), self->s->run);
  cr_assert_eq(mend_call_state(call), self->s);
  cr_assert_eq(mend_call_attempt(call), 1u);
  cr_assert(!mend_token_is_cancelled(mend_call_token(call)));
  options.call_name = MEND_STR("toolu_01");
  self->inner = mend_boundary_call(self->s->boundary, MEND_STR("b"), (mend_str)MEND_ABSENT, &options, &result);
  mend_result_clear(&result);
  return mend_call_succeed(call, MEND_STR("\"seen\""));
}

Test(flows, own_tool_and_name) {
  scenario *s = scenario_new();
  own_call seen = {.s = s};
  const mend_tool tool = {.size = sizeof tool, .name = "own", .execute = look};
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  mend_result result = MEND_RESULT_INIT;
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  options.tool = &tool;
  options.tool_ctx = &seen;
  options.call_name = MEND_STR("toolu_01");
  cr_assert_eq(mend_boundary_call(s->boundary, (mend_str)MEND_ABSENT, (mend_str)MEND_ABSENT, &options, &result),
               MEND_OK);
  cr_assert_eq(seen.number, mend_call_from_name(MEND_STR("toolu_01")));
  cr_assert_eq(result.call, seen.number);
  cr_assert_eq(seen.inner, MEND_EEXIST);

  /* A call without a name does not get the number of one that is open by its name. */
  options.call_name = MEND_STR("1");
  cr_assert_eq(mend_boundary_call(s->boundary, (mend_str)MEND_ABSENT, (mend_str)MEND_ABSENT, &options, &result),
               MEND_OK);
  mend_result_clear(&result);
  scenario_close(s);
  free(s);
}

/* ---- Back-off ---- */

static const struct {
  double backoff_s, backoff_max_s;
  uint32_t failures;
  uint64_t pause_ns;
} pauses[] = {
    {0, 30, 1, 0},
    {0, 30, 1000, 0},
    {1, 30, 1, MEND_SECOND_NS},
    {1, 30, 2, 2 * MEND_SECOND_NS},
    {1, 30, 5, 16 * MEND_SECOND_NS},
    {1, 30, 6, 30 * MEND_SECOND_NS},
    {1, 30, 1000, 30 * MEND_SECOND_NS},
    {0.25, 30, 1, MEND_SECOND_NS / 4},
    {40, 30, 1, 30 * MEND_SECOND_NS},
    {1e300, 1e300, 1, MEND_NEVER},
};

Test(flows, backoff) {
  for (size_t i = 0; i < sizeof pauses / sizeof pauses[0]; i++) {
    mend_retry_options options = MEND_RETRY_OPTIONS_INIT;
    uint64_t random = 7;
    options.backoff_s = pauses[i].backoff_s;
    options.backoff_max_s = pauses[i].backoff_max_s;
    cr_assert_eq(mend__backoff_ns(&options, pauses[i].failures, &random), pauses[i].pause_ns, "%zu", i);
    cr_assert_eq(random, 7u);
  }
}

/* Each pause is drawn from 0 to its length, all over it, and the same seed draws the same. */
Test(flows, jitter) {
  mend_retry_options options = MEND_RETRY_OPTIONS_INIT;
  uint64_t random = 7, same = 7;
  unsigned quarters[4] = {0};
  options.backoff_s = 4;
  options.jitter = true;
  for (int i = 0; i < 1000; i++) {
    const uint64_t pause_ns = mend__backoff_ns(&options, 1, &random);
    cr_assert(pause_ns < 4 * MEND_SECOND_NS);
    quarters[pause_ns / MEND_SECOND_NS]++;
    cr_assert_eq(mend__backoff_ns(&options, 1, &same), pause_ns);
  }
  for (int i = 0; i < 4; i++)
    cr_assert(quarters[i] > 200, "%d: %u", i, quarters[i]);
}

typedef struct retry_run {
  scenario *s;
  mend_retry_options options;
  atomic_uint tries;  /* made */
  atomic_uint failed; /* of them, so that the tool has returned */
  mend_status status;
  mend_outcome outcome;
  atomic_bool over;
} retry_run;

static mend_status fail_again(void *ctx, mend_call *call) {
  atomic_fetch_add(&((retry_run *)ctx)->tries, 1);
  return mend_call_fail(call, MEND_STR("x"), MEND_STR("y"));
}

static mend_status count_failure(void *ctx, const mend_event *event) {
  (void)event;
  atomic_fetch_add(&((retry_run *)ctx)->failed, 1);
  return MEND_OK;
}

static void *retry_it(void *ctx) {
  retry_run *self = ctx;
  mend_result result = MEND_RESULT_INIT;
  self->status = mend_boundary_retry(self->s->boundary, MEND_STR("a"), (mend_str)MEND_ABSENT, &self->options, &result);
  self->outcome = result.outcome;
  mend_result_clear(&result);
  atomic_store(&self->over, true);
  return NULL;
}

static void start_retry(retry_run *self, pthread_t *ret_thread) {
  const mend_tool tool = {.size = sizeof tool, .name = "a", .execute = fail_again};
  self->s = scenario_new();
  cr_assert_eq(scenario_try_open(self->s), MEND_OK);
  cr_assert_eq(mend_tools_add(self->s->tools, &tool, self, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(self->s->bus, "tool.error", count_failure, self, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(pthread_create(ret_thread, NULL, retry_it, self), 0);
}

static void end_retry(retry_run *self, pthread_t thread) {
  cr_assert_eq(pthread_join(thread, NULL), 0);
  scenario_close(self->s);
  free(self->s);
}

/* The pause is one of the bus's clock: nothing happens until it moves, here by half a second at a time. */
Test(flows, pauses_on_the_clock) {
  retry_run retry = {.options = MEND_RETRY_OPTIONS_INIT};
  pthread_t thread;
  retry.options.backoff_s = 5;
  start_retry(&retry, &thread);
  const uint64_t start_ns = mend_clock_now(retry.s->clock).mono_ns;
  while (atomic_load(&retry.tries) == 0)
    sched_yield();
  while (!atomic_load(&retry.over)) {
    if (atomic_load(&retry.tries) == 1) mend_clock_advance(retry.s->clock, MEND_SECOND_NS / 2);
    sched_yield();
  }
  cr_assert(mend_clock_now(retry.s->clock).mono_ns - start_ns >= 5 * MEND_SECOND_NS);
  cr_assert_eq(atomic_load(&retry.tries), 2u);
  cr_assert_eq(retry.status, MEND_EFAILED);
  end_retry(&retry, thread);
}

static mend_status abort_call(mend_run *run) { return mend_run_abort(run, MEND_STR("enough"), MEND_STR("me")); }
static mend_status cancel_call_1(mend_run *run) { return mend_run_cancel_call(run, 1, MEND_STR("enough")); }

/* An abort or a cancel ends the pause, and with it the flow. The attempt before has had its terminal event: there is no
 * other. */
Test(flows, ends_in_the_pause) {
  static const struct {
    mend_status (*end)(mend_run *run);
    mend_status status;
    mend_outcome outcome;
  } rows[] = {{abort_call, MEND_ABORTED, MEND_OUTCOME_ABORTED},
              {cancel_call_1, MEND_ECANCELLED, MEND_OUTCOME_CANCELLED}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    retry_run retry = {.options = MEND_RETRY_OPTIONS_INIT};
    pthread_t thread;
    retry.options.backoff_s = 30;
    start_retry(&retry, &thread);
    while (atomic_load(&retry.failed) == 0)
      sched_yield();
    cr_assert_eq(rows[i].end(retry.s->run), MEND_OK);
    while (!atomic_load(&retry.over))
      sched_yield();
    cr_assert_eq(retry.status, rows[i].status);
    cr_assert_eq(retry.outcome, rows[i].outcome);
    cr_assert_eq(atomic_load(&retry.tries), 1u);
    cr_assert_str_eq(retry.s->events.text, "before#1:a error#1:a!x");
    end_retry(&retry, thread);
  }
}

/* ---- Callbacks ---- */

static bool not_fatal(void *ctx, const mend_result *failure) {
  ++*(unsigned *)ctx;
  return !mend_str_equal(failure->error_type, MEND_STR("fatal"));
}

static mend_status write_note(void *ctx, mend_str note, const mend_result *failure, char **ret_note) {
  if (++*(unsigned *)ctx == 2) return MEND_EIO; /* fails: the note stays */
  char text[128];
  snprintf(text, sizeof text, "%.*s+%.*s", MEND_STR_ARG(note), MEND_STR_ARG(failure->error_message));
  *ret_note = strdup(text);
  return *ret_note != NULL ? MEND_OK : MEND_ENOMEM;
}

Test(flows, retry_callbacks) {
  scenario *s = scenario_new();
  mend_retry_options options = MEND_RETRY_OPTIONS_INIT;
  mend_result result = MEND_RESULT_INIT;
  unsigned asked = 0;
  char tools[][64] = {"a fail=x=1;fail=fatal=2;ok=3", "b fail=x=1;fail=x=2;fail=x=3;note"};
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  add_tool(s, tools[0]);
  add_tool(s, tools[1]);
  options.max_attempts = 5;
  options.ctx = &asked;
  options.is_retryable = not_fatal;
  cr_assert_eq(mend_boundary_retry(s->boundary, MEND_STR("a"), (mend_str)MEND_ABSENT, &options, &result), MEND_EFAILED);
  cr_assert_eq(result.attempts, 2u);
  cr_assert_eq(asked, 2u);
  cr_assert(mend_str_equal(result.value, MEND_STR("{\"success\":false,\"error\":\"2\",\"attempts\":2}")));
  options.is_retryable = NULL;
  options.enrich = write_note;
  options.note = MEND_STR("n");
  asked = 0;
  cr_assert_eq(mend_boundary_retry(s->boundary, MEND_STR("b"), (mend_str)MEND_ABSENT, &options, &result), MEND_OK);
  cr_assert(mend_str_equal(result.value, MEND_STR("\"n+1+3\"")), "%.*s", MEND_STR_ARG(result.value));
  mend_result_clear(&result);
  scenario_close(s);
  free(s);
}

/* ---- The compound tool ---- */

typedef struct compound {
  scenario *s;
  const char *agent, *executor; /* items of a scripted tool; NULL: none */
  mend_status add_prompt, update_state;
  log_text did;
} compound;

/* MEND_ABORTED stands for one that aborts the run, and does not say so. */
static mend_status end_state_step(compound *self, mend_status how) {
  return how == MEND_ABORTED ? mend_run_abort(self->s->run, MEND_STR("no"), MEND_STR("me")) : how;
}

static mend_status add_prompt(void *ctx, void *state, mend_str prompt) {
  compound *self = ctx;
  cr_assert_eq(state, self->s);
  note(&self->did, "prompt(%.*s) ", MEND_STR_ARG(prompt));
  return end_state_step(self, self->add_prompt);
}

static mend_status act(compound *self, const char *what, mend_call *call) {
  scripted part = {.scenario = self->s};
  snprintf(part.scripts[0], sizeof part.scripts[0], "%s", what);
  return play_tool(&part, call);
}

static mend_status agent(void *ctx, mend_call *call, mend_str prompt) {
  compound *self = ctx;
  note(&self->did, "agent(%.*s) ", MEND_STR_ARG(prompt));
  return act(self, self->agent, call);
}

static mend_status executor(void *ctx, mend_call *call, mend_str output) {
  compound *self = ctx;
  note(&self->did, "executor(%.*s) ", MEND_STR_ARG(output));
  return act(self, self->executor, call);
}

static mend_status update_state(void *ctx, void *state, mend_str output, mend_str result) {
  compound *self = ctx;
  cr_assert_eq(state, self->s);
  note(&self->did, "update(%.*s,%.*s) ", MEND_STR_ARG(output), MEND_STR_ARG(result));
  return end_state_step(self, self->update_state);
}

static const struct {
  const char *agent, *executor;
  mend_status add_prompt, update_state;
  const char *hook;
  const char *did, *events, *result;
} compounds[] = {
    {"ok=1", "ok=2", MEND_OK, MEND_OK, NULL, "prompt(do it) agent(do it) executor(1) update(1,2) ",
     "before#1:plan after#1:plan", "OK ok value=2 attempts=1"},
    {"ok=1", NULL, MEND_OK, MEND_OK, NULL, "prompt(do it) agent(do it) update(1,1) ", "before#1:plan after#1:plan",
     "OK ok value=1 attempts=1"},
    {"none", "ok=2", MEND_OK, MEND_OK, NULL, "prompt(do it) agent(do it) executor(null) update(null,2) ",
     "before#1:plan after#1:plan", "OK ok value=2 attempts=1"},
    {"fail=x=y", "ok=2", MEND_OK, MEND_OK, NULL, "prompt(do it) agent(do it) ", "before#1:plan error#1:plan!x",
     "EFAILED failed type=x message=y attempts=1"},
    {"status", "ok=2", MEND_OK, MEND_OK, NULL, "prompt(do it) agent(do it) ", "before#1:plan error#1:plan!MEND_EIO",
     "EFAILED failed type=MEND_EIO message=input or output failed attempts=1"},
    {"ok=1", "fail=x=y", MEND_OK, MEND_OK, NULL, "prompt(do it) agent(do it) executor(1) ",
     "before#1:plan error#1:plan!x", "EFAILED failed type=x message=y attempts=1"},
    {"ok=1", "ok=2", MEND_EIO, MEND_OK, NULL, "prompt(do it) ", "before#1:plan error#1:plan!MEND_EIO",
     "EFAILED failed type=MEND_EIO message=input or output failed attempts=1"},
    {"ok=1", "ok=2", MEND_OK, MEND_EIO, NULL, "prompt(do it) agent(do it) executor(1) update(1,2) ",
     "before#1:plan error#1:plan!MEND_EIO", "EFAILED failed type=MEND_EIO message=input or output failed attempts=1"},
    {"abort=no", "ok=2", MEND_OK, MEND_OK, NULL, "prompt(do it) agent(do it) ", "before#1:plan cancelled#1:plan",
     "ABORTED cancelled reason=no attempts=1"},
    {"ok=1", "abort=no", MEND_OK, MEND_OK, NULL, "prompt(do it) agent(do it) executor(1) ",
     "before#1:plan cancelled#1:plan", "ABORTED cancelled reason=no attempts=1"},
    {"ok=1", "ok=2", MEND_ABORTED, MEND_OK, NULL, "prompt(do it) ", "before#1:plan cancelled#1:plan",
     "ABORTED cancelled reason=no hook=me attempts=1"},
    {"ok=1", "ok=2", MEND_OK, MEND_ABORTED, NULL, "prompt(do it) agent(do it) executor(1) update(1,2) ",
     "before#1:plan cancelled#1:plan", "ABORTED cancelled reason=no hook=me attempts=1"},
    {"ok={", "ok=2", MEND_OK, MEND_OK, NULL, "prompt(do it) agent(do it) ", "before#1:plan error#1:plan!bad_result",
     "EFAILED failed type=bad_result message=the result of plan is no JSON (line 1, column 2): expected a key or }, "
     "found "
     "the end of the text; mend_call_succeed_text takes text attempts=1"},
    {"escalate=which?", "ok=2", MEND_OK, MEND_OK, NULL, "prompt(do it) agent(do it) ", "before#1:plan skipped#1:plan@",
     "OK escalated value={\"escalation_question\":\"which?\"} reason=escalation requested question=which? attempts=1"},
    {"ok=1", "escalate=which?", MEND_OK, MEND_OK, NULL, "prompt(do it) agent(do it) executor(1) ",
     "before#1:plan skipped#1:plan@",
     "OK escalated value={\"escalation_question\":\"which?\"} reason=escalation requested question=which? attempts=1"},
    {"ok=1", "ok=2", MEND_OK, MEND_OK, "h before=skip=0", "", "before#1:plan skipped#1:plan@h",
     "OK skipped value=0 reason=skipping hook=h attempts=1"},
    {"ok=1", "ok=2", MEND_OK, MEND_OK, "h before=redirect=-={\"prompt\":\"\\u0061nother\"}",
     "prompt(another) agent(another) executor(1) update(1,2) ", "before#1:plan after#1:plan>plan<h",
     "OK redirected value=2 reason=redirecting hook=h attempts=1"},
    {"ok=1", "ok=2", MEND_OK, MEND_OK, "h before=redirect=-={\"prompt\":5}", "",
     "before#1:plan error#1:plan>plan<h!bad_redirect",
     "EFAILED failed type=bad_redirect message=the redirect's prompt: expected a string, found a number "
     "reason=redirecting hook=h attempts=1"},
    {"ok=1", "ok=2", MEND_OK, MEND_OK, "h before=abort=no", "", "before#1:plan aborted#1:plan@h",
     "ABORTED aborted reason=no hook=h attempts=1"},
};

Test(flows, compound) {
  for (size_t i = 0; i < sizeof compounds / sizeof compounds[0]; i++) {
    scenario *s = scenario_new();
    compound ctx = {.s = s,
                    .agent = compounds[i].agent,
                    .executor = compounds[i].executor,
                    .add_prompt = compounds[i].add_prompt,
                    .update_state = compounds[i].update_state};
    const mend_compound_tool tool = {.size = sizeof tool,
                                     .name = "plan",
                                     .ctx = &ctx,
                                     .add_prompt = add_prompt,
                                     .agent = agent,
                                     .executor = compounds[i].executor != NULL ? executor : NULL,
                                     .update_state = update_state};
    mend_result result = MEND_RESULT_INIT;
    char hook[128];
    cr_assert_eq(scenario_try_open(s), MEND_OK);
    snprintf(hook, sizeof hook, "%s", compounds[i].hook != NULL ? compounds[i].hook : "none");
    add_hook(s, hook);
    note_result(s, mend_boundary_compound(s->boundary, &tool, MEND_STR("do it"), &result), &result);
    mend_result_clear(&result);
    cr_assert_str_eq(ctx.did.text, compounds[i].did, "%zu: %s", i, ctx.did.text);
    cr_assert_str_eq(s->events.text, compounds[i].events, "%zu: %s", i, s->events.text);
    cr_assert_str_eq(s->result.text, compounds[i].result, "%zu: %s", i, s->result.text);
    scenario_close(s);
    free(s);
  }
}

/* ---- Flows in a call ---- */

typedef struct outer_call {
  scenario *s;
  uint64_t within[8]; /* of the calls that were made */
  size_t count;
} outer_call;

static mend_status note_within(void *ctx, const mend_event *event) {
  outer_call *self = ctx;
  cr_assert(self->count < sizeof self->within / sizeof self->within[0]);
  self->within[self->count++] = ((const mend_tool_before_event *)(const void *)event)->within;
  return MEND_OK;
}

static mend_status repeat_prompt(void *ctx, mend_call *call, mend_str prompt) {
  (void)ctx;
  return mend_call_succeed_text(call, prompt);
}

static mend_status call_flows(void *ctx, mend_call *call) {
  const outer_call *self = ctx;
  const mend_compound_tool both = {.size = sizeof both, .name = "c", .agent = repeat_prompt, .within = call};
  const mend_subagent_tool sub = {.size = sizeof sub, .name = "s", .agent = repeat_prompt, .within = call};
  mend_retry_options again = MEND_RETRY_OPTIONS_INIT;
  mend_result result = MEND_RESULT_INIT;
  again.within = call;
  cr_assert_eq(mend_boundary_retry(self->s->boundary, MEND_STR("fails"), (mend_str)MEND_ABSENT, &again, &result),
               MEND_EFAILED);
  cr_assert_eq(mend_boundary_compound(self->s->boundary, &both, MEND_STR("p"), &result), MEND_OK);
  cr_assert_eq(mend_boundary_subagent(self->s->boundary, &sub, MEND_STR("p"), &result, NULL), MEND_OK);
  mend_result_clear(&result);
  return MEND_OK;
}

Test(flows, within_a_call) {
  scenario *s = scenario_new();
  outer_call outer = {.s = s};
  const mend_tool tool = {.size = sizeof tool, .name = "outer", .execute = call_flows};
  char fails[] = "fails fail=x=y;fail=x=y";
  mend_result result = MEND_RESULT_INIT;
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(s->bus, "tool.before", note_within, &outer, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_tools_add(s->tools, &tool, &outer, NULL), MEND_OK);
  add_tool(s, fails);
  cr_assert_eq(mend_boundary_call(s->boundary, MEND_STR("outer"), (mend_str)MEND_ABSENT, NULL, &result), MEND_OK);
  cr_assert_eq(outer.count, 5u, "the outer one, two attempts, the compound tool and the sub-agent");
  cr_assert_eq(outer.within[0], MEND_NONE);
  for (size_t i = 1; i < outer.count; i++)
    cr_assert_eq(outer.within[i], result.call, "%zu", i);
  mend_result_clear(&result);
  scenario_close(s);
  free(s);
}

/* With each of its allocations failing: no leak, and each before has its terminal event. */
Test(flows, compound_without_memory) {
  scenario *s = scenario_new();
  bool failed = true;
  for (size_t fail_at = 1; failed; fail_at++) {
    scenario_clear(s);
    compound ctx = {.s = s, .agent = "ok={\"a\":1}", .executor = "ok=2"};
    const mend_compound_tool tool = {.size = sizeof tool,
                                     .name = "plan",
                                     .ctx = &ctx,
                                     .add_prompt = add_prompt,
                                     .agent = agent,
                                     .executor = executor,
                                     .update_state = update_state};
    mend_result result = MEND_RESULT_INIT;
    mend_test_allocator_arm(&s->memory, fail_at, false);
    if (scenario_try_open(s) == MEND_OK) {
      const mend_status status = mend_boundary_compound(s->boundary, &tool, MEND_STR("do it"), &result);
      cr_assert_eq(status == MEND_OK, result.outcome == MEND_OUTCOME_OK, "allocation %zu", fail_at);
    }
    failed = mend_test_allocator_failed(&s->memory);
    mend_result_clear(&result);
    scenario_close(s);
  }
  free(s);
}

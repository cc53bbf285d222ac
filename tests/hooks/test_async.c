/* Asynchronous tools from several threads, after their scope, with a tool of the caller's. How a call of one goes on is
 * data: hooks_boundary/kinds.case. */
#include "kinds_world.h"

/* ---- Answered while it is being cancelled ---- */

enum { RACES = 400 };

typedef struct racer {
  kinds_world *w;
  handover kept;
  atomic_uint accepted, refused, odd;
} racer;

/* Answers each call, and lets it go. */
static void *answer_calls(void *ctx) {
  racer *self = ctx;
  for (mend_call *call; (call = receive_call(&self->kept)) != NULL;) {
    const mend_status status = mend_call_succeed(call, MEND_STR("1"));
    if (status != MEND_OK && status != MEND_ECANCELLED) atomic_fetch_add(&self->odd, 1);
    mend_call_release(call);
    atomic_fetch_add(status == MEND_OK ? &self->accepted : &self->refused, 1);
  }
  return NULL;
}

/* Waits for each of its calls. One that is cancelled before its tool has begun is kept by nobody. */
static void *call_often(void *ctx) {
  racer *self = ctx;
  for (int i = 0; i < RACES; i++) {
    mend_outcome outcome;
    const mend_status status = kinds_call(self->w, "keep", &outcome);
    const mend_outcome expected = status == MEND_OK ? MEND_OUTCOME_OK : MEND_OUTCOME_CANCELLED;
    if (outcome != expected) atomic_fetch_add(&self->odd, 1);
  }
  return NULL;
}

static void cancel_soon(kinds_world *w, uint64_t number) {
  for (uint64_t i = 0; i < number % 7; i++)
    sched_yield();
  mend_run_cancel_call(w->run, number, MEND_STR("enough"));
}

static void race_with_caller(racer *self) {
  pthread_t caller;
  cr_assert_eq(pthread_create(&caller, NULL, call_often, self), 0);
  for (uint64_t number = 1; number <= RACES; number++) {
    while (atomic_load(&self->w->befores) < number)
      sched_yield();
    cancel_soon(self->w, number);
  }
  cr_assert_eq(pthread_join(caller, NULL), 0);
}

static void race_with_nobody(racer *self) {
  for (unsigned i = 0; i < RACES; i++) {
    cancel_soon(self->w, kinds_start(self->w, "keep"));
    while (atomic_load(&self->w->done) <= i || atomic_load(&self->accepted) + atomic_load(&self->refused) <= i)
      sched_yield();
  }
}

Test(async, answered_while_cancelled) {
  void (*const ways[])(racer * self) = {race_with_caller, race_with_nobody};
  for (int i = 0; i < 2; i++) {
    kinds_world w;
    kinds_open(&w);
    racer self = {.w = &w, .kept = HANDOVER_INIT};
    pthread_t answerer;
    kinds_add(&w, "keep", MEND_TOOL_ASYNC, keep_call, &self.kept);
    cr_assert_eq(pthread_create(&answerer, NULL, answer_calls, &self), 0);
    ways[i](&self);
    end_handover(&self.kept);
    cr_assert_eq(pthread_join(answerer, NULL), 0);
    cr_assert_eq(atomic_load(&self.odd), 0u);
    cr_assert_eq(atomic_load(&w.ends), (unsigned)RACES);
    /* An answer that was accepted is the result, or the late one of a call that was cancelled. */
    cr_assert_eq(atomic_load(&self.accepted), atomic_load(&w.succeeded) + atomic_load(&w.late));
    kinds_close(&w);
  }
}

/* ---- Answered by many at once ---- */

enum { ANSWERERS = 4, ROUNDS = 200 };

typedef struct rival {
  mend_call *_Atomic call;
  pthread_barrier_t barrier;
  atomic_uint accepted;
} rival;

static void *answer_at_once(void *ctx) {
  rival *self = ctx;
  for (int i = 0; i < ROUNDS; i++) {
    pthread_barrier_wait(&self->barrier);
    mend_call *call = atomic_load(&self->call);
    const mend_status status =
        i % 2 == 0 ? mend_call_succeed(call, MEND_STR("1")) : mend_call_fail(call, MEND_STR("x"), MEND_STR("y"));
    if (status == MEND_OK) atomic_fetch_add(&self->accepted, 1);
    mend_call_release(call);
    pthread_barrier_wait(&self->barrier);
  }
  return NULL;
}

Test(async, one_answer_of_many) {
  kinds_world w;
  kinds_open(&w);
  handover kept = HANDOVER_INIT;
  rival self = {.call = NULL};
  pthread_t threads[ANSWERERS];
  kinds_add(&w, "keep", MEND_TOOL_ASYNC, keep_call, &kept);
  cr_assert_eq(pthread_barrier_init(&self.barrier, NULL, ANSWERERS + 1), 0);
  for (int i = 0; i < ANSWERERS; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, answer_at_once, &self), 0);
  for (int i = 0; i < ROUNDS; i++) {
    kinds_start(&w, "keep");
    mend_call *call = receive_call(&kept);
    for (int more = 1; more < ANSWERERS; more++)
      mend_call_retain(call);
    atomic_store(&self.call, call);
    pthread_barrier_wait(&self.barrier);
    pthread_barrier_wait(&self.barrier);
    cr_assert_eq(atomic_load(&self.accepted), (unsigned)i + 1);
    cr_assert_eq(atomic_load(&w.done), (unsigned)i + 1);
  }
  for (int i = 0; i < ANSWERERS; i++)
    cr_assert_eq(pthread_join(threads[i], NULL), 0);
  pthread_barrier_destroy(&self.barrier);
  kinds_close(&w);
}

/* ---- After everything else is gone ---- */

static mend_status keep_and_answer(void *ctx, mend_call *call) {
  hand_over(ctx, mend_call_retain(call));
  return mend_call_succeed(call, MEND_STR("1"));
}

/* A tool that holds its call when the scope, the boundary, the run and the bus have been let go of. */
Test(async, held_after_the_end) {
  static const struct {
    mend_tool_kind kind;
    bool answers; /* before */
    size_t left;  /* tools that run on, when the scope ends */
    mend_status late;
  } rows[] = {{MEND_TOOL_ASYNC, false, 1, MEND_ECANCELLED},
              {MEND_TOOL_ASYNC, true, 0, MEND_EEXIST},
              {MEND_TOOL_POOLED, true, 1, MEND_EEXIST},
              {MEND_TOOL_BLOCKING, true, 0, MEND_EEXIST}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    kinds_world w;
    kinds_open(&w);
    handover kept = HANDOVER_INIT;
    char args[] = "{\"text\":\"the caller's\"}";
    kinds_add(&w, "keep", rows[i].kind, rows[i].answers ? keep_and_answer : keep_call, &kept);
    atomic_fetch_add(&w.begun, 1);
    mend_call_options options = MEND_CALL_OPTIONS_INIT;
    options.call_name = MEND_STR("toolu_01");
    cr_assert_eq(mend_boundary_start(w.boundary, MEND_STR("keep"), mend_str_from(args), &options, count_done, &w, NULL),
                 MEND_OK);
    mend_call *call = receive_call(&kept);
    memset(args, 'x', sizeof args - 1);
    while (rows[i].answers && atomic_load(&w.done) == 0)
      sched_yield();
    mend__boundary_close(w.boundary);
    cr_assert_eq(mend__boundary_drain(w.boundary, MEND_STR("over"), 0), rows[i].left, "%zu", i);
    cr_assert_eq(atomic_load(&w.done), 1u);
    kinds_release(&w);
    cr_assert(mend_str_equal(mend_call_tool(call), MEND_STR("keep")));
    cr_assert(mend_str_equal(mend_call_args(call), MEND_STR("{\"text\":\"the caller's\"}")));
    cr_assert_eq(mend_call_number(call), mend_call_from_name(MEND_STR("toolu_01")));
    cr_assert_eq(mend_token_is_cancelled(mend_call_token(call)), !rows[i].answers);
    cr_assert_eq(mend_call_state(call), &w);
    cr_assert_eq(mend_call_attempt(call), 1u);
    cr_assert_eq(mend_call_progress(call, 1, MEND_STR("late")), MEND_ECLOSED);
    cr_assert_eq(mend_call_succeed(call, MEND_STR("1")), rows[i].late, "%zu", i);
    cr_assert_eq(mend_call_fail(call, MEND_STR("x"), MEND_STR("y")), rows[i].late);
    mend_call_release(call);
    kinds_check(&w);
  }
  mend_call_release(NULL);
}

/* ---- The end of a scope ---- */

typedef struct late_release {
  kinds_world *w;
  mend_call *call;
  atomic_bool drains;
} late_release;

static void *release_when_cancelled(void *ctx) {
  late_release *self = ctx;
  mend_token_wait(mend_call_token(self->call), MEND_NEVER);
  while (atomic_load(&self->w->done) == 0)
    sched_yield();
  mend_call_release(self->call);
  return NULL;
}

/* A tool that runs on is waited for; who comes to its end in time is not counted. */
Test(async, drained_when_let_go) {
  kinds_world w;
  kinds_open(&w);
  handover kept = HANDOVER_INIT;
  late_release self = {.w = &w};
  pthread_t thread;
  kinds_add(&w, "keep", MEND_TOOL_ASYNC, keep_call, &kept);
  kinds_start(&w, "keep");
  self.call = receive_call(&kept);
  cr_assert_eq(pthread_create(&thread, NULL, release_when_cancelled, &self), 0);
  mend__boundary_close(w.boundary);
  cr_assert_eq(mend__boundary_drain(w.boundary, MEND_STR("over"), 3600 * MEND_SECOND_NS), 0u);
  cr_assert_eq(pthread_join(thread, NULL), 0);
  kinds_close(&w);
}

/* Without memory for something to wait on nobody waits. */
Test(async, drained_without_memory) {
  for (int is_virtual = 0; is_virtual < 2; is_virtual++) {
    kinds_world w = {.threads = count_threads()};
    handover kept = HANDOVER_INIT;
    mend_test_allocator_init(&w.memory);
    cr_assert_eq(kinds_try_open(&w, is_virtual == 1), MEND_OK);
    kinds_add(&w, "keep", MEND_TOOL_ASYNC, keep_call, &kept);
    kinds_start(&w, "keep");
    mend_call *call = receive_call(&kept);
    mend__boundary_close(w.boundary);
    mend_test_allocator_arm(&w.memory, 1, true);
    cr_assert_eq(mend__boundary_drain(w.boundary, MEND_STR("over"), 3600 * MEND_SECOND_NS), 1u);
    mend_test_allocator_arm(&w.memory, 0, false);
    cr_assert_eq(atomic_load(&w.done), 1u);
    mend_call_release(call);
    kinds_close(&w);
  }
}

/* From a tool's own code, or from what is done when its call has ended: nobody waits for himself. */
typedef struct inner_drain {
  kinds_world *w;
  size_t left;
} inner_drain;

static mend_status drain_here(void *ctx, mend_call *call) {
  inner_drain *self = ctx;
  self->left = mend__boundary_drain(self->w->boundary, MEND_STR("over"), 3600 * MEND_SECOND_NS);
  return mend_call_succeed(call, MEND_STR("1"));
}

static void drain_when_done(void *ctx, mend_status status, const mend_result *result) {
  inner_drain *self = ctx;
  self->left = mend__boundary_drain(self->w->boundary, MEND_STR("over"), 3600 * MEND_SECOND_NS);
  count_done(self->w, status, result);
}

Test(async, drained_by_itself) {
  static const struct {
    mend_tool_kind kind;
    size_t left; /* itself */
  } rows[] = {{MEND_TOOL_BLOCKING, 1}, {MEND_TOOL_ASYNC, 1}, {MEND_TOOL_POOLED, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    kinds_world w;
    kinds_open(&w);
    inner_drain self = {.w = &w};
    mend_outcome outcome;
    kinds_add(&w, "drain", rows[i].kind, drain_here, &self);
    cr_assert_eq(kinds_call(&w, "drain", &outcome), MEND_ECANCELLED);
    cr_assert_eq(outcome, MEND_OUTCOME_CANCELLED);
    kinds_close(&w);
    cr_assert_eq(self.left, rows[i].left, "%zu", i);
  }
  kinds_world w;
  kinds_open(&w);
  inner_drain self = {.w = &w, .left = 7};
  handover kept = HANDOVER_INIT;
  kinds_add(&w, "keep", MEND_TOOL_ASYNC, keep_call, &kept);
  atomic_fetch_add(&w.begun, 1);
  cr_assert_eq(
      mend_boundary_start(w.boundary, MEND_STR("keep"), (mend_str)MEND_ABSENT, NULL, drain_when_done, &self, NULL),
      MEND_OK);
  mend_call *call = receive_call(&kept);
  cr_assert_eq(mend_call_succeed(call, MEND_STR("1")), MEND_OK);
  cr_assert_eq(self.left, 0u);
  mend_call_release(call);
  kinds_close(&w);
}

/* ---- Many at once ---- */

enum { MANY = 3000 };

static mend_status keep_in_array(void *ctx, mend_call *call) {
  mend_call **place = ctx;
  place[mend_call_number(call) - 1] = mend_call_retain(call);
  return MEND_OK;
}

/* Answered backwards, found by number, aborted all together. */
Test(async, many_open) {
  mend_call **calls = calloc(MANY, sizeof *calls);
  cr_assert_not_null(calls);
  for (int aborts = 0; aborts < 2; aborts++) {
    kinds_world w;
    kinds_open(&w);
    kinds_add(&w, "keep", MEND_TOOL_ASYNC, keep_in_array, calls);
    for (unsigned i = 0; i < MANY; i++)
      cr_assert_eq(kinds_start(&w, "keep"), i + 1u);
    cr_assert_eq(w.boundary->run_state->open.count, (size_t)MANY);
    for (unsigned i = 0; i < MANY; i += 1000)
      cr_assert_eq(mend_run_cancel_call(w.run, i + 1, MEND_STR("this one")), MEND_OK);
    if (aborts) mend_run_abort(w.run, MEND_STR("all"), MEND_STR("me"));
    for (unsigned i = MANY; i-- > 0;) {
      mend_call_succeed(calls[i], MEND_STR("1"));
      mend_call_release(calls[i]);
    }
    cr_assert_eq(atomic_load(&w.cancelled), aborts ? (unsigned)MANY : 3u);
    cr_assert_eq(w.boundary->run_state->open.count, 0u);
    kinds_close(&w);
  }
  free(calls);
}

/* ---- A tool in no registry ---- */

static void count_destroyed(void *ctx) { atomic_fetch_add((atomic_uint *)ctx, 1); }

static mend_status succeed(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, MEND_STR("1"));
}

static mend_status skip(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  (void)call;
  return mend_decision_skip(decision, MEND_STR("no"), MEND_STR("0"));
}

typedef struct own_row {
  mend_tool_kind kind;
  const char *args;
  bool skips, starts;
  mend_status status;
  unsigned destroyed;
  bool is_nameless;
} own_row;

static const own_row own_rows[] = {
    {MEND_TOOL_BLOCKING, "{}", false, false, MEND_OK, 0, false},
    {MEND_TOOL_ASYNC, "{}", false, false, MEND_OK, 1, false},
    {MEND_TOOL_POOLED, "{}", false, false, MEND_OK, 1, false},
    {MEND_TOOL_ASYNC, "{", false, false, MEND_ESYNTAX, 1, false},
    {MEND_TOOL_POOLED, "{}", true, false, MEND_OK, 1, false},
    {MEND_TOOL_ASYNC, "{}", false, true, MEND_OK, 1, false},
    {MEND_TOOL_POOLED, "{}", false, true, MEND_OK, 1, false},
    {MEND_TOOL_ASYNC, "{", false, true, MEND_OK, 1, false},
    {MEND_TOOL_ASYNC, "{}", true, true, MEND_OK, 1, false},
    {(mend_tool_kind)3, "{}", false, false, MEND_EINVAL, 0, false},
    /* What is refused with MEND_EINVAL stays its owner's. */
    {MEND_TOOL_ASYNC, "{}", false, false, MEND_EINVAL, 0, true},
    {MEND_TOOL_POOLED, "{", false, false, MEND_EINVAL, 0, true},
    {MEND_TOOL_ASYNC, "{}", false, true, MEND_OK, 0, true},
};

/* destroyed lives in the world's memory: a pooled tool's is destroyed when its thread lets go of it. */
static mend_status call_own(kinds_world *w, const own_row *row, atomic_uint *destroyed) {
  mend_tool tool = {
      .size = sizeof tool, .name = "own", .execute = succeed, .kind = row->kind, .destroy = count_destroyed};
  const mend_hook hook = {.size = sizeof hook, .name = "h", .before = skip};
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  if (row->is_nameless) tool.name = NULL;
  options.tool = &tool;
  options.tool_ctx = destroyed;
  if (row->skips) mend_hooks_add(w->hooks, &hook, NULL, NULL, NULL);
  if (row->starts) {
    atomic_fetch_add(&w->begun, 1);
    return mend_boundary_start(w->boundary, (mend_str)MEND_ABSENT, mend_str_from(row->args), &options, count_done, w,
                               NULL);
  }
  mend_result result = MEND_RESULT_INIT;
  const mend_status status =
      mend_boundary_call(w->boundary, (mend_str)MEND_ABSENT, mend_str_from(row->args), &options, &result);
  mend_result_clear(&result);
  return status;
}

/* Copied, and destroyed once, however the call ends. */
Test(async, own_tools) {
  for (size_t i = 0; i < sizeof own_rows / sizeof own_rows[0]; i++) {
    kinds_world w;
    kinds_open(&w);
    atomic_uint destroyed = 0;
    cr_assert_eq(call_own(&w, &own_rows[i], &destroyed), own_rows[i].status, "%zu", i);
    kinds_close(&w);
    cr_assert_eq(atomic_load(&destroyed), own_rows[i].destroyed, "%zu", i);
  }
}

/* With each allocation failing, once and from there on. */
Test(async, own_tools_without_memory) {
  for (size_t i = 0; i < sizeof own_rows / sizeof own_rows[0]; i++) {
    for (int fail_after = 0; fail_after < 2; fail_after++) {
      bool failed = true;
      for (size_t fail_at = 1; failed; fail_at++) {
        kinds_world w;
        kinds_open(&w);
        atomic_uint destroyed = 0;
        mend_test_allocator_arm(&w.memory, fail_at, fail_after == 1);
        call_own(&w, &own_rows[i], &destroyed);
        kinds_release(&w);
        cr_assert(mend_test_threads_are(w.threads));
        failed = mend_test_allocator_failed(&w.memory);
        kinds_check(&w);
        cr_assert_eq(atomic_load(&destroyed), own_rows[i].destroyed, "row %zu, allocation %zu", i, fail_at);
      }
    }
  }
}

/* ---- Odd arguments ---- */

Test(async, refused) {
  kinds_world w;
  kinds_open(&w);
  mend_call_options options = {.size = 0};
  uint64_t number = 7;
  const mend_str tool = MEND_STR("a"), none = MEND_ABSENT;
  cr_assert_eq(mend_boundary_start(NULL, tool, none, NULL, count_done, &w, &number), MEND_EINVAL);
  cr_assert_eq(mend_boundary_start(w.boundary, tool, none, NULL, NULL, &w, &number), MEND_EINVAL);
  cr_assert_eq(number, 7u);
  atomic_fetch_add(&w.begun, 1);
  cr_assert_eq(mend_boundary_start(w.boundary, tool, none, &options, count_done, &w, &number), MEND_OK);
  cr_assert_eq(number, 0u);
  mend__boundary_close(w.boundary);
  cr_assert_eq(kinds_start(&w, "a"), 0u);
  kinds_close(&w);
}

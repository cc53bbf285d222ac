/* A hundred runs (a thousand when MEND_TEST_ALL is set) on one bus and one loop, each in a healing scope of its own and
 * with ten asynchronous calls under way at a time, get seeded faults: each must come to the verdict that it comes to
 * alone on a bus of its own.
 *
 * A verdict is to depend on the seed only, so all runs go through each wave of calls in step: all calls begin; those
 * that are to answer do, on the loop's thread or on others; time passes, until those that do not have stalled; the late
 * ones answer, and what is then still open is cancelled. In which order the runs do so within a step is up to the
 * threads. */
#include "mend/workbench.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include "core/mix.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { WAVES = 4, WIDTH = 10, CALLS = WAVES * WIDTH, ANSWERERS = 3 };

/* ---- What a run is to go through, drawn from its seed ---- */

typedef enum fault { ANSWERS, FAILS, ANSWERS_TWICE, ANSWERS_LATE, NEVER_ANSWERS, REPEATS, IS_SKIPPED } fault;
typedef enum reaction { REACT_ABORT, REACT_NONE, REACT_ESCALATE, REACT_CANCEL_CALL } reaction;

typedef struct agent agent;

typedef struct planned_call {
  agent *owner;
  uint64_t number;
  fault fault;
  bool is_kept; /* of one that never answers: it is not let go of before the scope is left */
  char name[8], args[40];
  mend_call *held; /* by its tool, until it has answered */
  atomic_uint befores, terminals;
  mend_outcome outcome; /* as are the texts below: under the world's lock */
  char error_type[32];
  bool is_done;
} planned_call;

typedef struct world world;

struct agent {
  world *w;
  char id[16];
  reaction to_loop, to_stall;
  bool resets;
  /* mend_boundary_start, else mend_boundary_call_all. That tells nobody which of its calls have ended, hooks and all,
   * and an abort would find some of them on their way: runs whose stalls abort start theirs. */
  bool starts[WAVES];
  planned_call calls[CALLS];

  mend_run *run;
  mend_healing_runner *runner;
  mend_healing_report report;
  pthread_t thread;
  /* Under the world's lock, as its phase. */
  unsigned begun, ended, done; /* calls, of all waves so far; begun: running, or ended without */
  unsigned waves;              /* that it has gone through */
  char verdict[4096];
};

struct world {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_workbench *workbench;
  agent *agents;
  size_t count;
  atomic_uint surprises;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned phase; /* two a wave: its calls may begin; what came of them is final */
};

static uint64_t draw(uint64_t *state) { return mend__mix(*state += MEND__MIX_STEP); }

/* Some runs repeat themselves, some have tools that hang, all have a few of the others. */
static fault draw_fault(uint64_t *state, unsigned repeats, unsigned hangs) {
  const unsigned percent = (unsigned)(draw(state) % 100);
  if (percent < repeats) return REPEATS;
  if (percent < repeats + hangs) return draw(state) % 2 == 0 ? NEVER_ANSWERS : ANSWERS_LATE;
  if (percent < 70) return ANSWERS;
  if (percent < 80) return FAILS;
  return percent < 90 ? ANSWERS_TWICE : IS_SKIPPED;
}

static void plan_call(planned_call *call, uint64_t *state, unsigned repeats, unsigned hangs) {
  call->fault = draw_fault(state, repeats, hangs);
  call->is_kept = call->fault == NEVER_ANSWERS && draw(state) % 2 == 0;
  snprintf(call->name, sizeof call->name, "%u", (unsigned)call->number);
  if (call->fault == REPEATS) {
    snprintf(call->args, sizeof call->args, "{\"again\":true}");
  } else {
    snprintf(call->args, sizeof call->args, "{\"%s\":%s}", call->fault == IS_SKIPPED ? "skip" : "n", call->name);
  }
}

static void plan(agent *a, world *w, unsigned seed) {
  uint64_t state = seed;
  a->w = w;
  snprintf(a->id, sizeof a->id, "run-%u", seed);
  a->to_loop = (reaction)(draw(&state) % 3);
  a->to_stall = (reaction)(draw(&state) % 4);
  a->resets = draw(&state) % 2 == 0;
  const unsigned repeats = draw(&state) % 2 == 0 ? 35 : 4, hangs = draw(&state) % 2 == 0 ? 15 : 0;
  for (unsigned i = 0; i < WAVES; i++)
    a->starts[i] = draw(&state) % 2 == 0 || a->to_stall == REACT_ABORT;
  for (unsigned i = 0; i < CALLS; i++) {
    a->calls[i].owner = a;
    a->calls[i].number = i + 1;
    plan_call(&a->calls[i], &state, repeats, hangs);
  }
}

/* ---- Verdicts ---- */

static void say(agent *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Under the world's lock. */
static void say(agent *a, const char *format, ...) {
  const size_t len = strlen(a->verdict);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(a->verdict + len, sizeof a->verdict - len, format, arguments);
  va_end(arguments);
}

static void say_wave(agent *a, unsigned wave) {
  char reason[256], source[64];
  say(a, "wave %u:", wave + 1);
  for (const planned_call *call = &a->calls[wave * WIDTH]; call < &a->calls[(wave + 1) * WIDTH]; call++)
    say(a, " %s%s%s", mend_outcome_name(call->outcome), call->error_type[0] != '\0' ? "/" : "", call->error_type);
  if (mend_run_abort_reason(a->run, reason, sizeof reason, source, sizeof source) == MEND_OK) {
    say(a, "; aborted by %s: %s", source, reason);
  }
  say(a, "\n");
}

static void say_report(agent *a) {
  const mend_healing_report *report = &a->report;
  say(a, "%s, %llu detections, %llu actions, %llu abandoned: %s\n", mend_status_name(report->status),
      (unsigned long long)report->detections, (unsigned long long)report->actions,
      (unsigned long long)report->abandoned, report->abort_reason);
}

static void surprise(world *w, const char *what) {
  fprintf(stderr, "%s\n", what);
  atomic_fetch_add(&w->surprises, 1);
}

/* ---- Tool, hook and policy ---- */

static void count_one(agent *a, unsigned *counter) {
  pthread_mutex_lock(&a->w->lock);
  ++*counter;
  pthread_cond_broadcast(&a->w->changed);
  pthread_mutex_unlock(&a->w->lock);
}

static mend_status begin(void *ctx, mend_call *call) {
  planned_call *mine = ctx;
  mine->held = mend_call_retain(call);
  count_one(mine->owner, &mine->owner->begun);
  return MEND_OK;
}

static const mend_tool work = {.size = sizeof work, .name = "work", .execute = begin, .kind = MEND_TOOL_ASYNC};

static mend_status skip_some(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  if (strncmp(call->args.ptr, "{\"skip\"", 7) != 0) return MEND_OK;
  return mend_decision_skip(decision, MEND_STR("not today"), MEND_STR("0"));
}

static mend_status react(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  const agent *a = ctx;
  const bool is_stall = mend_str_equal(detection->detector, MEND_STR("stall"));
  switch (is_stall ? a->to_stall : a->to_loop) {
  case REACT_ABORT: return mend_default_policy(NULL, detection, ret_action);
  case REACT_ESCALATE: *ret_action = mend_action_escalate("%.*s?", MEND_STR_ARG(detection->reason)); break;
  case REACT_CANCEL_CALL:
    mend_run_cancel_call(a->run, mend_call_from_name(detection->last_call), detection->reason);
    break;
  case REACT_NONE: break;
  }
  return MEND_OK;
}

/* ---- Events ---- */

static mend_status on_event(void *ctx, const mend_event *event) {
  agent *a = ctx;
  switch (event->kind) {
  case MEND_EVENT_TOOL_BEFORE: atomic_fetch_add(&a->calls[event->call - 1].befores, 1); break;
  case MEND_EVENT_TOOL_SKIPPED:
  case MEND_EVENT_TOOL_ABORTED: count_one(a, &a->begun); /* fall through */
  case MEND_EVENT_TOOL_AFTER:
  case MEND_EVENT_TOOL_ERROR:
  case MEND_EVENT_TOOL_CANCELLED:
    atomic_fetch_add(&a->calls[event->call - 1].terminals, 1);
    count_one(a, &a->ended);
    break;
  case MEND_EVENT_TOOL_REFUSED:
    count_one(a, &a->begun);
    count_one(a, &a->ended);
    break;
  case MEND_EVENT_DETECTION: {
    const mend_detection_event *found = (const mend_detection_event *)event;
    pthread_mutex_lock(&a->w->lock);
    say(a, "%.*s/%.*s at %.*s\n", MEND_STR_ARG(found->detector), MEND_STR_ARG(found->reason),
        MEND_STR_ARG(found->last_call_id));
    pthread_mutex_unlock(&a->w->lock);
    break;
  }
  default: break;
  }
  return MEND_OK;
}

/* ---- The agent's thread ---- */

static void keep_result(void *ctx, mend_status status, const mend_result *result) {
  planned_call *call = ctx;
  agent *a = call->owner;
  pthread_mutex_lock(&a->w->lock);
  if (call->is_done || (status == MEND_OK) != (result->outcome <= MEND_OUTCOME_REDIRECTED)) {
    surprise(a->w, "a call is done twice, or its status and outcome differ");
  }
  call->is_done = true;
  call->outcome = result->outcome;
  snprintf(call->error_type, sizeof call->error_type, "%.*s", MEND_STR_ARG(result->error_type));
  a->done++;
  pthread_cond_broadcast(&a->w->changed);
  pthread_mutex_unlock(&a->w->lock);
}

static mend_call_options options_of(planned_call *call) {
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  options.call_name = mend_str_from(call->name);
  options.tool = &work;
  options.tool_ctx = call;
  return options;
}

static void start_all(mend_boundary *boundary, planned_call *calls) {
  for (unsigned i = 0; i < WIDTH; i++) {
    const mend_call_options options = options_of(&calls[i]);
    if (mend_boundary_start(boundary, MEND_STR("work"), mend_str_from(calls[i].args), &options, keep_result, &calls[i],
                            NULL) != MEND_OK) {
      surprise(calls->owner->w, "a call did not start");
    }
  }
}

static void call_all(mend_boundary *boundary, planned_call *calls) {
  mend_batch_call batch[WIDTH];
  mend_call_options options[WIDTH];
  for (unsigned i = 0; i < WIDTH; i++) {
    batch[i] = (mend_batch_call)MEND_BATCH_CALL_INIT;
    batch[i].tool = MEND_STR("work");
    batch[i].args = mend_str_from(calls[i].args);
    options[i] = options_of(&calls[i]);
    batch[i].options = &options[i];
  }
  mend_boundary_call_all(boundary, batch, WIDTH);
  for (unsigned i = 0; i < WIDTH; i++) {
    keep_result(&calls[i], batch[i].status, &batch[i].result);
    mend_result_clear(&batch[i].result);
  }
}

static void await_phase(agent *a, unsigned phase) {
  pthread_mutex_lock(&a->w->lock);
  while (a->w->phase < phase)
    pthread_cond_wait(&a->w->changed, &a->w->lock);
  pthread_mutex_unlock(&a->w->lock);
}

static void go_through(agent *a, unsigned wave) {
  await_phase(a, 2 * wave + 1);
  (a->starts[wave] ? start_all : call_all)(mend_healing_boundary(a->runner), &a->calls[wave * WIDTH]);
  await_phase(a, 2 * wave + 2);
  pthread_mutex_lock(&a->w->lock);
  say_wave(a, wave);
  pthread_mutex_unlock(&a->w->lock);
  if (a->resets) mend_run_reset(a->run, MEND_STR("go on"));
  count_one(a, &a->waves);
}

static void *live(void *ctx) {
  agent *a = ctx;
  mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
  options.run = a->run;
  options.ret_report = &a->report;
  MEND_HEALING_SCOPE(a->runner, &options) {
    /* Behind the watchdogs: what is counted they have seen. */
    if (mend_run_subscribe(a->run, "*", on_event, a, NULL, NULL, NULL) != MEND_OK) surprise(a->w, "no subscription");
    for (unsigned wave = 0; wave < WAVES; wave++)
      go_through(a, wave);
  }
  return NULL;
}

/* ---- The steps of a wave, on the test's thread ---- */

typedef void (*wave_step)(agent *a, unsigned wave);

/* Each step's work for every run, on the loop's thread and on others. */
typedef struct share {
  world *w;
  size_t first;
  unsigned wave;
  wave_step step;
  bool is_over; /* under the world's lock */
} share;

static void do_share(share *s) {
  for (size_t i = s->first; i < s->w->count; i += ANSWERERS + 1)
    s->step(&s->w->agents[i], s->wave);
}

static void *do_share_on_thread(void *ctx) {
  do_share(ctx);
  return NULL;
}

static void do_share_on_loop(void *ctx) {
  share *s = ctx;
  do_share(s);
  pthread_mutex_lock(&s->w->lock);
  s->is_over = true;
  pthread_cond_broadcast(&s->w->changed);
  pthread_mutex_unlock(&s->w->lock);
}

static void for_every_run(world *w, unsigned wave, wave_step step) {
  share shares[ANSWERERS + 1];
  pthread_t threads[ANSWERERS];
  for (size_t i = 0; i <= ANSWERERS; i++)
    shares[i] = (share){w, (i + wave) % (ANSWERERS + 1), wave, step, false};
  for (size_t i = 0; i < ANSWERERS; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, do_share_on_thread, &shares[i]), 0);
  share *of_loop = &shares[ANSWERERS];
  cr_assert_eq(mend_loop_post(mend_workbench_loop(w->workbench), do_share_on_loop, of_loop), MEND_OK);
  pthread_mutex_lock(&w->lock);
  while (!of_loop->is_over)
    pthread_cond_wait(&w->changed, &w->lock);
  pthread_mutex_unlock(&w->lock);
  for (size_t i = 0; i < ANSWERERS; i++)
    pthread_join(threads[i], NULL);
}

static void let_go(planned_call *call) {
  mend_call_release(call->held);
  call->held = NULL;
}

static bool is_refused(mend_status status) { return status == MEND_EEXIST || status == MEND_ECANCELLED; }

static void answer(planned_call *call) {
  if (call->fault == FAILS) {
    mend_call_fail(call->held, MEND_STR("broken"), MEND_STR("it is broken"));
  } else {
    mend_call_succeed(call->held, MEND_STR("1"));
  }
  if (call->fault == ANSWERS_TWICE && !is_refused(mend_call_fail(call->held, MEND_STR("no"), MEND_STR("no")))) {
    surprise(call->owner->w, "a second answer was taken");
  }
  let_go(call);
}

static bool is_late(const planned_call *call) { return call->fault == NEVER_ANSWERS || call->fault == ANSWERS_LATE; }

static void answer_in_time(agent *a, unsigned wave) {
  for (planned_call *call = &a->calls[wave * WIDTH]; call < &a->calls[(wave + 1) * WIDTH]; call++) {
    if (call->held != NULL && !is_late(call)) answer(call);
  }
}

static void end_the_rest(agent *a, unsigned wave) {
  for (planned_call *call = &a->calls[wave * WIDTH]; call < &a->calls[(wave + 1) * WIDTH]; call++) {
    if (call->held == NULL) continue;
    if (call->fault == ANSWERS_LATE) {
      answer(call);
    } else {
      mend_run_cancel_call(a->run, call->number, MEND_STR("enough"));
      if (!call->is_kept) let_go(call);
    }
  }
}

/* Of the calls of a wave, when those that are to answer have. */
static unsigned calls_that_end(const agent *a, unsigned wave) {
  unsigned count = 0;
  for (const planned_call *call = &a->calls[wave * WIDTH]; call < &a->calls[(wave + 1) * WIDTH]; call++)
    count += call->held == NULL;
  return mend_run_is_aborted(a->run) ? WIDTH : count;
}

static void await_count(const agent *a, const unsigned *counter, unsigned wanted) {
  pthread_mutex_lock(&a->w->lock);
  while (*counter < wanted)
    pthread_cond_wait(&a->w->changed, &a->w->lock);
  pthread_mutex_unlock(&a->w->lock);
}

static void await_ends(const agent *a, unsigned wave) {
  await_count(a, a->starts[wave] ? &a->done : &a->ended, wave * WIDTH + calls_that_end(a, wave));
}

static void begin_phase(world *w, unsigned phase) {
  pthread_mutex_lock(&w->lock);
  w->phase = phase;
  pthread_cond_broadcast(&w->changed);
  pthread_mutex_unlock(&w->lock);
}

static void lead_through(world *w, unsigned wave) {
  const unsigned before = wave * WIDTH;
  begin_phase(w, 2 * wave + 1);
  for (size_t i = 0; i < w->count; i++)
    await_count(&w->agents[i], &w->agents[i].begun, before + WIDTH);
  for_every_run(w, wave, answer_in_time);
  for (size_t i = 0; i < w->count; i++)
    await_ends(&w->agents[i], wave);
  cr_assert_eq(mend_clock_advance(w->clock, 61 * MEND_SECOND_NS), MEND_OK);
  for_every_run(w, wave, end_the_rest);
  for (size_t i = 0; i < w->count; i++)
    await_count(&w->agents[i], &w->agents[i].done, before + WIDTH);
  begin_phase(w, 2 * wave + 2);
  for (size_t i = 0; i < w->count; i++)
    await_count(&w->agents[i], &w->agents[i].waves, wave + 1);
}

/* ---- Worlds ---- */

static void open_agent(world *w, agent *a, mend_hooks *hooks) {
  mend_run_options run = MEND_RUN_OPTIONS_INIT;
  run.id = mend_str_from(a->id);
  cr_assert_eq(mend_run_new(mend_workbench_bus(w->workbench), &run, &a->run, NULL), MEND_OK);
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.hooks = hooks;
  options.policy = react;
  options.policy_ctx = a;
  options.exit_grace_s = 0;
  cr_assert_eq(mend_workbench_with_healing(w->workbench, &options, &a->runner, NULL), MEND_OK);
  a->report = (mend_healing_report)MEND_HEALING_REPORT_INIT;
  cr_assert_eq(pthread_create(&a->thread, NULL, live, a), 0);
}

static void open_world(world *w, unsigned first_seed, size_t count) {
  static const mend_hook skipper = {.size = sizeof skipper, .name = "skipper", .before = skip_some};
  memset(w, 0, sizeof *w);
  mend_test_allocator_init(&w->memory);
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->changed, NULL);
  cr_assert_eq(mend_clock_new_virtual(&w->memory.base, (mend_time){0, 0}, &w->clock), MEND_OK);
  mend_bus_options bus = MEND_BUS_OPTIONS_INIT;
  bus.allocator = &w->memory.base;
  bus.clock = w->clock;
  mend_workbench_options options = MEND_WORKBENCH_OPTIONS_INIT;
  options.bus = &bus;
  cr_assert_eq(mend_workbench_new(&options, &w->workbench, NULL), MEND_OK);
  mend_hooks *hooks;
  cr_assert_eq(mend_hooks_new(&w->memory.base, &hooks), MEND_OK);
  cr_assert_eq(mend_hooks_add(hooks, &skipper, NULL, NULL, NULL), MEND_OK);
  w->count = count;
  w->agents = calloc(count, sizeof *w->agents);
  for (size_t i = 0; i < count; i++) {
    plan(&w->agents[i], w, first_seed + (unsigned)i);
    open_agent(w, &w->agents[i], hooks);
  }
  mend_hooks_release(hooks);
}

static void close_agent(agent *a) {
  pthread_join(a->thread, NULL);
  say_report(a);
  mend_healing_runner_release(a->runner);
  mend_run_release(a->run);
}

/* Scope, runner and workbench are gone: an answer changes nothing and harms nobody. */
static void answer_too_late(agent *a) {
  for (planned_call *call = a->calls; call < a->calls + CALLS; call++) {
    if (call->held == NULL) continue;
    cr_assert_eq(mend_call_succeed(call->held, MEND_STR("1")), MEND_ECANCELLED);
    let_go(call);
  }
}

/* The agents and their verdicts are the caller's to free. */
static void close_world(world *w) {
  for (size_t i = 0; i < w->count; i++)
    close_agent(&w->agents[i]);
  mend_tracer_stats stats = {.size = sizeof stats};
  mend_tracer_get_stats(mend_workbench_tracer(w->workbench), &stats);
  cr_assert_eq(stats.untraced, 0u);
  mend_workbench_release(w->workbench);
  for (size_t i = 0; i < w->count; i++)
    answer_too_late(&w->agents[i]);
  mend_clock_release(w->clock);
  pthread_cond_destroy(&w->changed);
  pthread_mutex_destroy(&w->lock);
  cr_assert_eq(atomic_load(&w->surprises), 0u);
  cr_assert_eq(atomic_load(&w->memory.blocks), 0u, "%zu blocks are left", (size_t)atomic_load(&w->memory.blocks));
}

static agent *run_all(unsigned first_seed, size_t count) {
  world w;
  open_world(&w, first_seed, count);
  for (unsigned wave = 0; wave < WAVES; wave++)
    lead_through(&w, wave);
  close_world(&w);
  return w.agents;
}

/* ---- The proof ---- */

static void check_events(const agent *a) {
  for (const planned_call *call = a->calls; call < a->calls + CALLS; call++) {
    const unsigned befores = atomic_load(&call->befores), terminals = atomic_load(&call->terminals);
    cr_assert(befores <= 1 && befores == terminals, "%s, call %s: %u before, %u at its end", a->id, call->name, befores,
              terminals);
  }
}

/* Every fault happened, and every way of reacting. */
static void check_variety(const agent *agents, size_t count) {
  static const char *const wanted[] = {" ok",
                                       " skipped",
                                       " escalated",
                                       " failed/broken",
                                       " aborted",
                                       " cancelled",
                                       "loop/repeat at",
                                       "stall/tool_total at",
                                       "aborted by watchdog: loop:",
                                       "aborted by watchdog: stall:",
                                       "MEND_ABORTED",
                                       "1 abandoned"};
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    size_t found = 0;
    for (size_t j = 0; j < count; j++)
      found += strstr(agents[j].verdict, wanted[i]) != NULL;
    cr_assert(found > 0, "no verdict says \"%s\"", wanted[i]);
  }
}

Test(many_runs, each_comes_to_the_verdict_that_it_comes_to_alone) {
  const size_t count = getenv("MEND_TEST_ALL") != NULL ? 1000 : 100;
  agent *together = run_all(1, count);
  check_variety(together, count);
  for (size_t i = 0; i < count; i++) {
    agent *alone = run_all(1 + (unsigned)i, 1);
    check_events(&together[i]);
    check_events(alone);
    cr_assert_str_eq(together[i].verdict, alone->verdict, "together:\n%s\nalone:\n%s", together[i].verdict,
                     alone->verdict);
    free(alone);
  }
  free(together);
}

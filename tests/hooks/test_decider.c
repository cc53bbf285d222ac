/* Deadlines that pass while calls are open, and many threads at one boundary. What a decision does to calls is data:
 * hooks_boundary/watchdog.case. */
#include "hooks/scope.h"
#include "scenario.h"

#include <pthread.h>

/* ---- A hanging call, cancelled by the thread that moves the clock ---- */

typedef struct hanging {
  scenario *s;
  atomic_bool waits;
  pthread_t policy_thread;
  mend_status status, waited;
  mend_outcome outcome;
  char reason[128], hook[64];
} hanging;

static mend_status hang(void *ctx, mend_call *call) {
  hanging *self = ctx;
  atomic_store(&self->waits, true);
  self->waited = mend_token_wait(mend_call_token(call), 3600 * MEND_SECOND_NS);
  return self->waited;
}

static void *call_hanging(void *ctx) {
  hanging *self = ctx;
  mend_result result = MEND_RESULT_INIT;
  self->status = mend_boundary_call(self->s->boundary, MEND_STR("hang"), (mend_str)MEND_ABSENT, NULL, &result);
  self->outcome = result.outcome;
  snprintf(self->reason, sizeof self->reason, "%.*s", MEND_STR_ARG(result.reason));
  snprintf(self->hook, sizeof self->hook, "%.*s", MEND_STR_ARG(result.hook));
  mend_result_clear(&result);
  return NULL;
}

static mend_status abort_here(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  ((hanging *)ctx)->policy_thread = pthread_self();
  return mend_default_policy(NULL, detection, ret_action);
}

Test(decider, hanging_call) {
  scenario *s = scenario_new();
  hanging hanging_call = {.s = s};
  const mend_tool tool = {.size = sizeof tool, .name = "hang", .execute = hang};
  char watched[] = "stall=60";
  pthread_t thread;
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  watch(s, watched);
  cr_assert_eq(mend_tools_add(s->tools, &tool, &hanging_call, NULL), MEND_OK);
  cr_assert_eq(mend_boundary_add_watchdog_hook(s->boundary, NULL, abort_here, &hanging_call, NULL), MEND_OK);
  cr_assert_eq(pthread_create(&thread, NULL, call_hanging, &hanging_call), 0);
  while (!atomic_load(&hanging_call.waits))
    sched_yield();
  cr_assert_eq(mend_clock_advance(s->clock, 60 * MEND_SECOND_NS), MEND_OK);
  cr_assert(!mend_run_is_aborted(s->run));
  cr_assert_eq(mend_clock_advance(s->clock, 1), MEND_OK);
  cr_assert(mend_run_is_aborted(s->run));
  cr_assert_eq(pthread_join(thread, NULL), 0);
  cr_assert(pthread_equal(hanging_call.policy_thread, pthread_self()));
  cr_assert_eq(hanging_call.waited, MEND_ECANCELLED);
  cr_assert_eq(hanging_call.status, MEND_ABORTED);
  cr_assert_eq(hanging_call.outcome, MEND_OUTCOME_CANCELLED);
  cr_assert_str_eq(hanging_call.reason, "stall: hang has not returned for 60.0 s");
  cr_assert_str_eq(hanging_call.hook, "watchdog");
  cr_assert_str_eq(s->events.text, "before#1:hang detection:stall action:watchdog=abort/abort cancelled#1:hang");
  scenario_close(s);
  free(s);
}

/* ---- A policy that lets go of the last boundary while it decides ---- */

static mend_status let_go(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  scenario *s = ctx;
  mend_boundary_release(s->boundary);
  s->boundary = NULL;
  return policy_escalate(NULL, detection, ret_action);
}

Test(decider, leaves_while_it_decides) {
  scenario *s = scenario_new();
  char watched[] = "stall=60", second[] = "second abort";
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  watch(s, watched);
  cr_assert_eq(mend_boundary_add_watchdog_hook(s->boundary, "first", let_go, s, NULL), MEND_OK);
  add_watchdog_hook(s, second);
  cr_assert_eq(mend_run_emit(s->run, "tool.before", "{\"tool_name\":\"a\",\"call_id\":\"7\"}", NULL), MEND_OK);
  cr_assert_eq(mend_clock_advance(s->clock, 61 * MEND_SECOND_NS), MEND_OK);
  cr_assert_null(s->boundary);
  cr_assert(strstr(s->events.text, "detection:stall action:first=escalate/skip") != NULL, "%s", s->events.text);
  cr_assert(strstr(s->events.text, "second") == NULL, "%s", s->events.text);
  cr_assert(!mend_run_is_aborted(s->run));
  cr_assert_eq(mend_run_emit(s->run, "tool.after", "{\"tool_name\":\"a\",\"call_id\":\"7\"}", NULL), MEND_OK);
  scenario_close(s);
  free(s);
}

/* ---- Schedules: callers, somebody who moves the clock, somebody who aborts and resets ---- */

enum { CALLERS = 3, CALLS_EACH = 10, NUMBERS = 256, SCHEDULES = 1000 };

typedef struct schedule {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_run *run;
  mend_boundary *boundary;
  uint64_t seed;
  bool resets;
  atomic_uint callers, deciding;
  atomic_uint befores[NUMBERS], ends[NUMBERS], detections[NUMBERS], actions[2][NUMBERS];
  atomic_uint collisions;
} schedule;

static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

static mend_status count_event(void *ctx, const mend_event *event) {
  schedule *all = ctx;
  const mend_any_event *any = (const mend_any_event *)(const void *)event;
  switch (event->kind) {
  case MEND_EVENT_TOOL_BEFORE: atomic_fetch_add(&all->befores[event->call % NUMBERS], 1); break;
  case MEND_EVENT_TOOL_AFTER:
  case MEND_EVENT_TOOL_ERROR:
  case MEND_EVENT_TOOL_SKIPPED:
  case MEND_EVENT_TOOL_ABORTED:
  case MEND_EVENT_TOOL_CANCELLED: atomic_fetch_add(&all->ends[event->call % NUMBERS], 1); break;
  case MEND_EVENT_DETECTION: atomic_fetch_add(&all->detections[any->detection.detection_id % NUMBERS], 1); break;
  case MEND_EVENT_ACTION: {
    const int hook = mend_str_equal(any->action.hook, MEND_STR("first")) ? 0 : 1;
    atomic_fetch_add(&all->actions[hook][any->action.detection_id % NUMBERS], 1);
    break;
  }
  default: break;
  }
  return MEND_OK;
}

/* Never two at once. */
static mend_status decide_by_seed(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  schedule *all = ctx;
  if (atomic_fetch_add(&all->deciding, 1) != 0) atomic_fetch_add(&all->collisions, 1);
  sched_yield();
  switch ((all->seed ^ detection->id) % 3) {
  case 0: *ret_action = mend_action_abort("enough"); break;
  case 1: *ret_action = mend_action_escalate("and now?"); break;
  default: *ret_action = mend_action_none(); break;
  }
  atomic_fetch_sub(&all->deciding, 1);
  return MEND_OK;
}

static mend_status wait_a_little(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_token_wait(mend_call_token(call), 3 * MEND_SECOND_NS);
}

static mend_status call_another(void *ctx, mend_call *call) {
  schedule *all = ctx;
  mend_result result = MEND_RESULT_INIT;
  mend_boundary_call(all->boundary, MEND_STR("quick"), mend_call_args(call), NULL, &result);
  mend_result_clear(&result);
  return MEND_OK;
}

static mend_status be_quick(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, MEND_STR("1"));
}

typedef struct caller {
  schedule *all;
  uint64_t random;
} caller;

static void *make_calls(void *ctx) {
  static const char *const tools[] = {"quick", "quick", "wait", "nest", "missing"};
  caller *self = ctx;
  mend_result result = MEND_RESULT_INIT;
  for (int i = 0; i < CALLS_EACH; i++) {
    const char *tool = tools[next_random(&self->random) % 5];
    if (next_random(&self->random) % 4 == 0) {
      mend_boundary_retry(self->all->boundary, mend_str_from(tool), (mend_str)MEND_ABSENT, NULL, &result);
    } else {
      mend_boundary_call(self->all->boundary, mend_str_from(tool), (mend_str)MEND_ABSENT, NULL, &result);
    }
    if (next_random(&self->random) % 3 == 0) sched_yield();
  }
  mend_result_clear(&result);
  atomic_fetch_sub(&self->all->callers, 1);
  return NULL;
}

static void *move_clock(void *ctx) {
  caller *self = ctx;
  while (atomic_load(&self->all->callers) > 0) {
    mend_clock_advance(self->all->clock, (1 + next_random(&self->random) % 4) * MEND_SECOND_NS / 2);
    sched_yield();
  }
  return NULL;
}

static void *abort_and_reset(void *ctx) {
  caller *self = ctx;
  for (int i = 0; i < 4; i++) {
    for (uint64_t yields = next_random(&self->random) % 8; yields > 0; yields--)
      sched_yield();
    if (next_random(&self->random) % 2 == 0) mend_run_abort(self->all->run, MEND_STR("by hand"), MEND_STR("test"));
    if (self->all->resets) mend_run_reset(self->all->run, MEND_STR("by hand"));
  }
  return NULL;
}

static mend_bus *open_schedule(schedule *all, mend_tools *tools) {
  const mend_tool given[] = {{.size = sizeof(mend_tool), .name = "quick", .execute = be_quick},
                             {.size = sizeof(mend_tool), .name = "wait", .execute = wait_a_little},
                             {.size = sizeof(mend_tool), .name = "nest", .execute = call_another}};
  mend_bus_options bus_options = MEND_BUS_OPTIONS_INIT;
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  mend_options watched = MEND_OPTIONS_INIT;
  mend_bus *bus;
  cr_assert_eq(mend_clock_new_virtual(&all->memory.base, (mend_time){MEND_SECOND_NS, MEND_SECOND_NS}, &all->clock),
               MEND_OK);
  bus_options.allocator = &all->memory.base;
  bus_options.clock = all->clock;
  cr_assert_eq(mend_bus_new(&bus_options, &bus, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(bus, "*", count_event, all, NULL, NULL), MEND_OK);
  watched.stall.timeout_s = 1;
  watched.loop.k = 1 + (uint32_t)all->seed % 3;
  cr_assert_eq(mend_bus_watch(bus, &watched, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(bus, NULL, &all->run), MEND_OK);
  for (int i = 0; i < 3; i++)
    cr_assert_eq(mend_tools_add(tools, &given[i], all, NULL), MEND_OK);
  options.run = all->run;
  options.tools = tools;
  cr_assert_eq(mend_boundary_new(&options, &all->boundary, NULL), MEND_OK);
  cr_assert_eq(mend_boundary_add_watchdog_hook(all->boundary, "first", decide_by_seed, all, NULL), MEND_OK);
  cr_assert_eq(mend_boundary_add_watchdog_hook(all->boundary, "second", decide_by_seed, all, NULL), MEND_OK);
  return bus;
}

/* Returns how many detections there were. */
static unsigned check_schedule(schedule *all) {
  unsigned total = 0;
  const unsigned long long seed = all->seed;
  cr_assert_eq(atomic_load(&all->collisions), 0u, "seed %llu", seed);
  for (unsigned i = 0; i < NUMBERS; i++) {
    cr_assert_eq(atomic_load(&all->befores[i]), atomic_load(&all->ends[i]), "seed %llu, call %u", seed, i);
    const unsigned detections = atomic_load(&all->detections[i]);
    total += detections;
    for (int hook = 0; hook < 2; hook++) {
      const unsigned actions = atomic_load(&all->actions[hook][i]);
      cr_assert(actions == detections || (all->resets && actions == 0), "seed %llu, detection %u: %u", seed, i,
                actions);
    }
  }
  return total;
}

static unsigned play_schedule(uint64_t seed) {
  enum { THREADS = CALLERS + 2 };
  schedule *all = calloc(1, sizeof *all);
  if (all == NULL) abort();
  mend_test_allocator_init(&all->memory);
  all->seed = seed;
  all->resets = seed % 2 == 0;
  atomic_store(&all->callers, CALLERS);
  mend_tools *tools;
  cr_assert_eq(mend_tools_new(&all->memory.base, &tools), MEND_OK);
  mend_bus *bus = open_schedule(all, tools);

  void *(*const parts[THREADS])(void *) = {make_calls, make_calls, make_calls, move_clock, abort_and_reset};
  caller callers[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    callers[i] = (caller){all, seed * 31 + (uint64_t)i};
    cr_assert_eq(pthread_create(&threads[i], NULL, parts[i], &callers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++)
    cr_assert_eq(pthread_join(threads[i], NULL), 0);
  mend__boundary_settle(all->boundary);
  const unsigned detections = check_schedule(all);

  mend_boundary_release(all->boundary);
  mend_tools_release(tools);
  mend_run_release(all->run);
  mend_bus_release(bus);
  mend_clock_release(all->clock);
  cr_assert_eq(atomic_load(&all->memory.blocks), 0u, "seed %llu", (unsigned long long)seed);
  free(all);
  return detections;
}

Test(decider, schedules) {
  unsigned detections = 0;
  for (uint64_t seed = 1; seed <= SCHEDULES; seed++)
    detections += play_schedule(seed);
  cr_assert(detections > SCHEDULES, "%u detections", detections);
}

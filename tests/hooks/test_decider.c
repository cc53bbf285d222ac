/* Deadlines that pass while calls are open, and many threads at one boundary. What a decision does to calls is data:
 * hooks_boundary/watchdog.case. */
#include "hooks/scope.h"
#include "mend/healing.h"
#include "scenario.h"

#include <pthread.h>

/* ---- A hanging call, cancelled by the thread that moves the clock ---- */

typedef struct hanging {
  scenario *s;
  atomic_bool waits, held; /* held: it returns when what cancels it has done all else, so that events have an order */
  pthread_t policy_thread;
  mend_status status, waited;
  mend_outcome outcome;
  char reason[128], hook[64];
} hanging;

static mend_status hang(void *ctx, mend_call *call) {
  hanging *self = ctx;
  atomic_store(&self->waits, true);
  self->waited = mend_token_wait(mend_call_token(call), 3600 * MEND_SECOND_NS);
  while (atomic_load(&self->held))
    sched_yield();
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

/* ---- A hanging call, ended by a policy; the run goes on ---- */

static mend_status end_call(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  hanging *self = ctx;
  self->policy_thread = pthread_self();
  *ret_action = mend_action_none();
  return mend_run_cancel_call(self->s->run, mend_call_from_name(detection->last_call), detection->summary);
}

static void check_ended(const hanging *ended) {
  cr_assert_eq(ended->waited, MEND_ECANCELLED);
  cr_assert_eq(ended->status, MEND_ECANCELLED);
  cr_assert_eq(ended->outcome, MEND_OUTCOME_CANCELLED);
  cr_assert_str_eq(ended->reason, "hang has not returned for 60.0 s");
  cr_assert_str_eq(ended->hook, "");
  cr_assert(!mend_run_is_aborted(ended->s->run));
}

/* Lets the call hang until its deadline passes. */
static void hang_and_advance(hanging *hanging_call) {
  pthread_t thread;
  atomic_store(&hanging_call->held, true);
  cr_assert_eq(pthread_create(&thread, NULL, call_hanging, hanging_call), 0);
  while (!atomic_load(&hanging_call->waits))
    sched_yield();
  cr_assert_eq(mend_clock_advance(hanging_call->s->clock, 61 * MEND_SECOND_NS), MEND_OK);
  atomic_store(&hanging_call->held, false);
  cr_assert_eq(pthread_join(thread, NULL), 0);
}

Test(decider, cancel_call) {
  scenario *s = scenario_new();
  hanging hanging_call = {.s = s};
  const mend_tool tool = {.size = sizeof tool, .name = "hang", .execute = hang};
  char watched[] = "stall=60", quick[] = "quick ok=1", next[] = "quick";
  const mend_str reason = MEND_STR("enough");
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  watch(s, watched);
  add_tool(s, quick);
  cr_assert_eq(mend_tools_add(s->tools, &tool, &hanging_call, NULL), MEND_OK);
  cr_assert_eq(mend_boundary_add_watchdog_hook(s->boundary, NULL, end_call, &hanging_call, NULL), MEND_OK);
  cr_assert_eq(mend_run_cancel_call(s->run, 1, reason), MEND_ENOENT);
  hang_and_advance(&hanging_call);
  check_ended(&hanging_call);
  cr_assert_eq(mend_run_cancel_call(s->run, 1, reason), MEND_ENOENT);
  make_call(s, next);
  cr_assert_str_eq(s->result.text, "OK ok value=1 attempts=1");
  cr_assert_str_eq(s->events.text, "before#1:hang detection:stall action:watchdog=none/continue cancelled#1:hang "
                                   "2/before#1:quick 2/after#1:quick");
  mend_run *other;
  cr_assert_eq(mend_run_new(s->bus, NULL, &other, NULL), MEND_OK);
  cr_assert_eq(mend_run_cancel_call(other, 1, reason), MEND_ENOENT);
  mend_run_release(other);
  scenario_close(s);
  free(s);
}

/* The same in a healing scope: the policy runs on the loop's thread. */
Test(decider, cancel_call_from_the_loop) {
  scenario *s = scenario_new();
  hanging hanging_call = {.s = s};
  const mend_tool tool = {.size = sizeof tool, .name = "hang", .execute = hang};
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  mend_options config = MEND_OPTIONS_INIT;
  mend_scope_options scope = MEND_SCOPE_OPTIONS_INIT;
  mend_healing_runner *runner;
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  cr_assert_eq(mend_tools_add(s->tools, &tool, &hanging_call, NULL), MEND_OK);
  config.stall.timeout_s = 60;
  options.bus = s->bus;
  options.tools = s->tools;
  options.config = &config;
  options.policy = end_call;
  options.policy_ctx = &hanging_call;
  cr_assert_eq(mend_healing_runner_new(&options, &runner, NULL), MEND_OK);
  mend_boundary *outer = s->boundary;
  scope.run = s->run;
  cr_assert_eq(mend_healing_enter(runner, &scope, NULL), MEND_OK);
  s->boundary = mend_healing_boundary(runner);
  hang_and_advance(&hanging_call);
  s->boundary = outer;
  cr_assert_eq(mend_healing_exit(runner, NULL), MEND_OK);
  check_ended(&hanging_call);
  cr_assert(!pthread_equal(hanging_call.policy_thread, pthread_self()));
  mend_healing_runner_release(runner);
  scenario_close(s);
  free(s);
}

/* ---- Two agent threads: what is found first is announced last ---- */

typedef struct two_agents {
  scenario *s;
  pthread_t slow;
  atomic_int stage; /* 1: the slow one's next before is held; 2: it is; 3: it may go on */
  log_text told;
} two_agents;

static mend_status hold_before(void *ctx, const mend_event *event) {
  two_agents *self = ctx;
  if (event->kind != MEND_EVENT_TOOL_BEFORE || !pthread_equal(pthread_self(), self->slow) ||
      atomic_load(&self->stage) != 1)
    return MEND_OK;
  atomic_store(&self->stage, 2);
  while (atomic_load(&self->stage) != 3)
    sched_yield();
  return MEND_OK;
}

static mend_status tell_healing(void *ctx, const mend_event *event) {
  two_agents *self = ctx;
  const mend_any_event *any = (const mend_any_event *)(const void *)event;
  if (event->kind == MEND_EVENT_DETECTION) note(&self->told, "found %u;", (unsigned)any->detection.detection_id);
  if (event->kind == MEND_EVENT_ACTION) note(&self->told, "decided %u;", (unsigned)any->action.detection_id);
  return MEND_OK;
}

static void *call_slowly(void *ctx) {
  two_agents *self = ctx;
  self->slow = pthread_self();
  call_quietly(self->s, "a");
  atomic_store(&self->stage, 1);
  call_quietly(self->s, "a");
  return NULL;
}

Test(decider, in_the_order_of_the_log) {
  scenario *s = scenario_new();
  two_agents agents = {.s = s};
  char watched[] = "loop=1", tools[][16] = {"a ok=1", "b ok=1"}, hook[] = "wd observe";
  pthread_t thread;
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  watch(s, watched);
  add_tool(s, tools[0]);
  add_tool(s, tools[1]);
  add_watchdog_hook(s, hook);
  cr_assert_eq(mend_run_subscribe(s->run, "healing.*", tell_healing, &agents, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_run_subscribe(s->run, "*", hold_before, &agents, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(pthread_create(&thread, NULL, call_slowly, &agents), 0);
  while (atomic_load(&agents.stage) != 2)
    sched_yield();
  call_quietly(s, "b");
  call_quietly(s, "b");
  atomic_store(&agents.stage, 3);
  cr_assert_eq(pthread_join(thread, NULL), 0);
  cr_assert_str_eq(agents.told.text, "found 2;found 1;decided 1;decided 2;");
  scenario_close(s);
  free(s);
}

/* ---- A detection that could not be published: those after it are decided about all the same ---- */

static mend_status observe_ids(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  note(ctx, "%u;", (unsigned)detection->id);
  *ret_action = mend_action_none();
  return MEND_OK;
}

/* Publishes readings from deeper and deeper, until the bus refuses what is found. */
static mend_status read_deeper(void *ctx, const mend_event *event) {
  static const double readings[] = {0.9, 0.9, 0.9, 0.1, 0.1};
  scenario *s = ctx;
  const mend_user_message_event *message = (const mend_user_message_event *)event;
  mend_user_message_event deeper = MEND_USER_MESSAGE_EVENT_INIT;
  if (message->text.len > 0) {
    deeper.text = (mend_str){message->text.ptr + 1, message->text.len - 1};
    mend_run_publish(s->run, &deeper.event);
    return MEND_OK;
  }
  for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
    mend_confidence_event reading = MEND_CONFIDENCE_EVENT_INIT;
    reading.confidence = readings[i];
    mend_run_publish(s->run, &reading.event);
  }
  return MEND_OK;
}

Test(decider, detection_that_is_refused) {
  bool refused = false;
  for (size_t depth = 0; depth < 32; depth++) {
    static const char levels[] = "................................";
    scenario *s = scenario_new();
    log_text decided = {.len = 0};
    mend_bus_stats stats = {.size = sizeof stats};
    char watched[] = "loop=1 regression", tool[] = "a ok=1";
    cr_assert_eq(scenario_try_open(s), MEND_OK);
    watch(s, watched);
    add_tool(s, tool);
    cr_assert_eq(mend_boundary_add_watchdog_hook(s->boundary, NULL, observe_ids, &decided, NULL), MEND_OK);
    cr_assert_eq(mend_bus_subscribe(s->bus, "user.message", read_deeper, s, NULL, NULL, NULL), MEND_OK);
    mend_user_message_event message = MEND_USER_MESSAGE_EVENT_INIT;
    message.text = (mend_str){levels, depth};
    mend_run_publish(s->run, &message.event);
    const bool found = strstr(s->events.text, "detection:regression") != NULL;
    mend_bus_get_stats(s->bus, &stats);
    refused = refused || (!found && stats.dropped == 1);
    call_quietly(s, "a");
    call_quietly(s, "a");
    cr_assert(strstr(decided.text, found || stats.dropped == 1 ? "1;2;" : "1;") != NULL, "depth %zu: %s", depth,
              decided.text);
    scenario_close(s);
    free(s);
  }
  cr_assert(refused);
}

/* ---- A policy that fails leaves the run unprotected, which the bus's log is told ---- */

Test(decider, policies_that_fail) {
  static const struct {
    const char *policy, *said;
  } rows[] = {
      {"observe", ""},
      {"abort", ""},
      {"fail", "watchdog hook w: its policy failed, nothing is done about detection 1 of loop: MEND_EIO\n"},
      {"unknown", "watchdog hook w: its policy failed, nothing is done about detection 1 of loop: the policy answered "
                  "with an action that is none\n"},
      {"endless", "watchdog hook w: its policy failed, nothing is done about detection 1 of loop: the policy answered "
                  "with a text that does not end\n"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    scenario *s = scenario_new();
    char watched[] = "loop=2", tool[] = "a ok=1";
    cr_assert_eq(scenario_try_open(s), MEND_OK);
    watch(s, watched);
    add_tool(s, tool);
    cr_assert_eq(mend_boundary_add_watchdog_hook(s->boundary, "w", find_policy(rows[i].policy), s, NULL), MEND_OK);
    call_quietly(s, "a");
    call_quietly(s, "a");
    call_quietly(s, "a");
    cr_assert_str_eq(s->said.text, rows[i].said, "%s: %s", rows[i].policy, s->said.text);
    scenario_close(s);
    free(s);
  }
}

/* ---- A boundary that is released while a policy of its run is being asked ---- */

typedef struct asked {
  atomic_bool entered, may_leave;
  atomic_uint times;
} asked;

static mend_status ask_slowly(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  asked *self = ctx;
  (void)detection;
  atomic_fetch_add(&self->times, 1);
  atomic_store(&self->entered, true);
  while (!atomic_load(&self->may_leave))
    sched_yield();
  *ret_action = mend_action_none();
  return MEND_OK;
}

static void *pass_deadline(void *clock) {
  mend_clock_advance(clock, 61 * MEND_SECOND_NS);
  return NULL;
}

/* Nobody waits for the policy, and that of a boundary which is gone is asked no more. */
Test(decider, released_meanwhile) {
  scenario *s = scenario_new();
  hanging hanging_call = {.s = s};
  asked first = {.times = 0}, second = {.times = 0};
  const mend_tool tool = {.size = sizeof tool, .name = "hang", .execute = hang};
  char watched[] = "stall=60";
  mend_boundary *with_hook, *without;
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  pthread_t caller, decider;
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  watch(s, watched);
  options.run = s->run;
  cr_assert_eq(mend_boundary_new(&options, &with_hook, NULL), MEND_OK);
  cr_assert_eq(mend_boundary_new(&options, &without, NULL), MEND_OK);
  cr_assert_eq(mend_tools_add(s->tools, &tool, &hanging_call, NULL), MEND_OK);
  cr_assert_eq(mend_boundary_add_watchdog_hook(s->boundary, "first", ask_slowly, &first, NULL), MEND_OK);
  cr_assert_eq(mend_boundary_add_watchdog_hook(with_hook, "second", ask_slowly, &second, NULL), MEND_OK);
  cr_assert_eq(pthread_create(&caller, NULL, call_hanging, &hanging_call), 0);
  while (!atomic_load(&hanging_call.waits))
    sched_yield();
  cr_assert_eq(pthread_create(&decider, NULL, pass_deadline, s->clock), 0);
  while (!atomic_load(&first.entered))
    sched_yield();
  mend_boundary_release(with_hook);
  mend_boundary_release(without);
  atomic_store(&first.may_leave, true);
  cr_assert_eq(pthread_join(decider, NULL), 0);
  cr_assert_eq(mend_run_cancel_call(s->run, 1, MEND_STR("enough")), MEND_OK);
  cr_assert_eq(pthread_join(caller, NULL), 0);
  cr_assert_eq(atomic_load(&first.times), 1u);
  cr_assert_eq(atomic_load(&second.times), 0u);
  scenario_close(s);
  free(s);
}

/* ---- Questions of one watchdog hook: the first is asked, each other one is published ---- */

static mend_status find_many(void *state, const mend_event *event, mend_emitter *emitter) {
  (void)event;
  const unsigned *count = state;
  for (unsigned i = 0; i < *count; i++) {
    mend_detection found = MEND_DETECTION_INIT;
    found.reason = MEND_STR("many");
    const mend_status status = mend_emit(emitter, &found);
    if (status != MEND_OK) return status;
  }
  return MEND_OK;
}

static mend_status count_shadowed(void *ctx, const mend_event *event) {
  (void)event;
  ++*(unsigned *)ctx;
  return MEND_OK;
}

Test(decider, questions_of_one_hook) {
  static const struct { unsigned found, shadowed; } cases[] = {{1, 0}, {2, 1}, {5, 4}, {17, 16}, {30, 16}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    scenario *s = scenario_new();
    unsigned found = cases[i].found, shadowed = 0;
    char hook[] = "wd escalate";
    const mend_watchdog_vtable vtable = {
        .size = sizeof vtable, .name = "many", .topics = "tool.before", .event = find_many};
    mend_watchdog *watchdog;
    cr_assert_eq(scenario_try_open(s), MEND_OK);
    cr_assert_eq(mend_watchdog_new(&vtable, &found, &s->memory.base, &watchdog, NULL), MEND_OK);
    cr_assert_eq(mend_watchdog_watch_run(watchdog, s->run), MEND_OK);
    add_watchdog_hook(s, hook);
    cr_assert_eq(mend_run_subscribe(s->run, "hook.shadowed", count_shadowed, &shadowed, NULL, NULL, NULL), MEND_OK);
    call_quietly(s, "a");
    cr_assert_eq(shadowed, cases[i].shadowed, "%u: %u", found, shadowed);
    shadowed = 0;
    found = 1; /* what was dropped was dropped for that call only */
    call_quietly(s, "a");
    cr_assert_eq(shadowed, 0u);
    mend_watchdog_release(watchdog);
    scenario_close(s);
    free(s);
  }
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
  cr_assert_eq(mend_bus_subscribe(bus, "*", count_event, all, NULL, NULL, NULL), MEND_OK);
  watched.stall.timeout_s = 1;
  watched.loop.k = 1 + (uint32_t)all->seed % 3;
  cr_assert_eq(mend_bus_watch(bus, &watched, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(bus, NULL, &all->run, NULL), MEND_OK);
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

/* The workbench: what is on it, its recent events, the runners made from it, and its end. */
#include "mend/workbench.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <event2/event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- A world: a workbench on a virtual clock ---- */

typedef struct world {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_workbench *workbench;
  mend_run *run;
} world;

static mend_bus_options bus_options(world *w) {
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = &w->memory.base;
  options.clock = w->clock;
  options.id_seed = 1;
  return options;
}

static void open_world(world *w, uint32_t recent_events, bool content) {
  memset(w, 0, sizeof *w);
  mend_test_allocator_init(&w->memory);
  cr_assert_eq(mend_clock_new_virtual(&w->memory.base, (mend_time){0, 0}, &w->clock), MEND_OK);
  const mend_bus_options bus = bus_options(w);
  mend_workbench_options options = MEND_WORKBENCH_OPTIONS_INIT;
  options.bus = &bus;
  options.recent_events = recent_events;
  options.recent_content = content;
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_workbench_new(&options, &w->workbench, &error), MEND_OK, "%s", error.message);
  mend_run_options run = MEND_RUN_OPTIONS_INIT;
  run.id = MEND_STR("r");
  cr_assert_eq(mend_run_new(mend_workbench_bus(w->workbench), &run, &w->run, NULL), MEND_OK);
}

static void close_world(world *w) {
  mend_run_release(w->run);
  mend_workbench_release(w->workbench);
  mend_clock_release(w->clock);
  cr_assert_eq(atomic_load(&w->memory.blocks), 0u, "%zu blocks are left", (size_t)atomic_load(&w->memory.blocks));
}

static void note(mend_run *run, const char *payload) {
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_run_emit(run, "note", payload, &error), MEND_OK, "%s", error.message);
}

/* ---- Recent events ---- */

typedef struct visits {
  char text[4096]; /* of each line the number in {"n":...} */
  size_t most;     /* then it has seen enough; 0: never */
  size_t count;
  mend_run *publishes; /* at each line, unless NULL */
} visits;

static bool visit(void *ctx, mend_str line) {
  visits *v = ctx;
  char copy[512];
  unsigned n = 0;
  snprintf(copy, sizeof copy, "%.*s", MEND_STR_ARG(line));
  const char *member = strstr(copy, "\"n\":");
  if (member != NULL) n = (unsigned)strtoul(member + 4, NULL, 10);
  const size_t len = strlen(v->text);
  snprintf(v->text + len, sizeof v->text - len, "%u ", n);
  if (v->publishes != NULL) note(v->publishes, "{\"n\":0}");
  return ++v->count != v->most;
}

Test(workbench, recent_events) {
  static const struct {
    uint32_t limit;
    unsigned published;
    size_t most;
    bool publishes;
    const char *want;
  } rows[] = {
      {0, 3, 0, false, ""},       {1, 0, 0, false, ""},         {1, 3, 0, false, "3 "},
      {4, 3, 0, false, "1 2 3 "}, {4, 4, 0, false, "1 2 3 4 "}, {4, 9, 0, false, "6 7 8 9 "},
      {4, 9, 2, false, "6 7 "},   {4, 9, 0, true, "6 7 8 9 "}, /* what is published meanwhile pushes out none of them */
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    open_world(&w, rows[i].limit, false);
    for (unsigned n = 1; n <= rows[i].published; n++) {
      char payload[32];
      snprintf(payload, sizeof payload, "{\"n\":%u}", n);
      note(w.run, payload);
    }
    visits v = {.most = rows[i].most, .publishes = rows[i].publishes ? w.run : NULL};
    cr_assert_eq(mend_workbench_each_recent(w.workbench, visit, &v), v.count);
    cr_assert_str_eq(v.text, rows[i].want, "row %zu: %s", i, v.text);
    close_world(&w);
  }
}

static bool keep_line(void *ctx, mend_str line) {
  snprintf(ctx, 512, "%.*s", MEND_STR_ARG(line));
  return true;
}

/* A line is the JSON view, with or without content, and keeps nothing alive. */
Test(workbench, a_recent_event_outlives_its_run) {
  static const struct {
    bool content;
    const char *has, *has_not;
  } rows[] = {{true, "\"result\":\"x\\ny\"", NULL}, {false, "\"result_preview\":\"x\\ny\"", "\"result\":"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    open_world(&w, 200, rows[i].content);
    mend_tool_after_event after = MEND_TOOL_AFTER_EVENT_INIT;
    after.event.call = 1;
    after.result = MEND_STR("\"x\\ny\"");
    cr_assert_eq(mend_run_publish(w.run, &after.event), MEND_OK);
    mend_run_release(w.run);
    w.run = NULL;
    mend_bus_stats stats = {.size = sizeof stats};
    mend_bus_get_stats(mend_workbench_bus(w.workbench), &stats);
    cr_assert_eq(stats.runs, 0u);
    char line[512] = "";
    cr_assert_eq(mend_workbench_each_recent(w.workbench, keep_line, line), 1u);
    cr_assert_eq(strncmp(line, "{\"ts\":0.0,\"seq\":1,\"topic\":\"tool.after\",\"run_id\":\"r\"", 48), 0, "%s", line);
    cr_assert_not_null(strstr(line, rows[i].has), "%s", line);
    cr_assert(rows[i].has_not == NULL || strstr(line, rows[i].has_not) == NULL, "%s", line);
    close_world(&w);
  }
}

/* Memory is gotten until the ring is full, and given back when one event was large. */
Test(workbench, recent_events_use_their_memory_again) {
  world w;
  open_world(&w, 8, true);
  static char large[65536];
  snprintf(large, sizeof large, "{\"n\":1,\"text\":\"%060000d\"}", 0);
  for (int i = 0; i < 20; i++)
    note(w.run, large);
  mend_confidence_event event = MEND_CONFIDENCE_EVENT_INIT;
  for (int i = 0; i < 20; i++)
    mend_run_publish(w.run, &event.event);
  const size_t calls = atomic_load(&w.memory.calls), blocks = atomic_load(&w.memory.blocks);
  for (int i = 0; i < 1000; i++)
    mend_run_publish(w.run, &event.event);
  cr_assert_eq(atomic_load(&w.memory.calls), calls);
  cr_assert_eq(atomic_load(&w.memory.blocks), blocks);
  close_world(&w);
}

/* ---- Runners ---- */

static mend_status echo(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, mend_call_args(call));
}

static mend_tools *new_tools(world *w) {
  static const mend_tool tool = {.size = sizeof tool, .name = "echo", .execute = echo};
  mend_tools *tools;
  cr_assert_eq(mend_tools_new(&w->memory.base, &tools), MEND_OK);
  cr_assert_eq(mend_tools_add(tools, &tool, NULL, NULL), MEND_OK);
  return tools;
}

/* Calls the same thing until the run is aborted. */
static int call_in_a_loop(mend_healing_runner *runner) {
  int calls = 0;
  MEND_HEALING_SCOPE(runner, NULL) {
    mend_result result = MEND_RESULT_INIT;
    while (calls < 10 && mend_boundary_call(mend_healing_boundary(runner), MEND_STR("echo"), MEND_STR("{}"), NULL,
                                            &result) == MEND_OK)
      calls++;
    mend_result_clear(&result);
  }
  return calls;
}

Test(workbench, runners_share_its_bus_and_loop) {
  world w;
  open_world(&w, 200, false);
  const size_t threads = mend_test_threads();
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.tools = new_tools(&w);
  mend_healing_runner *one, *two;
  cr_assert_eq(mend_workbench_with_healing(w.workbench, &options, &one, NULL), MEND_OK);
  cr_assert_eq(mend_workbench_with_healing(w.workbench, &options, &two, NULL), MEND_OK);
  cr_assert_eq(mend_healing_enter(two, NULL, NULL), MEND_OK);
  cr_assert_eq(call_in_a_loop(one), 3);
  cr_assert_eq(mend_test_threads(), threads, "no loop but the workbench's");
  cr_assert(!mend_run_is_aborted(mend_healing_current_run(two)));
  mend_tracer_stats stats = {.size = sizeof stats};
  mend_tracer_get_stats(mend_workbench_tracer(w.workbench), &stats);
  cr_assert_eq(stats.finished, 5u, "the first with its calls, the aborted one included");
  cr_assert_eq(stats.open, 1u, "the other one");
  char last[512] = "";
  mend_workbench_each_recent(w.workbench, keep_line, last);
  cr_assert_not_null(strstr(last, "run.finished"), "%s", last);
  cr_assert_eq(mend_healing_exit(two, NULL), MEND_OK);
  mend_healing_runner_release(one);
  mend_healing_runner_release(two);
  mend_tools_release(options.tools);
  close_world(&w);
}

/* What is made from a workbench may outlive it. */
Test(workbench, a_runner_outlives_it) {
  world w;
  open_world(&w, 200, false);
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.tools = new_tools(&w);
  mend_healing_runner *runner;
  cr_assert_eq(mend_workbench_with_healing(w.workbench, &options, &runner, NULL), MEND_OK);
  mend_workbench *again = mend_workbench_retain(w.workbench);
  mend_workbench_release(again);
  mend_workbench_release(w.workbench);
  w.workbench = NULL;
  cr_assert_eq(call_in_a_loop(runner), 3);
  mend_healing_runner_release(runner);
  mend_tools_release(options.tools);
  close_world(&w);
}

/* ---- What is refused ---- */

typedef struct foreign {
  mend_bus *bus;
  mend_loop *loop;
} foreign;

static void want_healing(world *w, const mend_healing_options *options, mend_status want, const char *sentence) {
  mend_healing_runner *runner = NULL;
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_workbench_with_healing(w->workbench, options, &runner, &error), want, "%s", error.message);
  cr_assert_not_null(strstr(error.message, sentence), "%s", error.message);
  mend_healing_runner_release(runner);
}

Test(workbench, options_of_runners) {
  world w;
  open_world(&w, 0, false);
  foreign other;
  cr_assert_eq(mend_bus_new(NULL, &other.bus, NULL), MEND_OK);
  cr_assert_eq(mend_loop_new(NULL, &other.loop, NULL), MEND_OK);
  mend_options models = MEND_OPTIONS_INIT;
  models.fallback.models = MEND_STR("[\"openai:gpt-4.1\"]");
  const struct {
    mend_bus *bus;
    mend_loop *loop;
    const mend_options *config;
    size_t size;
    mend_status want;
    const char *sentence;
  } rows[] = {
      {NULL, NULL, NULL, sizeof(mend_healing_options), MEND_OK, ""},
      {mend_workbench_bus(w.workbench), mend_workbench_loop(w.workbench), NULL, sizeof(mend_healing_options), MEND_OK,
       ""},
      {other.bus, NULL, NULL, sizeof(mend_healing_options), MEND_EINVAL, "mend_healing_options.bus"},
      {NULL, other.loop, NULL, sizeof(mend_healing_options), MEND_EINVAL, "mend_healing_options.loop"},
      {NULL, NULL, NULL, 0, MEND_EINVAL, "size is 0"},
      {NULL, NULL, &models, sizeof(mend_healing_options), MEND_EINVAL, "fallback.models"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    options.size = rows[i].size;
    options.bus = rows[i].bus;
    options.loop = rows[i].loop;
    options.config = rows[i].config;
    want_healing(&w, &options, rows[i].want, rows[i].sentence);
  }
  want_healing(&w, NULL, MEND_OK, "");
  want_healing(&(world){.workbench = NULL}, NULL, MEND_EINVAL, "the workbench is NULL");
  mend_loop_release(other.loop);
  mend_bus_release(other.bus);
  close_world(&w);
}

Test(workbench, options_that_cannot_be) {
  mend_bus_options bus = MEND_BUS_OPTIONS_INIT;
  mend_tracer_options tracer = MEND_TRACER_OPTIONS_INIT;
  bus.nesting_limit = 0;
  tracer.open_limit = 0;
  const struct {
    const mend_bus_options *bus;
    const mend_tracer_options *tracer;
    uint32_t recent_events;
    const char *sentence;
  } rows[] = {{&bus, NULL, 200, "nesting_limit"},
              {NULL, &tracer, 200, "mend_tracer_options.open_limit: 0"},
              {NULL, NULL, (1u << 20) + 1, "recent_events: 1048577"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend_workbench_options options = MEND_WORKBENCH_OPTIONS_INIT;
    options.bus = rows[i].bus;
    options.tracer = rows[i].tracer;
    options.recent_events = rows[i].recent_events;
    mend_workbench *workbench = NULL;
    mend_error error = MEND_ERROR_INIT;
    cr_assert_eq(mend_workbench_new(&options, &workbench, &error), MEND_EINVAL);
    cr_assert_not_null(strstr(error.message, rows[i].sentence), "%s", error.message);
    cr_assert_null(workbench);
  }
  mend_workbench_release(NULL);
}

/* ---- Its loop ---- */

static void leave_dispatch(void *ctx) { event_base_loopexit(ctx, NULL); }

Test(workbench, its_loop_may_be_in_the_callers_base) {
  struct event_base *base = event_base_new();
  const size_t threads = mend_test_threads();
  mend_workbench_options options = MEND_WORKBENCH_OPTIONS_INIT;
  options.base = base;
  mend_workbench *workbench;
  cr_assert_eq(mend_workbench_new(&options, &workbench, NULL), MEND_OK);
  cr_assert_eq(mend_test_threads(), threads);
  cr_assert_eq(mend_loop_post(mend_workbench_loop(workbench), leave_dispatch, base), MEND_OK);
  cr_assert_eq(event_base_dispatch(base), 0, "the loop runs there");
  mend_workbench_release(workbench);
  event_base_free(base);
}

/* Released by a subscriber of its own bus, which is then publishing. */
static mend_status release_it(void *ctx, const mend_event *event) {
  (void)event;
  world *w = ctx;
  mend_workbench_release(w->workbench);
  w->workbench = NULL;
  return MEND_OK;
}

Test(workbench, a_subscriber_may_release_it) {
  world w;
  open_world(&w, 200, false);
  cr_assert_eq(mend_bus_subscribe(mend_workbench_bus(w.workbench), "note", release_it, &w, NULL, NULL, NULL), MEND_OK);
  note(w.run, "{}");
  cr_assert_null(w.workbench);
  close_world(&w);
}

/* ---- Out of memory at every point ---- */

static mend_status scenario(world *w) {
  const mend_bus_options bus = bus_options(w);
  mend_workbench_options options = MEND_WORKBENCH_OPTIONS_INIT;
  options.bus = &bus;
  mend_workbench *workbench;
  mend_status status = mend_workbench_new(&options, &workbench, NULL);
  if (status != MEND_OK) return status;
  mend_run *run;
  mend_healing_runner *runner;
  status = mend_run_new(mend_workbench_bus(workbench), NULL, &run, NULL);
  if (status == MEND_OK) {
    mend_confidence_event event = MEND_CONFIDENCE_EVENT_INIT;
    status = mend_run_publish(run, &event.event);
    char line[512];
    if (mend_workbench_each_recent(workbench, keep_line, line) != 1) status = MEND_ENOMEM;
    mend_run_release(run);
  }
  const mend_status made = mend_workbench_with_healing(workbench, NULL, &runner, NULL);
  if (made == MEND_OK) mend_healing_runner_release(runner);
  mend_workbench_release(workbench);
  return status != MEND_OK ? status : made;
}

Test(workbench, out_of_memory_at_every_point) {
  for (int after = 0; after < 2; after++) {
    for (size_t n = 1;; n++) {
      world w = {.clock = NULL};
      mend_test_allocator_init(&w.memory);
      cr_assert_eq(mend_clock_new_virtual(&w.memory.base, (mend_time){0, 0}, &w.clock), MEND_OK);
      mend_test_allocator_arm(&w.memory, n, after == 1);
      const mend_status status = scenario(&w);
      const bool failed = mend_test_allocator_failed(&w.memory);
      mend_test_allocator_arm(&w.memory, 0, false);
      cr_assert(status == MEND_OK || (failed && status == MEND_ENOMEM), "point %zu: %s", n, mend_status_name(status));
      cr_assert(status == MEND_ENOMEM || !failed || after == 0, "point %zu and all later ones", n);
      mend_clock_release(w.clock);
      cr_assert_eq(atomic_load(&w.memory.blocks), 0u, "point %zu", n);
      if (failed) continue;
      cr_assert(n > 30, "only %zu points", n);
      break;
    }
  }
}

/* ---- Threads ---- */

enum { THREADS = 4, ROUNDS = 2000 };

static void *publish_many(void *ctx) {
  for (int i = 0; i < ROUNDS; i++) {
    mend_confidence_event event = MEND_CONFIDENCE_EVENT_INIT;
    mend_run_publish(ctx, &event.event);
  }
  return NULL;
}

static bool is_whole(void *ctx, mend_str line) {
  (void)ctx;
  return line.len > 2 && line.ptr[0] == '{' && line.ptr[line.len - 1] == '}';
}

Test(workbench, threads) {
  world w;
  open_world(&w, 10, false);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, publish_many, w.run), 0);
  for (int i = 0; i < 200; i++)
    cr_assert(mend_workbench_each_recent(w.workbench, is_whole, NULL) <= 10);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  cr_assert_eq(mend_workbench_each_recent(w.workbench, is_whole, NULL), 10u);
  close_world(&w);
}

/* Many runners at once: each makes, enters, works, leaves and lets go, and none of it is seen by another one's run. */
enum { RUNNERS = 25 };

typedef struct maker {
  pthread_t thread;
  mend_workbench *workbench;
  mend_tools *tools;
  unsigned aborted; /* after three calls */
} maker;

static void *make_many(void *ctx) {
  maker *self = ctx;
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.tools = self->tools;
  for (int i = 0; i < RUNNERS; i++) {
    mend_healing_runner *runner = NULL;
    if (mend_workbench_with_healing(self->workbench, &options, &runner, NULL) != MEND_OK) break;
    self->aborted += call_in_a_loop(runner) == 3;
    mend_healing_runner_release(runner);
  }
  return NULL;
}

Test(workbench, runners_are_made_by_threads) {
  world w;
  open_world(&w, 200, false);
  const size_t files = mend_test_open_files();
  maker makers[THREADS];
  mend_tools *tools = new_tools(&w);
  for (int i = 0; i < THREADS; i++) {
    makers[i] = (maker){.workbench = w.workbench, .tools = tools};
    cr_assert_eq(pthread_create(&makers[i].thread, NULL, make_many, &makers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(makers[i].thread, NULL);
    cr_assert_eq(makers[i].aborted, (unsigned)RUNNERS, "%u", makers[i].aborted);
  }
  mend_tracer_stats stats = {.size = sizeof stats};
  mend_tracer_get_stats(mend_workbench_tracer(w.workbench), &stats);
  cr_assert_eq(stats.finished, 5u * THREADS * RUNNERS, "each run with its calls, the aborted one included");
  cr_assert_eq(stats.open, 0u);
  cr_assert_eq(stats.untraced, 0u);
  cr_assert_eq(mend_test_open_files(), files, "no loop but the workbench's");
  mend_tools_release(tools);
  close_world(&w);
}

/* The hook: what it publishes, and that only one of them publishes for a run. */
#include "cases.h"
#include "metacognition/room.h"
#include "world.h"

#include <pthread.h>

/* ---- What is published: tests/data/metacognition/published.cases ---- */

static void published_case(void *ctx, const char *title, mend_str given, mend_str expected) {
  (void)ctx;
  world w;
  world_open(&w);
  mend_hooks *hooks = world_hooks(&w);
  mend_boundary *boundary = world_boundary(w.run, hooks);
  cr_assert_eq(call_echo(boundary, given), MEND_OK, "%s", title);
  char line[1024];
  snprintf(line, sizeof line, "%s\n", expected.ptr);
  cr_assert_str_eq(w.log, strcmp(expected.ptr, "nothing") == 0 ? "" : line, "%s: %s", title, w.log);
  mend_boundary_release(boundary);
  mend_hooks_release(hooks);
  world_close(&w);
}

Test(metacognition_hook, what_is_published) { each_case("metacognition/published.cases", published_case, NULL); }

#define READING "{\"output\":1,\"confidence\":0.5,\"protocol_name\":\"p\"}"

Test(metacognition_hook, for_a_call_with_a_name_a_source_and_attempts) {
  world w;
  world_open(&w);
  mend_hooks *hooks = NULL;
  mend_metacognition_hook_options options = MEND_METACOGNITION_HOOK_OPTIONS_INIT;
  char source[] = "the critic";
  options.source = source;
  cr_assert_eq(mend_hooks_new(&w.memory.base, &hooks), MEND_OK);
  cr_assert_eq(mend_hooks_add_metacognition(hooks, &options, NULL), MEND_OK);
  source[0] = '\0';
  mend_hook_call call = {.size = sizeof call,
                         .run = w.run,
                         .call_name = MEND_STR("toolu_01"),
                         .attempt = 2,
                         .tool_name = MEND_STR("t"),
                         .result = MEND_STR(READING),
                         .duration_ms = 12.5};
  mend_decision *decision;
  cr_assert_eq(mend_decision_new(&w.memory.base, &decision), MEND_OK);
  cr_assert_eq(mend_hooks_after(hooks, &call, decision, NULL), MEND_OK);
  cr_assert_eq(mend_decision_get_kind(decision), MEND_DECISION_CONTINUE);
  cr_assert_str_eq(w.log, "t 0.5  \"\" by p, the critic says r/toolu_01/2, attempt 2, 12.5 ms\n");
  call.run = NULL;
  cr_assert_eq(mend_hooks_after(hooks, &call, decision, NULL), MEND_OK, "without a run it is silent");
  call.run = w.run;
  call.result = MEND_STR("no JSON");
  cr_assert_eq(mend_hooks_after(hooks, &call, decision, NULL), MEND_OK);
  call.result = (mend_str)MEND_ABSENT;
  cr_assert_eq(mend_hooks_after(hooks, &call, decision, NULL), MEND_OK);
  cr_assert_eq(strchr(w.log, '\n') + 1, w.log + w.log_len, "%s", w.log);
  mend_decision_free(decision);
  mend_hooks_release(hooks);
  world_close(&w);
}

Test(metacognition_hook, with_megabytes_and_nothing_to_say_nothing_is_published) {
  world w;
  world_open(&w);
  mend_hooks *hooks = world_hooks(&w);
  mend_boundary *boundary = world_boundary(w.run, hooks);
  static const char begin[] = "{\"protocol_name\":\"p\",\"confidence\":0.5,\"output\":\"", end[] = "\"}";
  const size_t len = (size_t)1 << 20;
  char *args = malloc(len + sizeof begin + sizeof end);
  cr_assert_not_null(args);
  char *place = stpcpy(args, begin);
  memset(place, 'x', len);
  strcpy(place + len, end);
  cr_assert_eq(call_echo(boundary, mend_str_from(args)), MEND_OK);
  cr_assert_str_eq(w.log, "echo 0.5  \"\" by p, metacognition says r/1/1, attempt 1, 0 ms\n");
  args[2] = 'P';
  cr_assert_eq(call_echo(boundary, mend_str_from(args)), MEND_OK);
  cr_assert_eq(strchr(w.log, '\n') + 1, w.log + w.log_len, "%s", w.log);
  free(args);
  mend_boundary_release(boundary);
  mend_hooks_release(hooks);
  world_close(&w);
}

/* ---- Only one for a run ---- */

Test(metacognition_hook, what_is_refused_when_it_is_added) {
  world w;
  world_open(&w);
  mend_error error = MEND_ERROR_INIT;
  mend_metacognition_hook_options options = MEND_METACOGNITION_HOOK_OPTIONS_INIT;
  mend_hooks *hooks = NULL;
  cr_assert(!mend__hooks_publish_confidence(NULL));
  cr_assert_eq(mend_hooks_new(&w.memory.base, &hooks), MEND_OK);
  cr_assert_eq(mend_hooks_add_metacognition(NULL, NULL, &error), MEND_EINVAL);
  cr_assert_str_eq(error.message, "hooks: NULL, expected some");
  options.source = "";
  cr_assert_eq(mend_hooks_add_metacognition(hooks, &options, &error), MEND_EINVAL);
  cr_assert_str_eq(error.message, "mend_metacognition_hook_options.source: none, expected a name");
  options.size = 0;
  cr_assert_eq(mend_hooks_add_metacognition(hooks, &options, &error), MEND_EINVAL);
  cr_assert(!mend__hooks_publish_confidence(hooks));
  cr_assert_eq(mend_hooks_add_metacognition(hooks, NULL, &error), MEND_OK);
  cr_assert(mend__hooks_publish_confidence(hooks));
  cr_assert_eq(mend_hooks_add_metacognition(hooks, NULL, &error), MEND_EEXIST);
  cr_assert_str_eq(error.message, "the metacognition hook is there already, every reading would count twice");
  mend_hooks_release(hooks);
  world_close(&w);
}

static mend_status publish_from_outside(mend_hooks *hooks, mend_run *run) {
  mend_hook_call call = {
      .size = sizeof call, .run = run, .call = 7, .tool_name = MEND_STR("t"), .result = MEND_STR(READING)};
  mend_decision *decision;
  cr_assert_eq(mend_decision_new(NULL, &decision), MEND_OK);
  const mend_status status = mend_hooks_after(hooks, &call, decision, NULL);
  mend_decision_free(decision);
  return status;
}

/* What two hooks, A and B, do one after the other: words of what is done, and after each line what must have been
 * logged.
 *   <hook> attach|refused|detach   a boundary of the run is made, cannot be made, is gone
 *   <hook> call                    a call through it
 *   <hook> outside                 a foreign runner asks the hook about a call
 *   <hook> gone                    its hooks are released, and made anew */
static const struct {
  const char *title;
  const char *steps[9];
} claims[] = {
    {"another boundary of the run", {"A attach", "B refused", "A call ok", "A detach", "B attach", "B call ok"}},
    {"the same hooks serve several boundaries of a run",
     {"A attach", "A attach", "A call ok", "A detach", "B refused", "A call ok", "A detach", "B attach"}},
    {"a foreign runner beside a boundary", {"A attach", "B outside failed", "A call ok", "A outside ok"}},
    {"a foreign runner after a boundary", {"A attach", "A detach", "B outside ok", "A outside failed"}},
    {"two foreign runners", {"A outside ok", "B outside failed", "A outside ok", "B outside failed"}},
    {"a boundary beside a foreign runner",
     {"A outside ok", "B refused", "A attach", "A call ok", "A detach", "B attach"}},
    {"a foreign runner that is gone", {"A outside ok", "B refused", "A gone", "B attach", "B call ok", "A refused"}},
    {"gone, and a foreign runner takes over", {"A outside ok", "A gone", "B outside ok", "A outside failed"}},
};

typedef struct claimant {
  mend_hooks *hooks;
  mend_boundary *boundaries[2];
  size_t count;
} claimant;

static void expect_logged(world *w, const char *step, bool ok) {
  const char *expected = ok ? "says r/" : "metacognition failed: MEND_EEXIST: ";
  cr_assert_not_null(strstr(w->log, expected), "%s: %s", step, w->log);
  cr_assert_eq(strchr(w->log, '\n') + 1, w->log + w->log_len, "%s: %s", step, w->log);
  w->log[w->log_len = 0] = '\0';
}

static void expect_attached(world *w, claimant *self, const char *step, bool ok) {
  mend_error error = MEND_ERROR_INIT;
  mend_boundary *boundary = NULL;
  const mend_status status = world_try_boundary(w->run, self->hooks, &boundary, &error);
  cr_assert_eq(status, ok ? MEND_OK : MEND_EEXIST, "%s: %s", step, error.message);
  if (ok) self->boundaries[self->count++] = boundary;
  if (!ok) {
    cr_assert_str_eq(
        error.message,
        "hook metacognition: run r: another metacognition hook publishes its confidence, every reading would "
        "count twice");
  }
}

static void take_step(world *w, claimant *self, const char *step) {
  const char *what = step + 2;
  if (strcmp(what, "attach") == 0) expect_attached(w, self, step, true);
  if (strcmp(what, "refused") == 0) expect_attached(w, self, step, false);
  if (strcmp(what, "detach") == 0) mend_boundary_release(self->boundaries[--self->count]);
  if (strncmp(what, "call", 4) == 0) call_echo(self->boundaries[0], MEND_STR(READING));
  if (strncmp(what, "outside", 7) == 0) publish_from_outside(self->hooks, w->run);
  if (strchr(what, ' ') != NULL) expect_logged(w, step, strcmp(strchr(what, ' '), " ok") == 0);
  if (strcmp(what, "gone") == 0) {
    mend_hooks_release(self->hooks);
    self->hooks = world_hooks(w);
  }
}

Test(metacognition_hook, only_one_publishes_for_a_run) {
  for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
    world w;
    world_open(&w);
    claimant hooks[2] = {{world_hooks(&w), {NULL}, 0}, {world_hooks(&w), {NULL}, 0}};
    mend_run *other = world_run(&w, "other");
    for (size_t step = 0; claims[i].steps[step] != NULL; step++) {
      const char *line = claims[i].steps[step];
      take_step(&w, &hooks[line[0] - 'A'], line);
    }
    mend_boundary *boundary = world_boundary(other, hooks[1].hooks);
    mend_boundary_release(boundary);
    for (size_t h = 0; h < 2; h++) {
      while (hooks[h].count > 0)
        mend_boundary_release(hooks[h].boundaries[--hooks[h].count]);
      mend_hooks_release(hooks[h].hooks);
    }
    mend_run_release(other);
    world_close(&w);
  }
}

/* ---- What a call passes on of a call within it is read once ---- */

static const struct {
  const char *title;
  bool says_within, is_named, changes;
  size_t readings;
} wrappings[] = {
    {"passed on", true, false, false, 1},
    {"passed on, by calls with names", true, true, false, 1},
    {"changed", true, false, true, 2},
    {"nobody knows that it is within", false, false, false, 2},
};

typedef struct wrapper {
  mend_boundary *boundary;
  size_t row;
} wrapper;

static mend_status wrap(void *ctx, mend_call *call) {
  const wrapper *self = ctx;
  const mend_tool echo = {.size = sizeof echo, .name = "echo", .execute = give_args};
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  options.tool = &echo;
  if (wrappings[self->row].says_within) options.within = call;
  if (wrappings[self->row].is_named) options.call_name = MEND_STR("inner");
  mend_result result = MEND_RESULT_INIT;
  cr_assert_eq(mend_boundary_call(self->boundary, MEND_STR("echo"), MEND_STR(READING), &options, &result), MEND_OK);
  const mend_str changed = MEND_STR("{\"output\":[1],\"confidence\":0.5,\"protocol_name\":\"p\"}");
  const mend_status status = mend_call_succeed(call, wrappings[self->row].changes ? changed : result.value);
  mend_result_clear(&result);
  return status;
}

static size_t count_lines(const char *text) {
  size_t count = 0;
  while ((text = strchr(text, '\n')) != NULL) {
    text++;
    count++;
  }
  return count;
}

Test(metacognition_hook, what_is_passed_on_is_read_once) {
  world w;
  world_open(&w);
  mend_hooks *hooks = world_hooks(&w);
  wrapper self = {world_boundary(w.run, hooks), 0};
  const mend_tool tool = {.size = sizeof tool, .name = "wrap", .execute = wrap};
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  options.tool = &tool;
  options.tool_ctx = &self;
  for (; self.row < sizeof wrappings / sizeof wrappings[0]; self.row++) {
    mend_result result = MEND_RESULT_INIT;
    w.log[w.log_len = 0] = '\0';
    options.call_name = wrappings[self.row].is_named ? MEND_STR("outer") : (mend_str)MEND_ABSENT;
    cr_assert_eq(mend_boundary_call(self.boundary, MEND_STR("wrap"), (mend_str)MEND_ABSENT, &options, &result),
                 MEND_OK);
    cr_assert_eq(count_lines(w.log), wrappings[self.row].readings, "%s: %s", wrappings[self.row].title, w.log);
    mend_result_clear(&result);
  }
  mend_boundary_release(self.boundary);
  mend_hooks_release(hooks);
  world_close(&w);
}

/* ---- Nothing to publish: regression has nothing to say ---- */

Test(metacognition_hook, without_confidence_regression_finds_nothing) {
  static const char *const results[] = {"{\"self_confidence\":0.1}", "{\"output\":1,\"confidence\":0.1}",
                                        "{\"output\":1,\"confidence\":\"0.1\",\"protocol_name\":\"p\"}"};
  world w;
  world_open(&w);
  mend_options config = MEND_OPTIONS_INIT;
  config.regression.enable = true;
  config.regression.window_n = 2;
  config.loop.enable = config.stall.enable = false;
  cr_assert_eq(mend_bus_watch(w.bus, &config, NULL), MEND_OK);
  mend_hooks *hooks = world_hooks(&w);
  mend_boundary *boundary = world_boundary(w.run, hooks);
  cr_assert_eq(call_echo(boundary, MEND_STR("{\"output\":1,\"confidence\":1,\"protocol_name\":\"p\"}")), MEND_OK);
  w.log[w.log_len = 0] = '\0';
  for (size_t i = 0; i < 30; i++)
    cr_assert_eq(call_echo(boundary, mend_str_from(results[i % 3])), MEND_OK);
  cr_assert_str_eq(w.log, "");
  cr_assert_eq(call_echo(boundary, MEND_STR("{\"output\":1,\"confidence\":0.1,\"protocol_name\":\"p\"}")), MEND_OK);
  cr_assert_not_null(strstr(w.log, "regression: confidence fell from 1 to 0.1"), "%s", w.log);
  mend_boundary_release(boundary);
  mend_hooks_release(hooks);
  world_close(&w);
}

/* ---- Threads ---- */

enum { THREADS = 4, ROUNDS = 200 };

typedef struct racer {
  pthread_t thread;
  mend_run *run;
  mend_hooks *hooks;
  atomic_uint *inside; /* boundaries of several hooks there are at once */
  unsigned attached, refused;
} racer;

static void *race(void *ctx) {
  racer *self = ctx;
  for (int i = 0; i < ROUNDS; i++) {
    mend_boundary *boundary = NULL;
    const mend_status status = world_try_boundary(self->run, self->hooks, &boundary, NULL);
    if (status == MEND_EEXIST) self->refused++;
    if (status != MEND_OK) continue;
    if (atomic_fetch_add(self->inside, 1) > 0) break;
    self->attached++;
    call_echo(boundary, MEND_STR(READING));
    atomic_fetch_sub(self->inside, 1);
    mend_boundary_release(boundary);
  }
  return NULL;
}

static mend_status count_events(void *ctx, const mend_event *event) {
  (void)event;
  atomic_fetch_add((atomic_uint *)ctx, 1);
  return MEND_OK;
}

Test(metacognition_hook, threads_race_for_a_run) {
  mend_bus *bus;
  mend_run *run;
  racer racers[THREADS];
  atomic_uint inside, readings;
  atomic_init(&inside, 0);
  atomic_init(&readings, 0);
  cr_assert_eq(mend_bus_new(NULL, &bus, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(bus, NULL, &run, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(bus, "metacognition.confidence", count_events, &readings, NULL, NULL, NULL), MEND_OK);
  for (int i = 0; i < THREADS; i++) {
    racers[i] = (racer){.run = run, .inside = &inside};
    cr_assert_eq(mend_hooks_new(NULL, &racers[i].hooks), MEND_OK);
    cr_assert_eq(mend_hooks_add_metacognition(racers[i].hooks, NULL, NULL), MEND_OK);
    cr_assert_eq(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
  }
  unsigned attached = 0, tried = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_join(racers[i].thread, NULL);
    attached += racers[i].attached;
    tried += racers[i].attached + racers[i].refused;
    mend_hooks_release(racers[i].hooks);
  }
  cr_assert_eq(tried, (unsigned)THREADS * ROUNDS, "two were inside at once");
  cr_assert_eq(atomic_load(&readings), attached);
  mend_run_release(run);
  mend_bus_release(bus);
}

/* ---- Torture ---- */

static mend_status live(world *w) {
  mend_hooks *hooks = NULL;
  mend_boundary *boundary = NULL;
  mend_status status = mend_hooks_new(&w->memory.base, &hooks);
  if (status == MEND_OK) status = mend_hooks_add_metacognition(hooks, NULL, NULL);
  if (status == MEND_OK) status = world_try_boundary(w->run, hooks, &boundary, NULL);
  if (status == MEND_OK) {
    call_echo(boundary,
              MEND_STR("{\"output\":1,\"confidence\":0.5,\"protocol_name\":\"p\",\"uncertainty_targets\":\"a\"}"));
    publish_from_outside(hooks, w->run);
  }
  mend_boundary_release(boundary);
  mend_hooks_release(hooks);
  return status;
}

static void torture(bool fail_after) {
  world w;
  mend_test_allocator_init(&w.memory);
  size_t fail_at = 1;
  for (bool failed = true; failed; fail_at++) {
    mend_test_allocator_arm(&w.memory, fail_at, fail_after);
    mend_status status = world_try_open(&w);
    if (status == MEND_OK) status = live(&w);
    failed = mend_test_allocator_failed(&w.memory);
    cr_assert(status == MEND_OK || (failed && status == MEND_ENOMEM), "allocation %zu: %s", fail_at,
              mend_status_name(status));
    cr_assert(failed || strstr(w.log, "failed") == NULL, "%s", w.log);
    mend_test_allocator_arm(&w.memory, 0, false);
    world_close(&w);
  }
  cr_assert(fail_at > 20, "%zu", fail_at);
}

Test(metacognition_hook, torture) {
  torture(false);
  torture(true);
}

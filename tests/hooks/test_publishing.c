#include "hook_world.h"

#include "mend/watchdogs.h"

/* ---- A foreign runner: what its hooks publish, as the JSON view shows it ---- */

typedef struct transcript {
  hook_world world;
  mend_hooks *hooks;
  mend__buffer text;
  bool content;
} transcript;

static mend_status write_down(void *ctx, const mend_event *event) {
  transcript *self = ctx;
  if (event->kind == MEND_EVENT_TOOL_BEFORE) {
    const mend_tool_before_event *before = (const mend_tool_before_event *)event;
    if (mend_hash_is_none(before->args_hash) != (before->args.ptr == NULL)) return MEND_EINVAL;
  }
  mend_json_view_options view = MEND_JSON_VIEW_OPTIONS_INIT;
  view.content = self->content;
  char *json;
  const mend_status status = mend_event_to_json(event, &view, NULL, &json, NULL);
  if (status != MEND_OK) return status;
  mend__buffer_str(&self->text, mend_str_from(json));
  mend__buffer_char(&self->text, '\n');
  mend_free(NULL, json);
  return MEND_OK;
}

static mend_status (*const phases[])(mend_hooks *, const mend_hook_call *, mend_decision *, mend_str *) = {
    [MEND__PHASE_BEFORE] = mend_hooks_before,
    [MEND__PHASE_AFTER] = mend_hooks_after,
    [MEND__PHASE_ON_ERROR] = mend_hooks_on_error,
};

#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define LONG LETTERS LETTERS LETTERS LETTERS LETTERS

static const struct {
  mend__phase phase;
  uint64_t call;
  const char *call_name, *tool, *args;
  uint32_t attempt;
  const char *result, *error_type, *error_message;
  double duration_ms;
} rows[] = {
    {MEND__PHASE_BEFORE, 1, NULL, "search", "{\"q\": \"rain\", \"n\": 1.50}", 1, NULL, NULL, NULL, 0},
    {MEND__PHASE_ON_ERROR, 1, NULL, "search", "{\"q\":\"rain\"}", 1, NULL, "timeout", "no answer", 2.5},
    {MEND__PHASE_BEFORE, 1, NULL, "search", "{\"n\":1.5,\"q\":\"rain\"}", 2, NULL, NULL, NULL, 0},
    {MEND__PHASE_AFTER, 1, NULL, "search", "{\"n\":1.5,\"q\":\"rain\"}", 2, "{\"hits\": 3}", NULL, NULL, 12.25},
    {MEND__PHASE_BEFORE, 0, "toolu_01", "read", NULL, 0, NULL, NULL, NULL, 0},
    {MEND__PHASE_AFTER, 0, "toolu_01", "read", NULL, 0, "\"" LONG LONG LONG LONG "\"", NULL, NULL, 0},
    {MEND__PHASE_BEFORE, 3, NULL, "write", "{\"text\":\"" LONG "\"}", 1, NULL, NULL, NULL, 0},
    {MEND__PHASE_ON_ERROR, 3, NULL, "write", NULL, 1, NULL, NULL, NULL, 1},
    {MEND__PHASE_BEFORE, 4, NULL, "odd", "no json", 1, NULL, NULL, NULL, 0},
};

static void call_row(transcript *self, size_t i) {
  const mend_hook_call call = {
      .size = sizeof call,
      .run = self->world.run,
      .call = rows[i].call,
      .call_name = mend_str_from(rows[i].call_name),
      .attempt = rows[i].attempt,
      .tool_name = mend_str_from(rows[i].tool),
      .args = mend_str_from(rows[i].args),
      .result = mend_str_from(rows[i].result),
      .error_type = mend_str_from(rows[i].error_type),
      .error_message = mend_str_from(rows[i].error_message),
      .duration_ms = rows[i].duration_ms,
  };
  mend_decision decision;
  mend_str hook;
  mend__decision_init(&decision, NULL);
  cr_assert_eq(phases[rows[i].phase](self->hooks, &call, &decision, &hook), MEND_OK, "row %zu", i);
  cr_assert_eq(mend_decision_get_kind(&decision), MEND_DECISION_CONTINUE);
  cr_assert(text_is(hook, NULL));
}

Test(publishing, events) {
  static const char *const files[] = {"hooks/published_previews.jsonl", "hooks/published.jsonl"};
  for (int content = 0; content < 2; content++) {
    transcript self = {.content = content != 0};
    hook_world_open(&self.world);
    mend__buffer_init(&self.text, NULL);
    cr_assert_eq(mend_bus_subscribe(self.world.bus, "*", write_down, &self, NULL, NULL, NULL), MEND_OK);
    cr_assert_eq(mend_hooks_new(&self.world.memory.base, &self.hooks), MEND_OK);
    cr_assert(!mend__hooks_publish(self.hooks));
    cr_assert_eq(mend_hooks_add_publishing(self.hooks, NULL), MEND_OK);
    cr_assert(mend__hooks_publish(self.hooks));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
      call_row(&self, i);
    mend__buffer_char(&self.text, '\0');
    char *expected = mend_test_read(files[content], NULL);
    cr_assert_str_eq(self.text.data, expected, "%s:\n%s", files[content], self.text.data);
    free(expected);
    mend__buffer_free(&self.text);
    mend_hooks_release(self.hooks);
    hook_world_close(&self.world);
  }
}

/* ---- The hook among others ---- */

static mend_status abort_call(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  (void)call;
  return mend_decision_abort(decision, MEND_STR("no"));
}

static mend_status count(void *ctx, const mend_event *event) {
  (void)event;
  ++*(unsigned *)ctx;
  return MEND_OK;
}

static mend_status ask_again(void *ctx, const mend_event *event) {
  mend_decision decision;
  mend__decision_init(&decision, NULL);
  const mend_hook_call call = {.size = sizeof call, .run = event->run, .tool_name = MEND_STR("nested")};
  const mend_status status = mend_hooks_before(ctx, &call, &decision, NULL);
  mend__decision_clear(&decision);
  return status == MEND_ABORTED ? MEND_OK : status;
}

Test(publishing, among_other_hooks) {
  hook_world world;
  hook_world_open(&world);
  mend_hooks *hooks;
  cr_assert_eq(mend_hooks_new(&world.memory.base, &hooks), MEND_OK);
  const mend_hook aborts = {.size = sizeof aborts, .name = "aborts", .before = abort_call};
  mend_error error;
  cr_assert_eq(mend_hooks_add_publishing(hooks, &error), MEND_OK);
  cr_assert_eq(mend_hooks_add(hooks, &aborts, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_hooks_add_publishing(hooks, &error), MEND_EEXIST);
  cr_assert(strlen(error.message) > 0);

  unsigned befores = 0, failures = 0;
  cr_assert_eq(mend_bus_subscribe(world.bus, "tool.before", count, &befores, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(world.bus, "hook.failed", count, &failures, NULL, NULL, NULL), MEND_OK);
  mend_decision decision;
  mend_str hook;
  mend__decision_init(&decision, &world.memory.base);
  mend_hook_call call = {.size = sizeof call, .run = world.run, .tool_name = MEND_STR("t")};
  cr_assert_eq(mend_hooks_before(hooks, &call, &decision, &hook), MEND_ABORTED);
  cr_assert(text_is(hook, "aborts"));
  cr_assert_eq(befores, 1u);

  /* without a run it is silent */
  call.run = NULL;
  cr_assert_eq(mend_hooks_before(hooks, &call, &decision, &hook), MEND_ABORTED);
  cr_assert_eq(mend_hooks_after(hooks, &call, &decision, &hook), MEND_OK);
  cr_assert_eq(mend_hooks_on_error(hooks, &call, &decision, &hook), MEND_OK);
  cr_assert_eq(mend__publishing_hook.before(NULL, &call, &decision), MEND_OK);
  cr_assert_eq(mend__publishing_hook.after(NULL, &call, &decision), MEND_OK);
  cr_assert_eq(mend__publishing_hook.on_error(NULL, &call, &decision), MEND_OK);
  cr_assert_eq(befores, 1u);

  /* a subscriber that goes round and round is stopped by the bus, not by the stack */
  call.run = world.run;
  cr_assert_eq(mend_bus_subscribe(world.bus, "tool.before", ask_again, hooks, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_hooks_before(hooks, &call, &decision, &hook), MEND_ABORTED);
  cr_assert_eq(befores, 1u + 32u);
  mend_bus_stats stats = {.size = sizeof stats};
  mend_bus_get_stats(world.bus, &stats);
  cr_assert(stats.dropped > 0);

  mend__decision_clear(&decision);
  mend_hooks_release(hooks);
  hook_world_close(&world);
}

/* ---- Watchdogs see what a foreign runner does ---- */

Test(publishing, feeds_the_watchdogs) {
  hook_world world;
  hook_world_open(&world);
  cr_assert_eq(mend_bus_watch(world.bus, NULL, NULL), MEND_OK);
  mend_hooks *hooks;
  cr_assert_eq(mend_hooks_new(&world.memory.base, &hooks), MEND_OK);
  cr_assert_eq(mend_hooks_add_publishing(hooks, NULL), MEND_OK);
  mend_watch *watch;
  cr_assert_eq(mend_run_watch(world.run, &watch), MEND_OK);
  mend_decision decision;
  mend__decision_init(&decision, NULL);
  for (uint64_t number = 1; number <= 5; number++) {
    mend_hook_call call = {.size = sizeof call, .run = world.run, .call = number, .attempt = 1};
    call.tool_name = MEND_STR("search");
    call.args = number % 2 != 0 ? MEND_STR("{\"a\":1,\"b\":2}") : MEND_STR("{ \"b\":2, \"a\":1 }");
    call.result = MEND_STR("1");
    cr_assert_eq(mend_hooks_before(hooks, &call, &decision, NULL), MEND_OK);
    cr_assert_eq(mend_watch_count(watch), number >= 4 ? 1u : 0u, "the call that asks counts already");
    cr_assert_eq(mend_hooks_after(hooks, &call, &decision, NULL), MEND_OK);
  }
  cr_assert_eq(mend_clock_advance(world.clock, 120 * MEND_SECOND_NS), MEND_OK);
  cr_assert_eq(mend_watch_count(watch), 1u, "every call has ended, none stalls");
  mend_hooks_release(hooks);
  hook_world_close(&world);
}

/* Whichever comes first, hooks that publish and a boundary do not come together. */
Test(publishing, with_a_boundary) {
  for (int boundary_first = 0; boundary_first < 2; boundary_first++) {
    hook_world world;
    mend_hooks *hooks;
    mend_boundary *boundary = NULL;
    mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
    mend_error error = MEND_ERROR_INIT;
    hook_world_open(&world);
    cr_assert_eq(mend_hooks_new(&world.memory.base, &hooks), MEND_OK);
    options.run = world.run;
    options.hooks = hooks;
    if (boundary_first == 1) {
      cr_assert_eq(mend_boundary_new(&options, &boundary, NULL), MEND_OK);
      cr_assert_eq(mend_hooks_add_publishing(hooks, &error), MEND_EINVAL);
      cr_assert_str_eq(error.message,
                       "hook publishing: a boundary uses these hooks and publishes by itself, every event "
                       "would come twice");
    } else {
      cr_assert_eq(mend_hooks_add_publishing(hooks, NULL), MEND_OK);
      cr_assert_eq(mend_boundary_new(&options, &boundary, &error), MEND_EINVAL);
    }
    mend_boundary_release(boundary);
    mend_hooks_release(hooks);
    hook_world_close(&world);
  }
}

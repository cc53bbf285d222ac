/* What passes the boundary: tests/data/hooks_boundary, each case once and then with each of its allocations failing. */
#include "scenario.h"

static size_t play_once(const char *name, unsigned line, const char *text) {
  scenario *s = scenario_new();
  const size_t differences = play_case(s, name, line, text, true);
  free(s);
  return differences;
}

/* Once, and from there on. What is checked is in scenario_close: no block is left, each before has its end. */
static size_t play_without_memory(const char *name, unsigned line, const char *text) {
  scenario *s = scenario_new();
  for (int fail_after = 0; fail_after < 2; fail_after++) {
    size_t fail_at = 1;
    for (bool failed = true; failed; fail_at++) {
      mend_test_allocator_arm(&s->memory, fail_at, fail_after == 1);
      play_case(s, name, line, text, false);
      failed = mend_test_allocator_failed(&s->memory);
    }
    cr_assert(fail_at > 20, "%s:%u: %zu", name, line, fail_at);
  }
  free(s);
  return 0;
}

static void play_file(void *ctx, const char *name) { each_case(name, play_once, ctx); }
static void torture_file(void *ctx, const char *name) { each_case(name, play_without_memory, ctx); }

static void play_all(void (*play)(void *ctx, const char *name)) {
  case_count count = {0, 0};
  mend_test_each("hooks_boundary", ".case", play, &count);
  cr_assert(count.cases > 100, "%zu cases", count.cases);
  cr_assert_eq(count.differences, 0u, "%zu differences", count.differences);
}

Test(boundary, cases) { play_all(play_file); }

Test(boundary, each_allocation_fails) { play_all(torture_file); }

/* ---- What the words of the cases leave out ---- */

/* So many members that hashing them takes memory of its own. */
static mend_str write_many_members(char *text, size_t size) {
  size_t len = 0;
  for (unsigned i = 0; i < 80; i++)
    len += (size_t)snprintf(text + len, size - len, "%s\"%u\":%u", i > 0 ? "," : "{", i, i);
  text[len++] = '}';
  return (mend_str){text, len};
}

/* A value is never lost: either it is the result, or the call failed. */
Test(boundary, nothing_is_lost) {
  char many[2048];
  const mend_str many_members = write_many_members(many, sizeof many);
  const struct {
    const char *tool;
    mend_str args, value;
  } cases[] = {{"t ok={\"x\":1}", MEND_ABSENT, MEND_STR("{\"x\":1}")},
               {"t text=x\"y", MEND_ABSENT, MEND_STR("\"x\\\"y\"")},
               {"t args", many_members, many_members}};
  scenario *s = scenario_new();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    bool failed = true;
    for (size_t fail_at = 1; failed; fail_at++) {
      char tool[64];
      mend_result result = MEND_RESULT_INIT;
      scenario_clear(s);
      mend_test_allocator_arm(&s->memory, fail_at, false);
      if (scenario_try_open(s) == MEND_OK) {
        snprintf(tool, sizeof tool, "%s", cases[i].tool);
        add_tool(s, tool);
        if (mend_boundary_call(s->boundary, MEND_STR("t"), cases[i].args, NULL, &result) == MEND_OK) {
          cr_assert(mend_str_equal(result.value, cases[i].value), "%zu, allocation %zu", i, fail_at);
        }
      }
      failed = mend_test_allocator_failed(&s->memory);
      mend_result_clear(&result);
      scenario_close(s);
    }
  }
  free(s);
}

static mend_hash hash_of(mend_str json) {
  uint64_t scratch[256];
  return mend_json_hash(json, scratch, sizeof scratch).hash;
}

/* The fields of a call's events, copied: an event is borrowed. */
typedef struct seen_call {
  mend_tool_before_event before;
  mend_tool_after_event after;
  mend_tool_error_event error;
  mend_tool_skipped_event skipped;
  mend_tool_cancelled_event cancelled;
  unsigned names; /* events that bear the call's name */
} seen_call;

static mend_status see_call(void *ctx, const mend_event *event) {
  seen_call *seen = ctx;
  const mend_any_event *any = (const mend_any_event *)(const void *)event;
  if (mend_str_equal(event->call_name, MEND_STR("toolu_01")) && event->call == mend_call_from_name(event->call_name))
    seen->names++;
  if (event->kind == MEND_EVENT_TOOL_BEFORE) seen->before = any->tool_before;
  if (event->kind == MEND_EVENT_TOOL_AFTER) seen->after = any->tool_after;
  if (event->kind == MEND_EVENT_TOOL_ERROR) seen->error = any->tool_error;
  if (event->kind == MEND_EVENT_TOOL_SKIPPED) seen->skipped = any->tool_skipped;
  if (event->kind == MEND_EVENT_TOOL_CANCELLED) seen->cancelled = any->tool_cancelled;
  return MEND_OK;
}

static const struct {
  const char *result;
  uint64_t len; /* of a string its text's */
} values[] = {
    {"{\"x\": 1}", 8}, {"\"abc\"", 3}, {" \"abc\" ", 3}, {"\"a\\n\\u00e9\"", 4}, {"\"\"", 0}, {"[]", 2}, {"1.50", 4},
};

Test(boundary, event_fields) {
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    scenario *s = scenario_new();
    seen_call seen = {.names = 0};
    char tool[64], hook[] = "h before=redirect=b={\"y\":2}";
    mend_call_options options = MEND_CALL_OPTIONS_INIT;
    mend_result result = MEND_RESULT_INIT;
    cr_assert_eq(scenario_try_open(s), MEND_OK);
    snprintf(tool, sizeof tool, "b sleep=2;x");
    add_tool(s, tool);
    snprintf(s->parts[0].scripts[0], sizeof s->parts[0].scripts[0], "ok=%s", values[i].result);
    add_hook(s, hook);
    cr_assert_eq(mend_bus_subscribe(s->bus, "tool.*", see_call, &seen, NULL, NULL, NULL), MEND_OK);
    options.call_name = MEND_STR("toolu_01");
    const mend_str args = MEND_STR("{ \"x\" : 1 }");
    cr_assert_eq(mend_boundary_call(s->boundary, MEND_STR("a"), args, &options, &result), MEND_OK);
    cr_assert_eq(seen.names, 2u);
    cr_assert_eq(seen.before.attempt, 1u);
    cr_assert_eq(seen.after.attempt, 1u);
    cr_assert(mend_hash_equal(seen.before.args_hash, hash_of(args)));
    cr_assert(mend_hash_equal(seen.after.effective_args_hash, hash_of(MEND_STR("{\"x\":1,\"y\":2}"))));
    cr_assert(mend_hash_equal(seen.after.result_hash, hash_of(mend_str_from(values[i].result))), "%s",
              values[i].result);
    cr_assert_eq(seen.after.result_len, values[i].len, "%s: %llu", values[i].result,
                 (unsigned long long)seen.after.result_len);
    mend_result_clear(&result);
    scenario_close(s);
    free(s);
  }
}

/* From before to the terminal event, on the bus's clock; what did not run took no time. */
Test(boundary, durations) {
  scenario *s = scenario_new();
  seen_call seen = {.names = 0};
  char tools[][64] = {"a sleep=2", "b stop"};
  char hook[] = "h before=continue;continue;skip=0;call=a;continue;redirect=-={\"y\":1}";
  mend_result result = MEND_RESULT_INIT;
  const mend_str none = MEND_ABSENT;
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  add_tool(s, tools[0]);
  add_tool(s, tools[1]);
  add_hook(s, hook);
  cr_assert_eq(mend_bus_subscribe(s->bus, "tool.*", see_call, &seen, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_boundary_call(s->boundary, MEND_STR("a"), none, NULL, &result), MEND_OK);
  cr_assert_float_eq(result.duration_ms, 2000.0, 1e-9);
  cr_assert_float_eq(seen.after.duration_ms, 2000.0, 1e-9);
  cr_assert_eq(mend_boundary_call(s->boundary, MEND_STR("b"), none, NULL, &result), MEND_ECANCELLED);
  cr_assert_float_eq(seen.cancelled.duration_ms, 0.0, 1e-9);
  cr_assert_eq(mend_boundary_call(s->boundary, MEND_STR("a"), none, NULL, &result), MEND_OK);
  cr_assert_float_eq(result.duration_ms, 0.0, 1e-9);

  /* Nor did a tool that is not there, or a redirect that is none, however long the hooks took. */
  cr_assert_eq(mend_boundary_call(s->boundary, MEND_STR("missing"), none, NULL, &result), MEND_EFAILED);
  cr_assert_float_eq(result.duration_ms, 0.0, 1e-9);
  cr_assert_float_eq(seen.error.duration_ms, 0.0, 1e-9);
  char slow[] = "slow before=call=a;continue";
  add_hook(s, slow);
  cr_assert_eq(mend_boundary_call(s->boundary, MEND_STR("a"), MEND_STR("[]"), NULL, &result), MEND_EFAILED);
  cr_assert(mend_str_equal(result.error_type, MEND_STR("bad_redirect")), "%s", s->ran.text);
  cr_assert_float_eq(result.duration_ms, 0.0, 1e-9);
  cr_assert_float_eq(seen.error.duration_ms, 0.0, 1e-9);
  mend_result_clear(&result);
  scenario_close(s);
  free(s);
}

/* What a hook that fails closed skips is the call that would have run. */
Test(boundary, skipped_after_redirect) {
  scenario *s = scenario_new();
  seen_call seen = {.names = 0};
  char guard[] = "guard! before=continue;skip=0", hook[] = "h before=redirect=b={\"y\":2}";
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  add_hook(s, guard);
  add_hook(s, hook);
  cr_assert_eq(mend_bus_subscribe(s->bus, "tool.*", see_call, &seen, NULL, NULL, NULL), MEND_OK);
  call_quietly(s, "a");
  cr_assert(mend_hash_equal(seen.skipped.effective_args_hash, hash_of(MEND_STR("{\"y\":2}"))));
  scenario_close(s);
  free(s);
}

/* ---- The caller's result ---- */

/* What it held may be the call's input. */
Test(boundary, result_as_input) {
  scenario *s = scenario_new();
  char echo[] = "echo args", failing[] = "failing fail_note";
  mend_result result = MEND_RESULT_INIT;
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  mend_retry_options retry = MEND_RETRY_OPTIONS_INIT;
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  add_tool(s, echo);
  add_tool(s, failing);
  const mend_str args = MEND_STR("{\"text\":\"long enough to be a block of its own\"}");
  cr_assert_eq(mend_boundary_call(s->boundary, MEND_STR("echo"), args, NULL, &result), MEND_OK);
  options.call_name = result.value;
  cr_assert_eq(mend_boundary_call(s->boundary, MEND_STR("echo"), result.value, &options, &result), MEND_OK);
  cr_assert(mend_str_equal(result.value, args));
  cr_assert_eq(mend_boundary_retry(s->boundary, MEND_STR("echo"), result.value, NULL, &result), MEND_OK);
  cr_assert(mend_str_equal(result.value, args));

  retry.max_attempts = 1;
  retry.note = MEND_STR("what is to be done");
  cr_assert_eq(mend_boundary_retry(s->boundary, MEND_STR("failing"), args, &retry, &result), MEND_EFAILED);
  retry.note = result.error_message;
  cr_assert_eq(mend_boundary_retry(s->boundary, MEND_STR("failing"), args, &retry, &result), MEND_EFAILED);
  cr_assert(mend_str_equal(result.error_message, MEND_STR("what is to be done")), "%.*s",
            MEND_STR_ARG(result.error_message));
  mend_result_clear(&result);
  scenario_close(s);
  free(s);
}

static mend_status clear_result(void *ctx, mend_call *call) {
  const mend_status status = mend_call_succeed(call, MEND_STR("5"));
  mend_result_clear(ctx);
  return status;
}

/* A tool that clears it changes nothing. */
Test(boundary, result_cleared_by_its_tool) {
  scenario *s = scenario_new();
  mend_result result = MEND_RESULT_INIT;
  const mend_tool tool = {.size = sizeof tool, .name = "clear", .execute = clear_result};
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  cr_assert_eq(mend_tools_add(s->tools, &tool, &result, NULL), MEND_OK);
  cr_assert_eq(mend_boundary_call(s->boundary, MEND_STR("clear"), (mend_str)MEND_ABSENT, NULL, &result), MEND_OK);
  cr_assert(mend_str_equal(result.value, MEND_STR("5")));
  cr_assert_eq(result.attempts, 1u);
  mend_result_clear(&result);
  scenario_close(s);
  free(s);
}

/* ---- Odd arguments ---- */

static mend_status answer_prompt(void *ctx, mend_call *call, mend_str prompt) {
  (void)ctx;
  return mend_call_succeed_text(call, prompt);
}

Test(boundary, no_boundary) {
  const mend_compound_tool compound = {.size = sizeof compound, .name = "c", .agent = answer_prompt};
  const mend_str none = MEND_ABSENT, tool = MEND_STR("t");
  mend_result results[3] = {MEND_RESULT_INIT, MEND_RESULT_INIT, MEND_RESULT_INIT};
  cr_assert_eq(mend_boundary_call(NULL, tool, none, NULL, &results[0]), MEND_EINVAL);
  cr_assert_eq(mend_boundary_retry(NULL, tool, none, NULL, &results[1]), MEND_EINVAL);
  cr_assert_eq(mend_boundary_compound(NULL, &compound, tool, &results[2]), MEND_EINVAL);
  for (int i = 0; i < 3; i++) {
    cr_assert_eq(results[i].outcome, MEND_OUTCOME_FAILED);
    cr_assert(strncmp(results[i].error_message.ptr, "boundary: NULL", strlen("boundary: NULL")) == 0, "%d", i);
    mend_result_clear(&results[i]);
  }
}

/* A result that can tell nothing: the bus's log does. */
static void keep_log(void *ctx, mend_log_level level, const char *message) {
  cr_assert_eq(level, MEND_LOG_ERROR);
  snprintf(ctx, 128, "%s", message);
}

Test(boundary, results_that_were_not_begun) {
  char said[128] = "";
  mend_result zero = {.size = 0};
  mend_result *const results[] = {&zero, NULL};
  static const char *const sentences[] = {
      "a call was refused: the size of its mend_result is 0, start from MEND_RESULT_INIT",
      "a call was refused: its mend_result is NULL"};
  mend_bus_options bus_options = MEND_BUS_OPTIONS_INIT;
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  mend_bus *bus;
  mend_boundary *boundary;
  bus_options.log = keep_log;
  bus_options.log_ctx = said;
  cr_assert_eq(mend_bus_new(&bus_options, &bus, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(bus, NULL, &options.run, NULL), MEND_OK);
  cr_assert_eq(mend_boundary_new(&options, &boundary, NULL), MEND_OK);
  for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
    cr_assert_eq(mend_boundary_call(boundary, MEND_STR("a"), MEND_STR("{}"), NULL, results[i]), MEND_EINVAL);
    cr_assert_str_eq(said, sentences[i], "%s", said);
  }
  cr_assert_eq(mend_boundary_call_all(boundary, NULL, 1), MEND_EINVAL);
  cr_assert_str_eq(said, "calls were refused: their array is NULL");
  mend_batch_call call = MEND_BATCH_CALL_INIT;
  call.result.size = 0;
  cr_assert_eq(mend_boundary_call_all(boundary, &call, 1), MEND_EINVAL);
  cr_assert_str_eq(said, "calls were refused: a mend_batch_call or its result has a wrong size, start from "
                         "MEND_BATCH_CALL_INIT");
  mend_boundary_release(boundary);
  mend_run_release(options.run);
  mend_bus_release(bus);
}

/* The sentence holds the whole name, whatever is in it, and the name that was probably meant. */
Test(boundary, unknown_names) {
  const struct {
    mend_str name;
    const char *sentence;
  } names[] = {{MEND_STR("a\0b"), "there is no tool called \"a\\u0000b\""},
               {MEND_STR("a\"\n"), "there is no tool called \"a\\\"\\n\""},
               {MEND_STR("serach"), "there is no tool called \"serach\"; did you mean \"search\"?"}};
  char search[] = "search ok=1", read[] = "read_file ok=1";
  scenario *s = scenario_new();
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  add_tool(s, search);
  add_tool(s, read);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    mend_result result = MEND_RESULT_INIT;
    cr_assert_eq(mend_boundary_call(s->boundary, names[i].name, (mend_str)MEND_ABSENT, NULL, &result), MEND_EFAILED);
    cr_assert(mend_str_equal(result.error_message, mend_str_from(names[i].sentence)), "%.*s",
              MEND_STR_ARG(result.error_message));
    mend_result_clear(&result);
  }
  scenario_close(s);
  free(s);
}

/* Limits: open calls of a run, and publishes that nest too deeply: nothing is published. */
static mend_status call_from_handler(void *ctx, const mend_event *event) {
  (void)event;
  call_quietly(ctx, "missing");
  return MEND_OK;
}

Test(boundary, limits) {
  scenario *s = scenario_new();
  mend_result result = MEND_RESULT_INIT;
  mend_bus_stats stats = {.size = sizeof stats};
  cr_assert_eq(scenario_try_open(s), MEND_OK);
  s->boundary->run_state->open.count = MEND__OPEN_MAX;
  cr_assert_eq(mend_boundary_call(s->boundary, MEND_STR("a"), (mend_str)MEND_ABSENT, NULL, &result), MEND_ELIMIT);
  cr_assert_eq(result.outcome, MEND_OUTCOME_FAILED);
  s->boundary->run_state->open.count = 0;
  cr_assert_str_eq(s->events.text, "");
  cr_assert_eq(mend_boundary_call(s->boundary, MEND_STR("a"), (mend_str)MEND_ABSENT, NULL, NULL), MEND_EINVAL);

  /* Calls from a handler of before nest until the bus refuses; each of those let in has its end. */
  cr_assert_eq(mend_bus_subscribe(s->bus, "tool.before", call_from_handler, s, NULL, NULL, NULL), MEND_OK);
  call_quietly(s, "missing");
  mend_bus_get_stats(s->bus, &stats);
  cr_assert(stats.dropped > 0);
  mend_result_clear(&result);
  scenario_close(s);
  free(s);
}

/* ---- Merging ---- */

static const struct {
  const char *args, *more, *merged; /* merged NULL: refused */
  const char *sentence;
} merges[] = {
    {"{}", "{}", "{}", NULL},
    {"{\"a\":1}", "{}", "{\"a\":1}", NULL},
    {"{}", "{\"a\":1}", "{\"a\":1}", NULL},
    {"{\"a\":1,\"b\":2}", "{\"c\":3,\"a\":null}", "{\"a\":null,\"b\":2,\"c\":3}", NULL},
    {" { \"a\" : { \"x\" : 1 } } ", "{\"a\":{\"y\":2}}", "{\"a\":{\"y\":2}}", NULL},
    {"{\"a\":\"\\u00e9\\n\"}", "{\"b\":[1,2.5,true]}", "{\"a\":\"\\u00e9\\n\",\"b\":[1,2.5,true]}", NULL},
    {"{\"a\":1,\"a\":2}", "{}", "{\"a\":2}", NULL},
    {"[1]", "{}", NULL, "the call's arguments are no object, nothing can be merged"},
    {"\"text\"", "{}", NULL, "the call's arguments are no object, nothing can be merged"},
    {"{}", "5", NULL, "the redirect's arguments are no object, nothing can be merged"},
    {"{\"a\":1e400,\"b\":\"\\u0000\"}", "{\"n\":99999999999999999999,\"d\":-0}",
     "{\"a\":1e400,\"b\":\"\\u0000\",\"n\":99999999999999999999,\"d\":-0}", NULL},
    {"{\"a\":1,\"\\u0062\":2}", "{\"\\u0061\":3,\"b\":4,\"\":5}", "{\"\\u0061\":3,\"b\":4,\"\":5}", NULL},
};

Test(boundary, merge) {
  for (size_t i = 0; i < sizeof merges / sizeof merges[0]; i++) {
    mend__buffer merged;
    mend_error error = MEND_ERROR_INIT;
    mend__buffer_init(&merged, NULL);
    const mend_status status =
        mend__merge_args(mend_str_from(merges[i].args), mend_str_from(merges[i].more), &merged, &error);
    if (merges[i].merged != NULL) {
      mend__buffer_char(&merged, '\0');
      cr_assert_eq(status, MEND_OK, "%zu: %s", i, error.message);
      cr_assert_str_eq(merged.data, merges[i].merged);
    } else {
      cr_assert_eq(status, MEND_EINVAL, "%zu", i);
      cr_assert_str_eq(error.message, merges[i].sentence);
    }
    mend__buffer_free(&merged);
  }
}

/* As large as arguments get: the time grows with the members, not with their square. */
Test(boundary, merge_many) {
  enum { MEMBERS = 200000 };
  mend__buffer args, merged;
  mend_error error = MEND_ERROR_INIT;
  mend__buffer_init(&args, NULL);
  mend__buffer_init(&merged, NULL);
  for (unsigned i = 0; i < MEMBERS; i++)
    mend__buffer_printf(&args, "%s\"key %u\":%u", i > 0 ? "," : "{", i, i);
  mend__buffer_char(&args, '}');
  const mend_str text = {args.data, args.len};
  cr_assert_eq(mend__merge_args(text, text, &merged, &error), MEND_OK);
  cr_assert(mend_str_equal(text, mend__buffer_text(&merged)));
  mend__buffer_free(&args);
  mend__buffer_free(&merged);
}

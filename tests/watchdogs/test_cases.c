/* Recorded runs and what is found in them: NAME.jsonl, and NAME.expect.json with
 *
 *   {"seed": [{"kind", "at_line", "call_id"?}], "detections": [{"kind", "reason", "at_line", "call_id"?, "run_id"?}],
 *    "config": {"reg_n": 5, "tool_timeout": {...}, "budget.calls": 3, ...}}
 *
 * for mode seed and, where "detections" is there, mode evidence. Both begin with stall.timeout_s 30 and regression on
 * with a window of 10. The replay here is a plain one: the clock moves to a line's time, what is due by then belongs to
 * that line, then the line's event is delivered. Each is played twice, alone and beside another run, which changes
 * nothing. */
#include "bus/event_json.h"
#include "core/memory.h"
#include "mend/json.h"
#include "world.h"

enum { FOUND_MAX = 64 };

typedef struct found {
  char detector[16], reason[32], call[16], run[16];
  unsigned line;
  bool warns; /* it is not sure */
} found;

typedef struct replayed {
  test_world world;
  mend_run *company; /* another run that works meanwhile; NULL: there is none */
  unsigned line;
  size_t count;
  found found[FOUND_MAX];
} replayed;

static void keep_text(char *target, size_t size, mend_str text) {
  cr_assert(text.len < size);
  if (text.len != 0) memcpy(target, text.ptr, text.len);
  target[text.len] = '\0';
}

static mend_status on_detection(void *ctx, const mend_event *event) {
  replayed *replay = ctx;
  const mend_detection_event *detection = (const mend_detection_event *)event;
  if (event->run == replay->company) return MEND_OK;
  cr_assert(replay->count < FOUND_MAX);
  found *next = &replay->found[replay->count++];
  keep_text(next->detector, sizeof next->detector, detection->detector);
  keep_text(next->reason, sizeof next->reason, detection->reason);
  keep_text(next->run, sizeof next->run, mend_run_id(event->run));
  keep_text(next->call, sizeof next->call, detection->last_call_id);
  next->line = replay->line;
  next->warns = detection->confidence < 0.5;
  return MEND_OK;
}

static void deliver(replayed *replay, mend__event_line *line) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  mend_run *run;
  options.id = line->run_id;
  options.parent_id = line->parent_run_id;
  options.parent_call = line->parent_call;
  cr_assert_eq(mend_bus_run(replay->world.bus, &options, &run, NULL), MEND_OK);
  if (!line->custom && line->event.event.kind != MEND_EVENT_TICK) {
    cr_assert_eq(mend_run_publish(run, &line->event.event), MEND_OK);
  }
  mend_run_release(run);
}

/* Work that has nothing to do with the recorded run: calls with the same ids, readings, what a model says. */
static void work_beside(const replayed *replay) {
  char args[32];
  mend_run *run = replay->company;
  if (run == NULL) return;
  snprintf(args, sizeof args, "{\"n\":%u}", replay->line);
  const uint64_t call = mend_call_from_name(MEND_STR("a"));
  mend_model_delta_event delta = MEND_MODEL_DELTA_EVENT_INIT;
  delta.text = mend_str_from(args);
  cr_assert_eq(before(run, call, "job", args), MEND_OK);
  cr_assert_eq(confidence(run, replay->line % 2 == 0 ? 0.9 : 0.1), MEND_OK);
  cr_assert_eq(usage(run, 1000), MEND_OK);
  cr_assert_eq(mend_run_publish(run, &delta.event), MEND_OK);
  cr_assert_eq(after(run, call), MEND_OK);
}

static void replay_text(replayed *replay, char *text) {
  mend__buffer scratch;
  mend__buffer_init(&scratch, NULL);
  for (char *line = text, *end; *line != '\0'; line = end + 1) {
    end = strchr(line, '\n');
    cr_assert_not_null(end);
    mend__event_line read;
    mend_error error = {0};
    ++replay->line;
    const mend_status status = mend__event_read((mend_str){line, (size_t)(end - line)}, (mend_str)MEND_ABSENT, true,
                                                &scratch, &read, NULL, &error);
    cr_assert_eq(status, MEND_OK, "line %u: %s", replay->line, error.message);
    cr_assert_eq(mend_clock_advance_to_wall(replay->world.clock, read.ts_ns), MEND_OK);
    work_beside(replay);
    deliver(replay, &read);
  }
  mend__buffer_free(&scratch);
}

/* ---- What is expected ---- */

typedef struct expectation {
  bool is_given;
  size_t count;
  found found[FOUND_MAX];
} expectation;

typedef struct test_case {
  const char *name;
  expectation seed, evidence;
  mend_option_tree *config;
} test_case;

static void read_found(mend_json *json, found *ret_found) {
  while (mend_json_next(json) == MEND_JSON_KEY) {
    const bool is_line = mend_json_is(json, MEND_STR("at_line"));
    char *text = NULL;
    if (mend_json_is(json, MEND_STR("kind"))) text = ret_found->detector;
    if (mend_json_is(json, MEND_STR("reason"))) text = ret_found->reason;
    if (mend_json_is(json, MEND_STR("call_id"))) text = ret_found->call;
    if (mend_json_is(json, MEND_STR("run_id"))) text = ret_found->run;
    const bool is_warning = mend_json_is(json, MEND_STR("warns"));
    mend_json_next(json);
    ret_found->warns = ret_found->warns || (is_warning && json->token == MEND_JSON_TRUE);
    uint64_t number;
    if (text != NULL) {
      keep_text(text, text == ret_found->reason ? sizeof ret_found->reason : sizeof ret_found->call, json->slice);
    } else if (is_line && mend_json_uint64(json->slice, &number) == MEND_OK) {
      ret_found->line = (unsigned)number;
    }
  }
}

static void read_all_found(mend_json *json, expectation *expected) {
  cr_assert_eq(mend_json_next(json), MEND_JSON_ARRAY);
  expected->is_given = true;
  while (mend_json_next(json) == MEND_JSON_OBJECT)
    read_found(json, &expected->found[expected->count++]);
}

static void read_config(mend_json *json, mend_option_tree *config) {
  cr_assert_eq(mend_json_next(json), MEND_JSON_OBJECT);
  while (mend_json_next(json) == MEND_JSON_KEY) {
    mend_str name = json->slice, value;
    if (mend_json_is(json, MEND_STR("reg_n"))) name = MEND_STR("regression.window_n");
    if (mend_json_is(json, MEND_STR("tool_timeout"))) name = MEND_STR("stall.tool_timeout_s");
    mend_error error = {0};
    cr_assert_eq(mend_json_value(json, &value), MEND_OK);
    cr_assert_eq(mend_option_tree_set(config, name, value, &error), MEND_OK, "%s", error.message);
  }
}

static void read_case(const char *text, test_case *ret_case) {
  mend_json json;
  mend_json_init(&json, mend_str_from(text), MEND_JSON_DEPTH);
  cr_assert_eq(mend_json_next(&json), MEND_JSON_OBJECT);
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    if (mend_json_is(&json, MEND_STR("seed"))) {
      read_all_found(&json, &ret_case->seed);
    } else if (mend_json_is(&json, MEND_STR("detections"))) {
      read_all_found(&json, &ret_case->evidence);
    } else if (mend_json_is(&json, MEND_STR("config"))) {
      read_config(&json, ret_case->config);
    } else {
      mend_json_next(&json);
      mend_json_skip(&json);
    }
  }
}

static bool is_or_absent(const char *got, const char *want) { return want[0] == '\0' || strcmp(got, want) == 0; }

static bool is_expected(const found *got, const found *want) {
  return strcmp(got->detector, want->detector) == 0 && got->line == want->line && (got->warns || !want->warns) &&
         is_or_absent(got->reason, want->reason) && is_or_absent(got->call, want->call) &&
         is_or_absent(got->run, want->run);
}

static void compare(const char *name, const replayed *got, const expectation *want) {
  for (size_t i = 0; i < want->count; i++) {
    bool is_there = false;
    for (size_t j = 0; j < got->count; j++)
      is_there = is_there || is_expected(&got->found[j], &want->found[i]);
    cr_assert(is_there, "%s: missed %s %s at line %u", name, want->found[i].detector, want->found[i].reason,
              want->found[i].line);
  }
  cr_assert_eq(got->count, want->count, "%s: %zu detections, expected %zu; the last: %s %s at line %u", name,
               got->count, want->count, got->count > 0 ? got->found[got->count - 1].detector : "",
               got->count > 0 ? got->found[got->count - 1].reason : "",
               got->count > 0 ? got->found[got->count - 1].line : 0);
}

static void run_case(const test_case *given, mend_watch_mode mode, char *events, bool has_company) {
  const expectation *expected = mode == MEND_WATCH_MODE_SEED ? &given->seed : &given->evidence;
  if (!expected->is_given) return;
  replayed replay = {.line = 0};
  mend_test_allocator_init(&replay.world.memory);
  cr_assert_eq(mend_clock_new_virtual(&replay.world.memory.base, (mend_time){0, 0}, &replay.world.clock), MEND_OK);
  mend_bus_options bus_options = MEND_BUS_OPTIONS_INIT;
  bus_options.allocator = &replay.world.memory.base;
  bus_options.clock = replay.world.clock;
  cr_assert_eq(mend_bus_new(&bus_options, &replay.world.bus, NULL), MEND_OK);

  mend_options options = *mend_option_tree_get(given->config);
  options.mode = mode;
  cr_assert_eq(mend_bus_watch(replay.world.bus, &options, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(replay.world.bus, "healing.detection", on_detection, &replay, NULL, NULL, NULL),
               MEND_OK);
  if (has_company) replay.company = world_run(&replay.world, "company");
  replay_text(&replay, events);
  mend_run_release(replay.company);
  compare(given->name, &replay, expected);
  world_close(&replay.world);
}

static void visit(void *ctx, const char *name) {
  (void)ctx;
  char expect_name[512];
  const int stem = (int)(strlen(name) - strlen(".jsonl"));
  snprintf(expect_name, sizeof expect_name, "%.*s.expect.json", stem, name);
  char *events = mend_test_read(name, NULL), *expect = mend_test_read(expect_name, NULL);
  test_case given = {.name = name};
  cr_assert_eq(mend_option_tree_new(NULL, &given.config), MEND_OK);
  static const char *const base[][2] = {
      {"mode", "evidence"}, {"stall.timeout_s", "30"}, {"regression.enable", "true"}, {"regression.window_n", "10"}};
  for (size_t i = 0; i < sizeof base / sizeof *base; i++)
    cr_assert_eq(mend_option_tree_set(given.config, mend_str_from(base[i][0]), mend_str_from(base[i][1]), NULL),
                 MEND_OK);
  read_case(expect, &given);
  for (int has_company = 0; has_company < 2; has_company++) {
    run_case(&given, MEND_WATCH_MODE_SEED, events, has_company != 0);
    run_case(&given, MEND_WATCH_MODE_EVIDENCE, events, has_company != 0);
  }
  mend_option_tree_free(given.config);
  free(events);
  free(expect);
}

Test(watchdog_cases, own_cases) { cr_assert(mend_test_each("watchdogs", ".jsonl", visit, NULL) >= 75); }

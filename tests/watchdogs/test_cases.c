/* Recorded runs and what the seed rules find in them: NAME.jsonl, and NAME.expect.json with {"seed": [{"kind",
 * "at_line", "call_id"?}], "config": {}}. The replay here is a plain one: the clock moves to a
 * line's time, what is due by then belongs to that line, then the line's event is delivered. */
#include "bus/event_json.h"
#include "core/memory.h"
#include "mend/json.h"
#include "world.h"

enum { FOUND_MAX = 64 };

typedef struct found {
  char detector[16];
  unsigned line;
  char call[16];
} found;

typedef struct replayed {
  test_world world;
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
  cr_assert(replay->count < FOUND_MAX);
  found *next = &replay->found[replay->count++];
  keep_text(next->detector, sizeof next->detector, detection->detector);
  keep_text(next->call, sizeof next->call, detection->last_call_id);
  next->line = replay->line;
  return MEND_OK;
}

static void deliver(replayed *replay, mend__event_line *line) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  mend_run *run;
  options.id = line->run_id;
  cr_assert_eq(mend_bus_run(replay->world.bus, &options, &run), MEND_OK);
  if (!line->custom && line->event.event.kind != MEND_EVENT_TICK) {
    cr_assert_eq(mend_run_publish(run, &line->event.event), MEND_OK);
  }
  mend_run_release(run);
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
    deliver(replay, &read);
  }
  mend__buffer_free(&scratch);
}

/* ---- What is expected ---- */

typedef struct expectation {
  size_t count;
  found found[FOUND_MAX];
  uint64_t window_n;
} expectation;

static void read_detection(mend_json *json, found *ret_found) {
  while (mend_json_next(json) == MEND_JSON_KEY) {
    const bool is_kind = mend_json_is(json, MEND_STR("kind")), is_line = mend_json_is(json, MEND_STR("at_line"));
    mend_json_next(json);
    uint64_t number;
    if (is_kind)
      keep_text(ret_found->detector, sizeof ret_found->detector, json->slice);
    else if (is_line && mend_json_uint64(json->slice, &number) == MEND_OK)
      ret_found->line = (unsigned)number;
    else
      keep_text(ret_found->call, sizeof ret_found->call, json->slice);
  }
}

static void read_seed(mend_json *json, expectation *expected) {
  cr_assert_eq(mend_json_next(json), MEND_JSON_ARRAY);
  while (mend_json_next(json) == MEND_JSON_OBJECT)
    read_detection(json, &expected->found[expected->count++]);
}

static void read_config(mend_json *json, expectation *expected) {
  cr_assert_eq(mend_json_next(json), MEND_JSON_OBJECT);
  while (mend_json_next(json) == MEND_JSON_KEY) {
    const bool is_window = mend_json_is(json, MEND_STR("reg_n"));
    mend_json_next(json);
    if (is_window)
      cr_assert_eq(mend_json_uint64(json->slice, &expected->window_n), MEND_OK);
    else
      mend_json_skip(json);
  }
}

static void read_expectation(const char *text, expectation *expected) {
  mend_json json;
  mend_json_init(&json, mend_str_from(text), MEND_JSON_DEPTH);
  *expected = (expectation){.window_n = 10};
  cr_assert_eq(mend_json_next(&json), MEND_JSON_OBJECT);
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    if (mend_json_is(&json, MEND_STR("seed")))
      read_seed(&json, expected);
    else if (mend_json_is(&json, MEND_STR("config")))
      read_config(&json, expected);
    else if (mend_json_next(&json) >= MEND_JSON_OBJECT)
      mend_json_skip(&json);
  }
}

static bool is_expected(const found *got, const found *want) {
  return strcmp(got->detector, want->detector) == 0 && got->line == want->line &&
         (want->call[0] == '\0' || strcmp(got->call, want->call) == 0);
}

static void compare(const char *name, const replayed *got, const expectation *want) {
  for (size_t i = 0; i < want->count; i++) {
    bool is_there = false;
    for (size_t j = 0; j < got->count; j++)
      is_there = is_there || is_expected(&got->found[j], &want->found[i]);
    cr_assert(is_there, "%s: missed %s at line %u", name, want->found[i].detector, want->found[i].line);
  }
  cr_assert_eq(got->count, want->count, "%s: %zu detections, expected %zu", name, got->count, want->count);
}

static void run_case(const char *name, char *events, const char *expect) {
  replayed replay = {.line = 0};
  expectation expected;
  read_expectation(expect, &expected);
  mend_test_allocator_init(&replay.world.memory);
  cr_assert_eq(mend_clock_new_virtual(&replay.world.memory.base, (mend_time){0, 0}, &replay.world.clock), MEND_OK);
  mend_bus_options bus_options = MEND_BUS_OPTIONS_INIT;
  bus_options.allocator = &replay.world.memory.base;
  bus_options.clock = replay.world.clock;
  cr_assert_eq(mend_bus_new(&bus_options, &replay.world.bus, NULL), MEND_OK);

  mend_options options = MEND_OPTIONS_INIT;
  options.stall.timeout_s = 30;
  options.regression.enable = true;
  options.regression.window_n = (uint32_t)expected.window_n;
  cr_assert_eq(mend_bus_watch(replay.world.bus, &options, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(replay.world.bus, "healing.detection", on_detection, &replay, NULL, NULL), MEND_OK);
  replay_text(&replay, events);
  compare(name, &replay, &expected);
  world_close(&replay.world);
}

static void visit(void *ctx, const char *name) {
  (void)ctx;
  char expect_name[512];
  const int stem = (int)(strlen(name) - strlen(".jsonl"));
  snprintf(expect_name, sizeof expect_name, "%.*s.expect.json", stem, name);
  char *events = mend_test_read(name, NULL), *expect = mend_test_read(expect_name, NULL);
  run_case(name, events, expect);
  free(events);
  free(expect);
}

Test(watchdog_cases, own_cases) { cr_assert(mend_test_each("watchdogs", ".jsonl", visit, NULL) >= 25); }

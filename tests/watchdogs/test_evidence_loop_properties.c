/* What does not change what is found: other call ids, another order of keys, white space, other spellings of a number,
 * fields that are new with every call, another run in between. Each case of mode evidence is played as it is and then
 * changed in all of these ways at once, by a seeded generator; so are traces that are made up at random. */
#include "bus/event_json.h"
#include "core/buffer.h"
#include "core/mix.h"
#include "mend/json.h"
#include "world.h"

/* ---- Random numbers ---- */

static uint64_t next_random(uint64_t *seed) {
  *seed += MEND__MIX_STEP;
  return mend__mix(*seed);
}

static uint32_t below(uint64_t *seed, uint32_t limit) { return (uint32_t)(next_random(seed) % limit); }

/* ---- Changing a line ---- */

enum { MEMBERS_MAX = 32 };

typedef struct member {
  mend_str key, value;
} member;

static size_t read_members(mend_str object, member members[MEMBERS_MAX]) {
  mend_json json;
  size_t count = 0;
  mend_json_init(&json, object, MEND_JSON_DEPTH);
  cr_assert_eq(mend_json_next(&json), MEND_JSON_OBJECT);
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    cr_assert(count < MEMBERS_MAX);
    members[count].key = json.slice;
    cr_assert_eq(mend_json_value(&json, &members[count].value), MEND_OK);
    count++;
  }
  return count;
}

static void write_space(mend__buffer *out, uint64_t *seed) {
  static const char *const spaces[] = {"", "", " ", "\t", "  "};
  mend__buffer_str(out, mend_str_from(spaces[below(seed, 5)]));
}

/* 7, 7.0, 7e0; of short integers only, so that a double holds it. */
static void write_number(mend__buffer *out, mend_str number, uint64_t *seed) {
  static const char *const tails[] = {"", ".0", "e0", ".00"};
  int64_t value;
  mend__buffer_str(out, number);
  const bool is_short = number.len < 9 && mend_json_int64(number, &value) == MEND_OK && value != 0;
  if (is_short) mend__buffer_str(out, mend_str_from(tails[below(seed, 4)]));
}

static void write_value(mend__buffer *out, mend_str value, uint64_t *seed);

static void write_object(mend__buffer *out, mend_str object, uint64_t *seed) {
  member members[MEMBERS_MAX];
  const size_t count = read_members(object, members);
  for (size_t i = count; i > 1; i--) {
    const size_t other = below(seed, (uint32_t)i);
    const member swapped = members[i - 1];
    members[i - 1] = members[other];
    members[other] = swapped;
  }
  mend__buffer_char(out, '{');
  for (size_t i = 0; i < count; i++) {
    if (i > 0) mend__buffer_char(out, ',');
    write_space(out, seed);
    mend__buffer_printf(out, "\"%.*s\":", MEND_STR_ARG(members[i].key));
    write_value(out, members[i].value, seed);
  }
  write_space(out, seed);
  mend__buffer_char(out, '}');
}

static void write_array(mend__buffer *out, mend_str array, uint64_t *seed) {
  mend_json json;
  mend_str element;
  bool is_first = true;
  mend_json_init(&json, array, MEND_JSON_DEPTH);
  cr_assert_eq(mend_json_next(&json), MEND_JSON_ARRAY);
  mend__buffer_char(out, '[');
  for (; mend_json_value(&json, &element) == MEND_OK; is_first = false) {
    if (!is_first) mend__buffer_char(out, ',');
    write_value(out, element, seed);
  }
  mend__buffer_char(out, ']');
}

static void write_value(mend__buffer *out, mend_str value, uint64_t *seed) {
  write_space(out, seed);
  switch (value.ptr[0]) {
  case '{': write_object(out, value, seed); break;
  case '[': write_array(out, value, seed); break;
  case '"': mend__buffer_str(out, value); break;
  default: write_number(out, value, seed); break;
  }
  write_space(out, seed);
}

/* With fields that a runner might add to each call. */
static void write_args(mend__buffer *out, mend_str args, uint64_t *seed) {
  if (args.ptr[0] != '{') {
    mend__buffer_str(out, args);
    return;
  }
  write_value(out, args, seed);
  while (out->data[out->len - 1] != '}')
    out->len--;
  out->len--;
  member members[MEMBERS_MAX];
  if (read_members(args, members) > 0) mend__buffer_char(out, ',');
  const uint64_t id = next_random(seed);
  mend__buffer_printf(out, "\"request_id\":\"%08x-0000-4000-8000-%012llx\",\"timestamp\":%u}", (unsigned)id,
                      (unsigned long long)(id >> 20), 1700000000u + (unsigned)(id % 1000000));
}

static void change_line(mend__buffer *out, mend_str line, uint64_t *seed) {
  member members[MEMBERS_MAX];
  const size_t count = read_members(line, members);
  mend__buffer_clear(out);
  for (size_t i = 0; i < count; i++) {
    mend__buffer_printf(out, "%s\"%.*s\":", i == 0 ? "{" : ",", MEND_STR_ARG(members[i].key));
    if (mend_str_equal(members[i].key, MEND_STR("call_id"))) {
      mend__buffer_printf(out, "\"call_%.*s_toolu_01abcdefghijkl\"", (int)members[i].value.len - 2,
                          members[i].value.ptr + 1);
    } else if (mend_str_equal(members[i].key, MEND_STR("args"))) {
      write_args(out, members[i].value, seed);
    } else {
      mend__buffer_str(out, members[i].value);
    }
  }
  mend__buffer_char(out, '}');
  cr_assert(!out->failed);
}

/* ---- Playing ---- */

enum { FOUND_MAX = 256 };

typedef struct verdict {
  size_t count;
  struct {
    unsigned line;
    char reason[32];
  } found[FOUND_MAX];
} verdict;

typedef struct playing {
  test_world world;
  unsigned line;
  verdict verdict;
} playing;

static mend_status on_detection(void *ctx, const mend_event *event) {
  playing *played = ctx;
  const mend_detection_event *detection = (const mend_detection_event *)event;
  if (mend_str_equal(mend_run_id(event->run), MEND_STR("beside"))) return MEND_OK;
  cr_assert(played->verdict.count < FOUND_MAX);
  const size_t at = played->verdict.count++;
  played->verdict.found[at].line = played->line;
  snprintf(played->verdict.found[at].reason, sizeof played->verdict.found[at].reason, "%.*s",
           MEND_STR_ARG(detection->reason));
  return MEND_OK;
}

static void play_event(playing *played, mend_str run_id, mend_event *event) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  mend_run *run;
  options.id = run_id;
  cr_assert_eq(mend_bus_run(played->world.bus, &options, &run, NULL), MEND_OK);
  cr_assert_eq(mend_run_publish(run, event), MEND_OK);
  mend_run_release(run);
}

static void play_line(playing *played, mend_str line, mend__buffer *scratch, bool has_other) {
  mend__event_line read;
  mend_error error = {0};
  const mend_status status = mend__event_read(line, (mend_str)MEND_ABSENT, true, scratch, &read, NULL, &error);
  cr_assert_eq(status, MEND_OK, "%.*s: %s", MEND_STR_ARG(line), error.message);
  played->line++;
  cr_assert_eq(mend_clock_advance_to_wall(played->world.clock, read.ts_ns), MEND_OK);
  if (read.custom || read.event.event.kind == MEND_EVENT_TICK) return;
  play_event(played, read.run_id, &read.event.event);
  if (has_other) play_event(played, MEND_STR("beside"), &read.event.event);
}

/* seed: NULL for the lines as they are. */
static void play(const char *text, const mend_loop_watchdog_options *options, uint64_t *seed, playing *played) {
  mend_watchdog *loop;
  mend_error error = {0};
  mend__buffer changed, scratch;
  *played = (playing){.line = 0};
  world_open(&played->world);
  mend__buffer_init(&changed, NULL);
  mend__buffer_init(&scratch, NULL);
  cr_assert_eq(mend_evidence_loop_watchdog_new(options, NULL, &loop, &error), MEND_OK, "%s", error.message);
  cr_assert_eq(mend_watchdog_watch_bus(loop, played->world.bus), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(played->world.bus, "healing.detection", on_detection, played, NULL, NULL, NULL),
               MEND_OK);
  for (const char *line = text, *end; *line != '\0'; line = end + 1) {
    end = strchr(line, '\n');
    mend_str given = {line, (size_t)(end - line)};
    if (seed != NULL) {
      change_line(&changed, given, seed);
      given = mend__buffer_text(&changed);
    }
    play_line(played, given, &scratch, seed != NULL);
  }
  mend__buffer_free(&changed);
  mend__buffer_free(&scratch);
  mend_watchdog_release(loop);
  world_close(&played->world);
}

static size_t check(const char *name, const char *text, const mend_loop_watchdog_options *options, uint64_t seed) {
  static playing plain, changed;
  play(text, options, NULL, &plain);
  play(text, options, &seed, &changed);
  cr_assert_eq(changed.verdict.count, plain.verdict.count, "%s: %zu found, and %zu when changed", name,
               plain.verdict.count, changed.verdict.count);
  for (size_t i = 0; i < plain.verdict.count; i++) {
    cr_assert_eq(changed.verdict.found[i].line, plain.verdict.found[i].line, "%s", name);
    cr_assert_str_eq(changed.verdict.found[i].reason, plain.verdict.found[i].reason, "%s", name);
  }
  return plain.verdict.count;
}

/* ---- The cases ---- */

static void set_option(mend_option_tree *tree, const char *expect) {
  member members[MEMBERS_MAX], settings[MEMBERS_MAX];
  const size_t count = read_members(mend_str_from(expect), members);
  for (size_t i = 0; i < count; i++) {
    if (!mend_str_equal(members[i].key, MEND_STR("config"))) continue;
    const size_t setting_count = read_members(members[i].value, settings);
    for (size_t j = 0; j < setting_count; j++)
      cr_assert_eq(mend_option_tree_set(tree, settings[j].key, settings[j].value, NULL), MEND_OK);
  }
}

static void visit(void *ctx, const char *name) {
  if (strstr(name, "/evidence-") == NULL) return;
  size_t *visited = ctx;
  char expect_name[512];
  mend_option_tree *tree;
  snprintf(expect_name, sizeof expect_name, "%.*s.expect.json", (int)(strlen(name) - strlen(".jsonl")), name);
  char *text = mend_test_read(name, NULL), *expect = mend_test_read(expect_name, NULL);
  cr_assert_eq(mend_option_tree_new(NULL, &tree), MEND_OK);
  cr_assert_eq(mend_option_tree_set(tree, MEND_STR("mode"), MEND_STR("evidence"), NULL), MEND_OK);
  set_option(tree, expect);
  for (uint64_t seed = 1; seed <= 3; seed++)
    check(name, text, &mend_option_tree_get(tree)->loop, seed);
  mend_option_tree_free(tree);
  free(text);
  free(expect);
  ++*visited;
}

Test(evidence_loop_properties, cases) {
  size_t visited = 0;
  mend_test_each("watchdogs", ".jsonl", visit, &visited);
  cr_assert(visited >= 40, "%zu", visited);
}

/* ---- Traces made up at random: few calls, few answers, so that much comes again ---- */

static const char *const random_args[] = {
    "{\"path\":\"a.c\",\"from\":1}",         "{\"path\":\"b.c\",\"from\":2,\"deep\":{\"x\":[1,2],\"y\":{}}}",
    "{\"q\":\"rain\",\"limit\":10}",         "{}",
    "{\"cmd\":\"make -j 2\",\"cwd\":\"/\"}", "{\"n\":7}",
};
static const char *const random_results[] = {
    "\"fine\"", "[]", "\"1 failed, 3 passed in 0.31s\"", "{\"rows\":[1,2,3]}", "null", "\"\"",
};
static const char *const random_errors[] = {"no such file", "HTTP 503", "unknown tool: find", "pid 77: killed"};

typedef struct random_call {
  unsigned number, tool, args;
  bool is_open;
} random_call;

static void write_end(mend__buffer *text, double ts, const random_call *call, uint64_t *seed) {
  static const char *const tools[] = {"read_file", "search", "bash", "edit", "wait"};
  const bool fails = below(seed, 3) == 0;
  mend__buffer_printf(text, "{\"ts\":%.1f,\"event\":\"%s\",\"run_id\":\"r\",\"call_id\":\"c%u\",\"tool\":\"%s\",", ts,
                      fails ? "tool.error" : "tool.after", call->number, tools[call->tool]);
  if (fails) {
    mend__buffer_printf(text, "\"error\":\"%s\"}\n", random_errors[below(seed, 4) * (call->args % 2)]);
  } else {
    mend__buffer_printf(text, "\"result\":%s}\n", random_results[(call->args + below(seed, 2)) % 6]);
  }
}

static void write_begin(mend__buffer *text, double ts, const random_call *call) {
  static const char *const tools[] = {"read_file", "search", "bash", "edit", "wait"};
  mend__buffer_printf(text,
                      "{\"ts\":%.1f,\"event\":\"tool.before\",\"run_id\":\"r\",\"call_id\":\"c%u\",\"tool\":\"%s\","
                      "\"args\":%s}\n",
                      ts, call->number, tools[call->tool], random_args[call->args]);
}

static void write_other(mend__buffer *text, double ts, uint64_t *seed) {
  static const char *const others[] = {"model.request", "model.response", "model.retry", "user.message"};
  const uint32_t which = below(seed, 40);
  mend__buffer_printf(text, "{\"ts\":%.1f,\"event\":\"%s\",\"run_id\":\"r\"}\n", ts,
                      others[which < 3          ? which
                             : which % 39 == 38 ? 3
                                                : which % 2]);
}

static char *make_trace(uint64_t seed) {
  enum { CALLS = 160, OPEN = 4 };
  random_call open[OPEN] = {{0, 0, 0, false}};
  const bool has_turns = below(&seed, 2) == 0;
  const uint32_t tools = 1 + below(&seed, 5), args = 1 + below(&seed, 6);
  double ts = 1000;
  mend__buffer text;
  char *taken;
  mend__buffer_init(&text, NULL);
  for (unsigned number = 1; number <= CALLS; number++) {
    random_call *call = &open[below(&seed, 1 + below(&seed, OPEN))];
    ts += below(&seed, 20) == 0 ? 30 : 1;
    if (call->is_open) write_end(&text, ts, call, &seed);
    if (has_turns && below(&seed, 3) == 0) write_other(&text, ts, &seed);
    *call = (random_call){number, below(&seed, tools), below(&seed, args), true};
    write_begin(&text, ts, call);
  }
  cr_assert_eq(mend__buffer_take(&text, &taken, NULL), MEND_OK);
  return taken;
}

Test(evidence_loop_properties, random_traces) {
  mend_loop_watchdog_options options = MEND_LOOP_WATCHDOG_OPTIONS_INIT;
  size_t found = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    char name[32], *text = make_trace(seed);
    options.rearm = (mend_loop_rearm)(seed % 3);
    options.k = 1 + (uint32_t)(seed % 4);
    options.n = options.k + 1 + (uint32_t)(seed % 7);
    snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
    found += check(name, text, &options, seed * 1000);
    free(text);
  }
  cr_assert(found > 100, "%zu", found);
}

/* The tracer: the events in tests/data/tracer/<name>.events make the spans and the picture in <name>.expected; and what
 * it does at its limits, with a listener, without memory and on several threads. */
#include "mend/json.h"
#include "mend/workbench.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define MILLISECOND UINT64_C(1000000)
#define START (1000 * MEND_SECOND_NS)

/* ---- A world: a bus on a virtual clock, runs by name, a tracer ---- */

enum { RUNS = 4 };

typedef struct world {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_bus *bus;
  mend_tracer *tracer;
  mend_run *runs[RUNS];
} world;

static void open_world(world *w, const mend_tracer_options *options) {
  memset(w, 0, sizeof *w);
  mend_test_allocator_init(&w->memory);
  cr_assert_eq(mend_clock_new_virtual(&w->memory.base, (mend_time){START, START}, &w->clock), MEND_OK);
  mend_bus_options bus = MEND_BUS_OPTIONS_INIT;
  bus.allocator = &w->memory.base;
  bus.clock = w->clock;
  bus.id_seed = 1;
  cr_assert_eq(mend_bus_new(&bus, &w->bus, NULL), MEND_OK);
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_tracer_new(w->bus, options, &w->tracer, &error), MEND_OK, "%s", error.message);
}

static void close_world(world *w) {
  for (int i = 0; i < RUNS; i++)
    mend_run_release(w->runs[i]);
  mend_tracer_free(w->tracer);
  mend_bus_release(w->bus);
  mend_clock_release(w->clock);
  cr_assert_eq(atomic_load(&w->memory.blocks), 0u, "%zu blocks are left", (size_t)atomic_load(&w->memory.blocks));
}

static mend_tracer_stats stats_of(const world *w) {
  mend_tracer_stats stats = {.size = sizeof stats};
  mend_tracer_get_stats(w->tracer, &stats);
  return stats;
}

static void emit(mend_run *run, const char *topic, const char *payload) {
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_run_emit(run, topic, payload, &error), MEND_OK, "%s %s: %s", topic, payload, error.message);
}

/* Needs no memory. */
static void publish_call(mend_run *run, mend_event_kind kind, uint64_t call) {
  mend_any_event event;
  cr_assert_eq(mend_event_init(&event, kind), MEND_OK);
  event.event.call = call;
  cr_assert_eq(mend_run_publish(run, &event.event), MEND_OK);
}

static void emit_call(mend_run *run, const char *topic, uint64_t call) {
  char payload[96];
  snprintf(payload, sizeof payload, "{\"call_id\":\"%llu\",\"tool_name\":\"t\"}", (unsigned long long)call);
  emit(run, topic, payload);
}

/* ---- Cases ---- */

static mend_run **find_run(world *w, const char *name) {
  for (int i = 0; i < RUNS; i++) {
    if (w->runs[i] == NULL || mend_str_equal(mend_run_id(w->runs[i]), mend_str_from(name))) return &w->runs[i];
  }
  cr_fail("more than %d runs", RUNS);
  return NULL;
}

/* "agent=...", or "parent=... call=...". */
static void new_run(world *w, const char *name, const char *details) {
  char agent[128] = "", parent[32] = "", call[32] = "";
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = mend_str_from(name);
  if (sscanf(details, " agent=%127s", agent) == 1) options.agent = mend_str_from(agent);
  if (sscanf(details, " parent=%31s call=%31s", parent, call) == 2) {
    options.parent = *find_run(w, parent);
    options.parent_call = mend_str_from(call);
  }
  cr_assert_eq(mend_run_new(w->bus, &options, find_run(w, name), NULL), MEND_OK);
}

static void free_run(world *w, const char *name) {
  mend_run **run = find_run(w, name);
  mend_run_release(*run);
  *run = NULL;
}

/* "<milliseconds> <run> <topic> <payload>"; instead of a topic also new, free and now. */
static void play_line(world *w, char *line) {
  double at_ms;
  char run[32], topic[64];
  int end = 0;
  if (line[0] == '#' || line[0] == '\0') return;
  cr_assert_eq(sscanf(line, "%lf %31s %63s %n", &at_ms, run, topic, &end), 3, "%s", line);
  const char *payload = line + end;
  cr_assert_eq(mend_clock_advance_to_wall(w->clock, START + (uint64_t)llround(at_ms * 1e6)), MEND_OK);
  if (strcmp(topic, "new") == 0) {
    new_run(w, run, payload);
  } else if (strcmp(topic, "free") == 0) {
    free_run(w, run);
  } else if (strcmp(topic, "now") != 0) {
    if (*find_run(w, run) == NULL) new_run(w, run, "");
    emit(*find_run(w, run), topic, payload);
  }
}

static void play(world *w, const char *name) {
  char *text = mend_test_read(name, NULL), *rest = text;
  for (char *line; (line = strsep(&rest, "\n")) != NULL;)
    play_line(w, line);
  free(text);
}

/* ---- What came of it, as text ---- */

typedef struct report {
  char text[16384];
  size_t len;
  mend_span spans[64]; /* for the names of parents; their texts are gone */
  char names[64][160];
  size_t count;
} report;

static void print(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print(report *r, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  r->len += (size_t)vsnprintf(r->text + r->len, sizeof r->text - r->len, format, arguments);
  va_end(arguments);
}

static bool keep_span(void *ctx, const mend_span *span) {
  report *r = ctx;
  r->spans[r->count] = *span;
  snprintf(r->names[r->count++], sizeof r->names[0], "%.*s",
           MEND_STR_ARG(span->name.len > 0 ? span->name : span->run_id));
  return r->count < 64;
}

static const char *parent_of(const report *r, const mend_span *span) {
  static const uint8_t none[8];
  for (size_t i = 0; i < r->count; i++) {
    if (memcmp(r->spans[i].span_id, span->parent_span_id, 8) == 0) return r->names[i];
  }
  return memcmp(span->parent_span_id, none, 8) == 0 ? "-" : "unknown";
}

static void check_json(const mend_span *span) {
  char *json;
  size_t len;
  cr_assert_eq(mend_span_to_json(span, NULL, &json, &len), MEND_OK);
  cr_assert_eq(len, strlen(json));
  cr_assert_eq(mend_json_check((mend_str){json, len}, 8, NULL), MEND_OK, "%s", json);
  mend_free(NULL, json);
}

static bool print_span(void *ctx, const mend_span *span) {
  report *r = ctx;
  check_json(span);
  const char *name = span->name.len > 0 ? span->name.ptr : "-";
  print(r, "%s %.*s of %.*s, parent %s, ", span->kind, span->name.len > 0 ? (int)span->name.len : 1, name,
        MEND_STR_ARG(span->run_id), parent_of(r, span));
  print(r, "from %.3f", (double)(span->start_ns - START) / 1e6);
  if (span->end_ns != 0) {
    cr_assert_float_eq(span->duration_ms, (double)(span->end_ns - span->start_ns) / 1e6, 1e-6);
    print(r, " for %.3f ms", span->duration_ms);
  } else {
    cr_assert(isnan(span->duration_ms));
  }
  print(r, ", attempts %u, detections %u, %.*s\n", span->attempts, span->detections,
        MEND_STR_ARG(span->status.len > 0 ? span->status : MEND_STR("open")));
  return true;
}

static void describe(const world *w, report *r) {
  memset(r, 0, sizeof *r);
  mend_tracer_each(w->tracer, keep_span, r);
  mend_tracer_each(w->tracer, print_span, r);
  const mend_tracer_stats stats = stats_of(w);
  print(r, "open %llu, finished %llu, untraced %llu, forgotten %llu\npicture:\n", (unsigned long long)stats.open,
        (unsigned long long)stats.finished, (unsigned long long)stats.untraced, (unsigned long long)stats.forgotten);
  char *picture;
  cr_assert_eq(mend_tracer_draw(w->tracer, NULL, NULL, &picture), MEND_OK);
  print(r, "%s", picture);
  mend_free(NULL, picture);
  cr_assert(r->len < sizeof r->text);
}

static void check_case(void *ctx, const char *events) {
  (void)ctx;
  static report r;
  char name[256];
  snprintf(name, sizeof name, "%.*s.expected", (int)(strlen(events) - strlen(".events")), events);
  world w;
  open_world(&w, NULL);
  play(&w, events);
  describe(&w, &r);
  char *expected = mend_test_read(name, NULL);
  cr_assert_str_eq(r.text, expected, "%s:\n%s", events, r.text);
  free(expected);
  close_world(&w);
}

Test(tracer, cases) { cr_assert(mend_test_each("tracer", ".events", check_case, NULL) >= 7); }

/* ---- One span as JSON ---- */

Test(tracer, a_span_as_json) {
  static const struct {
    mend_span span;
    const char *json; /* NULL: it cannot be */
  } rows[] = {
      {{.size = sizeof(mend_span),
        .trace_id = {0xab, [15] = 1},
        .span_id = {0xcd, [7] = 2},
        .parent_span_id = {0xef, [7] = 3},
        .kind = "tool",
        .name = {"say \"hi\"", 8},
        .run_id = {"r1", 2},
        .call = UINT64_MAX,
        .start_ns = UINT64_C(1796079477899992411),
        .end_ns = UINT64_C(1796079478000000000),
        .duration_ms = 100.007589,
        .attempts = 2,
        .status = {"after", 5},
        .detections = 1},
       "{\"trace_id\":\"ab000000000000000000000000000001\",\"span_id\":\"cd00000000000002\","
       "\"parent_span_id\":\"ef00000000000003\",\"kind\":\"tool\",\"name\":\"say \\\"hi\\\"\",\"run_id\":\"r1\","
       "\"call\":18446744073709551615,\"started_at\":1796079477.899992411,\"ended_at\":1796079478.0,"
       "\"duration_ms\":100.007589,\"attempts\":2,\"status\":\"after\",\"detections\":1}"},
      {{.size = sizeof(mend_span), .kind = "run", .run_id = {"r\n", 2}, .start_ns = 1, .duration_ms = MEND_NAN},
       "{\"trace_id\":\"00000000000000000000000000000000\",\"span_id\":\"0000000000000000\",\"kind\":\"run\","
       "\"run_id\":\"r\\n\",\"started_at\":0.000000001,\"detections\":0}"},
      {{.size = 0, .kind = "run"}, NULL},
      {{.size = sizeof(mend_span)}, NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char *json = NULL;
    const mend_status expected = rows[i].json != NULL ? MEND_OK : MEND_EINVAL;
    cr_assert_eq(mend_span_to_json(&rows[i].span, NULL, &json, NULL), expected, "row %zu", i);
    if (expected == MEND_OK) cr_assert_str_eq(json, rows[i].json);
    mend_free(NULL, json);
  }
  char *json = NULL;
  cr_assert_eq(mend_span_to_json(NULL, NULL, &json, NULL), MEND_EINVAL);
  cr_assert_eq(mend_span_to_json(&rows[0].span, NULL, NULL, NULL), MEND_EINVAL);
  cr_assert_null(json);
}

/* ---- Options ---- */

Test(tracer, options_that_cannot_be) {
  static const struct {
    uint32_t open_limit, finished_limit;
    const char *sentence;
  } rows[] = {{0, 1, "open_limit: 0"},
              {(1u << 20) + 1, 1, "open_limit: 1048577"},
              {1, (1u << 20) + 1, "finished_limit: 1048577"}};
  mend_bus *bus;
  cr_assert_eq(mend_bus_new(NULL, &bus, NULL), MEND_OK);
  mend_tracer *tracer = NULL;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend_tracer_options options = MEND_TRACER_OPTIONS_INIT;
    options.open_limit = rows[i].open_limit;
    options.finished_limit = rows[i].finished_limit;
    mend_error error = MEND_ERROR_INIT;
    cr_assert_eq(mend_tracer_new(bus, &options, &tracer, &error), MEND_EINVAL);
    cr_assert_not_null(strstr(error.message, rows[i].sentence), "%s", error.message);
  }
  cr_assert_eq(mend_tracer_new(NULL, NULL, &tracer, NULL), MEND_EINVAL);
  cr_assert_null(tracer);
  mend_tracer_free(NULL);
  mend_bus_release(bus);
}

/* The tracer and the run are all that is left of the bus, then the tracer alone. */
Test(tracer, keeps_its_bus_and_no_run) {
  world w;
  open_world(&w, NULL);
  new_run(&w, "a", "");
  mend_bus_release(w.bus);
  emit_call(w.runs[0], "tool.before", 1);
  mend_bus_stats stats = {.size = sizeof stats};
  mend_bus_get_stats(w.bus, &stats);
  cr_assert_eq(stats.runs, 1u);
  free_run(&w, "a");
  mend_bus_get_stats(w.bus, &stats);
  cr_assert_eq(stats.runs, 0u, "an open span keeps no run");
  cr_assert_eq(stats_of(&w).open, 2u);
  mend_bus_retain(w.bus);
  close_world(&w);
}

/* ---- Limits ---- */

static bool count_span(void *ctx, const mend_span *span) {
  (void)span;
  ++*(size_t *)ctx;
  return true;
}

static size_t kept(const world *w) {
  size_t count = 0;
  mend_tracer_each(w->tracer, count_span, &count);
  return count;
}

/* In each of `runs` runs, one after the other, `calls` calls begin and `ends` of them end. */
Test(tracer, limits) {
  static const struct {
    uint32_t open_limit, finished_limit;
    int runs, calls, ends;
    uint64_t open, finished, untraced, forgotten;
    size_t kept;
  } rows[] =
      {
          {100, 100, 1, 10, 10, 1, 10, 0, 0, 11},
          {100, 4, 1, 10, 10, 1, 10, 0, 0, 5},
          {100, 0, 1, 10, 10, 1, 10, 0, 0, 1},
          {6, 100, 1, 10, 0, 6, 0, 5, 0, 6},   /* the run and five of its calls */
          {6, 100, 1, 10, 10, 1, 5, 10, 0, 6}, /* the others' ends are strays */
          {1, 100, 1, 3, 3, 1, 0, 6, 0, 1},
          {6, 100, 3, 4, 0, 5, 0, 0, 10, 5}, /* the runs before make room */
          {6, 100, 4, 4, 4, 2, 16, 0, 2, 18},
          {2, 100, 4, 1, 1, 1, 4, 0, 3, 5}, /* runs without an end are forgotten too */
      };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend_tracer_options options = MEND_TRACER_OPTIONS_INIT;
    options.open_limit = rows[i].open_limit;
    options.finished_limit = rows[i].finished_limit;
    world w;
    open_world(&w, &options);
    for (int run = 0; run < rows[i].runs; run++) {
      cr_assert_eq(mend_run_new(w.bus, NULL, &w.runs[run], NULL), MEND_OK);
      for (int call = 1; call <= rows[i].calls; call++)
        publish_call(w.runs[run], MEND_EVENT_TOOL_BEFORE, (uint64_t)call);
      for (int call = 1; call <= rows[i].ends; call++)
        publish_call(w.runs[run], MEND_EVENT_TOOL_AFTER, (uint64_t)call);
    }
    const mend_tracer_stats stats = stats_of(&w);
    cr_assert_eq(stats.open, rows[i].open, "row %zu: open %llu", i, (unsigned long long)stats.open);
    cr_assert_eq(stats.finished, rows[i].finished, "row %zu: finished %llu", i, (unsigned long long)stats.finished);
    cr_assert_eq(stats.untraced, rows[i].untraced, "row %zu: untraced %llu", i, (unsigned long long)stats.untraced);
    cr_assert_eq(stats.forgotten, rows[i].forgotten, "row %zu: forgotten %llu", i, (unsigned long long)stats.forgotten);
    cr_assert_eq(kept(&w), rows[i].kept, "row %zu: kept %zu", i, kept(&w));
    close_world(&w);
  }
}

/* A call whose run was forgotten goes on: its next attempt opens its span again, under the run as it is known now. */
Test(tracer, an_attempt_after_its_run_was_forgotten) {
  mend_tracer_options options = MEND_TRACER_OPTIONS_INIT;
  options.open_limit = 2;
  world w;
  open_world(&w, &options);
  for (int i = 0; i < 2; i++)
    cr_assert_eq(mend_run_new(w.bus, NULL, &w.runs[i], NULL), MEND_OK);
  publish_call(w.runs[0], MEND_EVENT_TOOL_BEFORE, 1);
  publish_call(w.runs[0], MEND_EVENT_TOOL_ERROR, 1);
  publish_call(w.runs[1], MEND_EVENT_TOOL_BEFORE, 1);
  publish_call(w.runs[0], MEND_EVENT_TOOL_BEFORE, 1);
  cr_assert_eq(stats_of(&w).open, 2u, "the run and its call");
  cr_assert_eq(stats_of(&w).forgotten, 3u);
  publish_call(w.runs[0], MEND_EVENT_TOOL_AFTER, 1);
  cr_assert_eq(kept(&w), 2u);
  cr_assert_eq(stats_of(&w).untraced, 0u);
  close_world(&w);
}

Test(tracer, a_hundred_thousand_calls_in_flat_memory) {
  mend_tracer_options options = MEND_TRACER_OPTIONS_INIT;
  options.finished_limit = 100;
  world w;
  open_world(&w, &options);
  cr_assert_eq(mend_run_new(w.bus, NULL, &w.runs[0], NULL), MEND_OK);
  size_t blocks = 0, allocations = 0;
  for (uint64_t call = 1; call <= 100000; call++) {
    publish_call(w.runs[0], MEND_EVENT_TOOL_BEFORE, call);
    publish_call(w.runs[0], MEND_EVENT_TOOL_AFTER, call);
    if (call != 1000) continue;
    blocks = atomic_load(&w.memory.blocks);
    allocations = atomic_load(&w.memory.calls);
  }
  cr_assert_eq(atomic_load(&w.memory.blocks), blocks);
  cr_assert_eq(atomic_load(&w.memory.calls), allocations, "nothing is allocated any more");
  cr_assert_eq(stats_of(&w).finished, 100000u);
  close_world(&w);
}

/* ---- A listener ---- */

typedef struct listener {
  world *w;
  mend_run *publishes; /* publishes there, unless NULL */
  bool frees;          /* the tracer, at the first span */
  char heard[512];
} listener;

static void hear(void *ctx, const mend_span *span) {
  listener *l = ctx;
  const size_t len = strlen(l->heard);
  snprintf(l->heard + len, sizeof l->heard - len, "%.*s %.*s %u, ", MEND_STR_ARG(span->name),
           MEND_STR_ARG(span->status), span->attempts);
  if (l->publishes != NULL) emit(l->publishes, "heard", "{}");
  if (!l->frees) return;
  mend_tracer_free(l->w->tracer);
  l->w->tracer = NULL;
}

Test(tracer, a_listener_hears_of_each_end) {
  static const struct {
    uint32_t finished_limit;
    bool publishes, frees;
    const char *heard;
  } rows[] = {
      {100, false, false, "t error 1, t after 2, u cancelled 1, r done 0, "},
      {0, true, false,
       "t error 1, t after 1, u cancelled 1, r done 0, "}, /* who keeps nothing knows of no first attempt */
      {100, false, true, "t error 1, "},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    listener l = {.w = &w, .frees = rows[i].frees};
    mend_tracer_options options = MEND_TRACER_OPTIONS_INIT;
    options.finished_limit = rows[i].finished_limit;
    options.finished = hear;
    options.finished_ctx = &l;
    open_world(&w, &options);
    cr_assert_eq(mend_run_new(w.bus, NULL, &w.runs[0], NULL), MEND_OK);
    if (rows[i].publishes) l.publishes = w.runs[0];
    emit(w.runs[0], "run.started", "{\"name\":\"r\"}");
    emit_call(w.runs[0], "tool.before", 1);
    emit_call(w.runs[0], "tool.error", 1);
    emit_call(w.runs[0], "tool.before", 1);
    emit(w.runs[0], "tool.before", "{\"call_id\":\"2\",\"tool_name\":\"u\"}");
    emit_call(w.runs[0], "tool.after", 1);
    emit_call(w.runs[0], "tool.cancelled", 2);
    emit(w.runs[0], "run.finished", "{\"status\":\"done\"}");
    cr_assert_str_eq(l.heard, rows[i].heard, "row %zu: %s", i, l.heard);
    close_world(&w);
  }
}

/* ---- Pictures ---- */

static size_t count_lines(const char *text) {
  size_t lines = 0;
  for (; (text = strchr(text, '\n')) != NULL; text++)
    lines++;
  return lines;
}

static void check_picture(const world *w, const char *run_id, size_t lines) {
  char *picture, *again;
  cr_assert_eq(mend_tracer_draw(w->tracer, run_id, NULL, &picture), MEND_OK);
  cr_assert_eq(mend_tracer_draw(w->tracer, run_id, NULL, &again), MEND_OK);
  cr_assert_str_eq(picture, again, "the same spans make the same picture");
  cr_assert_eq(count_lines(picture), lines, "%zu lines", count_lines(picture));
  mend_free(NULL, picture);
  mend_free(NULL, again);
}

/* Five thousand calls side by side in one run, each within the one before in another. */
Test(tracer, ten_thousand_spans_are_drawn) {
  enum { CALLS = 5000 };
  mend_tracer_options options = MEND_TRACER_OPTIONS_INIT;
  options.finished_limit = CALLS;
  world w;
  open_world(&w, &options);
  check_picture(&w, NULL, 0);
  new_run(&w, "wide", "");
  new_run(&w, "deep", "");
  for (uint64_t call = 1; call <= CALLS; call++) {
    publish_call(w.runs[0], MEND_EVENT_TOOL_BEFORE, call);
    mend_clock_advance(w.clock, MILLISECOND);
    publish_call(w.runs[0], MEND_EVENT_TOOL_AFTER, call);
    mend_tool_before_event within = MEND_TOOL_BEFORE_EVENT_INIT;
    within.event.call = call;
    within.within = call - 1;
    mend_run_publish(w.runs[1], &within.event);
  }
  check_picture(&w, NULL, 2 * CALLS + 2);
  check_picture(&w, "wide", CALLS + 1);
  check_picture(&w, "deep", CALLS + 1);
  check_picture(&w, "nobody", 0);
  close_world(&w);
}

/* ---- Out of memory at every point ---- */

static mend_status scenario(world *w) {
  mend_tracer *second;
  mend_status status = mend_tracer_new(w->bus, NULL, &second, NULL);
  if (status != MEND_OK) return status;
  for (uint64_t call = 1; call <= 3; call++)
    publish_call(w->runs[0], MEND_EVENT_TOOL_BEFORE, call);
  publish_call(w->runs[0], MEND_EVENT_TOOL_AFTER, 1);
  publish_call(w->runs[0], MEND_EVENT_TOOL_BEFORE, 1);
  char *picture;
  status = mend_tracer_draw(second, NULL, &w->memory.base, &picture);
  if (status == MEND_OK) mend_free(&w->memory.base, picture);
  mend_tracer_stats stats = {.size = sizeof stats};
  mend_tracer_get_stats(second, &stats);
  if (status == MEND_OK && stats.untraced > 0) status = MEND_ENOMEM;
  cr_assert_eq(stats.open + stats.untraced >= 4, true);
  mend_tracer_free(second);
  return status;
}

Test(tracer, out_of_memory_at_every_point) {
  for (int after = 0; after < 2; after++) {
    for (size_t n = 1;; n++) {
      world w;
      open_world(&w, NULL);
      new_run(&w, "a", "");
      emit(w.runs[0], "warm", "{}"); /* the thread's first publish needs memory, which is the bus's business */
      mend_test_allocator_arm(&w.memory, n, after == 1);
      const mend_status status = scenario(&w);
      const bool failed = mend_test_allocator_failed(&w.memory);
      mend_test_allocator_arm(&w.memory, 0, false);
      cr_assert(status == MEND_OK || (failed && status == MEND_ENOMEM), "point %zu: %s", n, mend_status_name(status));
      cr_assert_eq(scenario(&w), MEND_OK, "after a failure at point %zu everything works", n);
      close_world(&w);
      if (failed) continue;
      cr_assert(n > 10, "only %zu points", n);
      break;
    }
  }
}

/* ---- Threads ---- */

enum { THREADS = 4, ROUNDS = 2000 };

typedef struct worker {
  mend_run *run;
  uint64_t first_call;
} worker;

static void *call_many(void *ctx) {
  const worker *me = ctx;
  for (uint64_t i = 0; i < ROUNDS; i++) {
    publish_call(me->run, MEND_EVENT_TOOL_BEFORE, me->first_call + i);
    publish_call(me->run, MEND_EVENT_TOOL_AFTER, me->first_call + i);
  }
  return NULL;
}

static void count_finished(void *ctx, const mend_span *span) {
  (void)span;
  atomic_fetch_add((atomic_uint *)ctx, 1);
}

/* Two threads publish on each of two runs, while the tracer is looked at and a second one comes and goes. */
Test(tracer, threads) {
  world w;
  atomic_uint finished = 0;
  mend_tracer_options options = MEND_TRACER_OPTIONS_INIT;
  options.finished_limit = 50;
  options.finished = count_finished;
  options.finished_ctx = &finished;
  open_world(&w, &options);
  new_run(&w, "a", "");
  new_run(&w, "b", "");
  pthread_t threads[THREADS];
  worker workers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){w.runs[i % 2], 1 + (uint64_t)i * ROUNDS};
    cr_assert_eq(pthread_create(&threads[i], NULL, call_many, &workers[i]), 0);
  }
  for (int i = 0; i < 50; i++) {
    mend_tracer *passing;
    char *picture;
    cr_assert_eq(mend_tracer_new(w.bus, &options, &passing, NULL), MEND_OK);
    cr_assert_eq(mend_tracer_draw(w.tracer, NULL, NULL, &picture), MEND_OK);
    mend_free(NULL, picture);
    cr_assert(kept(&w) <= 50 + 2 + THREADS);
    mend_tracer_free(passing);
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  const mend_tracer_stats stats = stats_of(&w);
  cr_assert_eq(stats.finished, (uint64_t)THREADS * ROUNDS);
  cr_assert_eq(stats.open, 2u);
  cr_assert_eq(stats.untraced, 0u);
  cr_assert(atomic_load(&finished) >= THREADS * ROUNDS);
  close_world(&w);
}

#include "mend/bus.h"
#include "support/mend_test.h"

#include <stdio.h>
#include <stdlib.h>

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define SPAN "b7ad6b7169203331"

static mend_bus *seeded_bus(uint64_t seed) {
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.id_seed = seed;
  mend_bus *bus;
  cr_assert_eq(mend_bus_new(&options, &bus, NULL), MEND_OK);
  return bus;
}

static mend_run *new_run(mend_bus *bus, const mend_run_options *options) {
  mend_run *run;
  cr_assert_eq(mend_run_new(bus, options, &run, NULL), MEND_OK);
  return run;
}

static uint64_t span_of(const mend_run *run, uint64_t call) {
  uint8_t id[8];
  uint64_t span;
  mend_run_span_id(run, call, id);
  memcpy(&span, id, sizeof span);
  return span;
}

static uint64_t parent_span_of(const mend_run *run) {
  uint8_t id[8];
  uint64_t span;
  mend_run_parent_span_id(run, id);
  memcpy(&span, id, sizeof span);
  return span;
}

/* ---- traceparent ---- */

static const struct {
  const char *text;
  mend_status status;
} traceparents[] = {
    {"00-" TRACE "-" SPAN "-01", MEND_OK},
    {"00-" TRACE "-" SPAN "-00", MEND_OK},
    {"00-" TRACE "-" SPAN "-ff", MEND_OK},
    {"01-" TRACE "-" SPAN "-01", MEND_OK},
    {"cc-" TRACE "-" SPAN "-01-what the future will be like", MEND_OK},
    {"fe-" TRACE "-" SPAN "-01-", MEND_OK},
    {NULL, MEND_EINVAL},
    {"", MEND_EINVAL},
    {"00-" TRACE "-" SPAN "-0", MEND_EINVAL},
    {"00-" TRACE "-" SPAN "-01-", MEND_EINVAL},
    {"00-" TRACE "-" SPAN "-01 ", MEND_EINVAL},
    {"01-" TRACE "-" SPAN "-01.more", MEND_EINVAL},
    {"ff-" TRACE "-" SPAN "-01", MEND_EINVAL},
    {"0x-" TRACE "-" SPAN "-01", MEND_EINVAL},
    {"00_" TRACE "-" SPAN "-01", MEND_EINVAL},
    {"00-" TRACE "_" SPAN "-01", MEND_EINVAL},
    {"00-" TRACE "-" SPAN "_01", MEND_EINVAL},
    {"00-" TRACE "-" SPAN "-0g", MEND_EINVAL},
    {"00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01", MEND_EINVAL},
    {"00-" TRACE "-B7AD6B7169203331-01", MEND_EINVAL},
    {"00-00000000000000000000000000000000-" SPAN "-01", MEND_EINVAL},
    {"00-" TRACE "-0000000000000000-01", MEND_EINVAL},
};

static void traceparents_are_read(void) {
  static const uint8_t trace[16] = {0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd,
                                    0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c};
  static const uint8_t span[8] = {0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31};
  for (size_t i = 0; i < sizeof traceparents / sizeof *traceparents; i++) {
    const char *text = traceparents[i].text;
    uint8_t trace_id[16] = {7}, span_id[8] = {7};
    cr_assert_eq(mend_traceparent_parse(mend_str_from(text), trace_id, span_id), traceparents[i].status, "%s", text);
    const bool ok = traceparents[i].status == MEND_OK;
    cr_assert(ok ? memcmp(trace_id, trace, 16) == 0 : trace_id[0] == 7, "%s", text);
    cr_assert(ok ? memcmp(span_id, span, 8) == 0 : span_id[0] == 7, "%s", text);
  }
}

static void what_is_formatted_is_read(void) {
  mend_bus *bus = seeded_bus(0);
  mend_run *run = new_run(bus, NULL);
  for (uint64_t call = 0; call < 3; call++) {
    char text[MEND_TRACEPARENT_SIZE];
    uint8_t read_trace[16], read_span[8], trace_id[16], span_id[8];
    mend_traceparent_format(run, call, text);
    cr_assert_eq(strlen(text), (size_t)MEND_TRACEPARENT_SIZE - 1);
    cr_assert_str_eq(text + 52, "-01", "sampled");
    cr_assert_eq(mend_traceparent_parse(mend_str_from(text), read_trace, read_span), MEND_OK, "%s", text);
    mend_run_trace_id(run, trace_id);
    mend_run_span_id(run, call, span_id);
    cr_assert(memcmp(read_trace, trace_id, 16) == 0 && memcmp(read_span, span_id, 8) == 0, "%s", text);
  }
  mend_run_release(run);
  mend_bus_release(bus);
}

/* A trace that began elsewhere goes on here. */
static void traceparents_make_runs(void) {
  mend_bus *bus = seeded_bus(0);
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  uint8_t trace_id[16], span_id[8];
  cr_assert_eq(mend_traceparent_parse(mend_str_from(traceparents[0].text), options.trace_id, options.parent_span_id),
               MEND_OK);
  mend_run *run = new_run(bus, &options);
  mend_run_trace_id(run, trace_id);
  mend_run_parent_span_id(run, span_id);
  cr_assert_eq(memcmp(trace_id, options.trace_id, 16), 0);
  cr_assert_eq(memcmp(span_id, options.parent_span_id, 8), 0);
  cr_assert_neq(span_of(run, 0), parent_span_of(run), "its own span is another");
  mend_run_release(run);
  mend_bus_release(bus);
}

Test(traces, traceparent) {
  traceparents_are_read();
  what_is_formatted_is_read();
  traceparents_make_runs();
}

/* ---- Spans ---- */

static int compare_spans(const void *a, const void *b) {
  const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return left < right ? -1 : left > right;
}

/* The runs' own, those of calls by number, and of calls with names. */
static void spans_are_never_zero_nor_shared(void) {
  enum { RUNS = 20, CALLS = 2000 };
  static uint64_t spans[RUNS * CALLS];
  mend_bus *bus = seeded_bus(0);
  for (size_t i = 0; i < RUNS; i++) {
    mend_run *run = new_run(bus, NULL);
    for (uint64_t call = 0; call < CALLS; call++) {
      const uint64_t number = call % 4 == 3 ? call | UINT64_C(1) << 63 : call;
      spans[i * CALLS + call] = span_of(run, number);
      cr_assert_eq(span_of(run, number), spans[i * CALLS + call], "the same call always has the same one");
    }
    mend_run_release(run);
  }
  qsort(spans, RUNS * CALLS, sizeof *spans, compare_spans);
  cr_assert_neq(spans[0], 0u);
  for (size_t i = 1; i < RUNS * CALLS; i++)
    cr_assert_neq(spans[i], spans[i - 1]);
  mend_bus_release(bus);
}

static void a_seed_says_all_ids(void) {
  mend_bus *first = seeded_bus(42), *second = seeded_bus(42), *other = seeded_bus(43);
  mend_run *run = new_run(first, NULL), *same = new_run(second, NULL), *different = new_run(other, NULL);
  char text[MEND_TRACEPARENT_SIZE], same_text[MEND_TRACEPARENT_SIZE], different_text[MEND_TRACEPARENT_SIZE];
  mend_traceparent_format(run, 5, text);
  mend_traceparent_format(same, 5, same_text);
  mend_traceparent_format(different, 5, different_text);
  cr_assert_str_eq(text, same_text);
  cr_assert_neq(strcmp(text + 36, different_text + 36), 0);
  mend_run_release(run);
  mend_run_release(same);
  mend_run_release(different);
  mend_bus_release(first);
  mend_bus_release(second);
  mend_bus_release(other);
}

static const struct {
  const char *what;
  bool with_parent;
  const char *parent_id, *parent_call;
  bool with_own; /* parent_span_id is given */
  enum { NONE, OF_RUN, OF_CALL_7, OF_CALL_TOOLU, GIVEN } expected;
} children[] = {
    {"no parent", false, NULL, NULL, false, NONE},
    {"a parent that is not here", false, "far", "7", false, NONE},
    {"a parent and no call", true, NULL, NULL, false, OF_RUN},
    {"a parent and an empty call", true, NULL, "", false, OF_RUN},
    {"a parent's call by number", true, NULL, "7", false, OF_CALL_7},
    {"a parent's call by name", true, NULL, "toolu_01", false, OF_CALL_TOOLU},
    {"the given one wins", true, NULL, "7", true, GIVEN},
    {"the given one of a parent that is not here", false, "far", "7", true, GIVEN},
};

static void children_have_their_parents_span(void) {
  mend_bus *bus = seeded_bus(0);
  mend_run *parent = new_run(bus, NULL);
  const uint64_t given = UINT64_C(0x0102030405060708);
  const uint64_t spans[] = {0, span_of(parent, 0), span_of(parent, 7),
                            span_of(parent, mend_call_from_name(MEND_STR("toolu_01"))), given};
  for (size_t i = 0; i < sizeof children / sizeof *children; i++) {
    mend_run_options options = MEND_RUN_OPTIONS_INIT;
    options.parent = children[i].with_parent ? parent : NULL;
    options.parent_id = mend_str_from(children[i].parent_id);
    options.parent_call = mend_str_from(children[i].parent_call);
    if (children[i].with_own) memcpy(options.parent_span_id, &given, sizeof given);
    mend_run *run = new_run(bus, &options);
    cr_assert_eq(parent_span_of(run), spans[children[i].expected], "%s", children[i].what);
    cr_assert_neq(span_of(run, 7), span_of(parent, 7), "%s", children[i].what);
    mend_run_release(run);
  }
  mend_run_release(parent);
  mend_bus_release(bus);
}

Test(traces, spans) {
  spans_are_never_zero_nor_shared();
  a_seed_says_all_ids();
  children_have_their_parents_span();
}

/* ---- On events ---- */

static mend_status keep_span(void *ctx, const mend_event *event) {
  memcpy(ctx, event->span_id, sizeof event->span_id);
  return MEND_OK;
}

static const struct {
  const char *topic, *payload;
  uint64_t call;
  const char *call_name; /* what call is made of; NULL: the number */
  uint64_t given;        /* the span in the payload; 0: none */
} emitted[] = {
    {"run.reset", NULL, 0, NULL, 0},
    {"tool.before", "{\"call_id\":\"7\"}", 7, NULL, 0},
    {"tool.after", "{\"call_id\":\"7\"}", 7, NULL, 0},
    {"model.request", "{\"call_id\":\"msg_1\"}", 0, "msg_1", 0},
    {"my.own", "{\"call_id\":7}", 7, NULL, 0},
    {"my.own", "{}", 0, NULL, 0},
    {"tool.before", "{\"call_id\":\"7\",\"span_id\":\"0000000000000000\"}", 7, NULL, 0},
    {"tool.before", "{\"call_id\":\"7\",\"span_id\":\"0102030405060708\"}", 7, NULL, UINT64_C(0x0102030405060708)},
    {"my.own", "{\"span_id\":\"0102030405060708\"}", 0, NULL, UINT64_C(0x0102030405060708)},
};

static uint64_t from_big_endian(const uint8_t bytes[8]) {
  uint64_t value = 0;
  for (int i = 0; i < 8; i++)
    value = value << 8 | bytes[i];
  return value;
}

Test(traces, events_have_the_span_of_their_call) {
  mend_bus *bus = seeded_bus(0);
  mend_run *run = new_run(bus, NULL);
  uint8_t seen[8], expected[8];
  cr_assert_eq(mend_bus_subscribe(bus, "*", keep_span, seen, NULL, NULL, NULL), MEND_OK);
  for (size_t i = 0; i < sizeof emitted / sizeof *emitted; i++) {
    const uint64_t call =
        emitted[i].call_name != NULL ? mend_call_from_name(mend_str_from(emitted[i].call_name)) : emitted[i].call;
    cr_assert_eq(mend_run_emit(run, emitted[i].topic, emitted[i].payload, NULL), MEND_OK, "row %zu", i);
    mend_run_span_id(run, call, expected);
    const uint64_t span = emitted[i].given != 0 ? emitted[i].given : from_big_endian(expected);
    cr_assert_eq(from_big_endian(seen), span, "row %zu", i);
  }

  /* A struct that is published again has the span of its new call; one that is stamped already keeps its own. */
  mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
  for (uint64_t call = 1; call < 3; call++) {
    before.event.call = call;
    cr_assert_eq(mend_run_publish(run, &before.event), MEND_OK);
    mend_run_span_id(run, call, expected);
    cr_assert_eq(memcmp(seen, expected, 8), 0);
    cr_assert_eq(memcmp(before.event.span_id, expected, 8), 0);
  }
  memset(before.event.span_id, 3, 8);
  cr_assert_eq(mend_bus_publish(bus, &before.event), MEND_OK);
  cr_assert_eq(from_big_endian(seen), UINT64_C(0x0303030303030303));
  mend_run_release(run);
  mend_bus_release(bus);
}

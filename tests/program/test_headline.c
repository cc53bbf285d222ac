#include "program/reports/headline.h"
#include "program/reports/totals.h"
#include "support/mend_test.h"

#include <stdio.h>

#define MINUTE (60 * UINT64_C(1000000000))

static void expect(mend__buffer *buffer, const char *expected) {
  mend__buffer_char(buffer, '\0');
  cr_assert(!buffer->failed);
  cr_assert_str_eq(buffer->data, expected, "\"%s\"", buffer->data);
  mend__buffer_clear(buffer);
}

static const struct {
  replay_use use;
  const char *words;
} uses[] = {
    {{0, 0, 0, 0}, "nothing"},
    {{1, 0, 0, 0}, "1 call"},
    {{2, 1200, 0, 0}, "2 calls and 1,200 tokens"},
    {{0, 0, 0.0042, 2 * MINUTE}, "0.0042 USD and 2 min"},
    {{3, 1, 12.345, MINUTE}, "3 calls, 1 token, 12.35 USD and 1 min"},
    {{0, 0, 1234567.891, 0}, "1,234,567.89 USD"},
    {{0, 0, 0.1, 0}, "0.10 USD"},
    {{0, 0, 0.05, 0}, "0.05 USD"},
    {{0, 0, 1e300, 0}, "1,000,000,000,000.00 USD"},
};

/* The only trouble of a run of 40 calls and three minutes. */
static const struct {
  replay_kind kind;
  replay_trouble trouble;
  const char *words;
} troubles[] = {
    {REPLAY_LOOP, {1, 12, 0, "bash", "repeat", false}, "12 of 40 calls went round in a circle: bash"},
    {REPLAY_LOOP, {2, 99, 0, "bash", "cycle3", true}, "40 of 40 calls went round in a circle, most of them bash"},
    {REPLAY_LOOP, {1, 7, 0, "sh", "same_error_moving_args", false}, "7 of 40 calls ran into the same error: sh"},
    {REPLAY_LOOP, {1, 0, 0, "", "chanting", false}, "the model repeated itself within a reply"},
    {REPLAY_LOOP, {1, 0, 0, "", "of_tomorrow", false}, "the model went round in a circle"},
    {REPLAY_STALL, {1, 1, 5 * MINUTE, "build", "tool_idle", false}, "1 call hung for 5 min: build"},
    {REPLAY_STALL, {2, 3, MINUTE, "b", "tool_idle", true}, "3 calls hung, the longest for 1 min, most of them b"},
    {REPLAY_STALL, {1, 1, 0, "", "tool_total", false}, "1 call hung"},
    {REPLAY_STALL, {1, 0, 0, "", "stream_idle", false}, "the model stopped within a reply"},
    {REPLAY_REGRESSION, {2, 0, 0, "", "cusum", false}, "confidence fell"},
    {REPLAY_BUDGET, {1, 0, 0, "", "tokens", false}, "the budget was spent: tokens"},
    {REPLAY_OTHER, {2, 0, 0, "", "own", false}, "2 incidents of another kind: own"},
};

Test(program_headline, runs_in_a_sentence) {
  mend__buffer line;
  mend__buffer_init(&line, NULL);
  for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
    headline_write_use(&line, &uses[i].use);
    expect(&line, uses[i].words);
  }
  replay_run run = {.used = {40, 0, 0, 3 * MINUTE}};
  headline_write(&line, &run);
  expect(&line, "all is well: 40 calls, 3 min");
  run.unfinished = 1;
  run.open_tool = MEND_STR("bash");
  headline_write(&line, &run);
  expect(&line, "ends in the middle of bash: 40 calls, 3 min");
  run.unfinished = 1200;
  run.open_ns = 2 * MINUTE;
  headline_write(&line, &run);
  expect(&line, "ends in the middle of 1,200 calls, the last open since 00:02:00: 40 calls, 3 min");
  run.unfinished = 0;
  for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++) {
    replay_trouble all[REPLAY_KINDS] = {{.incidents = 0}};
    all[troubles[i].kind] = troubles[i].trouble;
    run.detections = 1;
    run.troubles = all;
    headline_write(&line, &run);
    expect(&line, troubles[i].words);
  }
  mend__buffer_free(&line);
}

/* ---- The worst of them ------------------------------------------------------------------------------------- */

static const replay_use costs[] = {{.calls = 3}, {.calls = 9}, {.calls = 1}, {.calls = 3, .ns = 5},
                                   {.ns = 9},    {.calls = 2}, {.calls = 9}};

static void consider(replay_worst *of, size_t number) {
  static const replay_trouble none[REPLAY_KINDS] = {{.incidents = 0}};
  char id[8];
  snprintf(id, sizeof id, "r%zu", number);
  const replay_run run = {
      .id = mend_str_from(id), .detections = 1, .incidents = 1, .troubles = none, .saved = costs[number]};
  replay_worst_consider(of, "file", &run);
}

static void expect_order(const replay_worst *of) {
  static const char *const order[REPLAY_WORST_SHOWN] = {"r1", "r6", "r3", "r0", "r5"};
  cr_assert_eq(of->count, REPLAY_WORST_SHOWN);
  for (size_t i = 0; i < of->count; i++)
    cr_assert_str_eq(of->runs[i].run, order[i], "%zu: %s", i, of->runs[i].run);
}

Test(program_headline, the_worst_runs_of_a_file_and_of_all) {
  enum { COUNT = sizeof costs / sizeof costs[0] };
  replay_summary whole = {.counts = {.detections = 7, .runs = 7}}, first = {.saved = {.calls = 4}},
                 second = {.saved = {.calls = 5}};
  for (size_t i = 0; i < COUNT; i++) {
    consider(&whole.worst, i);
    consider(i < 3 ? &first.worst : &second.worst, i);
  }
  expect_order(&whole.worst);
  replay_totals totals = {.files = 2};
  replay_totals_add(&totals, &first);
  replay_totals_add(&totals, &second);
  expect_order(&totals.worst);
  cr_assert_eq(totals.saved.calls, 9);
  cr_assert_eq(totals.troubled, 0);
  replay_totals_add(&totals, &whole);
  cr_assert_eq(totals.troubled, 1);
  cr_assert_eq(totals.runs, 7);
}

/* What the page of --html is made of: texts that are safe in it, and how much of a recording it holds. */
#include "program/reports/outlets.h"
#include "program/reports/page_calls.h"
#include "program/reports/page_file.h"
#include "program/reports/page_limits.h"
#include "program/reports/page_record.h"
#include "support/mend_test.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Texts ------------------------------------------------------------------------------------------------- */

static const struct {
  const char *text;
  size_t max_bytes;
  const char *expected;
} texts[] = {
    {"plain", 100, "\"plain\""},
    {"", 100, "\"\""},
    {"</script><img src=x onerror=alert(1)>", 100, "\"\\u003c/script>\\u003cimg src=x onerror=alert(1)>\""},
    {"<!--<script>", 100, "\"\\u003c!--\\u003cscript>\""},
    {"say \"it\" \\ &amp;", 100, "\"say \\\"it\\\" \\\\ &amp;\""},
    {"two\nlines\r\n", 100, "\"two\\nlines\\\\r\\n\""},
    {"tab\tand \x1b[31m", 100, "\"tab\\\\tand \\\\x1b[31m\""},
    {"\xE2\x80\xAE"
     "dlrow",
     100, "\"\\\\u202edlrow\""},
    {"\xE2\x80\xA8 and \xE2\x80\xA9", 100, "\"\\\\u2028 and \\\\u2029\""},
    {"\xED\xA0\x80", 100, "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""}, /* a surrogate, which UTF-8 has none of */
    {"\xFF\xC3", 100, "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
    {"0123456789", 4, "\"0123...\""},
    {"\xC3\xA4\xC3\xA4", 3, "\"\xC3\xA4...\""},
};

static const struct {
  const char *value, *expected;
} values[] = {
    {"\"a \\u003c b\\n\"", "\"a \\u003c b\\n\""},
    {"\"\\u202e\\ud800\"", "\"\\\\u202e\xEF\xBF\xBD\""},
    {"\"cut in the mid...", "\"cut in the mid...\""},
    {"{\"a\":\"</script>\"}", "\"{\\\"a\\\":\\\"\\u003c/script>\\\"}\""},
    {"12.50", "\"12.50\""},
    {"\"", "\"\\\"\""},
};

static void expect(mend__buffer *record, const char *expected) {
  mend__buffer_char(record, '\0');
  cr_assert(!record->failed);
  cr_assert_str_eq(record->data, expected, "%s", record->data);
  mend__buffer_clear(record);
}

Test(html, texts_cannot_leave_their_place) {
  mend__buffer record;
  mend__buffer_init(&record, NULL);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    page_text(&record, mend_str_from(texts[i].text), texts[i].max_bytes);
    cr_assert_eq(mend_json_check(mend__buffer_text(&record), 2, NULL), MEND_OK, "%s", texts[i].expected);
    expect(&record, texts[i].expected);
  }
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    page_json(&record, mend_str_from(values[i].value), 100);
    expect(&record, values[i].expected);
  }
  page_text(&record, (mend_str){"a\0b", 3}, 100);
  expect(&record, "\"a\\\\x00b\"");
  mend__buffer_free(&record);
}

/* ---- Limits ------------------------------------------------------------------------------------------------ */

static const struct {
  uint64_t count, limit, size;
} sizes[] = {
    {0, 10, 1}, {9, 10, 1}, {10, 10, 2}, {19, 10, 2}, {20, 10, 4}, {39, 10, 4}, {40, 10, 8}, {1000000, 20000, 64},
};

static const struct {
  size_t files;
  page_limits share;
} shares[] = {
    {0, {PAGE_CALLS, PAGE_READINGS, PAGE_RUNS, PAGE_INCIDENTS, PAGE_CONTENT_BYTES}},
    {1, {PAGE_CALLS, PAGE_READINGS, PAGE_RUNS, PAGE_INCIDENTS, PAGE_CONTENT_BYTES}},
    {100, {1000, 500, 50, 50, 335544}},
    {1000000, {20, 20, 50, 20, 4096}},
};

Test(html, limits) {
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    cr_assert_eq(page_block_size(sizes[i].count, sizes[i].limit), sizes[i].size, "case %zu", i);
  }
  for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
    const page_limits got = page_limits_of_file(shares[i].files), *wanted = &shares[i].share;
    cr_assert(got.calls == wanted->calls && got.readings == wanted->readings, "case %zu", i);
    cr_assert(got.runs == wanted->runs && got.incidents == wanted->incidents, "case %zu", i);
    cr_assert_eq(got.content_bytes, wanted->content_bytes, "case %zu", i);
  }
}

/* ---- A file ------------------------------------------------------------------------------------------------ */

/* A report of its own, and where it writes. */
typedef struct paper {
  FILE *file;
  outlets all;
  file_outlets outs;
  report *report;
} paper;

static void open_paper(paper *to, const page_limits *limits) {
  static const replay_file file = {"f", "f", "journal", "mend journal", "line", true};
  to->file = tmpfile();
  cr_assert_not_null(to->file);
  outlets_init(&to->all, NULL);
  const size_t stream = outlets_add(&to->all, to->file);
  file_outlets_open(&to->outs, &to->all, 0);
  to->report = page_file_open(&to->outs.each[stream], limits);
  cr_assert_not_null(to->report);
  cr_assert_eq(to->report->begin(to->report, &file), MEND_OK);
}

/* All that was written, as text. */
static char *close_paper(paper *of) {
  static const replay_summary summary = {.counts = {.rows = 1}};
  cr_assert_eq(of->report->end(of->report, &summary), MEND_OK);
  of->report->free(of->report);
  cr_assert_eq(file_outlets_finish(&of->outs), MEND_OK);
  file_outlets_close(&of->outs);
  outlets_free(&of->all);
  const long len = ftell(of->file);
  char *text = malloc((size_t)len + 1);
  cr_assert_not_null(text);
  rewind(of->file);
  cr_assert_eq(fread(text, 1, (size_t)len, of->file), (size_t)len);
  text[len] = '\0';
  fclose(of->file);
  return text;
}

static size_t occurrences(const char *text, const char *of) {
  size_t found = 0;
  for (const char *at = text; (at = strstr(at, of)) != NULL; at++)
    found++;
  return found;
}

static void tell_run(paper *to, const char *id, uint64_t calls) {
  const replay_run run = {.id = mend_str_from(id), .first_row = 1, .used = {.calls = calls}};
  cr_assert_eq(to->report->run_began(to->report, &run), MEND_OK);
  for (uint64_t i = 0; i < calls; i++) {
    const replay_call call = {.run_id = run.id,
                              .tool = i % 2 == 0 ? MEND_STR("bash") : MEND_STR("read"),
                              .row = i + 1,
                              .end_row = i + 1,
                              .start_ns = i * MEND_SECOND_NS,
                              .end_ns = i * MEND_SECOND_NS,
                              .finished = true,
                              .how = i % 10 == 0 ? MEND_EVENT_TOOL_ERROR : MEND_EVENT_TOOL_AFTER};
    cr_assert_eq(to->report->called(to->report, &call), MEND_OK);
  }
  cr_assert_eq(to->report->run_ended(to->report, &run), MEND_OK);
}

/* The calls that the blocks hold together. */
static uint64_t calls_in_blocks(const char *text) {
  uint64_t calls = 0;
  for (const char *at = text; (at = strstr(at, "\n[\"b\"")) != NULL; at++) {
    const char *outcomes = strchr(at + 6, '[');
    unsigned long long ok = 0, failed = 0;
    cr_assert_eq(sscanf(outcomes, "[%llu,%llu", &ok, &failed), 2);
    calls += ok + failed;
  }
  return calls;
}

static const struct {
  uint64_t calls, limit;
  uint64_t single, most; /* calls one by one, and records at most */
} amounts[] = {
    {10, 100, 10, 10}, {100, 100, 100, 100}, {150, 100, 100, 126}, {1600, 100, 100, 304}, {1000000, 20, 20, 180},
};

Test(html, many_calls_are_blocks) {
  for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
    const page_limits limits = {amounts[i].limit, 10, 10, 10, 1000};
    paper on;
    open_paper(&on, &limits);
    tell_run(&on, "r", amounts[i].calls);
    char *text = close_paper(&on);
    const size_t single = occurrences(text, "\n[\"c\""), blocks = occurrences(text, "\n[\"b\"");
    cr_assert_eq(single, amounts[i].single, "case %zu: %zu", i, single);
    cr_assert(single + blocks <= amounts[i].most, "case %zu: %zu blocks", i, blocks);
    cr_assert_eq(single + calls_in_blocks(text), amounts[i].calls, "case %zu", i);
    free(text);
  }
}

static void tell_detection(paper *to, const char *run) {
  const mend_detection detection = {.size = sizeof detection,
                                    .detector = MEND_STR("loop"),
                                    .run_id = mend_str_from(run),
                                    .reason = MEND_STR("repeat"),
                                    .summary = MEND_STR("round and round")};
  const replay_detection found = {.detection = &detection, .incident = 1, .row = 1};
  cr_assert_eq(to->report->detection(to->report, &found), MEND_OK);
}

/* Runs in which all is well have their limit, those with detections as much again, and the rest is not told. */
Test(html, many_runs) {
  const page_limits limits = {100, 10, 3, 4, 1000};
  paper on;
  open_paper(&on, &limits);
  for (int i = 0; i < 10; i++) {
    char id[8];
    snprintf(id, sizeof id, "r%d", i);
    const replay_run run = {.id = mend_str_from(id)};
    cr_assert_eq(on.report->run_began(on.report, &run), MEND_OK);
    if (i == 0 || i > 4) tell_detection(&on, id);
    cr_assert_eq(on.report->run_ended(on.report, &run), MEND_OK);
  }
  char *text = close_paper(&on);
  cr_assert_eq(occurrences(text, "{\"t\":\"run\""), 6, "%s", text);
  cr_assert_eq(occurrences(text, "{\"t\":\"ended\""), 6);
  cr_assert_eq(occurrences(text, "{\"t\":\"found\""), 4);
  cr_assert_null(strstr(text, "\"r3\""));
  cr_assert_not_null(strstr(text, "\"r5\""));
  free(text);
}

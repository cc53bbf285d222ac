/* The reader that docs/internals/readers.md shows, and that it reads. */
#include "program/base/json_fields.h"
#include "program/transcripts/format.h"
#include "program/transcripts/iso_time.h"
#include "support/mend_test.h"

/* Logs of a made-up agent: JSONL, a run is a conversation. */
#define ROW_FIELDS(F)                                                                                                  \
  F(AT, "at"), F(CHAT, "chat"), F(STEP, "step"), F(TOOL, "tool"), F(INPUT, "input"), F(ANSWER, "answer"),              \
      F(FAILED, "failed")
enum { ROW_FIELDS(JSON_FIELD_INDEX), FIELD_COUNT };

static bool row_time(const json_field fields[FIELD_COUNT], uint64_t *ret_ns) {
  return iso_time_read(mend__json_inside(fields[AT].value), ret_ns);
}

static format_view look(mend_str row) {
  json_field fields[FIELD_COUNT] = {ROW_FIELDS(JSON_FIELD_ENTRY)};
  if (json_fields_read(row, fields, FIELD_COUNT, NULL) != MEND_OK) return (format_view){.reason = "not JSON objects"};
  if (!mend__json_is_string(fields[CHAT].value) || !mend__json_is_string(fields[STEP].value)) {
    return (format_view){.reason = "no \"chat\" and \"step\""};
  }
  format_view view = {.fit = FIT_YES};
  view.has_ts = row_time(fields, &view.ts_ns);
  return view;
}

static mend_status play_step(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  const mend_str id = stage_text(on, fields[STEP].value);
  if (mend__json_is_string(fields[TOOL].value)) {
    return stage_call(on, run, id, stage_text(on, fields[TOOL].value), fields[INPUT].value);
  }
  if (mend__json_is_string(fields[FAILED].value)) return stage_error(on, run, id, stage_text(on, fields[FAILED].value));
  return stage_result(on, run, id, fields[ANSWER].value);
}

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  json_field fields[FIELD_COUNT] = {ROW_FIELDS(JSON_FIELD_ENTRY)};
  mend_status status = json_fields_read(row->text, fields, FIELD_COUNT, error);
  if (status != MEND_OK) return status;
  if (!mend__json_is_string(fields[STEP].value)) return mend_error_set(error, MEND_EINVAL, "not a row: no \"step\"");
  uint64_t ts_ns;
  if (row_time(fields, &ts_ns)) status = stage_at(on, ts_ns);
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = stage_text(on, fields[CHAT].value);
  played_run *run;
  if (status == MEND_OK) status = stage_run(on, &options, &run, error);
  return status == MEND_OK ? play_step(on, run, fields) : status;
}

static const format example_format = {
    .name = "example", .title = "example log", .has_clock = true, .look = look, .play = play};

/* ---- Its test ---------------------------------------------------------------------------------------------- */

static const struct {
  const char *text;
  fit fit;
  mend_status status;
} rows[] = {
    {"{\"at\":\"2026-11-30T09:00:00Z\",\"chat\":\"c\",\"step\":\"1\",\"tool\":\"find\",\"input\":{\"q\":\"x\"}}",
     FIT_YES, MEND_OK},
    {"{\"at\":\"2026-11-30T09:00:02Z\",\"chat\":\"c\",\"step\":\"1\",\"answer\":[\"x.c\"]}", FIT_YES, MEND_OK},
    {"{\"at\":\"2026-11-30T09:00:03Z\",\"chat\":\"c\",\"step\":\"2\",\"tool\":\"open\"}", FIT_YES, MEND_OK},
    {"{\"at\":\"2026-11-30T09:00:04Z\",\"chat\":\"c\",\"step\":\"2\",\"failed\":\"no such file\"}", FIT_YES, MEND_OK},
    {"{\"chat\":\"c\"}", FIT_NO, MEND_EINVAL},
    {"[]", FIT_NO, MEND_EINVAL},
    {"{\"chat\":", FIT_NO, MEND_ESYNTAX},
};

Test(example_reader, reads) {
  const mend_options watch = MEND_OPTIONS_INIT;
  const reports nobody = {.count = 0};
  const replay_settings settings = {.watch = &watch, .reports = &nobody};
  const stage_start start = {.wall_ns = 1796029200 * MEND_SECOND_NS};
  stage on;
  cr_assert_eq(stage_open(&on, &settings, "log.jsonl", &start, NULL), MEND_OK);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const input_row row = {.text = mend_str_from(rows[i].text), .number = i + 1};
    mend_error error = MEND_ERROR_INIT;
    cr_assert_eq(example_format.look(row.text).fit, rows[i].fit, "%s", rows[i].text);
    cr_assert_eq(stage_begin_row(&on, row.number, row.text), MEND_OK);
    cr_assert_eq(example_format.play(&on, &row, &error), rows[i].status, "%s", rows[i].text);
  }
  cr_assert_eq(stage_finish(&on), MEND_OK);
  cr_assert_eq(on.counts.runs, 1);
  cr_assert_eq(on.counts.calls, 2);
  cr_assert_eq(on.counts.results, 2);
  cr_assert_eq(on.now_ns - on.start_ns, 4 * MEND_SECOND_NS);
  stage_close(&on);
}

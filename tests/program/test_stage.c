/* A journal's own ids are kept when it is played again. */
#include "program/transcripts/format.h"
#include "support/mend_test.h"

#include <stdio.h>

typedef struct heard {
  uint8_t trace_id[16], span_id[8];
  size_t count;
} heard;

static mend_status listen(void *ctx, const mend_event *event) {
  heard *last = ctx;
  memcpy(last->trace_id, event->trace_id, sizeof last->trace_id);
  memcpy(last->span_id, event->span_id, sizeof last->span_id);
  last->count++;
  return MEND_OK;
}

static void play(stage *on, const char *text) {
  const input_row row = {.text = mend_str_from(text), .number = 1};
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(stage_begin_row(on, 1, row.text), MEND_OK);
  cr_assert_eq(journal_format.play(on, &row, &error), MEND_OK, "%s: %s", text, error.message);
}

#define HEAD "\"run_id\":\"r\",\"call_id\":\"7\",\"trace_id\":\"0102030405060708090a0b0c0d0e0f10\""

Test(stage, keeps_ids) {
  static const struct {
    const char *row;
    bool named; /* the span */
  } cases[] = {
      {"{\"topic\":\"tool.before\"," HEAD ",\"span_id\":\"1112131415161718\",\"tool_name\":\"t\"}", true},
      {"{\"topic\":\"own.topic\"," HEAD ",\"span_id\":\"1112131415161718\"}", true},
      {"{\"topic\":\"tool.after\"," HEAD ",\"tool_name\":\"t\"}", false},
  };
  static const uint8_t trace_id[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  static const uint8_t span_id[8] = {0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18};
  const mend_options watch = MEND_OPTIONS_INIT;
  const reports nobody = {.count = 0};
  const replay_settings settings = {.watch = &watch, .reports = &nobody};
  heard last = {.count = 0};
  stage on;
  cr_assert_eq(stage_open(&on, &settings, "run.jsonl", NULL, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(on.bus, "*", listen, &last, NULL, NULL, NULL), MEND_OK);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    play(&on, cases[i].row);
    cr_assert_eq(last.count, i + 1);
    cr_assert_eq(memcmp(last.trace_id, trace_id, sizeof trace_id), 0, "%s", cases[i].row);
    cr_assert_eq(memcmp(last.span_id, span_id, sizeof span_id) == 0, cases[i].named, "%s", cases[i].row);
  }
  stage_close(&on);
}

/* What is told before its turn is played in its turn, and rows that are held may be taken back. */
#include "program/stage/stage_later.h"
#include "program/transcripts/held_rows.h"
#include "program/transcripts/python_text.h"
#include "support/mend_test.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Moments ----------------------------------------------------------------------------------------------- */

enum { START_S = 1796029200 };

typedef struct heard {
  const stage *on;
  char text[512]; /* an event is its call's id, + or - for its beginning or end, its second and its row */
  size_t len, count;
} heard;

static mend_status listen(void *ctx, const mend_event *event) {
  heard *of = ctx;
  of->count++;
  if (of->len > sizeof of->text - 64) return MEND_OK;
  const char sign = event->kind == MEND_EVENT_TOOL_BEFORE ? '+' : '-';
  const unsigned second = (unsigned)(event->wall_ns / MEND_SECOND_NS - START_S);
  of->len += (size_t)snprintf(of->text + of->len, 64, "%.*s%c%u@%u ", MEND_STR_ARG(event->call_name), sign, second,
                              (unsigned)of->on->row);
  return MEND_OK;
}

typedef struct scene {
  mend_options watch;
  reports nobody;
  replay_settings settings;
  stage on;
  heard heard;
} scene;

static void open_scene(scene *of, bool has_clock, bool any_order) {
  *of = (scene){.watch = MEND_OPTIONS_INIT};
  of->watch.loop.enable = of->watch.stall.enable = of->watch.regression.enable = false;
  of->settings = (replay_settings){.watch = &of->watch, .reports = &of->nobody};
  of->heard.on = &of->on;
  const stage_start start = {.wall_ns = (START_S + 5) * MEND_SECOND_NS, .any_order = any_order};
  cr_assert_eq(stage_open(&of->on, &of->settings, "run", has_clock ? &start : NULL, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(of->on.bus, "*", listen, &of->heard, NULL, NULL, NULL), MEND_OK);
}

static void later(scene *of, char sign, const char *id, uint64_t second, mend_str text) {
  const stage_moment moment = {.kind = sign == '+' ? STAGE_CALL : STAGE_RESULT,
                               .wall_ns = (START_S + second) * MEND_SECOND_NS,
                               .run = MEND_RUN_OPTIONS_INIT,
                               .id = mend_str_from(id),
                               .tool = MEND_STR("t"),
                               .text = text};
  mend_error error;
  cr_assert_eq(stage_later(&of->on, &moment, &error), MEND_OK);
}

/* "id+second": a beginning, "id-second": an end, "|": the next row, "=second": the next row's time. */
static const struct {
  bool has_clock, any_order;
  const char *told, *played;
  unsigned backwards;
} orders[] = {
    {true, true, "a+1 a-3 b+2 b-4", "a+1@1 b+2@1 a-3@1 b-4@1 ", 0},
    {true, true, "a+1 a-3 | b+0 b-2", "b+0@2 a+1@1 b-2@2 a-3@1 ", 0},
    {true, true, "a+1 a-1 b+1 b-1", "a+1@1 a-1@1 b+1@1 b-1@1 ", 0},
    {true, true, "c+9 c-9 | b+8 b-8 | a+7 a-9", "a+7@3 b+8@2 b-8@2 c+9@1 c-9@1 a-9@3 ", 0},
    {true, false, "a-9 | b-7 =8 | c-9", "b-7@2 a-9@1 c-9@4 ", 0},
    {true, false, "=6 a-6 =6 b-6 =7", "a-6@2 b-6@3 ", 0},
    {true, false, "=9 a-7", "a-9@2 ", 1}, /* too late */
    {false, false, "b-7 | a-1", "b-", 0}, /* at once */
};

static void tell(scene *of, const char *told) {
  uint64_t row = 1;
  mend_str text = MEND_STR("1");
  cr_assert_eq(stage_begin_row(&of->on, row, text), MEND_OK);
  for (const char *at = told; *at != '\0'; at++) {
    if (*at == ' ') continue;
    if (*at == '|' || *at == '=') cr_assert_eq(stage_begin_row(&of->on, ++row, text), MEND_OK);
    if (*at == '=') cr_assert_eq(stage_at(&of->on, (START_S + (uint64_t)(*++at - '0')) * MEND_SECOND_NS), MEND_OK);
    if (*at < 'a' || *at > 'z') continue;
    const char id[] = {at[0], '\0'};
    later(of, at[1], id, (uint64_t)(at[2] - '0'), text);
    at += 2;
  }
}

Test(spans, order) {
  for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
    scene of;
    open_scene(&of, orders[i].has_clock, orders[i].any_order);
    tell(&of, orders[i].told);
    cr_assert_eq(stage_finish(&of.on), MEND_OK);
    cr_assert_eq(strncmp(of.heard.text, orders[i].played, strlen(orders[i].played)), 0, "%s: %s", orders[i].told,
                 of.heard.text);
    cr_assert_eq(of.on.counts.backwards, orders[i].backwards, "%s", orders[i].told);
    stage_close(&of.on);
  }
}

/* More than is kept, the latest first: all of it is played, most of it late. */
Test(spans, bounds) {
  enum { CALLS = 40, TEXT = 1024 * 1024 };
  char *text = malloc(TEXT);
  cr_assert_not_null(text);
  memset(text, '1', TEXT);
  scene of;
  open_scene(&of, true, true);
  for (unsigned i = 0; i < CALLS; i++) {
    char id[16];
    snprintf(id, sizeof id, "call %u", i);
    later(&of, '+', id, 100 - i, (mend_str){text, TEXT});
    cr_assert(of.heard.count + STAGE_LATER_BYTES / TEXT > i, "call %u", i);
  }
  cr_assert(of.heard.count >= CALLS - STAGE_LATER_BYTES / TEXT);
  later(&of, '-', "call 0", 200, (mend_str){text, TEXT}); /* never played: the stage is closed */
  stage_close(&of.on);
  open_scene(&of, true, true);
  const size_t ids[] = {255, 256};
  for (size_t i = 0; i < 2; i++) {
    stage_moment moment = {.kind = STAGE_USAGE, .run = MEND_RUN_OPTIONS_INIT, .tokens = {.input = 1}};
    moment.run.id = (mend_str){text, ids[i]};
    mend_error error;
    cr_assert_eq(stage_later(&of.on, &moment, &error), i == 0 ? MEND_OK : MEND_EINVAL);
  }
  cr_assert_eq(stage_finish(&of.on), MEND_OK);
  cr_assert_eq(of.heard.count, 2); /* and the end of the run */
  stage_close(&of.on);
  free(text);
}

/* ---- Rows that are held ------------------------------------------------------------------------------------ */

/* "a": a row of this name; then what is left, each with its number. */
static const struct {
  const char *done, *left;
} holds[] = {
    {"abc", "a1b2c3"}, {"abca", "a4b2c3"}, {"abcb", "a1b4c3"}, {"abcc", "a1b2c4"}, {"", ""},
};

static void hold(held_rows *rows, const char *done) {
  uint64_t number = 0;
  for (const char *at = done; *at != '\0'; at++) {
    cr_assert_eq(held_rows_put(rows, (mend_str){at, 1}, ++number, MEND_STR("{}")), MEND_OK);
  }
}

Test(spans, held_rows) {
  for (size_t i = 0; i < sizeof holds / sizeof holds[0]; i++) {
    held_rows rows;
    char left[64] = "";
    held_rows_init(&rows);
    hold(&rows, holds[i].done);
    for (const held_row *row = rows.oldest; row != NULL; row = row->newer) {
      const size_t len = strlen(left);
      snprintf(left + len, sizeof left - len, "%.*s%u", MEND_STR_ARG(row->name), (unsigned)row->number);
    }
    cr_assert_str_eq(left, holds[i].left, "%s: %s", holds[i].done, left);
    cr_assert_null(held_rows_surplus(&rows));
    held_rows_free(&rows);
  }
}

Test(spans, held_rows_bounds) {
  enum { TEXT = 1024 * 1024 };
  char *text = calloc(1, TEXT);
  cr_assert_not_null(text);
  held_rows rows;
  held_rows_init(&rows);
  unsigned dropped = 0;
  for (unsigned i = 0; i < 40; i++) {
    char name[16];
    snprintf(name, sizeof name, "%u", i);
    cr_assert_eq(held_rows_put(&rows, mend_str_from(name), i, (mend_str){text, TEXT}), MEND_OK);
    for (held_row *oldest; (oldest = held_rows_surplus(&rows)) != NULL; dropped++) {
      cr_assert_eq(oldest->number, dropped);
      held_rows_drop(&rows, oldest);
    }
    cr_assert(rows.bytes <= HELD_ROWS_BYTES);
  }
  cr_assert(dropped >= 24 && dropped < 40);
  held_rows_free(&rows);
  free(text);
}

/* ---- Python's texts ---------------------------------------------------------------------------------------- */

static const struct {
  const char *text, *json; /* NULL: it is none */
} python_texts[] = {
    {"{'query': 'weather'}", "{\"query\":\"weather\"}"},
    {" { } ", "{}"},
    {"{'a': [1, -2.5e3, (True, False), None, ()], \"b\": {'c': \"it's\"},}",
     "{\"a\":[1,-2.5e3,[true,false],null,[]],\"b\":{\"c\":\"it's\"}}"},
    {"{'a': 'say \"x\"\\n\\'y\\' \\\\ \\xe9 \\u20ac \\U0001f600 \\x00'}",
     "{\"a\":\"say \\\"x\\\"\\n'y' \\\\ \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \\u0000\"}"},
    {"", NULL},
    {"'a'", NULL},
    {"{", NULL},
    {"{'a'}", NULL},
    {"{'a': }", NULL},
    {"{'a': 1} x", NULL},
    {"{1: 2}", NULL},
    {"{'a': 'b}", NULL},
    {"{'a': nan}", NULL},
    {"{'a': '\\q'}", NULL},
    {"{'a': 01}", NULL},
    {"{'a' 1}", NULL},
    {"{,}", NULL},
    {"{'a': <b>}", NULL},
    {"{'a': '\\ud800'}", NULL},
};

Test(spans, python_texts) {
  for (size_t i = 0; i < sizeof python_texts / sizeof python_texts[0]; i++) {
    mend__buffer json;
    mend__buffer_init(&json, NULL);
    const bool good = python_text_to_json(mend_str_from(python_texts[i].text), &json);
    cr_assert_eq(good, python_texts[i].json != NULL, "%s", python_texts[i].text);
    const mend_str expected = good ? mend_str_from(python_texts[i].json) : mend__buffer_text(&json);
    cr_assert(mend_str_equal(mend__buffer_text(&json), expected), "%s: %.*s", python_texts[i].text, (int)json.len,
              json.data);
    mend__buffer_free(&json);
  }
}

#include "bus/event_json.h"
#include "event_fields.h"
#include "mend/json.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- A bus to stand on ---- */

static mend_bus *new_bus(void) {
  mend_bus *bus;
  cr_assert_eq(mend_bus_new(NULL, &bus, NULL), MEND_OK);
  return bus;
}

/* The run a line tells of. */
static mend_run *new_run(mend_bus *bus, const mend__event_line *line) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = line->run_id;
  options.parent_id = line->parent_run_id;
  options.parent_call = line->parent_call;
  options.agent = line->agent;
  options.session_id = line->session_id;
  options.project_id = line->project_id;
  mend_run *run;
  cr_assert_eq(mend_run_new(bus, &options, &run, NULL), MEND_OK);
  return run;
}

static void write_view(mend__buffer *buffer, const mend_event *event, bool content) {
  mend__buffer_clear(buffer);
  mend__event_write(buffer, event, content);
  mend__buffer_char(buffer, '\0');
  cr_assert(!buffer->failed);
}

/* ---- What is written is read ---- */

typedef struct round_trip {
  mend_run *run;
  mend__buffer first, second, scratch;
  mend__event_line line;
} round_trip;

static void stamp(mend_any_event *event, mend_run *run, uint64_t number) {
  event->event.run = run;
  event->event.seq = number;
  event->event.wall_ns = UINT64_C(1790000000123456789) + number * UINT64_C(1000000000);
  event->event.call = number % 3 == 0 ? 0 : number;
  event->event.call_name = (mend_str){NULL, 0};
  if (number % 3 == 2) {
    event->event.call_name = MEND_STR("toolu_\"01\"");
    event->event.call = mend_call_from_name(event->event.call_name);
  }
  memset(event->event.trace_id, (int)(number & 0xff), sizeof event->event.trace_id);
  memset(event->event.span_id, number % 2 == 0 ? 0 : 0x5a, sizeof event->event.span_id);
}

static void check_head(const mend_event *was, const mend_event *is, const mend__event_line *line, const char *text) {
  cr_assert(line->has_ts && line->ts_ns == was->wall_ns && is->wall_ns == was->wall_ns, "%s", text);
  cr_assert(is->kind == was->kind && is->topic == was->topic && is->size == was->size && is->seq == was->seq, "%s",
            text);
  cr_assert(is->call == was->call && mend_str_equal(is->call_name, was->call_name), "%s", text);
  cr_assert_eq(memcmp(is->trace_id, was->trace_id, sizeof is->trace_id), 0, "%s", text);
  cr_assert_eq(memcmp(is->span_id, was->span_id, sizeof is->span_id), 0, "%s", text);
  cr_assert(mend_str_equal(line->run_id, mend_run_id(was->run)), "%s", text);
  cr_assert(mend_str_equal(line->topic, mend_event_kind_topic(was->kind)), "%s", text);
}

static void check_round_trip(round_trip *trip, mend_any_event *event, const test_kind *kind) {
  static uint64_t number;
  stamp(event, trip->run, ++number);
  write_view(&trip->first, &event->event, true);
  const char *text = trip->first.data;
  uint64_t ignored;
  mend_error error = {.message = ""};
  mend_status status =
      mend__event_read(mend_str_from(text), (mend_str){NULL, 0}, false, &trip->scratch, &trip->line, &ignored, &error);
  cr_assert_eq(status, MEND_OK, "%s: %s", text, error.message);
  cr_assert_eq(ignored, 0);
  check_head(&event->event, &trip->line.event.event, &trip->line, text);
  if (event->event.kind == MEND_EVENT_TOOL_BEFORE && event->tool_before.args.ptr != NULL &&
      mend_hash_is_none(event->tool_before.args_hash)) {
    char scratch[4096];
    event->tool_before.args_hash = mend_json_hash(event->tool_before.args, scratch, sizeof scratch).hash;
  }
  for (size_t i = 0; i < kind->field_count; i++) {
    cr_assert(test_field_equal(event, &trip->line.event, &kind->fields[i]), "%s of %s", kind->fields[i].name, text);
  }
  trip->line.event.event.run = trip->run;
  write_view(&trip->second, &trip->line.event.event, true);
  cr_assert_str_eq(trip->second.data, text);
}

static void check_every_field(round_trip *trip, mend_event_kind number) {
  test_kind kind = test_kind_of(number);
  cr_assert(mend_str_equal(mend_event_kind_topic(number), mend_str_from(kind.topic)), "%s", kind.topic);
  cr_assert_str_eq(mend_event_kind_topic(number).ptr, kind.topic);
  mend_any_event event;
  cr_assert_eq(mend_event_init(&event, number), MEND_OK);
  cr_assert_eq(event.event.size, kind.size, "%s", kind.topic);
  check_round_trip(trip, &event, &kind);
  for (size_t sample = 0; sample < TEST_SAMPLES; sample++) {
    for (size_t i = 0; i < kind.field_count; i++) {
      mend_event_init(&event, number);
      test_field_set(&event, &kind.fields[i], sample);
      check_round_trip(trip, &event, &kind);
    }
    for (size_t i = 0; i < kind.field_count; i++)
      test_field_set(&event, &kind.fields[i], (sample + i) % TEST_SAMPLES);
    check_round_trip(trip, &event, &kind);
  }
}

Test(event_json, every_field_of_every_kind_comes_back) {
  mend_bus *bus = new_bus();
  round_trip trip = {.run = new_run(bus, &(mend__event_line){.run_id = MEND_STR("r")})};
  mend__buffer_init(&trip.first, NULL);
  mend__buffer_init(&trip.second, NULL);
  mend__buffer_init(&trip.scratch, NULL);
  for (int kind = MEND_EVENT_CUSTOM + 1; kind < MEND_EVENT_KIND_COUNT; kind++) {
    check_every_field(&trip, (mend_event_kind)kind);
  }
  mend__buffer_free(&trip.first);
  mend__buffer_free(&trip.second);
  mend__buffer_free(&trip.scratch);
  mend_run_release(trip.run);
  mend_bus_release(bus);
}

/* ---- Cases from files ----
 *
 * A case is a block of lines:  < text that is read   > its JSON view with content   - its JSON view without content
 * ~ how many members were ignored, how many are unknown and the first of them   ! status line:column and how the
 * message begins. Other lines are comments. */

typedef struct file_case {
  mend_bus *bus;
  const char *file;
  mend__buffer view, scratch;
  mend__event_line line;
  mend_run *run;
  char outcome[512]; /* of reading, as a case writes it: "~ 2" or "! MEND_EINVAL 1:5 message" */
  unsigned number, checked;
} file_case;

static void read_text(file_case *c, char *text) {
  uint64_t ignored;
  mend_error error;
  mend_run_release(c->run);
  c->run = NULL;
  mend_status status =
      mend__event_read(mend_str_from(text), (mend_str){NULL, 0}, true, &c->scratch, &c->line, &ignored, &error);
  if (status == MEND_OK) {
    snprintf(c->outcome, sizeof c->outcome, "~ %llu, unknown %llu %.*s", (unsigned long long)ignored,
             (unsigned long long)c->line.unknown, MEND_STR_ARG(c->line.first_unknown));
    cr_assert_eq(c->line.first_unknown.ptr != NULL, c->line.unknown > 0);
    c->run = new_run(c->bus, &c->line);
    c->line.event.event.run = c->run;
    if (c->line.custom) mend_bus_topic(c->bus, c->line.topic, &c->line.event.event.topic, NULL);
  } else {
    cr_assert_eq(error.status, status);
    snprintf(c->outcome, sizeof c->outcome, "! %s %u:%u %s", mend_status_name(status), error.line, error.column,
             error.message);
  }
}

/* What a view without content leaves out is not missed: read and written again it is the same. */
static void check_view_again(file_case *c, char *view) {
  mend__buffer again;
  mend__buffer_init(&again, NULL);
  read_text(c, view);
  cr_assert_not_null(c->run, "%s:%u: %s", c->file, c->number, c->outcome);
  write_view(&again, &c->line.event.event, false);
  cr_assert_str_eq(again.data, view, "%s:%u, again\n%s\n%s", c->file, c->number, again.data, view);
  mend__buffer_free(&again);
}

static void check_view(file_case *c, const char *expected, bool content) {
  cr_assert_not_null(c->run, "%s:%u: %s", c->file, c->number, c->outcome);
  write_view(&c->view, &c->line.event.event, content);
  cr_assert_str_eq(c->view.data, expected, "%s:%u\n%s\n%s", c->file, c->number, c->view.data, expected);
  cr_assert_eq(mend_json_check(mend_str_from(c->view.data), MEND_JSON_DEPTH_MAX, NULL), MEND_OK);
  c->checked++;
}

static void check_line(file_case *c, char *text) {
  if (strncmp(text, "< ", 2) == 0) read_text(c, text + 2);
  if (strncmp(text, "> ", 2) == 0) check_view(c, text + 2, true);
  if (strncmp(text, "- ", 2) == 0) {
    check_view(c, text + 2, false);
    check_view_again(c, text + 2);
  }
  if (text[0] != '~' && text[0] != '!') return;
  cr_assert_eq(strncmp(c->outcome, text, strlen(text)), 0, "%s:%u\n%s\n%s", c->file, c->number, c->outcome, text);
  c->checked++;
}

static unsigned check_file(const char *name) {
  file_case c = {.bus = new_bus(), .file = name};
  mend__buffer_init(&c.view, NULL);
  mend__buffer_init(&c.scratch, NULL);
  char *whole = mend_test_read(name, NULL), *rest = whole;
  for (char *text; (text = strsep(&rest, "\n")) != NULL;) {
    c.number++;
    check_line(&c, text);
  }
  free(whole);
  mend__buffer_free(&c.view);
  mend__buffer_free(&c.scratch);
  mend_run_release(c.run);
  mend_bus_release(c.bus);
  return c.checked;
}

Test(event_json, texts_are_read_and_shown_as_the_files_say) {
  cr_assert(check_file("events/read.txt") > 50);
  cr_assert(check_file("events/content_off.txt") > 10);
}

/* ---- What the files cannot hold ---- */

static void calls_have_numbers(void) {
  static const struct {
    const char *name;
    uint64_t number; /* 0: a hash */
  } cases[] = {
      {"1", 1},
      {"42", 42},
      {"9223372036854775807", INT64_MAX},
      {"9223372036854775808", 0},
      {"99999999999999999999", 0},
      {"0", 0},
      {"007", 0},
      {"+7", 0},
      {"-7", 0},
      {"7 ", 0},
      {"7.0", 0},
      {"1e3", 0},
      {"toolu_01", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint64_t number = mend_call_from_name(mend_str_from(cases[i].name));
    cr_assert_eq(number, mend_call_from_name(mend_str_from(cases[i].name)));
    cr_assert_eq(number >> 63, cases[i].number == 0, "%s", cases[i].name);
    if (cases[i].number != 0) cr_assert_eq(number, cases[i].number, "%s", cases[i].name);
  }
  cr_assert_neq(mend_call_from_name(MEND_STR("a")), mend_call_from_name(MEND_STR("b")));
  cr_assert_eq(mend_call_from_name((mend_str){NULL, 0}), 0);
  cr_assert_eq(mend_call_from_name(MEND_STR("")), 0);
}

static void views_are_refused(mend_run *run) {
  char *json = NULL;
  mend_any_event event;
  cr_assert_eq(mend_event_init(&event, MEND_EVENT_TICK), MEND_OK);
  cr_assert_eq(mend_event_to_json(&event.event, NULL, NULL, &json, NULL), MEND_EINVAL, "an event without a run");
  event.event.run = run;
  event.event.size = sizeof(mend_event);
  cr_assert_eq(mend_event_to_json(&event.event, NULL, NULL, &json, NULL), MEND_EINVAL, "an event too short");
  event.event.size = sizeof(mend_tick_event);
  event.event.kind = MEND_EVENT_KIND_COUNT;
  cr_assert_eq(mend_event_to_json(&event.event, NULL, NULL, &json, NULL), MEND_EINVAL, "an unknown kind");
  mend_json_view_options options = {.size = 0};
  event.event.kind = MEND_EVENT_TICK;
  cr_assert_eq(mend_event_to_json(&event.event, &options, NULL, &json, NULL), MEND_EINVAL, "options of size 0");
  cr_assert_null(json);
  cr_assert_eq(mend_event_init(&event, MEND_EVENT_KIND_COUNT), MEND_EINVAL);
  cr_assert_null(mend_event_kind_topic(MEND_EVENT_CUSTOM).ptr);
  cr_assert_null(mend_event_kind_topic(MEND_EVENT_KIND_COUNT).ptr);
}

/* What a publisher may hand over that no file can hold; the view stays valid JSON on one line. */
static void views_are_valid(mend_run *run) {
  mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
  before.event.run = run;
  before.tool_name = MEND_STR("bad \xff utf-8\n");
  static const char *args[] = {"{\"a\": 1,\n \"b\": [ 1, 2 ]}", "{\"cut", "plain text", "", "[1] 2", "\xff\xfe"};
  for (size_t i = 0; i < 2 * sizeof args / sizeof args[0]; i++) {
    mend_json_view_options options = MEND_JSON_VIEW_OPTIONS_INIT;
    options.content = i % 2 == 0;
    before.args = mend_str_from(args[i / 2]);
    char *json;
    size_t len;
    cr_assert_eq(mend_event_to_json(&before.event, &options, NULL, &json, &len), MEND_OK);
    cr_assert_eq(strlen(json), len);
    cr_assert_null(strchr(json, '\n'), "%s", json);
    cr_assert_eq(mend_json_check(mend_str_from(json), MEND_JSON_DEPTH, NULL), MEND_OK, "%s", json);
    mend_free(NULL, json);
  }
}

/* Hashes are of the whole, not of what is shown. */
static void hashes_are_of_the_whole(mend_run *run) {
  static char text[1000];
  memset(text, 'x', sizeof text);
  text[0] = text[sizeof text - 1] = '"';
  char scratch[4096];
  mend_str whole = {text, sizeof text};
  mend_hash hash = mend_json_hash(whole, scratch, sizeof scratch).hash;
  mend_hash loose = mend_json_hash_loose(whole, NULL, scratch, sizeof scratch).hash;
  mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
  mend_tool_after_event after = MEND_TOOL_AFTER_EVENT_INIT;
  before.event.run = after.event.run = run;
  before.args = after.result = whole;
  mend__buffer view, room;
  mend__buffer_init(&view, NULL);
  mend__buffer_init(&room, NULL);
  for (int content = 0; content < 2; content++) {
    mend__event_line line;
    write_view(&view, &before.event, content == 1);
    cr_assert_eq(mend__event_read(mend_str_from(view.data), (mend_str){NULL, 0}, false, &room, &line, NULL, NULL),
                 MEND_OK);
    cr_assert(mend_hash_equal(line.event.tool_before.args_hash, hash));
    cr_assert(mend_hash_equal(line.event.tool_before.args_hash_loose, content == 1 ? (mend_hash){0, 0} : loose));
    write_view(&view, &after.event, content == 1);
    cr_assert_eq(mend__event_read(mend_str_from(view.data), (mend_str){NULL, 0}, false, &room, &line, NULL, NULL),
                 MEND_OK);
    cr_assert(content == 1 || mend_hash_equal(line.event.tool_after.result_hash, hash));
    cr_assert_eq(line.event.tool_after.result.ptr != NULL, content == 1);
  }
  mend__buffer_free(&view);
  mend__buffer_free(&room);
}

static void deep_arguments_come_back(mend_run *run) {
  enum { DEPTH = 1023 };
  static char args[2 * DEPTH + 2];
  mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
  before.event.run = run;
  mend__buffer view, scratch;
  mend__buffer_init(&view, NULL);
  mend__buffer_init(&scratch, NULL);
  for (size_t depth = DEPTH - 1; depth <= DEPTH; depth++) {
    memset(args, '[', depth);
    memset(args + depth, ']', depth);
    before.args = (mend_str){args, 2 * depth};
    write_view(&view, &before.event, true);
    mend__event_line line;
    cr_assert_eq(mend__event_read(mend_str_from(view.data), (mend_str){NULL, 0}, false, &scratch, &line, NULL, NULL),
                 MEND_OK);
    cr_assert(mend_str_equal(line.event.tool_before.args, before.args), "depth %zu", depth);
  }
  mend__buffer_free(&view);
  mend__buffer_free(&scratch);
}

static void memory_may_run_out(mend_run *run) {
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
  before.event.run = run;
  before.args = MEND_STR("{\"a\":\"\\n\"}");
  for (int content = 0; content < 2; content++) {
    mend_json_view_options options = MEND_JSON_VIEW_OPTIONS_INIT;
    options.content = content == 1;
    mend_status status = MEND_ENOMEM;
    for (size_t n = 1; status != MEND_OK; n++) {
      char *json;
      mend_test_allocator_arm(&allocator, n, true);
      status = mend_event_to_json(&before.event, &options, &allocator.base, &json, NULL);
      if (status == MEND_OK) mend_free(&allocator.base, json);
      cr_assert(status == MEND_OK || status == MEND_ENOMEM);
      cr_assert_eq(allocator.blocks, 0);
    }
  }
  mend__buffer scratch;
  mend__buffer_init(&scratch, &allocator.base);
  mend__event_line line;
  mend_error error;
  const mend_str escaped = MEND_STR("{\"note\":\"\\n\"}");
  mend_test_allocator_arm(&allocator, 1, false);
  cr_assert_eq(mend__event_read(MEND_STR("{}"), MEND_STR("tick"), true, &scratch, &line, NULL, &error), MEND_OK,
               "without escapes no memory is needed");
  cr_assert_eq(mend__event_read(escaped, MEND_STR("tick"), true, &scratch, &line, NULL, &error), MEND_ENOMEM);
  cr_assert_eq(error.status, MEND_ENOMEM);
  cr_assert_eq(mend__event_read(escaped, MEND_STR("tick"), true, &scratch, &line, NULL, &error), MEND_OK);
  cr_assert(mend_str_equal(line.event.tick.note, MEND_STR("\n")));
  mend__buffer_free(&scratch);
  cr_assert_eq(allocator.blocks, 0);
}

Test(event_json, edges) {
  mend_bus *bus = new_bus();
  mend_run *run = new_run(bus, &(mend__event_line){.run_id = MEND_STR("r")});
  calls_have_numbers();
  views_are_refused(run);
  views_are_valid(run);
  hashes_are_of_the_whole(run);
  deep_arguments_come_back(run);
  memory_may_run_out(run);
  mend_run_release(run);
  mend_bus_release(bus);
}

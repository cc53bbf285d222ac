/* mend's own journal, and its short names (event, tool, error, result). */
#include "bus/event_json.h"
#include "bus/room.h"
#include "core/memory.h"
#include "program/base/json_fields.h"
#include "program/transcripts/format.h"
#include "program/transcripts/iso_time.h"
#include "program/transcripts/suspension.h"

#include <stdio.h>

/* Seconds since 1970, or ISO 8601 in a string, which mend does not write but others do. */
static bool read_time(mend_str value, uint64_t *ret_ns) {
  if (mend__json_is_string(value)) return iso_time_read(mend__json_inside(value), ret_ns);
  return mend__json_is_number(value) && mend_json_seconds_ns(value, ret_ns) == MEND_OK;
}

/* The topic of a line that tells of the journal itself, where it was made from another recording. */
static const mend_str SOURCE = {"recording.source", 16};

static format_view look(mend_str row) {
  enum { TOPIC, EVENT, TS, PROGRESS, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("topic"), JSON_FIELD("event"), JSON_FIELD("ts"), JSON_FIELD("tells_progress")};
  if (json_fields_read(row, fields, COUNT, NULL) != MEND_OK) {
    return (format_view){.reason = "not JSON objects, one a line"};
  }
  mend_str topic = mend__json_inside(fields[TOPIC].value);
  if (topic.len == 0) topic = mend__json_inside(fields[EVENT].value);
  if (topic.len == 0) return (format_view){.reason = "no \"topic\" or \"event\""};
  format_view view = {.fit = FIT_YES};
  view.has_ts = read_time(fields[TS].value, &view.ts_ns);
  if (mend_str_equal(topic, SOURCE)) {
    view.says_no_progress = mend_str_equal(fields[PROGRESS].value, MEND_STR("false"));
    return view;
  }
  if (mend__kind_from_topic(topic) != MEND_EVENT_CUSTOM) return view;
  view.fit = view.has_ts ? FIT_MAYBE : FIT_NO; /* other logs have events, too */
  view.reason = "no event that mend knows and no \"ts\"";
  return view;
}

/* Lines that were written because of other lines: playing those makes them again. */
static bool is_derived(const mend__event_line *line) {
  switch (line->custom ? MEND_EVENT_CUSTOM : line->event.event.kind) {
  case MEND_EVENT_DETECTION:
  case MEND_EVENT_ACTION:
  case MEND_EVENT_HEALING_STARTED:
  case MEND_EVENT_HEALING_STOPPED:
  case MEND_EVENT_STALL_RECOVERED: return true;
  default: return line->topic.len > 5 && memcmp(line->topic.ptr, "hook.", 5) == 0;
  }
}

static void count_recorded(stage *on, const mend__event_line *line) {
  on->counts.derived++;
  if (line->event.event.kind != MEND_EVENT_DETECTION) return;
  const mend_str detector = line->event.detection.detector;
  tally_add(&on->recorded, detector.len > 0 ? detector : MEND_STR("without a detector"));
}

/* ---- What could not be understood -------------------------------------------------------------------------- */

enum { DOUBTS_TOLD = 5, PROBLEM_SIZE = 256 };

/* 1796029200000 is a time in milliseconds. */
static const char *likely_unit(mend_str number) {
  const double value = mend_json_double(number);
  if (value < 1e11 || value >= 1e20) return "";
  return value < 1e14 ? " (milliseconds?)" : value < 1e17 ? " (microseconds?)" : " (nanoseconds?)";
}

static void describe_time(mend_str ts, char problem[PROBLEM_SIZE]) {
  const bool is_number = mend__json_is_number(ts);
  const char *unit = is_number ? likely_unit(ts) : "";
  ts.len = mend__utf8_cut(ts, 64);
  snprintf(problem, PROBLEM_SIZE, "ts %.*s is no time in seconds%s", MEND_STR_ARG(ts), unit);
}

/* Makes a copy of the row in which the time, when there is one, is as it should be. */
static void copy_without_time(mend__buffer *copy, mend_str row, mend_str ts) {
  mend__buffer_str(copy, row);
  if (ts.len == 0 || copy->failed) return;
  char *place = copy->data + (ts.ptr - row.ptr);
  memset(place, ' ', ts.len);
  *place = '0';
}

/* The row is read once more, now strictly, for the sentence about its first wrong member other than the time. */
static mend_status describe_member(mend_str row, mend_str ts, char problem[PROBLEM_SIZE]) {
  mend__buffer copy, scratch;
  mend__buffer_init(&copy, NULL);
  mend__buffer_init(&scratch, NULL);
  copy_without_time(&copy, row, ts);
  mend__event_line line;
  mend_error error = MEND_ERROR_INIT;
  mend_status status = MEND_ENOMEM;
  if (!copy.failed) {
    const mend_str text = {copy.data, copy.len};
    status = mend__event_read(text, (mend_str){NULL, 0}, false, &scratch, &line, NULL, &error);
  }
  mend__buffer_free(&copy);
  mend__buffer_free(&scratch);
  if (status == MEND_ENOMEM) return status;
  snprintf(problem, PROBLEM_SIZE, "%s", error.message);
  return MEND_OK;
}

/* Tells what did not count, and takes a time that only this program understands. */
static mend_status settle_ignored(stage *on, mend_str row, mend__event_line *line, uint64_t ignored) {
  json_field ts = JSON_FIELD("ts");
  if (!line->has_ts) json_fields_read(row, &ts, 1, NULL);
  if (mend_str_equal(ts.value, MEND_STR("null"))) ts.value = (mend_str){NULL, 0};
  line->has_ts = line->has_ts || read_time(ts.value, &line->ts_ns);
  if (line->has_ts && ts.value.len > 0) ignored--;
  on->counts.ignored_members += ignored;
  if (ignored == 0 || on->counts.doubted++ >= DOUBTS_TOLD) return MEND_OK;
  char problem[PROBLEM_SIZE];
  mend_status status = MEND_OK;
  if (!line->has_ts && ts.value.len > 0) {
    describe_time(ts.value, problem);
  } else {
    status = describe_member(row, ts.value, problem);
  }
  return status == MEND_OK ? stage_doubt(on, problem) : status;
}

static bool is_call_without_args(const mend__event_line *line) {
  const mend_tool_before_event *call = &line->event.tool_before;
  return call->event.kind == MEND_EVENT_TOOL_BEFORE && call->args.ptr == NULL && mend_hash_is_none(call->args_hash);
}

/* Arguments under another name would make calls look equal that are not. */
static void note_missing_args(stage *on, const mend__event_line *line) {
  if (is_call_without_args(line) && line->unknown > 0) tally_add(&on->unknown, line->first_unknown);
}

/* ---- Rows -------------------------------------------------------------------------------------------------- */

static mend_run_options run_of(const mend__event_line *line) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = line->run_id;
  options.parent_id = line->parent_run_id;
  options.parent_call = line->parent_call;
  options.agent = line->agent;
  options.session_id = line->session_id;
  options.project_id = line->project_id;
  memcpy(options.trace_id, line->event.event.trace_id, sizeof options.trace_id);
  return options;
}

/* Moves the time to the line's. */
static mend_status move_time(stage *on, const mend__event_line *line) {
  if (!line->has_ts) return MEND_OK;
  suspension *seen = stage_state(on, sizeof *seen, NULL);
  return seen != NULL ? suspension_move_time(seen, on, line) : MEND_ENOMEM;
}

static bool is_tick(const mend__event_line *line) { return !line->custom && line->event.event.kind == MEND_EVENT_TICK; }

/* What is said of time or of the recording, and of no run. */
static bool is_about_recording(const mend__event_line *line) {
  if (line->custom) return mend_str_equal(line->topic, SOURCE);
  return is_tick(line) || line->event.event.kind == MEND_EVENT_CLOCK_REBASED;
}

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  mend__event_line line;
  uint64_t ignored = 0;
  mend_status status = mend__event_read(row->text, (mend_str){NULL, 0}, true, &on->scratch, &line, &ignored, error);
  if (status == MEND_OK && ignored > 0) status = settle_ignored(on, row->text, &line, ignored);
  if (status == MEND_OK) status = move_time(on, &line);
  if (status == MEND_OK && is_tick(&line)) status = stage_tick(on);
  if (status != MEND_OK || is_about_recording(&line)) return status;
  if (is_derived(&line)) {
    count_recorded(on, &line);
    return MEND_OK;
  }
  note_missing_args(on, &line);
  const mend_run_options options = run_of(&line);
  played_run *run;
  status = stage_run(on, &options, &run, error);
  if (status != MEND_OK) return status;
  if (line.custom) return stage_publish_custom(on, run, line.topic, row->text, error);
  return stage_publish(on, run, &line.event.event);
}

const format journal_format = {
    .name = "journal", .title = "mend journal", .has_clock = true, .tells_progress = true, .look = look, .play = play};

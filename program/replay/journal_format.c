/* mend's own journal, and its short names (event, tool, error, result). */
#include "bus/event_json.h"
#include "program/replay/format.h"
#include "program/replay/json_fields.h"

static bool is_own_topic(mend_str topic) {
  for (int kind = MEND_EVENT_CUSTOM + 1; kind < MEND_EVENT_KIND_COUNT; kind++) {
    if (mend_str_equal(topic, mend_event_kind_topic((mend_event_kind)kind))) return true;
  }
  return false;
}

static format_view look(mend_str row) {
  enum { TOPIC, EVENT, TS, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("topic"), JSON_FIELD("event"), JSON_FIELD("ts")};
  if (json_fields_read(row, fields, COUNT, NULL) != MEND_OK) {
    return (format_view){.reason = "not JSON objects, one a line"};
  }
  mend_str topic = json_string_inside(fields[TOPIC].value);
  if (topic.len == 0) topic = json_string_inside(fields[EVENT].value);
  if (topic.len == 0) return (format_view){.reason = "no \"topic\" or \"event\""};
  format_view view = {.fit = FIT_YES};
  view.has_ts = json_is_number(fields[TS].value) && mend_json_seconds_ns(fields[TS].value, &view.ts_ns) == MEND_OK;
  if (is_own_topic(topic)) return view;
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

static mend_run_options run_of(const mend__event_line *line) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = line->run_id;
  options.parent_id = line->parent_run_id;
  options.parent_call = line->parent_call;
  options.agent = line->agent;
  options.session_id = line->session_id;
  options.project_id = line->project_id;
  return options;
}

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  mend__event_line line;
  uint64_t ignored = 0;
  mend_status status = mend__event_read(row->text, (mend_str){NULL, 0}, true, &on->scratch, &line, &ignored, error);
  on->counts.ignored_members += ignored;
  if (status == MEND_OK && line.has_ts) status = stage_at(on, line.ts_ns);
  if (status != MEND_OK || (!line.custom && line.event.event.kind == MEND_EVENT_TICK)) return status;
  if (is_derived(&line)) {
    on->counts.derived++;
    return MEND_OK;
  }
  const mend_run_options options = run_of(&line);
  played_run *run;
  status = stage_run(on, &options, &run, error);
  if (status != MEND_OK) return status;
  if (line.custom) return stage_publish_custom(on, run, line.topic, row->text, error);
  return stage_publish(on, run, &line.event.event);
}

const format journal_format = {
    .name = "journal", .title = "mend journal", .has_clock = true, .look = look, .play = play};

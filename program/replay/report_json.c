#include "core/buffer.h"
#include "core/memory.h"
#include "program/replay/json_fields.h"
#include "program/replay/plain.h"
#include "program/replay/report.h"

enum { BROKEN_SHOWN = 20 };

typedef struct json_report {
  report base;
  FILE *out, *notes;
  bool counts;
  const replay_file *file;
  uint64_t broken;
  mend__buffer line, safe;
} json_report;

/* ---- A line ------------------------------------------------------------------------------------------------ */

static mend__buffer *begin_line(json_report *to) {
  mend__buffer_clear(&to->line);
  return &to->line;
}

/* Writes the line, which is plain text. */
static mend_status write_line(json_report *to, FILE *out) {
  mend__buffer_char(&to->line, '\n');
  return plain_write(&to->line, out);
}

/* Writes the line, which is JSON. */
static mend_status write_json(json_report *to, FILE *out) {
  mend__buffer_clear(&to->safe);
  plain_json_escaped(&to->safe, mend__buffer_text(&to->line));
  mend__buffer_char(&to->safe, '\n');
  return to->line.failed ? MEND_ENOMEM : plain_write(&to->safe, out);
}

static void add_key(mend__buffer *line, const char *key) { mend__buffer_printf(line, ",\"%s\":", key); }

static void add_string(mend__buffer *line, const char *key, mend_str text) {
  add_key(line, key);
  mend__buffer_json_string(line, text);
}

/* Only when there is something to say. */
static void add_text(mend__buffer *line, const char *key, mend_str text) {
  if (text.len > 0) add_string(line, key, text);
}

static void add_json(mend__buffer *line, const char *key, mend_str json) {
  if (json.len == 0) return;
  add_key(line, key);
  mend__buffer_str(line, json);
}

static void add_number(mend__buffer *line, const char *key, uint64_t number) {
  add_key(line, key);
  mend__buffer_u64(line, number);
}

static void add_fraction(mend__buffer *line, const char *key, double number) {
  add_key(line, key);
  mend__buffer_f64(line, number);
}

static void add_time(mend__buffer *line, const char *key, bool known, uint64_t wall_ns) {
  add_key(line, key);
  if (known) {
    mend__buffer_seconds(line, wall_ns);
  } else {
    mend__buffer_str(line, MEND_STR("null"));
  }
}

/* ---- Detections -------------------------------------------------------------------------------------------- */

/* Of a number from 0 to 1. */
static double four_decimals(double number) { return (double)(unsigned)(number * 1e4 + 0.5) / 1e4; }

/* The text of a result that is a JSON string, any other JSON as it is. */
static void add_answer(mend__buffer *line, const replay_answer *answer) {
  static const mend_str ellipsis = {"...", 3};
  mend_str text = answer->value;
  if (text.len == 0) return;
  const mend_str tail = {text.ptr + text.len - 3, 3};
  if (answer->cut && text.len > 3 && mend_str_equal(tail, ellipsis)) text.len -= 3;
  mend__buffer unescaped;
  mend__buffer_init(&unescaped, NULL);
  if (answer->is_json && json_is_string(text)) {
    const mend_str inside = {text.ptr + 1, text.len - (answer->cut ? 1 : 2)};
    line->failed |= !mend__buffer_reserve(&unescaped, inside.len + 1);
    if (!unescaped.failed) text = (mend_str){unescaped.data, mend_json_unescape(inside, unescaped.data)};
  }
  add_string(line, answer->failed ? "last_error" : "last_result", text);
  if (answer->cut) add_json(line, "last_result_cut", MEND_STR("true"));
  mend__buffer_free(&unescaped);
}

/* A call without arguments has no hash of them; a row of noughts would look like one. */
static void add_payload(mend__buffer *line, mend_str payload) {
  mend_json json;
  mend_json_init(&json, payload, MEND_JSON_DEPTH_MAX);
  mend_json_next(&json);
  add_key(line, "payload");
  char before = '{';
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    const mend_str key = json.slice;
    mend_str value;
    mend_hash hash;
    if (mend_json_value(&json, &value) != MEND_OK) break;
    const bool none = mend_str_equal(key, MEND_STR("args_hash")) &&
                      mend_hash_parse(json_string_inside(value), &hash) == MEND_OK && mend_hash_is_none(hash);
    mend__buffer_char(line, before);
    mend__buffer_printf(line, "\"%.*s\":", MEND_STR_ARG(key));
    mend__buffer_str(line, none ? MEND_STR("null") : value);
    before = ',';
  }
  mend__buffer_str(line, before == '{' ? MEND_STR("{}") : MEND_STR("}"));
}

static void add_main_members(const json_report *to, mend__buffer *line, const replay_detection *found) {
  const mend_detection *detection = found->detection;
  mend__buffer_str(line, MEND_STR("{\"detector\":"));
  mend__buffer_json_string(line, detection->detector);
  add_string(line, "reason", detection->reason);
  add_number(line, "line", found->row);
  add_time(line, "ts", to->file->has_clock, found->ts_ns);
  add_string(line, "run_id", detection->run_id);
  if (found->call_id.len > 0) {
    add_string(line, "call_id", found->call_id);
  } else {
    add_json(line, "call_id", MEND_STR("null"));
  }
  add_fraction(line, "severity", four_decimals(detection->severity));
  add_string(line, "summary", detection->summary);
}

static void add_other_members(const json_report *to, mend__buffer *line, const replay_detection *found) {
  const mend_detection *detection = found->detection;
  add_string(line, "file", mend_str_from(to->file->path));
  add_time(line, "detected_at", to->file->has_clock, detection->wall_ns);
  add_text(line, "tool_name", detection->tool_name);
  add_text(line, "first_call_id", detection->first_call);
  if (detection->count > 0) add_number(line, "count", detection->count);
  if (detection->period > 0) add_number(line, "period", detection->period);
  add_fraction(line, "confidence", detection->confidence);
  add_string(line, "action", mend_str_from(mend_action_kind_name(found->action.kind)));
  add_text(line, "action_text", mend_str_from(found->action.text));
  add_text(line, "args", found->args);
  add_answer(line, &found->answer);
  add_text(line, "last_result_call_id", found->answer.id);
  add_text(line, "steer", detection->steer);
  add_json(line, "evidence", detection->evidence);
  if (detection->payload.len > 0) add_payload(line, detection->payload);
  mend__buffer_char(line, '}');
}

static mend_status tell_detection(report *base, const replay_detection *found, uint64_t *ret_incident) {
  *ret_incident = 0;
  json_report *to = (json_report *)base;
  mend__buffer *line = begin_line(to);
  add_main_members(to, line, found);
  add_other_members(to, line, found);
  return write_json(to, to->out);
}

/* ---- Everything else --------------------------------------------------------------------------------------- */

static mend_status begin(report *base, const replay_file *file) {
  json_report *to = (json_report *)base;
  to->file = file;
  to->broken = 0;
  return MEND_OK;
}

/* Notes are for people even here, and losing them is no reason to stop. */
static mend_status note(json_report *to, const char *problem, uint64_t row) {
  mend__buffer *line = begin_line(to);
  mend__buffer_str(line, MEND_STR("mend: "));
  plain_text(line, mend_str_from(to->file->name), 200);
  if (row > 0) mend__buffer_printf(line, ", %s %llu", to->file->row, (unsigned long long)row);
  mend__buffer_str(line, MEND_STR(": "));
  plain_text(line, mend_str_from(problem), 300);
  return write_line(to, to->notes) == MEND_ENOMEM ? MEND_ENOMEM : MEND_OK;
}

static mend_status tell_broken(report *base, uint64_t row, const char *problem) {
  json_report *to = (json_report *)base;
  to->broken++;
  return to->broken <= BROKEN_SHOWN ? note(to, problem, row) : MEND_OK;
}

static mend_status tell_doubt(report *base, uint64_t row, const char *problem) {
  return note((json_report *)base, problem, row);
}

static mend_status tell_more_broken(json_report *to) {
  char text[64];
  if (to->broken <= BROKEN_SHOWN) return MEND_OK;
  snprintf(text, sizeof text, "%llu more broken", (unsigned long long)(to->broken - BROKEN_SHOWN));
  return note(to, text, 0);
}

static mend_status write_counts(json_report *to, const replay_counts *counts) {
  mend__buffer *line = begin_line(to);
  mend__buffer_str(line, MEND_STR("{\"file\":"));
  mend__buffer_json_string(line, mend_str_from(to->file->path));
  add_string(line, "format", mend_str_from(to->file->format));
  add_json(line, "clock", to->file->has_clock ? MEND_STR("true") : MEND_STR("false"));
  add_number(line, "rows", counts->rows);
  add_number(line, "broken", counts->broken);
  add_number(line, "runs", counts->runs);
  add_number(line, "calls", counts->calls);
  add_number(line, "results", counts->results);
  add_number(line, "results_without_call", counts->results_without_call);
  add_number(line, "unfinished", counts->unfinished);
  add_number(line, "detections", counts->detections);
  add_number(line, "detections_lost", counts->detections_lost);
  add_number(line, "derived", counts->derived);
  add_number(line, "backwards", counts->backwards);
  add_number(line, "ignored_members", counts->ignored_members);
  add_number(line, "runs_forgotten", counts->runs_forgotten);
  add_number(line, "open_calls_dropped", counts->open_calls_dropped);
  mend__buffer_char(line, '}');
  return write_json(to, to->notes);
}

static mend_status end(report *base, const replay_summary *summary) {
  json_report *to = (json_report *)base;
  const mend_status status = tell_more_broken(to);
  return status == MEND_OK && to->counts ? write_counts(to, &summary->counts) : status;
}

/* On standard error, where it is in nobody's way. */
static mend_status tell_remark(report *base, mend_str sentence) {
  json_report *to = (json_report *)base;
  mend__buffer *line = begin_line(to);
  mend__buffer_str(line, MEND_STR("mend: "));
  mend__buffer_str(line, sentence);
  return write_line(to, to->notes) == MEND_ENOMEM ? MEND_ENOMEM : MEND_OK;
}

static mend_status finish(report *base, const replay_totals *totals) {
  (void)base;
  (void)totals;
  return MEND_OK;
}

static void free_report(report *base) {
  json_report *to = (json_report *)base;
  mend__buffer_free(&to->line);
  mend__buffer_free(&to->safe);
  mend__free(NULL, to);
}

report *report_json_new(FILE *out, FILE *notes, bool counts) {
  json_report *to = mend__alloc_zero(NULL, sizeof *to);
  if (to == NULL) return NULL;
  to->base = (report){.remark = tell_remark,
                      .begin = begin,
                      .broken = tell_broken,
                      .doubt = tell_doubt,
                      .detection = tell_detection,
                      .end = end,
                      .finish = finish,
                      .free = free_report};
  to->out = out;
  to->notes = notes;
  to->counts = counts;
  mend__buffer_init(&to->line, NULL);
  mend__buffer_init(&to->safe, NULL);
  return &to->base;
}

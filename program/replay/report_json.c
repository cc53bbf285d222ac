#include "core/buffer.h"
#include "core/memory.h"
#include "program/replay/plain.h"
#include "program/replay/report.h"

enum { BROKEN_SHOWN = 20 };

typedef struct json_report {
  report base;
  FILE *out, *notes;
  bool counts;
  const replay_file *file;
  uint64_t broken;
  mend__buffer line;
} json_report;

/* ---- A line ------------------------------------------------------------------------------------------------ */

static mend__buffer *begin_line(json_report *to) {
  mend__buffer_clear(&to->line);
  return &to->line;
}

static mend_status write_line(json_report *to, FILE *out) {
  mend__buffer_char(&to->line, '\n');
  if (to->line.failed) return MEND_ENOMEM;
  const bool written = fwrite(to->line.data, 1, to->line.len, out) == to->line.len && fflush(out) == 0;
  return written ? MEND_OK : MEND_ECLOSED;
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
  add_fraction(line, "severity", detection->severity);
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
  add_text(line, found->answer_failed ? "last_error" : "last_result", found->answer);
  add_text(line, "last_result_call_id", found->answer_id);
  add_text(line, "steer", detection->steer);
  add_json(line, "evidence", detection->evidence);
  add_json(line, "payload", detection->payload);
  mend__buffer_char(line, '}');
}

static mend_status tell_detection(report *base, const replay_detection *found) {
  json_report *to = (json_report *)base;
  mend__buffer *line = begin_line(to);
  add_main_members(to, line, found);
  add_other_members(to, line, found);
  return write_line(to, to->out);
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
  mend__buffer_char(line, '}');
  return write_line(to, to->notes);
}

static mend_status end(report *base, const replay_summary *summary) {
  json_report *to = (json_report *)base;
  const mend_status status = tell_more_broken(to);
  return status == MEND_OK && to->counts ? write_counts(to, &summary->counts) : status;
}

static void free_report(report *base) {
  json_report *to = (json_report *)base;
  mend__buffer_free(&to->line);
  mend__free(NULL, to);
}

report *report_json_new(FILE *out, FILE *notes, bool counts) {
  json_report *to = mend__alloc_zero(NULL, sizeof *to);
  if (to == NULL) return NULL;
  to->base = (report){begin, tell_broken, tell_detection, end, free_report};
  to->out = out;
  to->notes = notes;
  to->counts = counts;
  mend__buffer_init(&to->line, NULL);
  return &to->base;
}

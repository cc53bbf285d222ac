#include "core/buffer.h"
#include "core/memory.h"
#include "program/base/json_fields.h"
#include "program/base/plain.h"
#include "program/reports/report_kinds.h"

typedef struct json_report {
  report base;
  outlet *out;
  const replay_file *file;
  mend__buffer line, safe;
} json_report;

/* ---- Members ----------------------------------------------------------------------------------------------- */

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
  if (answer->is_json && mend__json_is_string(text)) {
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
                      mend_hash_parse(mend__json_inside(value), &hash) == MEND_OK && mend_hash_is_none(hash);
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
  add_text(line, "incident", detection->incident);
  if (detection->occurrence > 0) add_number(line, "occurrence", detection->occurrence);
  if (detection->rung != MEND_RUNG_NONE) add_string(line, "rung", mend_str_from(mend_rung_name(detection->rung)));
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

static mend_status tell_detection(report *base, const replay_detection *found) {
  json_report *to = (json_report *)base;
  mend__buffer *line = &to->line;
  mend__buffer_clear(line);
  mend__buffer_clear(&to->safe);
  add_main_members(to, line, found);
  add_other_members(to, line, found);
  plain_json_escaped(&to->safe, mend__buffer_text(line));
  mend__buffer_char(&to->safe, '\n');
  return line->failed ? MEND_ENOMEM : outlet_put(to->out, &to->safe);
}

/* ---- The report -------------------------------------------------------------------------------------------- */

static mend_status begin(report *base, const replay_file *file) {
  ((json_report *)base)->file = file;
  return MEND_OK;
}

static void free_report(report *base) {
  json_report *to = (json_report *)base;
  mend__buffer_free(&to->line);
  mend__buffer_free(&to->safe);
  mend__free(NULL, to);
}

static report *open_report(const report_kind *kind, outlet *out) {
  (void)kind;
  json_report *to = mend__alloc_zero(NULL, sizeof *to);
  if (to == NULL) return NULL;
  to->base = (report){.begin = begin, .detection = tell_detection, .free = free_report};
  to->out = out;
  mend__buffer_init(&to->line, NULL);
  mend__buffer_init(&to->safe, NULL);
  return &to->base;
}

report_kind *report_json_kind(void) {
  report_kind *kind = mend__alloc_zero(NULL, sizeof *kind);
  if (kind != NULL) kind->open = open_report;
  return kind;
}

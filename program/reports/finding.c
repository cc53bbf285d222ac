#include "program/reports/finding.h"

#include "program/base/json_fields.h"
#include "program/base/plain.h"

enum { PIECE_MAX_CHARS = 4096 };

void finding_write_when(mend__buffer *line, const replay_file *file, const replay_detection *found) {
  const uint64_t at = found->detection->wall_ns;
  if (file->has_clock) {
    plain_clock(line, at);
    mend__buffer_str(line, MEND_STR(", "));
    plain_duration(line, at > found->start_ns ? at - found->start_ns : 0);
    mend__buffer_printf(line, " after the start, %s", at < found->ts_ns ? "before " : "");
  }
  mend__buffer_printf(line, "%s %llu", file->row, (unsigned long long)found->row);
}

/* ---- Evidence ---------------------------------------------------------------------------------------------- */

/* A number without the decimals after the third. */
static mend_str short_number(mend_str value) {
  const char *point = value.len > 0 ? memchr(value.ptr, '.', value.len) : NULL;
  if (point == NULL || memchr(value.ptr, 'e', value.len) != NULL) return value;
  const size_t whole = (size_t)(point - value.ptr);
  if (value.len > whole + 4) value.len = whole + 4;
  while (value.ptr[value.len - 1] == '0')
    value.len--;
  if (value.len == whole + 1) value.len = whole;
  return value;
}

/* Names of payload members that the report tells elsewhere, or that only programs can use. */
static bool is_told_elsewhere(const mend_json *json) {
  static const char *const names[] = {"tool_name", "call_id", "args_hash", NULL};
  for (const char *const *name = names; *name != NULL; name++) {
    if (mend_json_is(json, mend_str_from(*name))) return true;
  }
  return false;
}

/* Times of day, in files that have them. */
static bool is_time(mend_str key, mend_str value, uint64_t *ret_wall_ns) {
  static const char *const names[] = {"started_at", "ts", "at", NULL};
  bool named = false;
  for (const char *const *name = names; *name != NULL; name++)
    named |= mend_str_equal(key, mend_str_from(*name));
  return named && mend__json_is_number(value) && mend_json_seconds_ns(value, ret_wall_ns) == MEND_OK;
}

static void append_value(mend__buffer *line, mend_str key, mend_str value) {
  uint64_t wall_ns;
  if (is_time(key, value, &wall_ns)) {
    plain_clock(line, wall_ns);
  } else {
    plain_json(line, mend__json_is_number(value) ? short_number(value) : value, 200);
  }
}

/* Members as "name value, name value", `before` before the first. */
static void append_members(mend__buffer *line, mend_str object, bool all, const char *before) {
  mend_json json;
  mend_json_init(&json, object, MEND_JSON_DEPTH_MAX);
  if (mend_json_next(&json) != MEND_JSON_OBJECT) return;
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    const bool told = !all && is_told_elsewhere(&json);
    const mend_str key = json.slice;
    mend_str value;
    if (mend_json_value(&json, &value) != MEND_OK) return;
    if (told || mend_str_equal(value, MEND_STR("null"))) continue;
    mend__buffer_str(line, mend_str_from(before));
    plain_text(line, key, 80);
    mend__buffer_char(line, ' ');
    append_value(line, key, value);
    before = ", ";
  }
}

/* {"what": "began", "at": 1796029223.5} as "began 09:00:23", {"what": "stall.timeout_s", "seconds": 60} with its unit;
 * anything else by its members. */
static void append_piece(mend__buffer *line, mend_str piece) {
  json_field fields[] = {JSON_FIELD("what"), JSON_FIELD("at"), JSON_FIELD("seconds")};
  json_fields_peek(piece, fields, 3);
  if (!mend__json_is_string(fields[0].value)) {
    append_members(line, piece, true, "");
    return;
  }
  plain_json(line, fields[0].value, 80);
  for (size_t i = 1; i < 3; i++) {
    if (fields[i].value.ptr == NULL) continue;
    mend__buffer_char(line, ' ');
    append_value(line, fields[i].name, fields[i].value);
    if (i == 2) mend__buffer_str(line, MEND_STR(" s"));
  }
}

void finding_write_evidence(mend__buffer *line, const mend_detection *detection) {
  plain_text(line, detection->reason, 80);
  mend__buffer_printf(line, ", severity %.2f", detection->severity);
  append_members(line, detection->payload, false, ", ");
}

void finding_write_pieces(mend__buffer *lines, mend_str evidence) {
  mend__json_items pieces = mend__json_items_of(evidence);
  mend_str piece;
  mend__buffer rest;
  mend__buffer_init(&rest, NULL);
  while (mend__json_items_next(&pieces, &piece)) {
    if (mend__json_is_object(piece)) {
      append_piece(lines, piece);
      mend__buffer_char(lines, '\n');
    } else {
      if (rest.len > 0) mend__buffer_str(&rest, MEND_STR(", "));
      plain_json(&rest, mend__json_is_number(piece) ? short_number(piece) : piece, PIECE_MAX_CHARS);
    }
  }
  if (rest.len > 0) mend__buffer_char(&rest, '\n');
  lines->failed |= rest.failed;
  mend__buffer_str(lines, mend__buffer_text(&rest));
  mend__buffer_free(&rest);
}

/* ---- Policy ------------------------------------------------------------------------------------------------ */

const char *finding_would(mend_action_kind action) {
  static const char *const would[] = {
      [MEND_ACTION_NONE] = "would have let the run go on",
      [MEND_ACTION_ABORT] = "would have aborted the run",
      [MEND_ACTION_ESCALATE] = "would have asked",
  };
  return would[action];
}

void finding_write_policy(mend__buffer *line, const replay_detection *found) {
  const mend_rung rung = found->detection->rung;
  mend__buffer_str(line, mend_str_from(finding_would(found->action.kind)));
  if (rung == MEND_RUNG_WARN) mend__buffer_str(line, MEND_STR(", with a warning"));
  if (rung == MEND_RUNG_ABORT) mend__buffer_str(line, MEND_STR(": it had come too often"));
  if (found->action.kind != MEND_ACTION_ESCALATE) return;
  mend__buffer_str(line, MEND_STR(": "));
  plain_text(line, mend_str_from(found->action.text), PIECE_MAX_CHARS);
}

#include "program/replay/incident.h"

#include "core/memory.h"
#include "program/replay/json_fields.h"
#include "program/replay/plain.h"

/* ---- The detection it begins with -------------------------------------------------------------------------- */

static void put_title(writer *to, mend__buffer *page, const mend_detection *detection, size_t number) {
  char heading[96];
  const int width = snprintf(heading, sizeof heading, "%zu. %.*s: ", number, MEND_STR_ARG(detection->detector));
  writer_styled(to, page, ALARM, heading);
  plain_wrap(page, writer_plain(to, detection->summary, WRITER_TEXT_MAX), to->width, (size_t)width, WRITER_INDENT);
}

static void put_when(writer *to, mend__buffer *page, const replay_detection *found) {
  mend__buffer *line = writer_begin(to);
  const uint64_t at = found->detection->wall_ns;
  if (to->file->has_clock) {
    plain_clock(line, at);
    mend__buffer_str(line, MEND_STR(", "));
    plain_duration(line, at > found->start_ns ? at - found->start_ns : 0);
    mend__buffer_printf(line, " after the start, %s", at < found->ts_ns ? "before " : "");
  }
  writer_row(to, line, found->row);
  writer_put(to, page, "when");
}

static void put_call(writer *to, mend__buffer *page, const replay_detection *found) {
  mend__buffer *line = writer_begin(to);
  plain_text(line, found->detection->run_id, 200);
  writer_put(to, page, "run");
  if (found->call_id.len == 0 && found->args.len == 0) return;
  line = writer_begin(to);
  plain_text(line, found->call_id.len > 0 ? found->call_id : MEND_STR("without an id"), 200);
  if (found->detection->tool_name.len > 0) mend__buffer_str(line, MEND_STR(", "));
  plain_text(line, found->detection->tool_name, 200);
  if (found->args.len > 0) mend__buffer_char(line, ' ');
  plain_text(line, found->args, WRITER_TEXT_MAX);
  writer_put(to, page, "call");
}

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

static void append_payload_value(mend__buffer *line, mend_str key, mend_str value) {
  uint64_t wall_ns;
  const bool is_time = mend_str_equal(key, MEND_STR("started_at")) && json_is_number(value) &&
                       mend_json_seconds_ns(value, &wall_ns) == MEND_OK;
  if (is_time) {
    plain_clock(line, wall_ns);
  } else {
    plain_json(line, json_is_number(value) ? short_number(value) : value, 200);
  }
}

/* The detector's own fields as "name value, name value". */
static void append_payload(mend__buffer *line, mend_str payload) {
  mend_json json;
  mend_json_init(&json, payload, MEND_JSON_DEPTH_MAX);
  if (mend_json_next(&json) != MEND_JSON_OBJECT) return;
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    const bool told = is_told_elsewhere(&json);
    const mend_str key = json.slice;
    mend_str value;
    if (mend_json_value(&json, &value) != MEND_OK) return;
    if (told) continue;
    mend__buffer_str(line, MEND_STR(", "));
    plain_text(line, key, 80);
    mend__buffer_char(line, ' ');
    append_payload_value(line, key, value);
  }
}

static void put_evidence(writer *to, mend__buffer *page, const replay_detection *found) {
  const mend_detection *detection = found->detection;
  mend__buffer *line = writer_begin(to);
  plain_text(line, detection->reason, 80);
  mend__buffer_printf(line, ", severity %.2f", detection->severity);
  append_payload(line, detection->payload);
  writer_put(to, page, "evidence");
  json_elements pieces = json_elements_of(detection->evidence);
  mend_str piece;
  while (json_elements_next(&pieces, &piece)) {
    plain_json(writer_begin(to), piece, WRITER_TEXT_MAX);
    writer_put(to, page, "");
  }
}

static void put_answer(writer *to, mend__buffer *page, const replay_detection *found) {
  const replay_answer *answer = &found->answer;
  if (answer->value.len == 0) return;
  mend__buffer *line = writer_begin(to);
  plain_text(line, answer->id, 200);
  if (answer->id.len > 0) mend__buffer_char(line, ' ');
  mend__buffer_str(line, answer->failed ? MEND_STR("failed: ") : MEND_STR("returned: "));
  if (answer->is_json) {
    plain_json(line, answer->value, WRITER_TEXT_MAX);
  } else {
    plain_text(line, answer->value, WRITER_TEXT_MAX);
  }
  writer_put(to, page, "answer");
}

static void put_policy(writer *to, mend__buffer *page, const replay_detection *found) {
  static const char *const would[] = {
      [MEND_ACTION_NONE] = "would have let the run go on",
      [MEND_ACTION_ABORT] = "would have aborted the run",
      [MEND_ACTION_ESCALATE] = "would have asked: ",
  };
  mend__buffer *line = writer_begin(to);
  mend__buffer_str(line, mend_str_from(would[found->action.kind]));
  if (found->action.kind == MEND_ACTION_ESCALATE) plain_text(line, mend_str_from(found->action.text), WRITER_TEXT_MAX);
  writer_put(to, page, "policy");
  if (found->detection->steer.len == 0) return;
  plain_text(writer_begin(to), found->detection->steer, WRITER_TEXT_MAX);
  writer_put(to, page, "try");
}

void incident_append_key(mend__buffer *key, const replay_detection *found) {
  const mend_detection *detection = found->detection;
  const mend_str parts[] = {detection->run_id, detection->detector, detection->reason, detection->tool_name};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    mend__buffer_str(key, parts[i]);
    mend__buffer_char(key, '\0');
  }
  char hash[MEND_HASH_TEXT_SIZE];
  mend_hash_format(found->args_hash, hash);
  mend__buffer_str(key, mend_str_from(hash));
}

void incident_free(incident *of) {
  mend__buffer_free(&of->key);
  mend__buffer_free(&of->text);
  mend__free(NULL, of);
}

incident *incident_new(writer *to, const replay_detection *found, uint64_t number) {
  incident *new = mend__alloc_zero(NULL, sizeof *new);
  if (new == NULL) return NULL;
  mend__buffer_init(&new->key, NULL);
  mend__buffer_init(&new->text, NULL);
  new->number = number;
  new->is_stall = mend_str_equal(found->detection->detector, MEND_STR("stall"));
  new->is_loop = mend_str_equal(found->detection->detector, MEND_STR("loop"));
  incident_append_key(&new->key, found);
  put_title(to, &new->text, found->detection, number);
  put_when(to, &new->text, found);
  put_call(to, &new->text, found);
  put_evidence(to, &new->text, found);
  put_answer(to, &new->text, found);
  put_policy(to, &new->text, found);
  if (!new->key.failed && !new->text.failed) return new;
  incident_free(new);
  return NULL;
}

/* ---- How it went on ---------------------------------------------------------------------------------------- */

void incident_again(incident *of, uint64_t row) {
  if (of->again < INCIDENT_ROWS) of->rows[of->again] = row;
  of->again++;
  of->last_row = row;
}

static void put_again(writer *to, mend__buffer *page, const incident *of) {
  if (of->again == 0) return;
  mend__buffer *line = writer_begin(to);
  plain_count(line, of->again, "time");
  mend__buffer_printf(line, " more: %s%s ", to->file->row, of->again == 1 ? "" : "s");
  for (uint64_t i = 0; i < of->again && i < INCIDENT_ROWS; i++) {
    mend__buffer_printf(line, "%s%llu", i > 0 ? ", " : "", (unsigned long long)of->rows[i]);
  }
  if (of->again > INCIDENT_ROWS) mend__buffer_printf(line, " ... %llu", (unsigned long long)of->last_row);
  writer_put(to, page, "again");
}

static void put_stall_outcome(writer *to, mend__buffer *page, const incident *of) {
  static const char *const names[] = {
      [MEND_EVENT_TOOL_AFTER] = "ended",         [MEND_EVENT_TOOL_ERROR] = "failed",
      [MEND_EVENT_TOOL_SKIPPED] = "skipped",     [MEND_EVENT_TOOL_ABORTED] = "aborted",
      [MEND_EVENT_TOOL_CANCELLED] = "cancelled",
  };
  const uint64_t calls = of->again + 1;
  mend__buffer *line = writer_begin(to);
  if (of->ended == 0) {
    if (calls > 1) mend__buffer_printf(line, "none of %llu calls", (unsigned long long)calls);
    mend__buffer_str(line, calls > 1 ? MEND_STR(": still open at the end") : MEND_STR("not: still open at the end"));
    writer_put(to, page, "ended");
    return;
  }
  if (calls > 1) mend__buffer_printf(line, "%llu of ", (unsigned long long)of->ended);
  if (calls > 1) plain_count(line, calls, "call");
  if (calls > 1) mend__buffer_str(line, MEND_STR(", the last "));
  mend__buffer_str(line, MEND_STR("after "));
  plain_duration(line, of->last_ending.open_ns);
  mend__buffer_str(line, MEND_STR(", "));
  writer_row(to, line, of->last_ending.row);
  writer_put(to, page, names[of->last_ending.how]);
}

static void put_loop_outcome(writer *to, mend__buffer *page, const incident *of) {
  mend__buffer *line = writer_begin(to);
  if (of->repeated == 0) {
    mend__buffer_str(line, MEND_STR("no equal call came after it"));
    writer_put(to, page, "ended");
    return;
  }
  plain_count(line, of->repeated, "more equal call");
  mend__buffer_str(line, of->repeated == 1 ? MEND_STR(", at ") : MEND_STR(", the last at "));
  writer_row(to, line, of->last_repeated);
  writer_put(to, page, "went on");
}

void incident_put(writer *to, mend__buffer *page, const incident *of) {
  mend__buffer_bytes(page, of->text.data, of->text.len);
  put_again(to, page, of);
  if (of->is_stall) put_stall_outcome(to, page, of);
  if (of->is_loop) put_loop_outcome(to, page, of);
}

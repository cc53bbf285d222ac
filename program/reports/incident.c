#include "program/reports/incident.h"

#include "core/memory.h"
#include "program/base/plain.h"
#include "program/reports/finding.h"

/* ---- The detection it begins with -------------------------------------------------------------------------- */

static void put_title(writer *to, mend__buffer *page, const replay_detection *found) {
  const mend_detection *detection = found->detection;
  char heading[96];
  const int width = snprintf(heading, sizeof heading, "%llu. %.*s: ", (unsigned long long)found->incident,
                             MEND_STR_ARG(detection->detector));
  writer_styled(to, page, ALARM, heading);
  plain_wrap(page, writer_plain(to, detection->summary, WRITER_TEXT_MAX), to->width, (size_t)width, WRITER_INDENT);
}

static void put_when(writer *to, mend__buffer *page, const replay_detection *found) {
  finding_write_when(writer_begin(to), to->file, found);
  writer_put(to, page, "when");
}

static void put_call(writer *to, mend__buffer *page, const replay_detection *found) {
  mend__buffer *line = writer_begin(to);
  plain_text(line, found->detection->run_id, 200);
  writer_put(to, page, "run");
  if (found->call_id.len == 0 && found->args.len == 0) return;
  line = writer_begin(to);
  plain_text(line, found->call_id.len > 0 ? found->call_id : MEND_STR("without an id"), 200);
  if (found->tool.len > 0) mend__buffer_str(line, MEND_STR(", "));
  plain_text(line, found->tool, 200);
  if (found->args.len > 0) mend__buffer_char(line, ' ');
  plain_text(line, found->args, WRITER_TEXT_MAX);
  writer_put(to, page, "call");
}

static void put_evidence(writer *to, mend__buffer *page, const replay_detection *found) {
  mend__buffer pieces;
  mend__buffer_init(&pieces, NULL);
  finding_write_evidence(writer_begin(to), found->detection);
  writer_put(to, page, "evidence");
  finding_write_pieces(&pieces, found->detection->evidence);
  page->failed |= pieces.failed;
  for (mend_str rest = mend__buffer_text(&pieces); rest.len > 0 && !pieces.failed;) {
    const size_t len = (size_t)((const char *)memchr(rest.ptr, '\n', rest.len) - rest.ptr);
    mend__buffer_bytes(writer_begin(to), rest.ptr, len);
    writer_put(to, page, "");
    rest = (mend_str){rest.ptr + len + 1, rest.len - len - 1};
  }
  mend__buffer_free(&pieces);
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
  finding_write_policy(writer_begin(to), found);
  writer_put(to, page, "policy");
  if (found->detection->steer.len == 0) return;
  plain_text(writer_begin(to), found->detection->steer, WRITER_TEXT_MAX);
  writer_put(to, page, "try");
}

void incident_free(incident *of) {
  mend__buffer_free(&of->text);
  mend__free(NULL, of);
}

incident *incident_new(writer *to, const replay_detection *found) {
  incident *new = mend__alloc_zero(NULL, sizeof *new);
  if (new == NULL) return NULL;
  mend__buffer_init(&new->text, NULL);
  new->is_stall = replay_kind_of(found->detection) == REPLAY_STALL && found->call_id.len > 0;
  new->is_repeat = replay_is_repeat(found->detection);
  new->first_action = new->last_action = found->action.kind;
  put_title(to, &new->text, found);
  put_when(to, &new->text, found);
  put_call(to, &new->text, found);
  put_evidence(to, &new->text, found);
  put_answer(to, &new->text, found);
  put_policy(to, &new->text, found);
  if (!new->text.failed) return new;
  incident_free(new);
  return NULL;
}

/* ---- How it went on ---------------------------------------------------------------------------------------- */

void incident_again(incident *of, const replay_detection *found) {
  if (of->again < INCIDENT_ROWS) of->rows[of->again] = found->row;
  of->again++;
  of->last_row = found->row;
  of->last_action = found->action.kind;
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
  if (of->last_action != of->first_action) {
    mend__buffer_str(line, MEND_STR("; at last the policy "));
    mend__buffer_str(line, mend_str_from(finding_would(of->last_action)));
  }
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
  if (of->is_repeat) put_loop_outcome(to, page, of);
}

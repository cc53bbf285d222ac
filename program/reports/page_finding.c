#include "program/reports/page_finding.h"

#include "program/reports/finding.h"
#include "program/reports/page_record.h"

enum { NAME_BYTES = 200, TEXT_BYTES = 4096 };

static const char *const kinds[REPLAY_KINDS] = {[REPLAY_LOOP] = "loop",
                                                [REPLAY_STALL] = "stall",
                                                [REPLAY_REGRESSION] = "regression",
                                                [REPLAY_BUDGET] = "budget",
                                                [REPLAY_OTHER] = "other"};

static void add_what(mend__buffer *record, const replay_detection *found) {
  const mend_detection *detection = found->detection;
  page_add_text(record, "kind", mend_str_from(kinds[replay_kind_of(detection)]), NAME_BYTES);
  page_add_text(record, "detector", detection->detector, NAME_BYTES);
  page_add_text(record, "reason", detection->reason, NAME_BYTES);
  page_add_text(record, "summary", detection->summary, TEXT_BYTES);
  page_add_fraction(record, "severity", detection->severity);
  page_add_fraction(record, "confidence", detection->confidence);
  page_add_count(record, "count", detection->count);
  page_add_text(record, "tool", detection->tool_name, NAME_BYTES);
  page_add_text(record, "first", detection->first_call, NAME_BYTES);
  page_add_text(record, "call", found->call_id, NAME_BYTES);
  page_add_text(record, "args", found->args, TEXT_BYTES);
  page_add_text(record, "steer", detection->steer, TEXT_BYTES);
}

static void add_answer(mend__buffer *record, const replay_answer *answer) {
  if (answer->value.len == 0) return;
  page_add_text(record, "answerId", answer->id, NAME_BYTES);
  page_add_flag(record, "failed", answer->failed);
  mend__buffer_str(record, MEND_STR(",\"answer\":"));
  (answer->is_json ? page_json : page_text)(record, answer->value, TEXT_BYTES);
}

static void add_evidence(mend__buffer *record, const replay_file *file, const replay_detection *found) {
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  finding_write_when(&text, file, found);
  page_add_plain(record, "when", &text);
  mend__buffer_clear(&text);
  finding_write_policy(&text, found);
  page_add_plain(record, "policy", &text);
  mend__buffer_clear(&text);
  finding_write_evidence(&text, found->detection);
  page_add_plain(record, "evidence", &text);
  mend__buffer_clear(&text);
  finding_write_pieces(&text, found->detection->evidence);
  page_add_text(record, "pieces", mend__buffer_text(&text), TEXT_BYTES);
  record->failed |= text.failed;
  mend__buffer_free(&text);
}

void page_finding_write(mend__buffer *record, const page_place *at, const replay_detection *found) {
  const uint64_t at_ns = found->detection->wall_ns;
  page_record_begin(record);
  mend__buffer_printf(record, "{\"t\":\"%s\"", found->again ? "again" : "found");
  page_add_count(record, "n", at->run);
  page_add_count(record, "incident", found->incident);
  page_add_count(record, "row", found->row);
  page_add_seconds(record, "at", at_ns > at->base_ns ? at_ns - at->base_ns : 0);
  page_add_text(record, "rung", mend_str_from(mend_rung_name(found->detection->rung)), NAME_BYTES);
  page_add_text(record, "action", mend_str_from(mend_action_kind_name(found->action.kind)), NAME_BYTES);
  if (!found->again) {
    add_what(record, found);
    add_answer(record, &found->answer);
    add_evidence(record, at->file, found);
  }
  mend__buffer_char(record, '}');
}

void page_ending_write(mend__buffer *record, uint64_t incident, const replay_ending *ending) {
  page_record_begin(record);
  mend__buffer_str(record, MEND_STR("{\"t\":\"ending\""));
  page_add_count(record, "incident", incident);
  page_add_count(record, "row", ending->row);
  page_add_text(record, "how", mend_event_kind_topic(ending->how), NAME_BYTES);
  page_add_seconds(record, "open", ending->open_ns);
  mend__buffer_char(record, '}');
}

void page_aftermath_write(mend__buffer *record, uint64_t incident, const page_aftermath *after) {
  page_record_begin(record);
  mend__buffer_str(record, MEND_STR("{\"t\":\"after\""));
  page_add_count(record, "incident", incident);
  page_add_count(record, "again", after->again);
  page_add_count(record, "againRow", after->last_row);
  page_add_count(record, "repeated", after->repeated);
  page_add_count(record, "repeatedRow", after->last_repeated);
  mend__buffer_char(record, '}');
}

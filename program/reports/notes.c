#include "program/reports/notes.h"

#include "program/base/plain.h"

/* to->line becomes a note. */
static void put_note_line(writer *to, mend__buffer *page, bool *first) {
  if (*first) mend__buffer_char(page, '\n');
  *first = false;
  writer_put_paragraph(to, page);
}

static void put_note(writer *to, mend__buffer *page, bool *first, const char *note) {
  mend__buffer_str(writer_begin(to), mend_str_from(note));
  put_note_line(to, page, first);
}

static void put_counted_note(writer *to, mend__buffer *page, bool *first, uint64_t count, const char *one,
                             const char *rest) {
  if (count == 0) return;
  mend__buffer *line = writer_begin(to);
  plain_count(line, count, one);
  mend__buffer_str(line, mend_str_from(rest));
  put_note_line(to, page, first);
}

static void put_forgotten_note(writer *to, mend__buffer *page, bool *first, uint64_t forgotten) {
  if (forgotten == 0) return;
  mend__buffer *line = writer_begin(to);
  mend__buffer_str(line, MEND_STR("More runs than there is room for at once: "));
  plain_count(line, forgotten, "run");
  mend__buffer_str(line,
                   MEND_STR(" with the oldest last events had to be forgotten. What went on in them may be missed, "
                            "and a run that came back counts twice."));
  put_note_line(to, page, first);
}

static void put_dropped_note(writer *to, mend__buffer *page, bool *first, uint64_t dropped) {
  if (dropped == 0) return;
  mend__buffer *line = writer_begin(to);
  plain_count(line, dropped, "call");
  mend__buffer_str(line, MEND_STR(" began while "));
  plain_count(line, OPEN_CALLS_MAX, "call");
  mend__buffer_str(line,
                   MEND_STR(" of the same run were open: stalls of such calls cannot be seen, they are not among the "
                            "unfinished, and their results count as of no call."));
  put_note_line(to, page, first);
}

bool notes_lack_arguments(const replay_summary *summary) {
  const replay_counts *counts = &summary->counts;
  return counts->calls > 0 && counts->calls_without_args == counts->calls && summary->unknown.len > 0;
}

/* What others call a call's arguments. */
static bool means_args(const char *name) {
  static const char *const names[] = {"arguments", "arg",    "argument",   "parameters", "params",
                                      "input",     "kwargs", "tool_input", "tool_args",  NULL};
  for (const char *const *known = names; *known != NULL; known++) {
    if (strcmp(*known, name) == 0) return true;
  }
  return false;
}

static void put_arguments_note(writer *to, mend__buffer *page, bool *first, const replay_summary *summary) {
  if (!notes_lack_arguments(summary)) return;
  mend__buffer *line = writer_begin(to);
  plain_count(line, summary->counts.calls_without_args, "call");
  mend__buffer_str(line, MEND_STR(" had no arguments; unknown members: "));
  for (size_t i = 0; i < summary->unknown.len; i++) {
    const char *name = summary->unknown.names[i].name;
    if (i > 0) mend__buffer_str(line, MEND_STR(", "));
    plain_text(line, mend_str_from(name), 64);
    if (means_args(name)) mend__buffer_str(line, MEND_STR(" (did you mean args?)"));
  }
  mend__buffer_char(line, '.');
  put_note_line(to, page, first);
}

static void put_recorded_note(writer *to, mend__buffer *page, bool *first, const tally *recorded) {
  if (recorded->len == 0) return;
  mend__buffer *line = writer_begin(to);
  mend__buffer_str(line, MEND_STR("Recorded at the time, not counted here: "));
  tally_write(line, recorded);
  mend__buffer_char(line, '.');
  put_note_line(to, page, first);
}

void notes_put(writer *to, mend__buffer *page, const replay_summary *summary) {
  const replay_counts *counts = &summary->counts;
  bool first = true;
  if (summary->interrupted) put_note(to, page, &first, "Interrupted: this is what was read until then.");
  if (counts->calls == 0 && counts->detections > 0) put_note(to, page, &first, "There are no tool calls in it.");
  if (!to->file->has_clock) put_note(to, page, &first, "It has no clock, so nothing can be said about stalls.");
  put_arguments_note(to, page, &first, summary);
  if (to->file->has_clock) {
    const bool one = counts->calls_without_id == 1;
    put_counted_note(to, page, &first, counts->calls_without_id, "call",
                     one ? " has no id: a stall of it cannot be seen." : " have no id: stalls of them cannot be seen.");
  }
  put_counted_note(
      to, page, &first, counts->slow_calls, "call",
      " took longer than stall.timeout_s. Recordings of this kind do not tell what a call puts out while it "
      "runs, so one counts as hung after 10 min; with --set stall.timeout_s=60 it is 1 min.");
  put_forgotten_note(to, page, &first, counts->runs_forgotten);
  put_dropped_note(to, page, &first, counts->open_calls_dropped);
  put_counted_note(to, page, &first, counts->results_without_call, "result", " belonged to no call in this file.");
  put_counted_note(to, page, &first, counts->backwards, "time", " ran backwards and counted as the time before.");
  put_counted_note(to, page, &first, counts->late_times, "time",
                   " came too late to start a clock: the first rows had none.");
  put_counted_note(to, page, &first, counts->detections_lost, "detection", " came too fast to be told.");
  put_counted_note(to, page, &first, counts->readings_unused, "reading",
                   " of confidence went unread; --set regression.enable=true reads them.");
  put_recorded_note(to, page, &first, &summary->recorded);
}

#include "program/reports/closing.h"

#include "program/base/plain.h"
#include "program/reports/headline.h"
#include "program/reports/totals.h"

/* "57 files: 12 with detections (loop 9, stall 5), 1 not readable, 31 were no transcripts" */
static void put_files(writer *to, mend__buffer *page, const replay_totals *totals) {
  mend__buffer *line = writer_begin(to);
  plain_count(line, totals->files, "file");
  if (totals->troubled > 0) {
    mend__buffer_printf(line, ": %llu with detections (", (unsigned long long)totals->troubled);
    tally_write(line, &totals->files_by_detector);
    mend__buffer_char(line, ')');
    replay_totals_write_others(line, totals);
  } else if (totals->unreadable + totals->passed_over == totals->files) {
    mend__buffer_str(line, MEND_STR(": none was a transcript that could be read"));
  } else {
    mend__buffer_str(line, MEND_STR(": nothing was detected"));
    replay_totals_write_others(line, totals);
  }
  writer_put_paragraph(to, page);
}

/* "14 runs, 345 calls, 17 incidents: loop repeat 9, stall tool_total 8" */
static void put_incidents(writer *to, mend__buffer *page, const replay_totals *totals) {
  mend__buffer *line = writer_begin(to);
  plain_count(line, totals->runs, "run");
  mend__buffer_str(line, MEND_STR(", "));
  plain_count(line, totals->calls, "call");
  mend__buffer_str(line, MEND_STR(", "));
  plain_count(line, totals->incidents, "incident");
  mend__buffer_str(line, MEND_STR(": "));
  tally_write(line, &totals->by_reason);
  writer_put_paragraph(to, page);
}

static void put_saved(writer *to, mend__buffer *page, const replay_totals *totals) {
  if (totals->runs_stopped == 0) return;
  mend__buffer *line = writer_begin(to);
  mend__buffer_str(line, MEND_STR("The policy would have ended "));
  plain_count(line, totals->runs_stopped, "run");
  mend__buffer_str(line, MEND_STR(" and saved "));
  headline_write_use(line, &totals->saved);
  mend__buffer_char(line, '.');
  writer_put_paragraph(to, page);
}

static void put_worst(writer *to, mend__buffer *page, const replay_worst *worst) {
  if (worst->count < 2) return;
  mend__buffer_str(page, MEND_STR("\nThe worst runs:\n"));
  for (size_t i = 0; i < worst->count; i++) {
    mend__buffer *line = writer_begin(to);
    plain_text(line, mend_str_from(worst->runs[i].file), 200);
    mend__buffer_str(line, MEND_STR(", "));
    plain_text(line, mend_str_from(worst->runs[i].run), sizeof worst->runs[i].run);
    mend__buffer_str(line, MEND_STR(": "));
    mend__buffer_str(line, mend_str_from(worst->runs[i].headline));
    writer_put_item(to, page);
  }
}

static void put_open_ends(writer *to, mend__buffer *page, const replay_totals *totals) {
  if (totals->runs_open == 0) return;
  mend__buffer *line = writer_begin(to);
  plain_count(line, totals->runs_open, "run");
  mend__buffer_str(line, totals->runs_open == 1 ? MEND_STR(" ends") : MEND_STR(" end"));
  mend__buffer_str(line, MEND_STR(" in the middle of a call."));
  writer_put_paragraph(to, page);
}

void closing_put(writer *to, mend__buffer *page, const replay_totals *totals) {
  put_files(to, page, totals);
  put_open_ends(to, page, totals);
  if (totals->detections == 0) return;
  put_incidents(to, page, totals);
  put_saved(to, page, totals);
  put_worst(to, page, &totals->worst);
}

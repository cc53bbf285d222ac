#include "program/reports/overview.h"

#include "program/base/plain.h"
#include "program/reports/headline.h"
#include "program/reports/notes.h"
#include "program/reports/totals.h"

/* ---- Runs -------------------------------------------------------------------------------------------------- */

void overview_init(overview *of) {
  mend__buffer_init(&of->runs, NULL);
  mend__buffer_init(&of->only, NULL);
  of->troubled = 0;
}

void overview_free(overview *of) {
  mend__buffer_free(&of->runs);
  mend__buffer_free(&of->only);
}

static void write_stop(writer *to, mend__buffer *line, const replay_run *run) {
  if (run->stop.row == 0) {
    mend__buffer_str(line, MEND_STR("The policy would have let the run go on."));
    return;
  }
  const bool asks = run->stop.action == MEND_ACTION_ESCALATE;
  mend__buffer_printf(line, "The policy would have %s the run at ", asks ? "halted" : "ended");
  writer_row(to, line, run->stop.row);
  if (replay_use_is_nothing(&run->saved)) {
    mend__buffer_str(line, MEND_STR("; nothing came after that."));
    return;
  }
  mend__buffer_str(line, MEND_STR(" and saved "));
  headline_write_use(line, &run->saved);
  mend__buffer_char(line, '.');
}

static void write_run(writer *to, mend__buffer *line, const replay_run *run) {
  headline_write(line, run);
  mend__buffer_str(line, MEND_STR(". "));
  write_stop(to, line, run);
}

mend_status overview_add_run(overview *of, writer *to, const replay_run *run) {
  if (run->detections == 0 || of->troubled++ >= OVERVIEW_RUNS) return MEND_OK;
  if (of->troubled == 1) {
    mend__buffer *sentence = writer_begin(to);
    write_run(to, sentence, run);
    if (!sentence->failed && sentence->data[0] >= 'a' && sentence->data[0] <= 'z') sentence->data[0] -= 'a' - 'A';
    writer_put_paragraph(to, &of->only);
  }
  mend__buffer *line = writer_begin(to);
  plain_text(line, run->id, 100);
  mend__buffer_str(line, MEND_STR(": "));
  write_run(to, line, run);
  writer_put_item(to, &of->runs);
  return of->runs.failed || of->only.failed ? MEND_ENOMEM : MEND_OK;
}

static void put_together(writer *to, mend__buffer *page, const replay_summary *summary) {
  if (summary->counts.runs_stopped < 2 || replay_use_is_nothing(&summary->saved)) return;
  mend__buffer *line = writer_begin(to);
  mend__buffer_str(line, MEND_STR("Together the policy would have saved "));
  headline_write_use(line, &summary->saved);
  mend__buffer_char(line, '.');
  writer_put_paragraph(to, page);
}

static void put_runs(const overview *of, writer *to, mend__buffer *page, const replay_summary *summary) {
  mend__buffer_char(page, '\n');
  if (summary->counts.runs == 1) {
    mend__buffer_str(page, mend__buffer_text(&of->only));
    return;
  }
  plain_number(page, of->troubled);
  mend__buffer_str(page, MEND_STR(" of "));
  plain_count(page, summary->counts.runs, "run");
  mend__buffer_str(page, of->troubled == 1 ? MEND_STR(" is in trouble:\n") : MEND_STR(" are in trouble:\n"));
  mend__buffer_bytes(page, of->runs.data, of->runs.len);
  if (of->troubled > OVERVIEW_RUNS) writer_put_more(page, of->troubled - OVERVIEW_RUNS);
  put_together(to, page, summary);
}

/* ---- The file ---------------------------------------------------------------------------------------------- */

bool overview_is_well(const replay_summary *summary) {
  const replay_counts *counts = &summary->counts;
  const uint64_t doubts = counts->broken + counts->ignored_members + counts->backwards + counts->late_times +
                          counts->results_without_call + counts->calls_without_id + counts->runs_forgotten +
                          counts->open_calls_dropped;
  const bool recorded = summary->recorded.len > 0;
  return counts->calls > 0 && counts->detections + doubts == 0 && !recorded && !summary->interrupted &&
         !notes_lack_arguments(summary);
}

static void put_path(writer *to, mend__buffer *page) {
  writer_plain(to, mend_str_from(to->file->name), 200);
  mend__buffer_char(&to->line, '\0');
  if (!to->line.failed) writer_styled(to, page, BOLD, to->line.data);
}

/* "ends in the middle of bash, open since 09:06:02", or "2 of 3 runs end in the middle of a call" */
static void write_open_end(mend__buffer *line, const replay_summary *summary) {
  const replay_counts *counts = &summary->counts;
  const replay_open_call *last = &summary->last_open;
  if (counts->runs == 1) {
    headline_write_open(line, mend_str_from(last->tool), counts->unfinished, last->since_ns);
    return;
  }
  plain_number(line, counts->runs_open);
  mend__buffer_str(line, MEND_STR(" of "));
  plain_count(line, counts->runs, "run");
  mend__buffer_str(line, counts->runs_open == 1 ? MEND_STR(" ends") : MEND_STR(" end"));
  mend__buffer_str(line, MEND_STR(" in the middle of a call"));
}

/* "all is well: 2 runs, 11 calls, 43 s", or how it ends instead */
static void put_well(writer *to, mend__buffer *page, const replay_summary *summary, const char *beginning) {
  const uint64_t ns = summary->end_ns - summary->start_ns;
  if (summary->counts.unfinished > 0) {
    const size_t at = page->len;
    write_open_end(page, summary);
    if (!page->failed && beginning[0] == 'A' && page->data[at] == 'e') page->data[at] = 'E';
  } else {
    writer_styled(to, page, GOOD, beginning);
  }
  mend__buffer_str(page, MEND_STR(": "));
  if (summary->counts.runs > 1) plain_count(page, summary->counts.runs, "run");
  if (summary->counts.runs > 1) mend__buffer_str(page, MEND_STR(", "));
  plain_count(page, summary->counts.calls, "call");
  if (ns > 0) mend__buffer_str(page, MEND_STR(", "));
  if (ns > 0) plain_duration(page, ns);
}

static void put_unfinished_count(mend__buffer *page, uint64_t count) {
  if (count == 0) return;
  mend__buffer_str(page, MEND_STR(", "));
  plain_number(page, count);
  mend__buffer_str(page, MEND_STR(" unfinished"));
}

void overview_put_line(writer *to, mend__buffer *page, const replay_summary *summary) {
  const replay_counts *counts = &summary->counts;
  put_path(to, page);
  mend__buffer_str(page, MEND_STR(": "));
  put_well(to, page, summary, "all is well");
  mend__buffer_printf(page, " (%s, ", to->file->title);
  plain_count(page, counts->rows, to->file->row);
  put_unfinished_count(page, counts->unfinished);
  mend__buffer_str(page, to->file->has_clock ? MEND_STR(")\n") : MEND_STR(", no clock)\n"));
}

static void put_head(writer *to, mend__buffer *page, const replay_summary *summary) {
  const replay_counts *counts = &summary->counts;
  put_path(to, page);
  mend__buffer_printf(page, ": %s, ", to->file->title);
  plain_count(page, counts->rows, to->file->row);
  mend__buffer_char(page, '\n');
  plain_count(page, counts->runs, "run");
  mend__buffer_str(page, MEND_STR(", "));
  plain_count(page, counts->calls, "call");
  mend__buffer_str(page, MEND_STR(", "));
  plain_count(page, counts->results, "result");
  put_unfinished_count(page, counts->unfinished);
  if (summary->used.tokens > 0) mend__buffer_str(page, MEND_STR(", "));
  if (summary->used.tokens > 0) plain_count(page, summary->used.tokens, "token");
  if (summary->used.cost_usd > 0) mend__buffer_str(page, MEND_STR(", "));
  if (summary->used.cost_usd > 0) plain_money(page, summary->used.cost_usd);
  mend__buffer_char(page, '\n');
}

static void put_span(writer *to, mend__buffer *page, const replay_summary *summary) {
  if (!to->file->has_clock) return;
  plain_date(page, summary->start_ns);
  mend__buffer_char(page, ' ');
  plain_clock(page, summary->start_ns);
  mend__buffer_str(page, MEND_STR(" to "));
  if (summary->start_ns / MEND_SECOND_NS / 86400 != summary->end_ns / MEND_SECOND_NS / 86400) {
    plain_date(page, summary->end_ns);
    mend__buffer_char(page, ' ');
  }
  plain_clock(page, summary->end_ns);
  mend__buffer_str(page, MEND_STR(" UTC ("));
  plain_duration(page, summary->end_ns - summary->start_ns);
  mend__buffer_str(page, MEND_STR(")\n"));
}

static void put_verdict(writer *to, mend__buffer *page, const replay_summary *summary) {
  mend__buffer_char(page, '\n');
  if (summary->counts.calls == 0) {
    mend__buffer_str(page, MEND_STR("Nothing was detected; there are no tool calls in it.\n"));
  } else if (overview_is_well(summary)) {
    put_well(to, page, summary, "All is well");
    mend__buffer_str(page, MEND_STR(".\n"));
  } else {
    writer_styled(to, page, GOOD, "Nothing was detected.");
    if (summary->counts.unfinished > 0) {
      mend__buffer_str(page, summary->counts.runs == 1 ? MEND_STR(" It ") : MEND_STR(" "));
      write_open_end(page, summary);
      mend__buffer_char(page, '.');
    }
    mend__buffer_char(page, '\n');
  }
}

void overview_put(const overview *of, writer *to, mend__buffer *page, const replay_summary *summary) {
  put_head(to, page, summary);
  put_span(to, page, summary);
  if (summary->counts.detections == 0) {
    put_verdict(to, page, summary);
  } else {
    put_runs(of, to, page, summary);
  }
}

/* ---- Calls that are open at the end ------------------------------------------------------------------------ */

static void put_open_call(writer *to, mend__buffer *page, const replay_open_call *call, bool name_run) {
  mend__buffer *line = writer_begin(to);
  plain_text(line, mend_str_from(call->id), 64);
  if (call->tool[0] != '\0') mend__buffer_str(line, MEND_STR(", "));
  plain_text(line, mend_str_from(call->tool), 64);
  mend__buffer_str(line, MEND_STR(", since "));
  writer_row(to, line, call->row);
  if (to->file->has_clock) {
    mend__buffer_str(line, MEND_STR(" at "));
    plain_clock(line, call->since_ns);
  }
  if (name_run) mend__buffer_str(line, MEND_STR(", run "));
  if (name_run) plain_text(line, mend_str_from(call->run), 64);
  if (call->incident > 0) mend__buffer_printf(line, " (stall %llu)", (unsigned long long)call->incident);
  writer_put_item(to, page);
}

void overview_put_unfinished(writer *to, mend__buffer *page, const replay_summary *summary) {
  if (summary->counts.unfinished == 0) return;
  mend__buffer_str(page, MEND_STR("\nStill open at the end (which by itself is no stall):\n"));
  for (size_t i = 0; i < summary->open_count; i++)
    put_open_call(to, page, &summary->open[i], summary->counts.runs > 1);
  const uint64_t more = summary->counts.unfinished - summary->open_count;
  writer_put_more(page, more);
}

/* The report for people. A file is told of when it has been read, so that it begins with what the file holds and each
 * incident stands once with all its times. */
#include "core/memory.h"
#include "core/strmap.h"
#include "program/replay/incident.h"
#include "program/replay/notes.h"
#include "program/replay/plain.h"

enum {
  INCIDENTS_MAX = 1000, /* more are counted, not shown */
  BROKEN_SHOWN = 10,
  DOUBTS_SHOWN = 5
};

/* Lines about single rows, the first few of them. */
typedef struct row_list {
  mend__buffer lines;
  uint64_t count;
} row_list;

/* What stands above the next thing to be printed. */
typedef enum above { ABOVE_NOTHING, ABOVE_LINE, ABOVE_BLOCK } above;

typedef struct text_report {
  report base;
  FILE *out;
  bool several;
  above above;
  writer with;
  mend__strmap by_key;
  incident *incidents[INCIDENTS_MAX]; /* number n is at n - 1 */
  size_t incident_count;
  uint64_t not_shown; /* detections beyond INCIDENTS_MAX */
  row_list broken, doubts;
  mend__buffer page;

  tally detectors;               /* of this file's detections */
  uint64_t files_with_detection; /* of all files, */
  tally files_by_detector;       /* and how many each detector found something in */
} text_report;

/* ---- Incidents --------------------------------------------------------------------------------------------- */

static mend_status add_incident(text_report *to, const replay_detection *found) {
  incident *new = incident_new(&to->with, found, to->incident_count + 1);
  if (new == NULL) return MEND_ENOMEM;
  if (mend__strmap_put(&to->by_key, mend__buffer_text(&new->key), new) != MEND_OK) {
    incident_free(new);
    return MEND_ENOMEM;
  }
  to->incidents[to->incident_count++] = new;
  return MEND_OK;
}

static mend_status tell_detection(report *base, const replay_detection *found, uint64_t *ret_incident) {
  text_report *to = (text_report *)base;
  *ret_incident = 0;
  tally_add(&to->detectors, found->detection->detector);
  mend__buffer *key = writer_begin(&to->with);
  incident_append_key(key, found);
  if (key->failed) return MEND_ENOMEM;
  incident *known = mend__strmap_get(&to->by_key, mend__buffer_text(key));
  if (known != NULL) {
    incident_again(known, found->row);
    *ret_incident = known->number;
    return MEND_OK;
  }
  if (to->incident_count == INCIDENTS_MAX) {
    to->not_shown++;
    return MEND_OK;
  }
  const mend_status status = add_incident(to, found);
  *ret_incident = to->incident_count;
  return status;
}

static void tell_ended(report *base, uint64_t number, const replay_ending *ending) {
  incident *of = ((text_report *)base)->incidents[number - 1];
  of->ended++;
  of->last_ending = *ending;
}

static void tell_repeated(report *base, uint64_t number, uint64_t row) {
  incident *of = ((text_report *)base)->incidents[number - 1];
  of->repeated++;
  of->last_repeated = row;
}

/* ---- The page ---------------------------------------------------------------------------------------------- */

static void put_path(writer *to, mend__buffer *page) {
  const mend_str path = writer_plain(to, mend_str_from(to->file->name), 200);
  mend__buffer_char(&to->line, '\0');
  if (!to->line.failed) writer_styled(to, page, BOLD, path.ptr);
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
  if (counts->unfinished > 0) mend__buffer_printf(page, ", %llu unfinished", (unsigned long long)counts->unfinished);
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

static void put_one_line(writer *to, mend__buffer *page, const replay_summary *summary) {
  const replay_counts *counts = &summary->counts;
  put_path(to, page);
  mend__buffer_printf(page, ": %s, ", to->file->title);
  plain_count(page, counts->rows, to->file->row);
  mend__buffer_str(page, MEND_STR(", "));
  plain_count(page, counts->calls, "call");
  if (counts->unfinished > 0) mend__buffer_printf(page, ", %llu unfinished", (unsigned long long)counts->unfinished);
  if (!to->file->has_clock) mend__buffer_str(page, MEND_STR(", no clock"));
  mend__buffer_str(page, MEND_STR(": "));
  writer_styled(to, page, GOOD, "nothing was detected");
  mend__buffer_char(page, '\n');
}

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

static void put_unfinished(writer *to, mend__buffer *page, const replay_summary *summary) {
  if (summary->counts.unfinished == 0) return;
  mend__buffer_str(page, MEND_STR("\nStill open at the end (which by itself is no stall):\n"));
  for (size_t i = 0; i < summary->open_count; i++)
    put_open_call(to, page, &summary->open[i], summary->counts.runs > 1);
  const uint64_t more = summary->counts.unfinished - summary->open_count;
  if (more > 0) mend__buffer_printf(page, "%*sand %llu more\n", WRITER_INDENT, "", (unsigned long long)more);
}

static void put_incidents(text_report *to, mend__buffer *page, const replay_counts *counts) {
  mend__buffer_char(page, '\n');
  if (counts->detections == 0 && counts->calls == 0) {
    mend__buffer_str(page, MEND_STR("Nothing was detected; there are no tool calls in it.\n"));
    return;
  }
  if (counts->detections == 0) {
    writer_styled(&to->with, page, GOOD, "Nothing was detected.");
    mend__buffer_char(page, '\n');
    return;
  }
  for (size_t i = 0; i < to->incident_count; i++) {
    if (i > 0) mend__buffer_char(page, '\n');
    incident_put(&to->with, page, to->incidents[i]);
  }
  if (to->not_shown == 0) return;
  mend__buffer_str(page, MEND_STR("\nNot shown: "));
  plain_count(page, to->not_shown, "further detection");
  mend__buffer_str(page, MEND_STR("; --json lists them all.\n"));
}

/* "2 lines left out:" and the first `shown` of them. */
static void put_rows(mend__buffer *page, const row_list *rows, uint64_t count, const char *one, const char *what,
                     uint64_t shown) {
  if (count == 0) return;
  mend__buffer_char(page, '\n');
  plain_count(page, count, one);
  mend__buffer_printf(page, " %s:\n", what);
  mend__buffer_bytes(page, rows->lines.data, rows->lines.len);
  if (rows->count < shown) shown = rows->count;
  if (count > shown)
    mend__buffer_printf(page, "%*sand %llu more\n", WRITER_INDENT, "", (unsigned long long)(count - shown));
}

/* ---- The report -------------------------------------------------------------------------------------------- */

static void clear_rows(row_list *rows) {
  mend__buffer_clear(&rows->lines);
  rows->count = 0;
}

static void forget_file(text_report *to) {
  while (to->incident_count > 0)
    incident_free(to->incidents[--to->incident_count]);
  mend__strmap_free(&to->by_key);
  mend__strmap_init(&to->by_key, NULL);
  clear_rows(&to->broken);
  clear_rows(&to->doubts);
  to->detectors = (tally){0};
  to->not_shown = 0;
}

static mend_status begin(report *base, const replay_file *file) {
  text_report *to = (text_report *)base;
  forget_file(to);
  to->with.file = file;
  return MEND_OK;
}

static mend_status add_row(text_report *to, row_list *rows, uint64_t shown, uint64_t row, const char *problem) {
  if (rows->count++ >= shown) return MEND_OK;
  mend__buffer *line = writer_begin(&to->with);
  writer_row(&to->with, line, row);
  mend__buffer_str(line, MEND_STR(": "));
  plain_text(line, mend_str_from(problem), WRITER_TEXT_MAX);
  writer_put_item(&to->with, &rows->lines);
  return rows->lines.failed ? MEND_ENOMEM : MEND_OK;
}

static mend_status tell_broken(report *base, uint64_t row, const char *problem) {
  text_report *to = (text_report *)base;
  return add_row(to, &to->broken, BROKEN_SHOWN, row, problem);
}

static mend_status tell_doubt(report *base, uint64_t row, const char *problem) {
  text_report *to = (text_report *)base;
  return add_row(to, &to->doubts, DOUBTS_SHOWN, row, problem);
}

/* ---- Printing ---------------------------------------------------------------------------------------------- */

static mend__buffer *begin_page(text_report *to, bool apart) {
  mend__buffer_clear(&to->page);
  if (to->above == ABOVE_BLOCK || (apart && to->above == ABOVE_LINE)) mend__buffer_char(&to->page, '\n');
  return &to->page;
}

static mend_status print_page(text_report *to, above printed) {
  to->above = printed;
  return to->with.line.failed ? MEND_ENOMEM : plain_write(&to->page, to->out);
}

static mend_status tell_remark(report *base, mend_str sentence) {
  text_report *to = (text_report *)base;
  mend__buffer *page = begin_page(to, false);
  mend__buffer *line = writer_begin(&to->with);
  mend__buffer_str(line, sentence);
  mend__buffer_char(line, '.');
  writer_put_paragraph(&to->with, page);
  return print_page(to, ABOVE_LINE);
}

/* Nothing was found, and nothing makes one doubt that. */
static bool is_well(const replay_summary *summary) {
  const replay_counts *counts = &summary->counts;
  const uint64_t doubts = counts->broken + counts->ignored_members + counts->backwards + counts->late_times +
                          counts->results_without_call + counts->calls_without_id + counts->runs_forgotten +
                          counts->open_calls_dropped;
  const bool recorded = summary->recorded.len > 0;
  return counts->calls > 0 && counts->detections + doubts == 0 && !recorded && !summary->interrupted &&
         !notes_lack_arguments(summary);
}

static mend_status end(report *base, const replay_summary *summary) {
  text_report *to = (text_report *)base;
  to->files_with_detection += summary->counts.detections > 0;
  for (size_t i = 0; i < to->detectors.len; i++)
    tally_add(&to->files_by_detector, mend_str_from(to->detectors.names[i].name));
  const bool in_one_line = to->several && is_well(summary);
  mend__buffer *page = begin_page(to, !in_one_line);
  if (in_one_line) {
    put_one_line(&to->with, page, summary);
    return print_page(to, ABOVE_LINE);
  }
  put_head(&to->with, page, summary);
  put_span(&to->with, page, summary);
  put_incidents(to, page, &summary->counts);
  put_unfinished(&to->with, page, summary);
  put_rows(page, &to->broken, to->broken.count, to->with.file->row, "left out", BROKEN_SHOWN);
  put_rows(page, &to->doubts, summary->counts.ignored_members, "member", "did not count", DOUBTS_SHOWN);
  notes_put(&to->with, page, summary);
  return print_page(to, ABOVE_BLOCK);
}

static void write_totals(const text_report *to, mend__buffer *line, const replay_totals *totals) {
  plain_count(line, totals->files, "file");
  if (totals->unreadable == totals->files && to->files_with_detection == 0) {
    mend__buffer_str(line, MEND_STR(": none was readable"));
    return;
  }
  if (to->files_with_detection > 0) {
    mend__buffer_printf(line, ": %llu with detections (", (unsigned long long)to->files_with_detection);
    tally_write(line, &to->files_by_detector);
    mend__buffer_char(line, ')');
  } else {
    mend__buffer_str(line, MEND_STR(": nothing was detected"));
  }
  if (totals->unreadable > 0) {
    mend__buffer_printf(line, ", %llu not readable", (unsigned long long)totals->unreadable);
  }
}

static mend_status finish(report *base, const replay_totals *totals) {
  text_report *to = (text_report *)base;
  if (!to->several) return MEND_OK;
  mend__buffer *page = begin_page(to, true);
  write_totals(to, writer_begin(&to->with), totals);
  writer_put_paragraph(&to->with, page);
  return print_page(to, ABOVE_LINE);
}

static void free_report(report *base) {
  text_report *to = (text_report *)base;
  forget_file(to);
  mend__strmap_free(&to->by_key);
  mend__buffer_free(&to->broken.lines);
  mend__buffer_free(&to->doubts.lines);
  mend__buffer_free(&to->page);
  mend__buffer_free(&to->with.line);
  mend__free(NULL, to);
}

report *report_text_new(FILE *out, bool colour, size_t width, bool several) {
  text_report *to = mend__alloc_zero(NULL, sizeof *to);
  if (to == NULL) return NULL;
  to->base = (report){.remark = tell_remark,
                      .begin = begin,
                      .broken = tell_broken,
                      .doubt = tell_doubt,
                      .detection = tell_detection,
                      .ended = tell_ended,
                      .repeated = tell_repeated,
                      .end = end,
                      .finish = finish,
                      .free = free_report};
  to->out = out;
  to->with.colour = colour;
  to->with.width = width;
  to->several = several;
  mend__strmap_init(&to->by_key, NULL);
  mend__buffer_init(&to->broken.lines, NULL);
  mend__buffer_init(&to->doubts.lines, NULL);
  mend__buffer_init(&to->page, NULL);
  mend__buffer_init(&to->with.line, NULL);
  return &to->base;
}

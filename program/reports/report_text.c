/* The report for people. A file is told of when it has been read, so that it begins with what the file holds and each
 * incident stands once with all its times. */
#include "core/memory.h"
#include "program/base/plain.h"
#include "program/reports/closing.h"
#include "program/reports/incident.h"
#include "program/reports/notes.h"
#include "program/reports/overview.h"
#include "program/reports/report_kinds.h"

enum { BROKEN_SHOWN = 10, DOUBTS_SHOWN = 5 };

typedef struct text_kind {
  report_kind base;
  bool colour, several;
  size_t width;
} text_kind;

/* Lines about single rows, the first few of them. */
typedef struct row_list {
  mend__buffer lines;
  uint64_t count;
} row_list;

typedef struct text_report {
  report base;
  outlet *out;
  bool several;
  writer with;
  overview overview;
  incident *incidents[INCIDENTS_MAX]; /* number n is at n - 1 */
  size_t incident_count;
  uint64_t not_shown; /* detections beyond INCIDENTS_MAX */
  row_list broken, doubts;
} text_report;

/* ---- What is told ------------------------------------------------------------------------------------------ */

static mend_status begin(report *base, const replay_file *file) {
  text_report *to = (text_report *)base;
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

static mend_status tell_detection(report *base, const replay_detection *found) {
  text_report *to = (text_report *)base;
  if (found->incident == 0) {
    to->not_shown++;
    return MEND_OK;
  }
  if (found->again) {
    incident_again(to->incidents[found->incident - 1], found);
    return MEND_OK;
  }
  incident *new = incident_new(&to->with, found);
  if (new == NULL) return MEND_ENOMEM;
  to->incidents[to->incident_count++] = new;
  return MEND_OK;
}

static mend_status tell_ended(report *base, uint64_t number, const replay_ending *ending) {
  incident *of = ((text_report *)base)->incidents[number - 1];
  of->ended++;
  of->last_ending = *ending;
  return MEND_OK;
}

static mend_status tell_repeated(report *base, uint64_t number, uint64_t row) {
  incident *of = ((text_report *)base)->incidents[number - 1];
  of->repeated++;
  of->last_repeated = row;
  return MEND_OK;
}

static mend_status tell_run_ended(report *base, const replay_run *run) {
  text_report *to = (text_report *)base;
  return overview_add_run(&to->overview, &to->with, run);
}

/* ---- The page ---------------------------------------------------------------------------------------------- */

static void put_incidents(text_report *to, mend__buffer *page) {
  for (size_t i = 0; i < to->incident_count; i++) {
    mend__buffer_char(page, '\n');
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
  if (count > shown) writer_put_more(page, count - shown);
}

static void put_page(text_report *to, mend__buffer *page, const replay_summary *summary) {
  overview_put(&to->overview, &to->with, page, summary);
  put_incidents(to, page);
  overview_put_unfinished(&to->with, page, summary);
  put_rows(page, &to->broken, to->broken.count, to->with.file->row, "left out", BROKEN_SHOWN);
  put_rows(page, &to->doubts, summary->counts.ignored_members, "member", "did not count", DOUBTS_SHOWN);
  notes_put(&to->with, page, summary);
}

static mend_status end(report *base, const replay_summary *summary) {
  text_report *to = (text_report *)base;
  const bool in_one_line = to->several && overview_is_well(summary);
  mend__buffer page;
  mend__buffer_init(&page, NULL);
  if (in_one_line) {
    overview_put_line(&to->with, &page, summary);
  } else {
    put_page(to, &page, summary);
  }
  outlet_begin(to->out, in_one_line ? OUTLET_LINE : OUTLET_BLOCK);
  const mend_status status = to->with.line.failed ? MEND_ENOMEM : outlet_put(to->out, &page);
  mend__buffer_free(&page);
  return status;
}

/* ---- The report -------------------------------------------------------------------------------------------- */

static void free_report(report *base) {
  text_report *to = (text_report *)base;
  while (to->incident_count > 0)
    incident_free(to->incidents[--to->incident_count]);
  overview_free(&to->overview);
  mend__buffer_free(&to->broken.lines);
  mend__buffer_free(&to->doubts.lines);
  mend__buffer_free(&to->with.line);
  mend__free(NULL, to);
}

static report *open_report(const report_kind *base, outlet *out) {
  const text_kind *kind = (const text_kind *)base;
  text_report *to = mend__alloc_zero(NULL, sizeof *to);
  if (to == NULL) return NULL;
  to->base = (report){.begin = begin,
                      .broken = tell_broken,
                      .doubt = tell_doubt,
                      .detection = tell_detection,
                      .ended = tell_ended,
                      .repeated = tell_repeated,
                      .run_ended = tell_run_ended,
                      .end = end,
                      .free = free_report};
  to->out = out;
  to->several = kind->several;
  to->with = (writer){.colour = kind->colour, .width = kind->width};
  overview_init(&to->overview);
  mend__buffer_init(&to->broken.lines, NULL);
  mend__buffer_init(&to->doubts.lines, NULL);
  mend__buffer_init(&to->with.line, NULL);
  return &to->base;
}

static mend_status finish(report_kind *base, const replay_totals *totals, outlet *out) {
  const text_kind *kind = (const text_kind *)base;
  if (!kind->several) return MEND_OK;
  mend__buffer page;
  writer with = {.colour = kind->colour, .width = kind->width};
  mend__buffer_init(&page, NULL);
  mend__buffer_init(&with.line, NULL);
  closing_put(&with, &page, totals);
  outlet_begin(out, OUTLET_BLOCK);
  const mend_status status = with.line.failed ? MEND_ENOMEM : outlet_put(out, &page);
  mend__buffer_free(&with.line);
  mend__buffer_free(&page);
  return status;
}

report_kind *report_text_kind(bool colour, size_t width, bool several) {
  text_kind *kind = mend__alloc_zero(NULL, sizeof *kind);
  if (kind == NULL) return NULL;
  kind->base = (report_kind){.open = open_report, .finish = finish};
  kind->colour = colour;
  kind->width = width;
  kind->several = several;
  return &kind->base;
}

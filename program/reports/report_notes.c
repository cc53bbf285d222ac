/* What could not be read of files, for who reads the rest in another form: a line each. */
#include "core/memory.h"
#include "program/base/plain.h"
#include "program/reports/report_kinds.h"

enum { BROKEN_SHOWN = 20 };

typedef struct notes_report {
  report base;
  outlet *out;
  const replay_file *file;
  uint64_t broken;
} notes_report;

static mend_status begin(report *base, const replay_file *file) {
  ((notes_report *)base)->file = file;
  return MEND_OK;
}

/* Losing notes is no reason to stop. */
static mend_status note(notes_report *to, const char *problem, uint64_t row) {
  mend__buffer line;
  mend__buffer_init(&line, NULL);
  mend__buffer_str(&line, MEND_STR("mend: "));
  plain_text(&line, mend_str_from(to->file->name), 200);
  if (row > 0) mend__buffer_printf(&line, ", %s %llu", to->file->row, (unsigned long long)row);
  mend__buffer_str(&line, MEND_STR(": "));
  plain_text(&line, mend_str_from(problem), 300);
  mend__buffer_char(&line, '\n');
  const mend_status status = outlet_put(to->out, &line);
  mend__buffer_free(&line);
  return status == MEND_ENOMEM ? MEND_ENOMEM : MEND_OK;
}

static mend_status tell_broken(report *base, uint64_t row, const char *problem) {
  notes_report *to = (notes_report *)base;
  to->broken++;
  return to->broken <= BROKEN_SHOWN ? note(to, problem, row) : MEND_OK;
}

static mend_status tell_doubt(report *base, uint64_t row, const char *problem) {
  return note((notes_report *)base, problem, row);
}

static mend_status end(report *base, const replay_summary *summary) {
  (void)summary;
  notes_report *to = (notes_report *)base;
  if (to->broken <= BROKEN_SHOWN) return MEND_OK;
  char text[64];
  snprintf(text, sizeof text, "%llu more broken", (unsigned long long)(to->broken - BROKEN_SHOWN));
  return note(to, text, 0);
}

static void free_report(report *base) { mend__free(NULL, base); }

static report *open_report(const report_kind *kind, outlet *out) {
  (void)kind;
  notes_report *to = mend__alloc_zero(NULL, sizeof *to);
  if (to == NULL) return NULL;
  to->base = (report){.begin = begin, .broken = tell_broken, .doubt = tell_doubt, .end = end, .free = free_report};
  to->out = out;
  return &to->base;
}

static mend_status finish(report_kind *kind, const replay_totals *totals, outlet *to) {
  (void)kind;
  if (totals->passed_over == 0) return MEND_OK;
  mend__buffer line;
  mend__buffer_init(&line, NULL);
  mend__buffer_str(&line, MEND_STR("mend: passed over "));
  plain_count(&line, totals->passed_over, "file");
  mend__buffer_str(&line, MEND_STR(" in folders: no transcripts\n"));
  const mend_status status = outlet_put(to, &line);
  mend__buffer_free(&line);
  return status == MEND_ENOMEM ? MEND_ENOMEM : MEND_OK;
}

report_kind *report_notes_kind(void) {
  report_kind *kind = mend__alloc_zero(NULL, sizeof *kind);
  if (kind != NULL) *kind = (report_kind){.open = open_report, .finish = finish};
  return kind;
}

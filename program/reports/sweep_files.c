#include "program/reports/sweep_files.h"

#include "core/memory.h"
#include "program/base/plain.h"
#include "program/reports/totals.h"
#include "program/reports/writer.h"

typedef struct files_kind {
  report_kind base;
  sweep_files *to;
} files_kind;

typedef struct files_report {
  report base;
  sweep_files *to;
  const replay_file *file;
} files_report;

void sweep_files_init(sweep_files *of) {
  of->count = 0;
  mend__buffer_init(&of->lines, NULL);
}

void sweep_files_free(sweep_files *of) { mend__buffer_free(&of->lines); }

/* ---- Noting them ------------------------------------------------------------------------------------------- */

static mend_status begin(report *base, const replay_file *file) {
  ((files_report *)base)->file = file;
  return MEND_OK;
}

static mend_status end(report *base, const replay_summary *summary) {
  const files_report *from = (files_report *)base;
  mend__buffer *lines = &from->to->lines;
  if (from->to->count++ >= SWEEP_FILES_SHOWN) return MEND_OK;
  mend__buffer_printf(lines, "%*s", WRITER_INDENT, "");
  plain_text(lines, mend_str_from(from->file->name), 200);
  mend__buffer_printf(lines, " (%s, ", from->file->title);
  plain_count(lines, summary->counts.rows, from->file->row);
  mend__buffer_str(lines, MEND_STR(")\n"));
  return lines->failed ? MEND_ENOMEM : MEND_OK;
}

static void free_report(report *base) { mend__free(NULL, base); }

static report *open_report(const report_kind *kind, outlet *out) {
  (void)out;
  files_report *to = mend__alloc_zero(NULL, sizeof *to);
  if (to == NULL) return NULL;
  to->base = (report){.begin = begin, .end = end, .free = free_report};
  to->to = ((const files_kind *)kind)->to;
  return &to->base;
}

report_kind *sweep_files_kind(sweep_files *of) {
  files_kind *kind = mend__alloc_zero(NULL, sizeof *kind);
  if (kind == NULL) return NULL;
  kind->base.open = open_report;
  kind->to = of;
  return &kind->base;
}

/* ---- Telling of them --------------------------------------------------------------------------------------- */

void sweep_files_write(const sweep_files *of, const replay_totals *totals, mend__buffer *page) {
  if (totals->files < 2) return;
  mend__buffer_char(page, '\n');
  plain_count(page, of->count, "file");
  mend__buffer_str(page, of->count == 1 ? MEND_STR(" was read") : MEND_STR(" were read"));
  replay_totals_write_others(page, totals);
  mend__buffer_str(page, of->count > 0 ? MEND_STR(":\n") : MEND_STR(".\n"));
  mend__buffer_bytes(page, of->lines.data, of->lines.len);
  if (of->count > SWEEP_FILES_SHOWN) writer_put_more(page, of->count - SWEEP_FILES_SHOWN);
}

/* One line for each file with detections, nothing for the others. */
#include "core/memory.h"
#include "program/base/plain.h"
#include "program/reports/report_kinds.h"

typedef struct quiet_report {
  report base;
  outlet *out;
  const replay_file *file;
} quiet_report;

static mend_status begin(report *base, const replay_file *file) {
  ((quiet_report *)base)->file = file;
  return MEND_OK;
}

static mend_status end(report *base, const replay_summary *summary) {
  quiet_report *to = (quiet_report *)base;
  if (summary->counts.detections == 0) return MEND_OK;
  mend__buffer line;
  mend__buffer_init(&line, NULL);
  plain_text(&line, mend_str_from(to->file->name), 4096);
  mend__buffer_str(&line, MEND_STR(": "));
  tally_write(&line, &summary->by_reason);
  mend__buffer_char(&line, '\n');
  const mend_status status = outlet_put(to->out, &line);
  mend__buffer_free(&line);
  return status;
}

static void free_report(report *base) { mend__free(NULL, base); }

static report *open_report(const report_kind *kind, outlet *out) {
  (void)kind;
  quiet_report *to = mend__alloc_zero(NULL, sizeof *to);
  if (to == NULL) return NULL;
  to->base = (report){.begin = begin, .end = end, .free = free_report};
  to->out = out;
  return &to->base;
}

report_kind *report_quiet_kind(void) {
  report_kind *kind = mend__alloc_zero(NULL, sizeof *kind);
  if (kind != NULL) kind->open = open_report;
  return kind;
}

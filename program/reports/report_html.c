/* The page: its own text, and between the two halves of it the records that its script reads (page/page.js). */
#include "program/reports/report_html.h"

#include "core/memory.h"
#include "program/reports/page_file.h"
#include "program/reports/page_record.h"
#include "program/reports/page_sweep.h"

/* The page's own text: what stands before its records and after them. */
extern const char page_head[], page_tail[];

typedef struct html_kind {
  report_kind base;
  page_limits limits;
  const sweep *swept;
  const mend_options *watch;
} html_kind;

static report *open_report(const report_kind *base, outlet *out) {
  return page_file_open(out, &((const html_kind *)base)->limits);
}

static mend_status start(report_kind *kind, outlet *to) {
  (void)kind;
  const mend_status status = outlet_write(to, mend_str_from(page_head));
  return status == MEND_OK ? outlet_write(to, MEND_STR("[{\"t\":\"page\",\"mend\":\"" MEND_VERSION "\"}")) : status;
}

static void write_totals(mend__buffer *record, const replay_totals *totals) {
  mend__buffer reasons;
  mend__buffer_init(&reasons, NULL);
  tally_write(&reasons, &totals->by_reason);
  page_record_begin(record);
  mend__buffer_str(record, MEND_STR("{\"t\":\"totals\""));
  page_add_count(record, "files", totals->files);
  page_add_count(record, "unreadable", totals->unreadable);
  page_add_count(record, "passedOver", totals->passed_over);
  page_add_count(record, "troubled", totals->troubled);
  page_add_count(record, "runs", totals->runs);
  page_add_count(record, "calls", totals->calls);
  page_add_count(record, "incidents", totals->incidents);
  page_add_count(record, "stopped", totals->runs_stopped);
  page_add_plain(record, "reasons", &reasons);
  page_add_use(record, "used", &totals->used);
  page_add_use(record, "saved", &totals->saved);
  mend__buffer_char(record, '}');
  mend__buffer_free(&reasons);
}

static mend_status finish(report_kind *base, const replay_totals *totals, outlet *to) {
  const html_kind *kind = (const html_kind *)base;
  mend__buffer records;
  mend__buffer_init(&records, NULL);
  if (kind->swept != NULL) page_sweep_write(&records, kind->swept, kind->watch);
  write_totals(&records, totals);
  mend__buffer_str(&records, MEND_STR("]"));
  mend_status status = outlet_put(to, &records);
  mend__buffer_free(&records);
  return status == MEND_OK ? outlet_write(to, mend_str_from(page_tail)) : status;
}

report_kind *report_html_kind(size_t files, const sweep *swept, const mend_options *watch) {
  html_kind *kind = mend__alloc_zero(NULL, sizeof *kind);
  if (kind == NULL) return NULL;
  kind->base = (report_kind){.start = start, .open = open_report, .finish = finish};
  kind->limits = page_limits_of_file(files);
  kind->swept = swept;
  kind->watch = watch;
  return &kind->base;
}

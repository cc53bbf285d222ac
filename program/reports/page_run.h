/* The runs of a file of which a page tells. */
#ifndef MEND_PROGRAM_REPORTS_PAGE_RUN_H
#define MEND_PROGRAM_REPORTS_PAGE_RUN_H

#include "core/strmap.h"
#include "program/reports/page_calls.h"

/* A run that has not ended. */
typedef struct page_run {
  uint64_t number; /* in the file */
  uint64_t calls;
  bool shown;
  page_blocks *blocks; /* NULL while calls are drawn one by one */
  char id[];
} page_run;

/* By id. */
typedef struct page_runs {
  mend__strmap by_id;
  uint64_t count, shown;
} page_runs;

void page_runs_init(page_runs *of);
void page_runs_free(page_runs *of);
/* NULL when out of memory. */
page_run *page_runs_add(page_runs *of, mend_str id);
page_run *page_runs_find(const page_runs *of, mend_str id);
/* It ends; to be freed with page_run_free. NULL when there is none. */
page_run *page_runs_take(page_runs *of, mend_str id);
void page_run_free(page_run *run);

/* From here on the page tells of it. */
void page_run_show(page_runs *of, page_run *run, mend__buffer *records);
/* What it was, at its end. */
void page_run_write_end(const page_run *of, const replay_run *run, uint64_t base_ns, mend__buffer *records);

#endif

/* Which files a sweep was about, as its table says below. */
#ifndef MEND_PROGRAM_REPORTS_SWEEP_FILES_H
#define MEND_PROGRAM_REPORTS_SWEEP_FILES_H

#include "program/reports/report.h"

/* So many are named. */
enum { SWEEP_FILES_SHOWN = 20 };

typedef struct sweep_files {
  mend__buffer lines;
  uint64_t count; /* that were read */
} sweep_files;

void sweep_files_init(sweep_files *of);
void sweep_files_free(sweep_files *of);
/* Notes each file that was read, of one replay that reads one file at a time. NULL when out of memory. */
report_kind *sweep_files_kind(sweep_files *of);
/* Nothing when there was one file only. */
void sweep_files_write(const sweep_files *of, const replay_totals *totals, mend__buffer *page);

#endif

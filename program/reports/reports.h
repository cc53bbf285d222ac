/* The reports about one file, told together. */
#ifndef MEND_PROGRAM_REPORTS_REPORTS_H
#define MEND_PROGRAM_REPORTS_REPORTS_H

#include "program/reports/report.h"

enum { REPORTS_MAX = 6 };

typedef struct reports {
  report *each[REPORTS_MAX];
  size_t count;
  bool want_calls, want_readings, want_usage; /* whether any of them is told */
} reports;

/* Takes the report over. */
void reports_add(reports *to, report *one);
void reports_free(reports *to);

/* See report.h. The first error is returned, and then the others are not told. */
mend_status reports_begin(const reports *to, const replay_file *file);
mend_status reports_broken(const reports *to, uint64_t row, const char *problem);
mend_status reports_doubt(const reports *to, uint64_t row, const char *problem);
mend_status reports_detection(const reports *to, const replay_detection *found);
mend_status reports_ended(const reports *to, uint64_t incident, const replay_ending *ending);
mend_status reports_repeated(const reports *to, uint64_t incident, uint64_t row);
mend_status reports_called(const reports *to, const replay_call *call);
mend_status reports_reading(const reports *to, const replay_reading *reading);
mend_status reports_usage(const reports *to, const replay_usage *usage);
mend_status reports_run_began(const reports *to, const replay_run *run);
mend_status reports_run_ended(const reports *to, const replay_run *run);
mend_status reports_end(const reports *to, const replay_summary *summary);
mend_status reports_unreadable(const reports *to, const char *name, mend_str failure);

#endif

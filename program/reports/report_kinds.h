/* The kinds of reports there are. Each is made by its function, NULL when out of memory, and freed with mend__free. */
#ifndef MEND_PROGRAM_REPORTS_REPORT_KINDS_H
#define MEND_PROGRAM_REPORTS_REPORT_KINDS_H

#include "program/reports/report.h"

/* For people, in lines of `width` columns. `several`: files in which all is well have one line, and at last all are
 * summed up. */
report_kind *report_text_kind(bool colour, size_t width, bool several);
/* One JSON object a detection. */
report_kind *report_json_kind(void);
/* One line for each file with detections. */
report_kind *report_quiet_kind(void);
/* JUnit's XML: a testsuite a file, a testcase a run, which fails by what decides about the exit status. */
report_kind *report_junit_kind(void);

/* Beside others. Rows that could not be read, a line each: */
report_kind *report_notes_kind(void);
/* One JSON object of counts a file: */
report_kind *report_stats_kind(void);

#endif

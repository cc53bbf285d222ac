/* A page's part of one file: a report. */
#ifndef MEND_PROGRAM_REPORTS_PAGE_FILE_H
#define MEND_PROGRAM_REPORTS_PAGE_FILE_H

#include "program/reports/page_limits.h"
#include "program/reports/report.h"

/* Writes records, each behind the comma of the one before. NULL when out of memory. */
report *page_file_open(outlet *to, const page_limits *limits);

#endif

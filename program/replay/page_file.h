/* A page's part of one file: a report. */
#ifndef MEND_PROGRAM_REPLAY_PAGE_FILE_H
#define MEND_PROGRAM_REPLAY_PAGE_FILE_H

#include "program/replay/page_limits.h"
#include "program/replay/report.h"

/* Writes records, each behind the comma of the one before. NULL when out of memory. */
report *page_file_open(outlet *to, const page_limits *limits);

#endif

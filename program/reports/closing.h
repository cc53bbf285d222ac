/* What the report for people says at last of all files together. */
#ifndef MEND_PROGRAM_REPORTS_CLOSING_H
#define MEND_PROGRAM_REPORTS_CLOSING_H

#include "program/reports/writer.h"

void closing_put(writer *to, mend__buffer *page, const replay_totals *totals);

#endif

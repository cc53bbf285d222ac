/* What one should know before believing the rest of a report. */
#ifndef MEND_PROGRAM_REPORTS_NOTES_H
#define MEND_PROGRAM_REPORTS_NOTES_H

#include "program/reports/writer.h"

/* Whether no call has arguments, while there are members that could be meant as such. */
bool notes_lack_arguments(const replay_summary *summary);
/* Appends the notes about a file, after a blank line. */
void notes_put(writer *to, mend__buffer *page, const replay_summary *summary);

#endif

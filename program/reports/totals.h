/* What was found in all runs of a file, and in all files, added up. */
#ifndef MEND_PROGRAM_REPORTS_TOTALS_H
#define MEND_PROGRAM_REPORTS_TOTALS_H

#include "program/reports/facts.h"

replay_use replay_use_sum(replay_use a, replay_use b);
bool replay_use_is_nothing(const replay_use *of);

/* A run in which something was detected; `file` is kept. */
void replay_worst_consider(replay_worst *of, const char *file, const replay_run *run);

/* A file that was read. To be called in the order of the files. */
void replay_totals_add(replay_totals *of, const replay_summary *summary);
/* Appends ", 1 not readable, 31 were no transcripts", as far as there are any. */
void replay_totals_write_others(mend__buffer *line, const replay_totals *of);

#endif

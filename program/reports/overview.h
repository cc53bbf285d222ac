/* What the report for people says of a file before and after its incidents. */
#ifndef MEND_PROGRAM_REPORTS_OVERVIEW_H
#define MEND_PROGRAM_REPORTS_OVERVIEW_H

#include "program/reports/writer.h"

/* So many runs in which something was detected have their headlines shown. */
enum { OVERVIEW_RUNS = 20 };

typedef struct overview {
  mend__buffer runs; /* their headlines */
  mend__buffer only; /* that of the first, for a file with one run */
  uint64_t troubled; /* how many there are, shown or not */
} overview;

void overview_init(overview *of);
void overview_free(overview *of);
/* A run that has ended. MEND_ENOMEM. */
mend_status overview_add_run(overview *of, writer *to, const replay_run *run);

/* Nothing was found, and nothing makes one doubt that. */
bool overview_is_well(const replay_summary *summary);
/* A file in which all is well, in one line. */
void overview_put_line(writer *to, mend__buffer *page, const replay_summary *summary);
/* What the file holds, and the headlines of its runs. */
void overview_put(const overview *of, writer *to, mend__buffer *page, const replay_summary *summary);
/* The calls that are open at the end. */
void overview_put_unfinished(writer *to, mend__buffer *page, const replay_summary *summary);

#endif

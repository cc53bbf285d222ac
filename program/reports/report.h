/* Whom a replay tells. */
#ifndef MEND_PROGRAM_REPORTS_REPORT_H
#define MEND_PROGRAM_REPORTS_REPORT_H

#include "program/reports/facts.h"
#include "program/reports/outlet.h"

/* A reader of reports about one file: begin, then anything in the order of the file, then end. What a report does not
 * want to know is NULL and costs nothing. An error ends the replay: MEND_ENOMEM, or MEND_ECLOSED when what is told
 * cannot be written any more. */
typedef struct report {
  mend_status (*begin)(struct report *to, const replay_file *file); /* which lives until the end */
  mend_status (*broken)(struct report *to, uint64_t row, const char *problem);
  /* A row that was played without a member that could not be understood. */
  mend_status (*doubt)(struct report *to, uint64_t row, const char *problem);
  mend_status (*detection)(struct report *to, const replay_detection *found);
  /* A call of the incident, which was reported as a stall, ended; incidents are never 0 here and below. */
  mend_status (*ended)(struct report *to, uint64_t incident, const replay_ending *ending);
  /* The call of the incident, a loop, was made once more. */
  mend_status (*repeated)(struct report *to, uint64_t incident, uint64_t row);
  /* In the order in which calls ended; at last those that did not. */
  mend_status (*called)(struct report *to, const replay_call *call);
  mend_status (*reading)(struct report *to, const replay_reading *reading);
  mend_status (*usage)(struct report *to, const replay_usage *usage);
  mend_status (*run_began)(struct report *to, const replay_run *run);
  /* Before the end of the file, when there are too many runs. */
  mend_status (*run_ended)(struct report *to, const replay_run *run);
  mend_status (*end)(struct report *to, const replay_summary *summary);
  /* In place of all the others, or after them: it could not be read, or not to its end. */
  mend_status (*unreadable)(struct report *to, const char *name, mend_str failure);
  void (*free)(struct report *to);
} report;

/* A kind of report. */
typedef struct report_kind {
  /* What stands before all files; may be NULL, as finish may. */
  mend_status (*start)(struct report_kind *kind, outlet *to);
  /* The report of one file, which writes to `to`. Called from several threads at once; what a kind holds does not
   * change meanwhile. NULL when out of memory. */
  report *(*open)(const struct report_kind *kind, outlet *to);
  /* What stands after all files. */
  mend_status (*finish)(struct report_kind *kind, const replay_totals *totals, outlet *to);
} report_kind;

#endif

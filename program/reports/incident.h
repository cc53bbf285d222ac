/* Incidents: detections of one kind about one thing in one run, as the report for people tells of them. */
#ifndef MEND_PROGRAM_REPORTS_INCIDENT_H
#define MEND_PROGRAM_REPORTS_INCIDENT_H

#include "program/reports/writer.h"

/* So many rows are shown of an incident that comes again. */
enum { INCIDENT_ROWS = 8 };

typedef struct incident {
  mend__buffer text;
  uint64_t rows[INCIDENT_ROWS]; /* where it came again */
  uint64_t again;
  uint64_t last_row;
  mend_action_kind first_action, last_action; /* what the policy would have done */

  /* How it went on: of calls that hung, how many ended and how the last one did; of one call that was repeated,
   * how often it was after that. */
  bool is_stall, is_repeat;
  uint64_t ended;
  replay_ending last_ending;
  uint64_t repeated, last_repeated;
} incident;

/* The incident that begins with a detection; NULL when out of memory. */
incident *incident_new(writer *to, const replay_detection *found);
void incident_free(incident *of);
/* Another detection of it. */
void incident_again(incident *of, const replay_detection *found);
/* Appends all there is to tell. */
void incident_put(writer *to, mend__buffer *page, const incident *of);

#endif

/* Incidents: detections of one kind about one thing in one run, as the report for people tells of them. */
#ifndef MEND_PROGRAM_REPLAY_INCIDENT_H
#define MEND_PROGRAM_REPLAY_INCIDENT_H

#include "program/replay/writer.h"

/* So many rows are shown of an incident that comes again. */
enum { INCIDENT_ROWS = 8 };

typedef struct incident {
  uint64_t number; /* from 1 */
  mend__buffer key, text;
  uint64_t rows[INCIDENT_ROWS]; /* where it came again */
  uint64_t again;
  uint64_t last_row;

  /* How it went on: of a stall, how many of its calls ended and how the last one did; of a loop, its later calls. */
  bool is_stall, is_loop;
  uint64_t ended;
  replay_ending last_ending;
  uint64_t repeated, last_repeated;
} incident;

/* Appends what tells this detection's incident from others. */
void incident_append_key(mend__buffer *key, const replay_detection *found);
/* The incident that begins with a detection; NULL when out of memory. */
incident *incident_new(writer *to, const replay_detection *found, uint64_t number);
void incident_free(incident *of);
/* Another detection of it. */
void incident_again(incident *of, uint64_t row);
/* Appends all there is to tell. */
void incident_put(writer *to, mend__buffer *page, const incident *of);

#endif

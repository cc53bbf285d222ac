/* Which detections of a file are about one trouble: the incidents, numbered from 1. */
#ifndef MEND_PROGRAM_STAGE_INCIDENT_NUMBERS_H
#define MEND_PROGRAM_STAGE_INCIDENT_NUMBERS_H

#include "core/strmap.h"
#include "program/reports/facts.h"

typedef struct numbered_incident {
  uint64_t number;
  uint64_t calls; /* that took part so far */
  char tool[64], reason[32];
  char key[]; /* what tells it from others */
} numbered_incident;

typedef struct incident_numbers {
  mend__strmap by_key;
  numbered_incident *each[INCIDENTS_MAX]; /* number n is at n - 1 */
  size_t count;
  mend__buffer key;
} incident_numbers;

void incident_numbers_init(incident_numbers *of);
void incident_numbers_free(incident_numbers *of);
/* Sets the detection's `incident` and `again`. *ret_incident is NULL when there are too many. MEND_ENOMEM. */
mend_status incident_numbers_take(incident_numbers *of, replay_detection *found, numbered_incident **ret_incident);

#endif

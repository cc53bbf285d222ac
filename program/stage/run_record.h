/* What a run being played did, and what was found in it. */
#ifndef MEND_PROGRAM_STAGE_RUN_RECORD_H
#define MEND_PROGRAM_STAGE_RUN_RECORD_H

#include "program/stage/incident_numbers.h"

/* Made with the first detection: most runs have none. */
typedef struct run_findings {
  replay_trouble troubles[REPLAY_KINDS];
  uint64_t most_calls[REPLAY_KINDS]; /* of one incident */
  uint64_t detections, incidents, failing;
  replay_stop stop;
  replay_use before;       /* what had been done at the stop, */
  uint64_t away_before_ns; /* and how long it had waited */
} run_findings;

typedef struct run_record {
  uint64_t first_row, last_row, start_ns, end_ns;
  uint64_t away_ns; /* that it waited for a person to say something */
  replay_use used;  /* its ns count at the end only */
  uint64_t results;
  run_findings *findings;
} run_record;

/* A detection. `at_call`: it was made where a call began, which counts already and would not have been made.
 * `incident` is NULL beyond INCIDENTS_MAX. MEND_ENOMEM. */
mend_status run_record_detection(run_record *of, const replay_detection *found, bool at_call,
                                 numbered_incident *incident);
/* One more call of a loop that was reported. */
void run_record_repeated(run_record *of, numbered_incident *incident);
/* How long a call that was reported as a stall was open. */
void run_record_stalled(run_record *of, uint64_t open_ns);
/* Sets all but who it is and what is unfinished. What it points to lives as long as the record. */
void run_record_describe(const run_record *of, replay_run *ret_run);
void run_record_free(run_record *of);

#endif

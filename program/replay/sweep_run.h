/* A sweep at work: each setting is played for itself. */
#ifndef MEND_PROGRAM_REPLAY_SWEEP_RUN_H
#define MEND_PROGRAM_REPLAY_SWEEP_RUN_H

#include "program/replay/batch.h"
#include "program/reports/sweep.h"

/* Plays all of the plan's files with each setting, `plan->jobs` settings at a time; the plan has no outputs. What cannot
 * be read is told once, and counted in *ret_totals. An interrupt leaves out what has not been begun. MEND_ENOMEM. */
mend_status sweep_run(sweep *of, const replay_plan *plan, replay_totals *ret_totals);

#endif

/* A sweep at work: each setting is played for itself. */
#ifndef MEND_PROGRAM_REPLAY_SWEEP_RUN_H
#define MEND_PROGRAM_REPLAY_SWEEP_RUN_H

#include "program/replay/batch.h"
#include "program/reports/sweep.h"
#include "program/reports/sweep_files.h"

/* Plays all of the plan's files with each setting, `plan->jobs` settings at a time; the plan has no outputs. Which
 * files there are, and what cannot be read, is told once, and counted in *ret_totals. An interrupt leaves out what has
 * not been begun. MEND_ENOMEM; MEND_EIO when /dev/null cannot be opened. */
mend_status sweep_run(sweep *of, const replay_plan *plan, sweep_files *files, replay_totals *ret_totals);

#endif

/* What `mend replay` can do beside a report. argv[0] is the sub-command's name. */
#ifndef MEND_PROGRAM_CLI_REPLAY_COMMANDS_H
#define MEND_PROGRAM_CLI_REPLAY_COMMANDS_H

#include "program/replay/sweep_run.h"

int cli_replay_diff(int argc, char **argv);
int cli_replay_convert(int argc, char **argv);

/* --sweep: plays the plan's files with each setting and prints the table, or JSON. Returns CLI_FINE or CLI_FAILED. */
int cli_replay_sweep(sweep *of, const replay_plan *plan, bool json, replay_totals *ret_totals);

#endif

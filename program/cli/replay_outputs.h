/* What a replay writes, and where. */
#ifndef MEND_PROGRAM_CLI_REPLAY_OUTPUTS_H
#define MEND_PROGRAM_CLI_REPLAY_OUTPUTS_H

#include "program/cli/replay_arguments.h"
#include "program/replay/batch.h"

/* Adds the outputs to the plan, whose paths are there. CLI_FINE, or CLI_FAILED when it has told what is wrong; to be
 * closed in any case. */
int replay_outputs_open(replay_plan *plan, const replay_arguments *given);
/* The same for a sweep that is done, which has no other output: the page, if there is to be one. */
int replay_outputs_open_swept(replay_plan *plan, const replay_arguments *given);
/* CLI_FAILED: not all could be written, which was told. */
int replay_outputs_close(replay_plan *plan);

#endif

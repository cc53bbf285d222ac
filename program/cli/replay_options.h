/* The watchdogs' options as mend replay sees them. */
#ifndef MEND_PROGRAM_CLI_REPLAY_OPTIONS_H
#define MEND_PROGRAM_CLI_REPLAY_OPTIONS_H

#include "mend.h"
#include "program/replay/report.h"

#include <stdio.h>

/* For --help: what has an effect, then what only has one in mode evidence. */
void replay_options_help(FILE *out);
/* Tells the report of each option that was changed but does nothing here, and of values that one should think about.
 * Errors of report->remark, MEND_ENOMEM. */
mend_status replay_options_tell(const mend_options *given, report *to);

#endif

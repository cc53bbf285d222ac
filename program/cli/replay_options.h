/* The watchdogs' options as mend replay sees them. */
#ifndef MEND_PROGRAM_CLI_REPLAY_OPTIONS_H
#define MEND_PROGRAM_CLI_REPLAY_OPTIONS_H

#include "mend.h"

#include <stdio.h>

/* For --help: what has an effect, and what only has one in mode evidence. */
void replay_options_help(FILE *out);
/* Tells on standard error of each option that was changed but does nothing here, and of values that one should think
 * about. MEND_ENOMEM. */
mend_status replay_options_tell(const mend_option_tree *tree);

#endif

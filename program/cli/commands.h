/* The sub-commands of the program. */
#ifndef MEND_PROGRAM_CLI_COMMANDS_H
#define MEND_PROGRAM_CLI_COMMANDS_H

#include "program/cli/cli.h"

/* All of them, ended by NULL. */
extern const cli_command *const cli_commands[];

#endif

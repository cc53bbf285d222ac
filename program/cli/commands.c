#include "program/cli/commands.h"

const cli_command *const cli_commands[] = {&cli_replay, &cli_doctor, &cli_completion, NULL};

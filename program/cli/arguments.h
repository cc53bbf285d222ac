/* The command line of a sub-command, by a table of its options. */
#ifndef MEND_PROGRAM_CLI_ARGUMENTS_H
#define MEND_PROGRAM_CLI_ARGUMENTS_H

#include "program/cli/cli.h"

/* A flag has `flag`, an option with a value `set`, which returns CLI_FINE, or CLI_FAILED when it has told why. */
typedef struct cli_option {
  const char *name;
  size_t flag; /* offset of a bool in what the options are set in */
  int (*set)(void *to, const char *value);
} cli_option;

typedef struct cli_syntax {
  const cli_option *options;
  size_t count;
  const char *help; /* the command that lists them */
} cli_syntax;

/* Sets the options in `to`. Other arguments go to `operands`, which has room for argc of them. -h is --help;
 * behind -- there are no options. */
int cli_take_arguments(const cli_syntax *syntax, int argc, char **argv, void *to, const char **operands,
                       size_t *ret_count);

/* Sets options of a tree from a JSON file. */
int cli_load_config(mend_option_tree *tree, const char *path);
/* What is known of models, their prices above all, from a JSON file. */
int cli_load_models(const char *path, mend_model_table **ret_table);

#endif

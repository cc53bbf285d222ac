/* The arguments of mend replay. */
#ifndef MEND_PROGRAM_CLI_REPLAY_ARGUMENTS_H
#define MEND_PROGRAM_CLI_REPLAY_ARGUMENTS_H

#include "program/cli/cli.h"
#include "program/reports/fail_on.h"
#include "program/reports/sweep.h"

enum { REPLAY_JOBS_MAX = 256 };

typedef struct replay_arguments {
  bool json, quiet, content, stats, help, version;
  mend_option_tree *tree;
  fail_on fails;
  mend_model_table *models; /* NULL: no prices */
  sweep sweep;              /* without axes: none */
  const char *junit, *html; /* paths, NULL for none; borrowed, as all below */
  uint32_t jobs;            /* 0: as many as there are processors */
  const char **files;
  size_t file_count;
} replay_arguments;

/* CLI_FINE, or CLI_FAILED when it has told what is wrong; to be freed in any case. */
int replay_arguments_take(replay_arguments *to, int argc, char **argv);
void replay_arguments_free(replay_arguments *of);
/* What goes with what. Likewise. */
int replay_arguments_check(const replay_arguments *of);

extern const struct cli_syntax replay_syntax;
void replay_help(FILE *out);

#endif

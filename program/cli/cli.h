/* What the sub-commands of the program share. Exit statuses: 0 fine, 1 what was asked about is so, 2 it failed. */
#ifndef MEND_PROGRAM_CLI_CLI_H
#define MEND_PROGRAM_CLI_CLI_H

#include "mend.h"

#include <stdio.h>

enum { CLI_FINE = 0, CLI_FOUND = 1, CLI_FAILED = 2 };

typedef struct cli_command {
  const char *name;
  const char *summary;                /* for `mend --help` */
  int (*main)(int argc, char **argv); /* argv[0] is the command's name */
  void (*help)(FILE *out);
  const struct cli_syntax *syntax; /* its options, see arguments.h */
} cli_command;

extern const cli_command cli_replay, cli_doctor, cli_completion;

/* The program's name, "mend" unless its main says otherwise. */
extern const char *cli_program;

/* "mend: " and a sentence on standard error; returns CLI_FAILED. Control characters in it become visible. */
int cli_fail(const char *format, ...) MEND_PRINTF(1, 2);
/* The same where nothing fails. */
void cli_remark(const char *format, ...) MEND_PRINTF(1, 2);
int cli_out_of_memory(void);
/* The candidate (of an array ended by NULL) that begins with `word`, or that it was probably meant to be; NULL when
 * none is near. Dashes in front do not count. */
const char *cli_nearest(const char *word, const char *const *candidates);
/* "unknown option "--jsn"; did you mean --json?"; `help` is the command that lists them all. Returns CLI_FAILED. */
int cli_unknown(const char *what, const char *word, const char *const *candidates, const char *help);
/* Whether `out` should be coloured: a terminal, and neither NO_COLOR nor TERM=dumb say otherwise. */
bool cli_wants_colour(FILE *out);
/* How many columns a line on `out` may have: what a terminal has or COLUMNS says, from 60 to 120; 80 elsewhere. */
size_t cli_width(FILE *out);
/* Makes sure that descriptors 0 to 2 are something, so that a file opened later does not become one of them, and that a
 * reader who goes away is an error and not the end. */
void cli_prepare_streams(void);
/* "mend 0.1.0"; returns CLI_FINE. */
int cli_show_version(void);
/* Writes out what is left of standard output. When any of it was lost: a sentence, unless its reader just went away,
 * and CLI_FAILED, else `status`. */
int cli_finish(int status);

#endif

/* What agents that speak to a shell in plain text have in common: a command is a call of "bash", and has no id. */
#ifndef MEND_PROGRAM_TRANSCRIPTS_SHELL_CALLS_H
#define MEND_PROGRAM_TRANSCRIPTS_SHELL_CALLS_H

#include "program/stage/stage.h"

/* The commands of a file so far; begins as zeros. */
typedef struct shell_calls {
  uint64_t count;
  bool open; /* the last one has no answer yet */
} shell_calls;

/* A command begins: bash {"command": "..."}. */
mend_status shell_call(stage *on, played_run *run, shell_calls *calls, mend_str command);
/* What the last command said, as plain text, or why it failed. Without an open command the answer belongs to none. */
mend_status shell_answer(stage *on, played_run *run, shell_calls *calls, mend_str output, bool failed);
/* A text as a call's result. */
mend_status shell_result(stage *on, played_run *run, mend_str id, mend_str output);

/* The arguments of the command that is open; absent when there is none. */
mend_str shell_arguments(const played_run *run, const shell_calls *calls);
/* Whether a command failed, by its exit status, output and arguments as JSON. What only asks, such as grep, says
 * "no" with 1 and no output: that is an answer. */
bool shell_failed(mend_str code, mend_str output, mend_str arguments);

#endif

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

#endif

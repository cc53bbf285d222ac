/* The blocks of a message's content as Anthropic has them; sessions of Claude Code have the same. */
#ifndef MEND_PROGRAM_TRANSCRIPTS_ANTHROPIC_BLOCKS_H
#define MEND_PROGRAM_TRANSCRIPTS_ANTHROPIC_BLOCKS_H

#include "program/stage/stage.h"

/* What is known about a message from elsewhere. */
typedef struct anthropic_message {
  mend_str model;            /* which said it; absent for none */
  bool by_assistant;         /* its texts are a model's */
  bool by_person;            /* its texts are a person's, unless it has results */
  bool failed;               /* results that do not say so are errors */
  bool cancelled;            /* results are of calls that were cancelled */
  const char *const *asking; /* tools that ask a person, ended by NULL; NULL: there are none */
  /* Told of each call before it is published; NULL: nobody is. */
  void (*on_call)(void *ctx, mend_str id, mend_str tool, mend_str input);
  void *ctx;
} anthropic_message;

/* Publishes calls, results and texts of a message's "content". */
mend_status anthropic_play_content(stage *on, played_run *run, mend_str content, const anthropic_message *message);
/* Whether there is a block that calls a tool or answers. */
bool anthropic_has_tool_blocks(mend_str content);
/* Whether it has results that say that a person would not have the call, or stopped it. */
bool anthropic_has_refusals(mend_str content);
/* The calls they are of wait for that person from now on. */
mend_status anthropic_await_refusals(stage *on, played_run *run, mend_str content);
/* A message's "usage". Tokens that came from a cache were read, too. */
stage_tokens anthropic_tokens(mend_str model, mend_str usage);

#endif

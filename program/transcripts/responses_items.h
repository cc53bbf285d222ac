/* The items of OpenAI's Responses API; rollouts of Codex have the same in their rows. */
#ifndef MEND_PROGRAM_TRANSCRIPTS_RESPONSES_ITEMS_H
#define MEND_PROGRAM_TRANSCRIPTS_RESPONSES_ITEMS_H

#include "program/stage/stage.h"

/* What a call's output says beside its text. */
typedef struct responses_output {
  mend_str value; /* JSON */
  bool failed;
  bool cancelled;
} responses_output;

/* How items are played. */
typedef struct responses_rules {
  mend_str model;    /* which says what assistants say; absent for none */
  bool leaves_users; /* messages of users are told elsewhere */
  /* What the JSON value of an output means, of a call with these arguments (the beginning of them; absent when they are
   * not known); NULL: what it says, and no call fails. */
  responses_output (*read_output)(stage *on, mend_str output, mend_str arguments);
} responses_rules;

/* Whether a row's "type" is that of a call, an answer, or another item but a message. */
bool responses_is_item(mend_str type);
/* Publishes what one item says; nothing for what is none. */
mend_status responses_play_item(stage *on, played_run *run, mend_str item, const responses_rules *rules);

#endif

/* Something that happened in a run, told apart from when it is played. */
#ifndef MEND_PROGRAM_STAGE_STAGE_MOMENT_H
#define MEND_PROGRAM_STAGE_STAGE_MOMENT_H

#include "program/stage/stage.h"

typedef enum stage_moment_kind {
  STAGE_AGENT_STARTS, /* text: its name */
  STAGE_AGENT_ENDS,   /* text: its name */
  STAGE_CALL,         /* id, tool, text: the arguments as JSON; when they are not known args_hash, or it equals none */
  STAGE_RESULT,       /* id, text: the result as JSON, absent when it is not known */
  STAGE_ERROR,        /* id, text: the message */
  STAGE_CANCELLED,    /* id, text: why */
  STAGE_SKIPPED,      /* id, text: why; likewise: */
  STAGE_ABORTED,
  STAGE_MODEL_REQUEST, /* tokens.model */
  STAGE_MODEL_REPLY,   /* tokens.model, text: what it said, absent when it is not known */
  STAGE_MODEL_ERROR,   /* tokens.model, text: the message */
  STAGE_USAGE,         /* tokens */
  STAGE_USER_MESSAGE,  /* text */
  STAGE_TIME_PASSES    /* and nothing happens: what is open stays so */
} stage_moment_kind;

/* Something of a run at a time. Of `run` everything but the parent's handle counts; texts may be absent. */
typedef struct stage_moment {
  stage_moment_kind kind;
  uint64_t wall_ns;
  mend_run_options run;
  mend_str id, tool, text;
  bool has_args_hash;
  mend_hash args_hash; /* of a call; none: it has no arguments */
  stage_tokens tokens;
} stage_moment;

/* Publishes it, now. Errors of stage_run. */
mend_status stage_moment_play(stage *on, const stage_moment *moment, mend_error *error);

/* Where its texts stand. */
enum { STAGE_MOMENT_TEXTS = 10 };
void stage_moment_texts(stage_moment *moment, mend_str *ret_texts[STAGE_MOMENT_TEXTS]);

#endif

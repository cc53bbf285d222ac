/* A file played for somebody who only listens: nothing is watched and nothing is reported. */
#ifndef MEND_PROGRAM_REPLAY_LISTEN_H
#define MEND_PROGRAM_REPLAY_LISTEN_H

#include "program/stage/stage.h"

/* Who listens. */
typedef struct replay_listener {
  const char *topics; /* a pattern */
  /* Before the first event; NULL: nothing. Errors end the replay, as they do below. */
  mend_status (*begin)(void *ctx, const stage *on);
  /* Each event. MEND_ECLOSED when what is made of it cannot be written. */
  mend_status (*event)(void *ctx, const mend_event *event);
  /* Time passes and nothing else, until on->now_ns; NULL: nothing. Errors as above. */
  mend_status (*tick)(void *ctx, const stage *on);
  /* After the last event, with the recording's last time; NULL: nothing. */
  void (*end)(void *ctx, uint64_t end_ns);
  void *ctx;
} replay_listener;

/* Rows that cannot be read are told on standard error, and there, if wanted, the progress is shown. Otherwise as
 * replay_play. */
mend_status replay_listen(const char *path, const replay_listener *listener, bool progress, mend__buffer *failure);

#endif

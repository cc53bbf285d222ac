/* A file played for somebody who only listens: nothing is watched and nothing is reported. */
#ifndef MEND_PROGRAM_REPLAY_LISTEN_H
#define MEND_PROGRAM_REPLAY_LISTEN_H

#include "program/stage/stage.h"

/* `attach` is called before the first event and may subscribe to the stage's bus. Rows that cannot be read are told on
 * standard error, and there, if wanted, the progress is shown. Otherwise as replay_play. */
mend_status replay_listen(const char *path, mend_status (*attach)(void *ctx, stage *on), void *ctx, bool progress,
                          mend__buffer *failure);

#endif

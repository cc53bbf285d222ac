/* House header: being told of a run's abort, for who waits in that run for something that is no call. */
#ifndef MEND_HOOKS_ABORT_WATCH_H
#define MEND_HOOKS_ABORT_WATCH_H

#include "mend/boundary.h"

/* Stays in place from its begin to its end. An abort means it if a call that was opened when it began would be
 * ended. */
typedef struct mend__abort_watch {
  struct mend__abort_watch *previous, *next;
  mend_run *run; /* not referenced */
  struct mend__abort_frame *frame;
  bool is_due;
  mend_token *token; /* cancelled on the aborting thread, with the abort's reason */
} mend__abort_watch;

/* Of a run that is aborted already the token is cancelled at once. MEND_ENOMEM. */
mend_status mend__abort_watch_begin(mend__abort_watch *watch, mend_run *run);
/* Who has asked for mend_token_on_cancel forgets that first. */
void mend__abort_watch_end(mend__abort_watch *watch);

#endif

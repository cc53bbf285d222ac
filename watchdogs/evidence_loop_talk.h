/* Private to the watchdog "loop" of mode evidence: what goes round without a call of a tool. */
#ifndef MEND_WATCHDOGS_EVIDENCE_LOOP_TALK_H
#define MEND_WATCHDOGS_EVIDENCE_LOOP_TALK_H

#include "mend/watchdogs.h"
#include "watchdogs/chanting.h"
#include "watchdogs/compaction.h"
#include "watchdogs/monologue.h"

/* Zero it, and set the allocator of the first, before first use. */
typedef struct mend__loop_talk {
  mend__chanting chanting;
  mend__monologue monologue;
  mend__compaction compaction;
} mend__loop_talk;

mend_status mend__loop_talk_event(mend__loop_talk *talk, const mend_event *event, mend_emitter *emitter);
void mend__loop_talk_reset(mend__loop_talk *talk);

#endif

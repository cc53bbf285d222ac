/* Private to watchdogs/: a context that is shortened again and again and stays as long as it was (mode evidence). */
#ifndef MEND_WATCHDOGS_COMPACTION_H
#define MEND_WATCHDOGS_COMPACTION_H

#include "mend/bus.h"

enum { MEND__COMPACTION_TIMES = 3 };

/* One run's. Zero it before first use. */
typedef struct mend__compaction {
  uint32_t times;         /* in a row that reclaimed too little */
  uint64_t before, after; /* tokens, of the last of them */
} mend__compaction;

/* Whether it reclaimed less than a tenth; false when it does not say. */
bool mend__compaction_is_vain(const mend_context_compact_event *compact);
/* Takes an event of the run; whether it completes a finding, which each row does once. A compaction that reclaims a
 * tenth and what a person says end a row; calls in between do not. Events of no use are allowed. */
bool mend__compaction_event(mend__compaction *compaction, const mend_event *event);

#endif

/* Private to watchdogs/: the ladder of a run's incidents, under its lock. */
#ifndef MEND_WATCHDOGS_LADDER_H
#define MEND_WATCHDOGS_LADDER_H

#include "mend/watchdogs.h"
#include "watchdogs/table.h"

/* So many incidents of a run have their returns counted. */
enum { MEND__LADDER_INCIDENTS = 1024 };

typedef struct mend__ladder {
  mend__table steps;
  uint64_t acted_on; /* detections beyond a warning, ever */
} mend__ladder;

/* Sets the detection's occurrence and rung; nothing when it has no incident or the ceiling is 0. MEND_ENOMEM. */
mend_status mend__ladder_climb(mend__ladder *ladder, uint32_t ceiling, mend_detection *detection,
                               const mend_allocator *allocator);
/* Forgets the incidents, not how many there were. Also the end of a ladder. */
void mend__ladder_reset(mend__ladder *ladder, const mend_allocator *allocator);

#endif

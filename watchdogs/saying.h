/* Private to watchdogs/: the texts of a detection, written one behind the other into one buffer. */
#ifndef MEND_WATCHDOGS_SAYING_H
#define MEND_WATCHDOGS_SAYING_H

#include "core/buffer.h"
#include "mend/watchdogs.h"

enum { MEND__SAYING_PARTS = 4 };

typedef struct mend__saying {
  mend__buffer text; /* write to it */
  size_t ends[MEND__SAYING_PARTS];
  unsigned part;
} mend__saying;

void mend__saying_init(mend__saying *saying, const mend_allocator *allocator);
/* What was written so far is whole; what follows is the next part. They are, in this order: the summary, the evidence,
 * the incident, the payload. An empty one is absent. */
void mend__saying_next(mend__saying *saying);
/* Emits the detection with these texts, and frees them. */
mend_status mend__saying_emit(mend__saying *saying, mend_emitter *emitter, mend_detection *detection);

#endif

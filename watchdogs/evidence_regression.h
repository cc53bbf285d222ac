/* Private to watchdogs/: Regression in mode evidence. Each source of readings is a series of its own, judged by two
 * rules: a drop from the older to the newer half of a window that is also far beyond the noise, and a sum that sees
 * slow drift. */
#ifndef MEND_WATCHDOGS_EVIDENCE_REGRESSION_H
#define MEND_WATCHDOGS_EVIDENCE_REGRESSION_H

#include "watchdogs/cusum.h"
#include "watchdogs/detector.h"
#include "watchdogs/half_window.h"

typedef enum mend__decline { MEND__DECLINE_NONE, MEND__DECLINE_HALF_WINDOW, MEND__DECLINE_CUSUM } mend__decline;

typedef struct mend__readings {
  mend__half_window window;
  mend__cusum cusum;
  uint32_t quiet;             /* readings that must come before a drop may be told again */
  bool drop_is_told;          /* and it has not been made good since */
  bool drift_is_told;         /* likewise */
  mend__kept_text source;     /* whose readings they are */
  mend__kept_text begun_with; /* the call with which the sum began to rise */
} mend__readings;

/* Takes a reading; *ret_decline: what it completes. MEND_ENOMEM. */
mend_status mend__readings_add(mend__readings *series, double drop, const mend_confidence_event *reading,
                               const mend_allocator *allocator, mend__decline *ret_decline);
/* The decline was told: it is one incident, whichever rule saw it, until it is made good. */
void mend__readings_told(mend__readings *series);
/* What comes is compared with what comes: a new baseline. */
void mend__readings_clear(mend__readings *series);
void mend__readings_free(mend__readings *series, const mend_allocator *allocator);

/* ---- evidence_regression_report.c ---- */

mend_status mend__readings_report(const mend__readings *series, double drop, mend__decline decline,
                                  const mend_confidence_event *reading, const mend_allocator *allocator,
                                  mend_emitter *emitter);

#endif

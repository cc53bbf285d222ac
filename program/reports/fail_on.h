/* --fail-on: which detections decide about the exit status. */
#ifndef MEND_PROGRAM_REPORTS_FAIL_ON_H
#define MEND_PROGRAM_REPORTS_FAIL_ON_H

#include "mend.h"

/* All of them, as it begins zeroed, or those of kinds and reasons given by name. */
typedef struct fail_on {
  const char *names; /* separated by commas; NULL: all */
} fail_on;

/* "loop,tool_idle", or "none". `names` is borrowed. MEND_EINVAL: one of them is unknown, and `error` names the one that
 * was probably meant. */
mend_status fail_on_set(fail_on *of, const char *names, mend_error *error);
/* `of` may be NULL: all. */
bool fail_on_matches(const fail_on *of, const mend_detection *detection);

#endif

/* One request to a provider, and what came of it. */
#ifndef MEND_PROGRAM_DOCTOR_VISIT_H
#define MEND_PROGRAM_DOCTOR_VISIT_H

#include "fallback/dialect.h"
#include "http/client.h"

typedef struct visit {
  const char *fault; /* as of mend__http_end, "timeout" or "stalled" (behind the head); NULL: the reply is complete */
  char message[256]; /* a sentence for it, or "" */
  uint32_t status;   /* 0: no head has come */
  uint64_t ns;       /* it took */
  int64_t skew_s;    /* how far this machine's clock is ahead of the server's */
  mend__buffer body; /* at most 4 MiB of it */
} visit;

/* GETs `url` with the headers of `wire` and waits, for so many seconds at most. Not on the loop's thread. To be
 * freed in any case. Errors: MEND_EINVAL with a sentence (a URL that is refused), MEND_ENOMEM. */
mend_status visit_url(mend_loop *loop, mend__http *http, const char *url, const mend__wire *wire, double limit_s,
                      visit *ret_visit, mend_error *error);
void visit_free(visit *ended);

#endif

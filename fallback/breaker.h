/* Private to fallback/: whether something (a provider, a model, a key, a key with a model) may be asked at the moment.
 * A pure state machine: its owner gives the time and has the lock.
 *
 *   CLOSED --a failure--> OPEN for the cool-down --a request after it--> HALF_OPEN, which that request probes
 *   HALF_OPEN --it succeeds--> CLOSED   --it fails--> OPEN for twice as long   --no verdict--> OPEN, probed again
 */
#ifndef MEND_FALLBACK_BREAKER_H
#define MEND_FALLBACK_BREAKER_H

#include "mend/fallback.h"

/* No cool-down is longer, whatever a table or a provider says: a week. */
#define MEND__COOL_DOWN_MAX_S 604800.0

/* Zeroed: closed. */
typedef struct mend__breaker {
  mend_breaker state;
  bool parked;
  uint64_t until_ns;  /* OPEN: nobody is let through before; HALF_OPEN: has passed */
  double cool_down_s; /* the last one that was not asked for by a Retry-After; 0 after a success */
  uint64_t age;       /* grows with each change of state: answers to what was asked in an earlier state say nothing */
} mend__breaker;

/* What a request holds from when it was let through until its verdict. */
typedef struct mend__pass {
  uint64_t age;
  bool probes;
} mend__pass;

/* What a failure asks for. */
typedef struct mend__cool_down {
  double first_s, max_s;
  double retry_after_s; /* NaN: not told; else as long as this */
  bool parks;
  double jitter; /* 0 to 1: the cool-down is up to a tenth shorter, a Retry-After up to a tenth longer */
} mend__cool_down;

/* Whether it lets one through now: closed, or the cool-down has ended and nobody probes. */
bool mend__breaker_lets(const mend__breaker *breaker, uint64_t now_ns);
/* Lets one through, whether it should or not. It probes when the cool-down has ended and nobody else does. */
mend__pass mend__breaker_enter(mend__breaker *breaker, uint64_t now_ns);
/* Verdicts. Whether it has closed, or opened, by this one: at most one of many that were let through together does. */
bool mend__breaker_succeed(mend__breaker *breaker, mend__pass pass);
bool mend__breaker_fail(mend__breaker *breaker, mend__pass pass, const mend__cool_down *cool_down, uint64_t now_ns);
/* No verdict: it was cancelled, or somebody else is to blame. */
void mend__breaker_leave(mend__breaker *breaker, mend__pass pass);

#endif

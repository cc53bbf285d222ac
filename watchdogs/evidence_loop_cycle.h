/* Private to the watchdog "loop" of mode evidence: batches, and since when they repeat. */
#ifndef MEND_WATCHDOGS_EVIDENCE_LOOP_CYCLE_H
#define MEND_WATCHDOGS_EVIDENCE_LOOP_CYCLE_H

#include "mend/core.h"

enum { MEND__LOOP_PERIOD_MAX = 16 };

/* Calls that were asked for together. */
typedef struct mend__loop_batch {
  uint64_t number; /* from 1 */
  uint64_t turn;   /* 0: unknown */
  uint32_t calls;
  uint32_t unknown; /* of them: not ended, or nobody knows how */
  uint64_t key;     /* of their pairs, in whatever order */
  uint64_t outcome; /* of their outcomes, likewise */
  bool newest_is_open;
  bool is_told; /* something was, at one of them */
} mend__loop_batch;

/* ---- evidence_loop_cycle.c: what the batches were, newest first, and since when they repeat ---- */

typedef struct mend__loop_cycle {
  uint64_t keys[MEND__LOOP_PERIOD_MAX];
  uint64_t outcomes[MEND__LOOP_PERIOD_MAX]; /* 0: unknown, equal to any */
  uint64_t streaks[MEND__LOOP_PERIOD_MAX];  /* at p - 1: so many in a row were equal to the one p before */
  bool repeats;                             /* the latest was among the keys; else all streaks are 0 */
} mend__loop_cycle;

void mend__loop_cycle_push(mend__loop_cycle *cycle, const mend__loop_batch *batch);
/* The shortest period in which k whole rounds or more were equal, if `batch` goes on with it; 0: none. *ret_rounds: how
 * many rounds. */
uint32_t mend__loop_cycle_period(const mend__loop_cycle *cycle, const mend__loop_batch *batch, uint32_t k,
                                 uint64_t *ret_rounds);
/* Whether it is known how the latest `period` batches ended. */
bool mend__loop_cycle_is_known(const mend__loop_cycle *cycle, uint32_t period);
/* The latest `period` batches, wherever the cycle begins. */
uint64_t mend__loop_cycle_set(const mend__loop_cycle *cycle, uint32_t period);

#endif

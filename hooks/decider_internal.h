/* Private to decider.c and question.c: a watchdog hook. */
#ifndef MEND_HOOKS_DECIDER_INTERNAL_H
#define MEND_HOOKS_DECIDER_INTERNAL_H

#include "hooks/hooks_internal.h"
#include "hooks/run_internal.h"

/* What an escalation asks, until the next before. */
typedef struct mend__question {
  char *text;       /* of the run's allocator; NULL: there was no memory for it */
  unsigned dropped; /* later questions of the same hook */
  char hook[MEND__HOOK_NAME_SIZE];
} mend__question;

struct mend__decider {
  mend__decider *next;
  const mend_boundary *owner; /* compared, not followed */
  mend_policy policy;
  void *ctx;
  mend_detection_cursor cursor;
  atomic_bool gone; /* its boundary is: freed by who decides, once it is through with it */

  /* Under the deciding lock. */
  bool asks;
  mend__question question;
};

/* ---- question.c ---- */

/* The first question counts; it waits for the next before. */
void mend__question_ask(mend__run_state *state, mend__decider *decider, mend_str question);
void mend__question_forget(mend__run_state *state, mend__decider *decider);

#endif

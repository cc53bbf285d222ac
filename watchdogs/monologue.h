/* Private to watchdogs/: a model that says the same message three times and does nothing in between (mode evidence). */
#ifndef MEND_WATCHDOGS_MONOLOGUE_H
#define MEND_WATCHDOGS_MONOLOGUE_H

#include "mend/bus.h"

enum { MEND__MONOLOGUE_TIMES = 3 };

/* A message without the blanks around it. */
typedef struct mend__message {
  uint64_t hash, len;
} mend__message;

/* One run's. Zero it before first use. */
typedef struct mend__monologue {
  mend__message said;    /* by deltas, since the last message ended */
  mend__message inner;   /* of that, up to the last byte that is no blank */
  mend__message message; /* the last one */
  uint32_t times;        /* so often in a row */
  uint32_t requests;     /* open */
  bool is_parallel;      /* several were open at once: whoever asks that way expects equal answers */
} mend__monologue;

/* Takes an event of the run; whether it completes a finding, which each row of equal messages does once. What a person
 * says and a tool that is asked for end a row; when a person speaks, no reply to an earlier request is waited for any
 * more. Those of no use are allowed. */
bool mend__monologue_event(mend__monologue *monologue, const mend_event *event);

#endif

/* Private to watchdogs/: a model that says the same again and again in one message (mode evidence). A piece of 50
 * bytes that is there 10 times, at most 250 bytes apart on average, with at most 5 different texts from one to the
 * next. Text that arrives in pieces is read like one that arrives whole, whatever the cuts. */
#ifndef MEND_WATCHDOGS_CHANTING_H
#define MEND_WATCHDOGS_CHANTING_H

#include "mend/bus.h"
#include "watchdogs/prose.h"

enum {
  MEND__CHANT_BYTES = 50,
  MEND__CHANT_TIMES = 10,
  MEND__CHANT_DISTANCE = 250, /* mean, from the beginning of one to that of the next */
  MEND__CHANT_PERIODS = 5     /* different texts from one to the next */
};

/* What it remembers of a message while that is being read; between messages it has no memory. */
typedef struct mend__chant_text mend__chant_text;

/* One run's. Zero it, and set the allocator, before first use. */
typedef struct mend__chanting {
  const mend_allocator *allocator;
  mend__chant_text *text;
  mend__prose prose;
  uint64_t call; /* whose deltas are being read */
  bool is_thinking;
  bool has_deltas; /* since the last message ended: a whole reply says it all again */
  bool is_told;    /* a finding in this message */
} mend__chanting;

typedef struct mend__chant {
  char piece[MEND__CHANT_BYTES]; /* what is said again and again */
  uint32_t times;
  uint32_t distance; /* bytes from one to the next, on average */
} mend__chant;

/* Takes an event of the run. Those that matter are model.delta, model.response and what begins a message anew; others
 * are allowed. *ret_found: this event completes a finding, the first one in its message, which is in *ret_chant.
 * MEND_ENOMEM. */
mend_status mend__chanting_event(mend__chanting *chanting, const mend_event *event, bool *ret_found,
                                 mend__chant *ret_chant);
/* Forgets the message and frees what it needed. */
void mend__chanting_reset(mend__chanting *chanting);

#endif

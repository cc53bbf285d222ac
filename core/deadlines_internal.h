/* Private to core/: what a set of deadlines is made of, for deadlines.c and for who looks into it. */
#ifndef MEND_CORE_DEADLINES_INTERNAL_H
#define MEND_CORE_DEADLINES_INTERNAL_H

#include "core/heap.h"

/* A FIFO for each of the few timeouts in use: time does not run backwards, so appending keeps it sorted. A deadline
 * whose timeout finds no FIFO, or whose start lies before the last one's, goes to the heap. */
enum { MEND__FIFO_COUNT = 6 };

typedef struct mend__fifo {
  uint64_t timeout_ns;
  mend_deadline *first, *last;
} mend__fifo;

struct mend_deadlines {
  const mend_allocator *allocator;
  mend_waker waker;
  uint64_t known_ns; /* the earliest due time the waiter knows of */
  uint64_t order;    /* of the last deadline armed */
  size_t count;
  mend_deadline *head; /* the first to expire; NULL with count > 0: to be looked for */
  size_t fifo_count;   /* FIFOs ever used, the others are empty */
  mend__fifo fifos[MEND__FIFO_COUNT];
  mend__heap heap;
};

/* Looks for the first to expire; NULL when none is armed. */
mend_deadline *mend__deadlines_earliest(const mend_deadlines *deadlines);

#endif

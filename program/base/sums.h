/* Sums of what recordings tell, which may be anything. */
#ifndef MEND_PROGRAM_BASE_SUMS_H
#define MEND_PROGRAM_BASE_SUMS_H

#include "mend/events.h"

/* a + b, or the largest count there is where that would not fit. */
static inline uint64_t sum_of(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) || sum == MEND_NONE ? MEND_NONE - 1 : sum;
}

#endif

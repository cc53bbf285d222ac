/* House header: time as people give it and as the system takes it. */
#ifndef MEND_CORE_SECONDS_H
#define MEND_CORE_SECONDS_H

#include "mend/clock.h"

#include <time.h>

/* seconds >= 0, rounded to the nearest nanosecond; MEND_NEVER for more than fits. */
static inline uint64_t mend__seconds_to_ns(double seconds) {
  const double ns = seconds * (double)MEND_SECOND_NS + 0.5;
  return ns < 0x1p64 ? (uint64_t)ns : MEND_NEVER;
}

static inline struct timespec mend__timespec(uint64_t ns) {
  return (struct timespec){(time_t)(ns / MEND_SECOND_NS), (long)(ns % MEND_SECOND_NS)};
}

/* Between two moments that different threads may have taken: 0 when the second one is the earlier. */
static inline uint64_t mend__ns_between(uint64_t from_ns, uint64_t to_ns) {
  return to_ns > from_ns ? to_ns - from_ns : 0;
}
/* A moment so much later; MEND_NEVER at the latest. */
static inline uint64_t mend__ns_later(uint64_t at_ns, uint64_t by_ns) {
  return by_ns < MEND_NEVER - at_ns ? at_ns + by_ns : MEND_NEVER;
}

#endif

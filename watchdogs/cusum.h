/* Private to watchdogs/: readings that drift downwards, seen by a self-scaled, clipped cumulative sum. Mean and
 * standard deviation of the first 10 readings are the base; every later one adds how many deviations it lies below the
 * mean, at most 3 either way, less 1; the sum does not go below 0, and 6 is a decline. */
#ifndef MEND_WATCHDOGS_CUSUM_H
#define MEND_WATCHDOGS_CUSUM_H

#include <stdbool.h>
#include <stdint.h>

enum { MEND__CUSUM_BASE = 10 };
#define MEND__CUSUM_LIMIT 6.0

/* Zero it before first use. */
typedef struct mend__cusum {
  uint32_t count; /* of the base */
  double mean;
  double squares;   /* of the distances from the mean */
  double deviation; /* of the base when that is complete */
  double sum;
} mend__cusum;

/* Whether the sum has come to the limit. */
bool mend__cusum_add(mend__cusum *cusum, double reading);

#endif

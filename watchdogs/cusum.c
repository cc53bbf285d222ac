#include "watchdogs/cusum.h"

#include <math.h>

static const double DEVIATION_MIN = 0.03, CLIP = 3, SLACK = 1;
/* So that a decline that went on for long is forgotten as soon as it would have been if it had just been seen. */
static const double SUM_MAX = 2 * MEND__CUSUM_LIMIT;

static double clamp(double value, double min, double max) { return value < min ? min : value > max ? max : value; }

static void add_to_base(mend__cusum *cusum, double reading) {
  const double distance = reading - cusum->mean;
  cusum->count++;
  cusum->mean += distance / cusum->count;
  cusum->squares += distance * (reading - cusum->mean);
  if (cusum->count < MEND__CUSUM_BASE) return;
  cusum->deviation = clamp(sqrt(cusum->squares / (MEND__CUSUM_BASE - 1)), DEVIATION_MIN, 1);
}

bool mend__cusum_add(mend__cusum *cusum, double reading) {
  if (cusum->count < MEND__CUSUM_BASE) {
    add_to_base(cusum, reading);
    return false;
  }
  const double below = clamp((cusum->mean - reading) / cusum->deviation, -CLIP, CLIP);
  cusum->sum = clamp(cusum->sum + below - SLACK, 0, SUM_MAX);
  return cusum->sum >= MEND__CUSUM_LIMIT;
}

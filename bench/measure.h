/* Times rows. */
#ifndef MEND_BENCH_MEASURE_H
#define MEND_BENCH_MEASURE_H

#include "bench/bench.h"

enum { BENCH_ROUNDS = 7, BENCH_MAX_ROWS = 128 };

typedef struct bench_measured {
  const bench_row *row;
  uint64_t count; /* of one round */
  double ns[BENCH_ROUNDS];
  double median; /* NaN: there was nothing to measure */
} bench_measured;

/* Measures every row in each of the rounds, so that all of them see the machine in the same moods. Returns the share of
 * a processor, 0 to 1, that was there for who only computes, as looked at between the rows. */
double bench_measure(bench_measured *rows, size_t count, int rounds, double round_ns);

#endif

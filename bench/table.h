/* The tables. */
#ifndef MEND_BENCH_TABLE_H
#define MEND_BENCH_TABLE_H

#include "bench/measure.h"
#include "bench/sizes.h"

/* Says when less than nine tenths of a processor was there (bench_measure). */
void bench_print_busyness(double share);
/* These return how many goals were missed. */
unsigned bench_print_times(const bench_measured *rows, size_t count, bool markdown);
unsigned bench_print_sizes(const bench_size *sizes, size_t count, bool markdown);

#endif

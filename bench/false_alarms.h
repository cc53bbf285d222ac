/* Alarms of Regression about random readings. */
#ifndef MEND_BENCH_FALSE_ALARMS_H
#define MEND_BENCH_FALSE_ALARMS_H

#include <stdint.h>

/* Prints a table in Markdown; the same one each time. */
void bench_print_false_alarms(uint64_t series);

#endif

/* Memory, which is not timed. */
#ifndef MEND_BENCH_SIZES_H
#define MEND_BENCH_SIZES_H

#include <stddef.h>

typedef struct bench_size {
  const char *what;
  const char *who;
  size_t bytes; /* 0: the peer is not installed */
  size_t goal;  /* 0: none */
} bench_size;

enum { BENCH_MAX_SIZES = 48 };
/* Fills in at most BENCH_MAX_SIZES and returns how many there are. */
size_t bench_sizes(bench_size *ret_sizes);

#endif

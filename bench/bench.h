/* A benchmark is a function that does its work `count` times; the harness chooses count, times it and prints a table in
 * which every row of mend stands beside its peers, all measured in turn in the same run. */
#ifndef MEND_BENCH_H
#define MEND_BENCH_H

#include "mend/hooks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bench_row {
  const char *what; /* rows of one group have the same; printed once */
  const char *who;  /* "mend" or the peer's name */
  void (*prepare)(const struct bench_row *row);
  void (*run)(const struct bench_row *row, uint64_t count);
  void (*finish)(const struct bench_row *row);
  int64_t argument;  /* subscribers, bytes, ... */
  uint32_t per_call; /* operations in one count; 0 means 1 */
  double goal_ns;    /* 0: none */
  double goal_ratio; /* of the peer in the next row; 0: none */
} bench_row;

/* Monotonic nanoseconds. */
uint64_t bench_now(void);
/* Keeps the compiler from dropping a result. */
void bench_use(uint64_t value);
/* Ends the program with a sentence: a benchmark that fails measures nothing. */
void bench_need(bool ok, const char *what);

extern const bench_row bench_bus_rows[], bench_watchdog_rows[], bench_hook_rows[], bench_hash_rows[];
extern const size_t bench_bus_row_count, bench_watchdog_row_count, bench_hook_row_count, bench_hash_row_count;

/* Memory, which is not timed. */
typedef struct bench_size {
  const char *what;
  size_t bytes;
  size_t goal; /* 0: none */
} bench_size;
/* Fills in at most `capacity` and returns how many there are. */
size_t bench_sizes(bench_size *ret_sizes, size_t capacity);
/* Gives the run a boundary with a watchdog hook, which the caller releases. */
mend_boundary *bench_guard(mend_run *run);

#endif

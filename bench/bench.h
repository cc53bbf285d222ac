/* What a benchmark is, and what benchmarks share. It is a function that does its work `count` times; measure.c chooses
 * count and times it, all rows in turn in the same run, and table.c prints every row of mend beside its peers. */
#ifndef MEND_BENCH_H
#define MEND_BENCH_H

#include "mend/flows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rows with neither `run` nor `measure` are of a peer that was not installed
 * when the bench was built. */
typedef struct bench_row {
  const char *what; /* rows of one group have the same; printed once */
  const char *who;  /* "mend" or the peer's name */
  void (*prepare)(const struct bench_row *row);
  void (*run)(const struct bench_row *row, uint64_t count);
  void (*finish)(const struct bench_row *row);
  /* Instead of these three: ns an operation, of a child that measures; NaN when
   * it could not. */
  double (*measure)(const struct bench_row *row);
  int64_t argument;  /* subscribers, bytes, ... */
  uint32_t per_call; /* operations in one count; 0 means 1 */
  double goal_ns;    /* 0: none */
  /* How many times the row of this name and owner it takes is told, and held
   * against goal_ratio unless that is 0. */
  const char *versus, *versus_who;
  double goal_ratio;
  const char *note; /* a figure that was not measured here */
  const char *key;  /* what --instructions calls it; NULL: not counted */
  uint32_t counted; /* for so many operations */
} bench_row;

typedef struct bench_rows {
  const bench_row *rows;
  size_t count;
} bench_rows;

#define BENCH_ROWS(array)                                                                                              \
  { (array), sizeof(array) / sizeof *(array) }

/* Each in its bench_<what>.c. */
extern const bench_rows bench_bus_rows, bench_watchdog_rows, bench_hook_rows, bench_hash_rows, bench_replay_rows,
    bench_http_rows, bench_model_rows;

/* Monotonic nanoseconds. */
uint64_t bench_now(void);
/* Keeps the compiler from dropping a result. */
void bench_use(uint64_t value);
/* Ends the program with a sentence: a benchmark that fails measures nothing. */
void bench_need(bool ok, const char *what);
/* A bus with a fixed seed, so that instructions can be counted. */
mend_bus *bench_bus(const mend_allocator *allocator, mend_clock *clock);
/* Gives the run a boundary with a watchdog hook, which the caller releases. */
mend_boundary *bench_guard(mend_run *run);
/* Arguments as agents send them, about `bytes` long. Freed with free(). */
char *bench_arguments(size_t bytes, size_t *ret_len);

#ifdef __cplusplus
}
#endif
#endif

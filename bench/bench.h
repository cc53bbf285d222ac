/* A benchmark is a function that does its work `count` times; the harness
 * chooses count, times it and prints a table in which every row of mend stands
 * beside its peers, all measured in turn in the same run. */
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

extern const bench_rows bench_bus_rows, bench_watchdog_rows, bench_hook_rows, bench_hash_rows, bench_replay_rows,
    bench_http_rows, bench_model_rows;

#define BENCH_ROWS(array)                                                                                              \
  { (array), sizeof(array) / sizeof *(array) }

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

/* ---- Measuring: measure.c ---- */

enum { BENCH_ROUNDS = 7, BENCH_MAX_ROWS = 128 };

typedef struct bench_measured {
  const bench_row *row;
  uint64_t count; /* of one round */
  double ns[BENCH_ROUNDS];
  double median; /* NaN: there was nothing to measure */
} bench_measured;

/* Measures every row in each of the rounds, so that all of them see the machine
 * in the same moods. */
void bench_measure(bench_measured *rows, size_t count, int rounds, double round_ns);

/* ---- Memory, which is not timed: sizes.c ---- */

typedef struct bench_size {
  const char *what;
  const char *who;
  size_t bytes; /* 0: the peer is not installed */
  size_t goal;  /* 0: none */
} bench_size;

enum { BENCH_MAX_SIZES = 48 };
/* Fills in at most BENCH_MAX_SIZES and returns how many there are. */
size_t bench_sizes(bench_size *ret_sizes);

/* ---- Alarms of Regression about random readings: false_alarms.c ---- */

/* Prints a table in Markdown; the same one each time. */
void bench_print_false_alarms(uint64_t series);

/* ---- The tables: table.c; both return how many goals were missed ---- */

unsigned bench_print_times(const bench_measured *rows, size_t count, bool markdown);
unsigned bench_print_sizes(const bench_size *sizes, size_t count, bool markdown);

#ifdef __cplusplus
}
#endif
#endif

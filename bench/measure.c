#include "bench/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double time_once(const bench_row *row, uint64_t count) {
  uint64_t start = bench_now();
  row->run(row, count);
  uint64_t elapsed = bench_now() - start;
  return (double)elapsed / (double)(count * (row->per_call == 0 ? 1 : row->per_call));
}

/* So many that one round takes about `round_ns`. */
static uint64_t choose_count(const bench_row *row, double round_ns) {
  uint64_t count = 1;
  for (;;) {
    uint64_t start = bench_now();
    row->run(row, count);
    double elapsed = (double)(bench_now() - start);
    if (elapsed * 8 > round_ns) {
      double wanted = (double)count * round_ns / elapsed;
      return wanted < 1 ? 1 : (uint64_t)wanted;
    }
    count *= 4;
  }
}

static void measure_round(bench_measured *m, int round, double round_ns) {
  m->ns[round] = NAN;
  if (m->row->measure != NULL) {
    m->ns[round] = m->row->measure(m->row);
  } else if (m->row->run != NULL) {
    if (m->row->prepare != NULL) m->row->prepare(m->row);
    if (round == 0) m->count = choose_count(m->row, round_ns);
    m->ns[round] = time_once(m->row, m->count);
    if (m->row->finish != NULL) m->row->finish(m->row);
  }
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* A row that could not be measured could not be in any round. */
static double median(const bench_measured *m, int rounds) {
  double sorted[BENCH_ROUNDS];
  memcpy(sorted, m->ns, sizeof sorted);
  qsort(sorted, (size_t)rounds, sizeof *sorted, compare_doubles);
  return sorted[rounds / 2];
}

/* ---- Whether others kept the machine busy ---- */

typedef struct processor_time {
  uint64_t asked_ns, given_ns;
} processor_time;

static uint64_t thread_time(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* Computes for a while, longer than a scheduler lets somebody run when others wait. */
static void look_at_processor(processor_time *seen) {
  const uint64_t while_ns = 5000000, start = bench_now(), used = thread_time();
  uint64_t now = start;
  while (now - start < while_ns)
    now = bench_now();
  seen->asked_ns += now - start;
  seen->given_ns += thread_time() - used;
}

/* ---- All rows ---- */

double bench_measure(bench_measured *rows, size_t count, int rounds, double round_ns) {
  processor_time seen = {0, 0};
  for (int round = 0; round < rounds; round++) {
    for (size_t i = 0; i < count; i++) {
      look_at_processor(&seen);
      measure_round(&rows[i], round, round_ns);
    }
  }
  for (size_t i = 0; i < count; i++)
    rows[i].median = median(&rows[i], rounds);
  return seen.asked_ns > 0 ? (double)seen.given_ns / (double)seen.asked_ns : 1;
}

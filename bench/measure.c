#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void bench_measure(bench_measured *rows, size_t count, int rounds, double round_ns) {
  for (int round = 0; round < rounds; round++) {
    for (size_t i = 0; i < count; i++)
      measure_round(&rows[i], round, round_ns);
  }
  for (size_t i = 0; i < count; i++)
    rows[i].median = median(&rows[i], rounds);
}

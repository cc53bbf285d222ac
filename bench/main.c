/* mend-bench: how fast mend is on this machine, beside named peers, in one run. Times on shared machines drift, so rows are
 * measured in turn, several rounds, and the median counts; compare rows of one run, not runs. */
#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7, MAX_ROWS = 64, MAX_SIZES = 16 };

typedef struct measured {
  const bench_row *row;
  uint64_t count; /* of one round */
  double ns[ROUNDS];
} measured;

uint64_t bench_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void bench_use(uint64_t value) { __asm__ volatile("" : : "r"(value) : "memory"); }

void bench_need(bool ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "mend-bench: %s failed\n", what);
  exit(2);
}

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

static void measure_round(measured *m, int round, double round_ns) {
  if (m->row->prepare != NULL) m->row->prepare(m->row);
  if (round == 0) m->count = choose_count(m->row, round_ns);
  m->ns[round] = time_once(m->row, m->count);
  if (m->row->finish != NULL) m->row->finish(m->row);
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(const measured *m, int rounds) {
  double sorted[ROUNDS];
  memcpy(sorted, m->ns, sizeof sorted);
  qsort(sorted, (size_t)rounds, sizeof *sorted, compare_doubles);
  return sorted[rounds / 2];
}

static void print_time(double ns) {
  if (ns < 1e3) {
    printf("%10.1f ns", ns);
  } else if (ns < 1e6) {
    printf("%10.2f us", ns / 1e3);
  } else {
    printf("%10.2f ms", ns / 1e6);
  }
}

static void print_ratio(const measured *m, int rounds) {
  const double ratio = median(m, rounds) / median(m + 1, rounds);
  printf("   %.2f x %s, goal <= %.2f%s", ratio, m[1].row->who, m->row->goal_ratio,
         ratio <= m->row->goal_ratio ? "  reached" : "  MISSED");
}

static void print_row(const measured *m, int rounds, bool markdown, bool first) {
  double ns = median(m, rounds);
  printf(markdown ? "| %s | %s | " : "%-56s %-18s", first ? m->row->what : "", m->row->who);
  print_time(ns);
  if (markdown) printf(" |");
  if (m->row->goal_ns > 0) {
    printf(markdown ? " " : "   ");
    printf("goal <= ");
    print_time(m->row->goal_ns);
    printf(ns <= m->row->goal_ns ? "  reached" : "  MISSED");
  }
  if (m->row->goal_ratio > 0) print_ratio(m, rounds);
  puts(markdown ? " |" : "");
}

static void print_sizes(bool markdown) {
  bench_size sizes[MAX_SIZES];
  size_t count = bench_sizes(sizes, MAX_SIZES);
  puts(markdown ? "\n| memory | bytes | goal |\n|---|---|---|" : "\nmemory");
  for (size_t i = 0; i < count; i++) {
    printf(markdown ? "| %s | %zu | " : "%-56s %10zu B", sizes[i].what, sizes[i].bytes);
    if (sizes[i].goal > 0) {
      printf(markdown ? "<= %zu%s" : "   goal <= %zu B  %s", sizes[i].goal,
             sizes[i].bytes <= sizes[i].goal ? "reached" : "MISSED");
    }
    puts(markdown ? " |" : "");
  }
}

static size_t choose_rows(measured *ret_rows, const char *only) {
  const bench_row *const groups[] = {bench_bus_rows, bench_watchdog_rows, bench_hook_rows, bench_hash_rows};
  const size_t counts[] = {bench_bus_row_count, bench_watchdog_row_count, bench_hook_row_count, bench_hash_row_count};
  size_t chosen = 0;
  for (size_t group = 0; group < sizeof groups / sizeof groups[0]; group++) {
    for (size_t i = 0; i < counts[group] && chosen < MAX_ROWS; i++) {
      if (only == NULL || strstr(groups[group][i].what, only) != NULL) ret_rows[chosen++].row = &groups[group][i];
    }
  }
  return chosen;
}

static int usage(FILE *out) {
  fputs("usage: mend-bench [--quick] [--markdown] [--only TEXT]\n\n"
        "Measures mend beside named peers and prints one table; takes about a minute.\n\n"
        "  --quick      three short rounds instead of seven: a few seconds, less exact\n"
        "  --markdown   the table as Markdown\n"
        "  --only TEXT  rows whose name contains TEXT\n"
        "  --help       this text\n",
        out);
  return out == stdout ? 0 : 2;
}

int main(int argc, char **argv) {
  static const struct option options[] = {{"quick", no_argument, NULL, 'q'},
                                          {"markdown", no_argument, NULL, 'm'},
                                          {"only", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  bool quick = false, markdown = false;
  const char *only = NULL;
  for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
    switch (option) {
    case 'q': quick = true; break;
    case 'm': markdown = true; break;
    case 'o': only = optarg; break;
    case 'h': return usage(stdout);
    default: return usage(stderr);
    }
  }
  if (optind < argc) return usage(stderr);
  static measured rows[MAX_ROWS];
  const size_t count = choose_rows(rows, only);
  const int rounds = quick ? 3 : ROUNDS;
  for (int round = 0; round < rounds; round++) {
    for (size_t i = 0; i < count; i++)
      measure_round(&rows[i], round, quick ? 5e6 : 1e8);
  }
  puts(markdown ? "| what | who | median | goal |\n|---|---|---|---|" : "what, in time an operation (median)");
  for (size_t i = 0; i < count; i++) {
    print_row(&rows[i], rounds, markdown, i == 0 || strcmp(rows[i].row->what, rows[i - 1].row->what) != 0);
  }
  if (only == NULL) print_sizes(markdown);
  return ferror(stdout) || fflush(stdout) != 0 ? 2 : 0;
}

/* mend-bench: how fast mend is on this machine, beside named peers, in one run.
 * Times on shared machines drift, so rows are measured in turn, several rounds,
 * and the median counts; compare rows of one run, not runs. docs/benchmarks.md
 * tells how to read the tables. */
#include "bench/false_alarms.h"
#include "bench/table.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls `visit` for every row until it says false. */
static void each_row(bool (*visit)(void *ctx, const bench_row *row), void *ctx) {
  const bench_rows *const groups[] = {&bench_bus_rows,    &bench_watchdog_rows, &bench_hook_rows, &bench_hash_rows,
                                      &bench_replay_rows, &bench_http_rows,     &bench_model_rows};
  for (size_t group = 0; group < sizeof groups / sizeof groups[0]; group++) {
    for (size_t i = 0; i < groups[group]->count; i++) {
      if (!visit(ctx, &groups[group]->rows[i])) return;
    }
  }
}

/* ---- Tables ---- */

typedef struct choice {
  const char *only; /* NULL: all */
  bench_measured rows[BENCH_MAX_ROWS];
  size_t count;
} choice;

static bool choose(void *ctx, const bench_row *row) {
  choice *chosen = ctx;
  if (chosen->only != NULL && strstr(row->what, chosen->only) == NULL) return true;
  bench_need(chosen->count < BENCH_MAX_ROWS, "making room for all rows");
  chosen->rows[chosen->count++].row = row;
  return true;
}

static unsigned print_tables(const char *only, bool quick, bool markdown) {
  static choice chosen;
  bench_size sizes[BENCH_MAX_SIZES];
  chosen.only = only;
  each_row(choose, &chosen);
  bench_print_busyness(bench_measure(chosen.rows, chosen.count, quick ? 3 : BENCH_ROUNDS, quick ? 5e6 : 1e8));
  unsigned missed = bench_print_times(chosen.rows, chosen.count, markdown);
  if (only == NULL) missed += bench_print_sizes(sizes, bench_sizes(sizes), markdown);
  return missed;
}

/* ---- Counting instructions: scripts/bench-instructions runs this under
 * callgrind ---- */

static bool print_key(void *ctx, const bench_row *row) {
  (void)ctx;
  if (row->key != NULL) printf("%s %lu\n", row->key, (unsigned long)row->counted);
  return true;
}

typedef struct counting {
  const char *key;
  uint64_t times;
  bool found;
} counting;

static bool run_counted(void *ctx, const bench_row *row) {
  counting *wanted = ctx;
  if (row->key == NULL || strcmp(row->key, wanted->key) != 0) return true;
  if (row->prepare != NULL) row->prepare(row);
  row->run(row, wanted->times * row->counted / (row->per_call == 0 ? 1 : row->per_call));
  if (row->finish != NULL) row->finish(row);
  wanted->found = true;
  return false;
}

/* 1 to 999999, in digits alone; 0 for anything else. */
static uint64_t read_times(const char *text) {
  const size_t len = strlen(text);
  return len <= 6 && strspn(text, "0123456789") == len ? strtoull(text, NULL, 10) : 0;
}

static int run_for_instructions(const char *key, const char *times) {
  counting wanted = {key, read_times(times), false};
  if (wanted.times == 0) {
    fprintf(stderr, "mend-bench: TIMES is %s, expected 1 to 999999\n", times);
    return 2;
  }
  each_row(run_counted, &wanted);
  if (!wanted.found) fprintf(stderr, "mend-bench: no row is called %s\n", key);
  return wanted.found ? 0 : 2;
}

static void print_compiler(void) {
#if defined(__clang__)
  printf("clang-%d\n", __clang_major__);
#else
  printf("gcc-%d\n", __GNUC__);
#endif
}

/* ---- Arguments ---- */

/* 2 when not all of it could be written. */
static int finish_output(int status) { return fflush(stdout) != 0 || ferror(stdout) ? 2 : status; }

static int usage(FILE *out) {
  fputs("usage: mend-bench [--quick] [--markdown] [--strict] [--only TEXT]\n"
        "       mend-bench --keys | --compiler | --instructions KEY TIMES | --false-alarms SERIES\n\n"
        "Measures mend beside named peers, those that are installed, and "
        "prints one table; takes some minutes.\n\n"
        "  --quick      three short rounds instead of seven: less exact\n"
        "  --markdown   the tables as Markdown\n"
        "  --only TEXT  rows whose name contains TEXT, and no memory\n"
        "  --strict     the status is 1 when a goal was missed\n"
        "  --keys       the rows whose instructions are counted, with their "
        "number of operations\n"
        "  --compiler   which compiler this was built with, such as gcc-12\n"
        "  --instructions KEY TIMES  does TIMES (1 to 999999) times this number and prints "
        "nothing, to be run under callgrind\n"
        "  --false-alarms SERIES  instead: how often Regression raises alarms about so many (1 to 999999) series of "
        "random readings\n"
        "  --help       this text\n",
        out);
  return out == stdout ? finish_output(0) : 2;
}

enum { KEYS = 1, COMPILER, INSTRUCTIONS, FALSE_ALARMS };

static int count_false_alarms(const char *series) {
  const uint64_t count = read_times(series);
  if (count == 0) {
    fprintf(stderr, "mend-bench: SERIES is %s, expected 1 to 999999\n", series);
    return 2;
  }
  bench_print_false_alarms(count);
  return finish_output(0);
}

/* What is asked for instead of measuring. */
static int answer(int option, char **rest, int rest_count) {
  if (rest_count != (option == INSTRUCTIONS ? 1 : 0)) return usage(stderr);
  switch (option) {
  case KEYS: each_row(print_key, NULL); break;
  case COMPILER: print_compiler(); break;
  case FALSE_ALARMS: return count_false_alarms(optarg);
  default: return run_for_instructions(optarg, rest[0]);
  }
  return finish_output(0);
}

int main(int argc, char **argv) {
  static const struct option options[] = {{"quick", no_argument, NULL, 'q'},
                                          {"markdown", no_argument, NULL, 'm'},
                                          {"strict", no_argument, NULL, 's'},
                                          {"only", required_argument, NULL, 'o'},
                                          {"keys", no_argument, NULL, KEYS},
                                          {"compiler", no_argument, NULL, COMPILER},
                                          {"instructions", required_argument, NULL, INSTRUCTIONS},
                                          {"false-alarms", required_argument, NULL, FALSE_ALARMS},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  bool quick = false, markdown = false, strict = false;
  const char *only = NULL;
  for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
    switch (option) {
    case 'q': quick = true; break;
    case 'm': markdown = true; break;
    case 's': strict = true; break;
    case 'o': only = optarg; break;
    case KEYS:
    case COMPILER:
    case INSTRUCTIONS:
    case FALSE_ALARMS: return answer(option, argv + optind, argc - optind);
    case 'h': return usage(stdout);
    default: return usage(stderr);
    }
  }
  if (optind < argc) return usage(stderr);
  const unsigned missed = print_tables(only, quick, markdown);
  return finish_output(strict && missed > 0 ? 1 : 0);
}

/* How often Regression raises an alarm about readings of confidence that are quiet, and how soon it finds those that
 * are not: seeded series of random readings, judged by the rules themselves. Beside each figure stands the one that the
 * rules were designed by. */
#include "bench/false_alarms.h"

#include "bench/bench.h"
#include "core/mix.h"
#include "watchdogs/cusum.h"
#include "watchdogs/half_window.h"

#include <math.h>
#include <stdio.h>

enum { READINGS = 100, BEFORE = MEND__CUSUM_BASE, OUTLIER_AT = 20, OUTLIER_FELT = 10 };

static const double LEVEL = 0.75, DROP = 0.2, ERRORS = 5, PI = 3.14159265358979323846;

/* ---- Readings ---- */

/* What happens to the level from the 11th reading on. */
typedef struct course {
  double noise; /* standard deviation */
  double step, drift;
  double memory; /* correlation with the reading before */
  bool has_outlier;
} course;

typedef struct source {
  uint64_t state;
  double deviation; /* of the last reading, in units of the noise */
} source;

static double uniform(source *from) {
  from->state += MEND__MIX_STEP;
  return ((double)(mend__mix(from->state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(source *from) { return sqrt(-2 * log(uniform(from))) * cos(2 * PI * uniform(from)); }

static double reading(source *from, const course *of, int at) {
  const double fresh = normal(from);
  from->deviation = at == 0 ? fresh : of->memory * from->deviation + sqrt(1 - of->memory * of->memory) * fresh;
  double level = LEVEL;
  if (at >= BEFORE) level -= of->step + of->drift * (at - BEFORE + 1);
  const double value = of->has_outlier && at == OUTLIER_AT ? 0.05 : level + of->noise * from->deviation;
  return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* ---- Rules ---- */

typedef struct judge {
  mend__half_window window;
  mend__cusum cusum;
} judge;

typedef bool rule(judge *on, double value);

static bool drops(judge *on, double value) {
  bench_need(mend__half_window_add(&on->window, value, NULL) == MEND_OK, "a window");
  return mend__half_window_is_full(&on->window) && mend__half_window_drop(&on->window) >= DROP - MEND__DROP_TOLERANCE;
}

static bool drops_beyond_noise(judge *on, double value) {
  return drops(on, value) && mend__half_window_drop(&on->window) >= ERRORS * mend__half_window_error(&on->window);
}

static bool drifts(judge *on, double value) { return mend__cusum_add(&on->cusum, value); }

/* The reading with which the rule raises an alarm, from 0; READINGS when it does not. */
static int first_alarm(rule *alarms, uint32_t window, source *from, const course *of) {
  judge on = {.window = {.n = window}};
  int at = 0;
  while (at < READINGS && !alarms(&on, reading(from, of, at)))
    at++;
  mend__half_window_free(&on.window, NULL);
  return at;
}

/* ---- Figures ---- */

typedef struct row {
  const char *what;
  rule *alarms;
  uint32_t window;
  course of;
  bool is_delay; /* readings until the alarm, of the series that have one; else the share of series that have one */
  double designed, designed_to; /* the latter: 0 or the end of a range */
} row;

static const row rows[] = {
    {"half window of 5", drops, 5, {.noise = 0.10}, false, 83, 0},
    {"half window of 10", drops, 10, {.noise = 0.05}, false, 0, 0},
    {"half window of 10", drops, 10, {.noise = 0.10}, false, 4.2, 5.8},
    {"half window of 10", drops, 10, {.noise = 0.15}, false, 60, 0},
    {"half window of 10 and 5 standard errors", drops_beyond_noise, 10, {.noise = 0.05}, false, 0, 0},
    {"half window of 10 and 5 standard errors", drops_beyond_noise, 10, {.noise = 0.10}, false, 2.2, 0},
    {"half window of 10 and 5 standard errors", drops_beyond_noise, 10, {.noise = 0.15}, false, 4.7, 0},
    {"CUSUM", drifts, 2, {.noise = 0.05}, false, 3.4, 0},
    {"CUSUM", drifts, 2, {.noise = 0.10}, false, 4.1, 0},
    {"CUSUM", drifts, 2, {.noise = 0.15}, false, 4.9, 0},
    {"CUSUM, with one reading of 0.05 or the 10 after", drifts, 2, {.noise = 0.05, .has_outlier = true}, false, 2, 4},
    {"CUSUM, with one reading of 0.05 or the 10 after", drifts, 2, {.noise = 0.10, .has_outlier = true}, false, 2, 4},
    {"CUSUM, with one reading of 0.05 or the 10 after", drifts, 2, {.noise = 0.15, .has_outlier = true}, false, 2, 4},
    {"CUSUM, readings correlated by 0.5", drifts, 2, {.noise = 0.10, .memory = 0.5}, false, 30, 0},
    {"CUSUM, a step of 0.2: readings until found", drifts, 2, {.noise = 0.05, .step = 0.2}, true, 3.9, 0},
    {"CUSUM, a step of 0.2: readings until found", drifts, 2, {.noise = 0.10, .step = 0.2}, true, 8.1, 0},
    {"CUSUM, a step of 0.2: readings until found", drifts, 2, {.noise = 0.15, .step = 0.2}, true, 16.9, 0},
    {"CUSUM, a drift of 0.02: readings until found", drifts, 2, {.noise = 0.05, .drift = 0.02}, true, 8, 0},
    {"CUSUM, a drift of 0.02: readings until found", drifts, 2, {.noise = 0.10, .drift = 0.02}, true, 12, 0},
    {"CUSUM, a drift of 0.02: readings until found", drifts, 2, {.noise = 0.15, .drift = 0.02}, true, 16, 0},
};

typedef struct figure {
  double value, from, to; /* with its 95 % interval */
} figure;

static const double WIDTH = 1.959963985; /* standard deviations of a 95 % interval */

/* Wilson's interval, in percent. */
static figure share(double count, double of) {
  const double p = count / of, square = WIDTH * WIDTH;
  const double centre = (p + square / (2 * of)) / (1 + square / of);
  const double reach = WIDTH / (1 + square / of) * sqrt(p * (1 - p) / of + square / (4 * of * of));
  return (figure){100 * p, 100 * (centre - reach), 100 * (centre + reach)};
}

static figure mean(double sum, double squares, double count) {
  const double value = sum / count, variance = (squares - sum * value) / (count - 1);
  const double reach = WIDTH * sqrt(variance / count);
  return (figure){value, value - reach, value + reach};
}

static figure measure(const row *of, uint64_t series) {
  double found = 0, sum = 0, squares = 0;
  source from = {.state = 1};
  for (uint64_t i = 0; i < series; i++) {
    const int at = first_alarm(of->alarms, of->window, &from, &of->of);
    const bool is_other = of->of.has_outlier && (at < OUTLIER_AT || at > OUTLIER_AT + OUTLIER_FELT);
    if (at == READINGS || is_other) continue;
    const double delay = at - BEFORE + 1;
    found++;
    sum += delay;
    squares += delay * delay;
  }
  return of->is_delay ? mean(sum, squares, found) : share(found, (double)series);
}

static void print_row(const row *of, const figure *measured) {
  const char *unit = of->is_delay ? "" : " %";
  printf("| %s | %.2f | %g", of->what, of->of.noise, of->designed);
  if (of->designed_to > 0) printf(" to %g", of->designed_to);
  printf("%s | %.1f%s | %.1f to %.1f%s |\n", unit, measured->value, unit, measured->from, measured->to, unit);
}

void bench_print_false_alarms(uint64_t series) {
  printf("%llu series of %d readings each, level %g, kept within 0 and 1\n\n", (unsigned long long)series, READINGS,
         LEVEL);
  printf(
      "| rule | noise | designed | measured | 95 %% interval | designed is within |\n|---|---|---:|---:|---:|---|\n");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const figure measured = measure(&rows[i], series);
    print_row(&rows[i], &measured);
  }
}

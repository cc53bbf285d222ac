#include "bench/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void format_time(char *text, size_t size, double ns) {
  if (isnan(ns)) {
    snprintf(text, size, "not installed");
  } else if (ns < 1e3) {
    snprintf(text, size, "%.1f ns", ns);
  } else if (ns < 1e6) {
    snprintf(text, size, "%.2f us", ns / 1e3);
  } else {
    snprintf(text, size, "%.2f ms", ns / 1e6);
  }
}

static const bench_measured *find(const bench_measured *rows, size_t count, const char *what, const char *who) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(rows[i].row->what, what) == 0 && strcmp(rows[i].row->who, who) == 0) return &rows[i];
  }
  return NULL;
}

/* How many times mend's time of the same work a peer takes. */
static void format_beside(char *text, size_t size, const bench_measured *m, const bench_measured *rows, size_t count) {
  text[0] = '\0';
  const bench_measured *mend = find(rows, count, m->row->what, "mend");
  if (mend == NULL || mend == m || isnan(m->median)) return;
  const double times = m->median / mend->median;
  snprintf(text, size, times < 10 ? "%.2f x" : "%.0f x", times);
}

static const char *verdict(bool reached, unsigned *missed) {
  if (!reached) ++*missed;
  return reached ? "reached" : "MISSED";
}

/* What is said of a row, one thing after the other. */
typedef struct remarks {
  char text[256];
  size_t len;
} remarks;

__attribute__((format(printf, 2, 3))) static void remark(remarks *said, const char *format, ...) {
  const char *separator = said->len > 0 ? "; " : "";
  va_list arguments;
  said->len += (size_t)snprintf(said->text + said->len, sizeof said->text - said->len, "%s", separator);
  va_start(arguments, format);
  said->len += (size_t)vsnprintf(said->text + said->len, sizeof said->text - said->len, format, arguments);
  va_end(arguments);
  bench_need(said->len < sizeof said->text, "making room for remarks");
}

static void tell_goal(remarks *said, const bench_measured *m, unsigned *missed) {
  char goal[32];
  if (m->row->goal_ns <= 0) return;
  format_time(goal, sizeof goal, m->row->goal_ns);
  remark(said, "<= %s %s", goal, verdict(m->median <= m->row->goal_ns, missed));
}

static void tell_ratio(remarks *said, const bench_measured *m, const bench_measured *rows, size_t count,
                       unsigned *missed) {
  if (m->row->versus == NULL) return;
  const bench_measured *other = find(rows, count, m->row->versus, m->row->versus_who);
  if (other == NULL || isnan(other->median) || isnan(m->median)) return;
  const double ratio = m->median / other->median, goal = m->row->goal_ratio;
  remark(said, "%.2f x %s", ratio, strcmp(m->row->what, m->row->versus) == 0 ? m->row->versus_who : m->row->versus);
  if (goal > 0) remark(said, "<= %.2f x %s", goal, verdict(ratio <= goal, missed));
}

void bench_print_busyness(double share) {
  if (share >= 0.9) return;
  printf("This machine was busy: of the time it was asked for, this program was given %.0f %%. "
         "All times are too long, and rows compare badly.\n\n",
         share * 100);
}

unsigned bench_print_times(const bench_measured *rows, size_t count, bool markdown) {
  unsigned missed = 0;
  puts(markdown ? "| what | who | median | beside mend | goal "
                  "|\n|---|---|---:|---:|---|"
                : "what, in time an operation (median)");
  for (size_t i = 0; i < count; i++) {
    char time[32], beside[32];
    remarks said = {.len = 0};
    const bool first = i == 0 || strcmp(rows[i].row->what, rows[i - 1].row->what) != 0;
    format_time(time, sizeof time, rows[i].median);
    format_beside(beside, sizeof beside, &rows[i], rows, count);
    tell_goal(&said, &rows[i], &missed);
    tell_ratio(&said, &rows[i], rows, count, &missed);
    if (rows[i].row->note != NULL) remark(&said, "%s", rows[i].row->note);
    printf(markdown ? "| %s | %s | %s | %s | %s |\n" : "%-52s %-16s %14s %8s   %s\n", first ? rows[i].row->what : "",
           rows[i].row->who, time, beside, said.text);
  }
  return missed;
}

unsigned bench_print_sizes(const bench_size *sizes, size_t count, bool markdown) {
  unsigned missed = 0;
  puts(markdown ? "\n| memory | who | bytes | goal |\n|---|---|---:|---|" : "\nmemory, in bytes");
  for (size_t i = 0; i < count; i++) {
    char bytes[32] = "not installed", goal[64] = "";
    if (sizes[i].bytes > 0) snprintf(bytes, sizeof bytes, "%zu", sizes[i].bytes);
    if (sizes[i].goal > 0) {
      snprintf(goal, sizeof goal, "<= %zu %s", sizes[i].goal, verdict(sizes[i].bytes <= sizes[i].goal, &missed));
    }
    printf(markdown ? "| %s | %s | %s | %s |\n" : "%-52s %-16s %14s            %s\n", sizes[i].what, sizes[i].who,
           bytes, goal);
  }
  return missed;
}

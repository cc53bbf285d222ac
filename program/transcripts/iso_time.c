#include "program/transcripts/iso_time.h"

#include "core/text.h"
#include "mend/clock.h"

/* What is left to read. */
typedef struct cursor {
  mend_str rest;
  bool failed;
} cursor;

static char peek(const cursor *at) { return at->rest.len > 0 ? at->rest.ptr[0] : '\0'; }

static void step(cursor *at) { at->rest = (mend_str){at->rest.ptr + 1, at->rest.len - 1}; }

static bool accept(cursor *at, const char *any_of) {
  const char c = peek(at);
  if (c == '\0' || strchr(any_of, c) == NULL) return false;
  step(at);
  return true;
}

static void expect(cursor *at, const char *any_of) { at->failed |= !accept(at, any_of); }

static int64_t digits(cursor *at, int count, int64_t min, int64_t max) {
  int64_t value = 0;
  for (int i = 0; i < count; i++) {
    if (!mend__is_digit(peek(at))) {
      at->failed = true;
      return min;
    }
    value = value * 10 + (peek(at) - '0');
    step(at);
  }
  at->failed |= value < min || value > max;
  return value;
}

static int64_t decimals(cursor *at) {
  if (!accept(at, ".,")) return 0;
  at->failed |= !mend__is_digit(peek(at));
  int64_t ns = 0;
  int64_t unit = 100000000;
  for (; mend__is_digit(peek(at)); step(at)) {
    ns += (peek(at) - '0') * unit;
    unit /= 10;
  }
  return ns;
}

/* Seconds that local time is ahead of UTC. */
static int64_t zone(cursor *at) {
  if (at->rest.len == 0 || accept(at, "Zz")) return 0;
  const bool behind = peek(at) == '-';
  expect(at, "+-");
  int64_t seconds = digits(at, 2, 0, 23) * 3600;
  accept(at, ":");
  if (at->rest.len > 0) seconds += digits(at, 2, 0, 59) * 60;
  return behind ? -seconds : seconds;
}

static int64_t days_in_month(int64_t year, int64_t month) {
  static const int64_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return days[month - 1] + (month == 2 && leap);
}

/* Days from 1970-01-01. The year is made to begin in March, so that the leap day is its last. */
static int64_t days_from_date(int64_t year, int64_t month, int64_t day) {
  const int64_t march_year = month <= 2 ? year - 1 : year;
  const int64_t march_month = month <= 2 ? month + 9 : month - 3;
  const int64_t day_of_year = (153 * march_month + 2) / 5 + day - 1;
  return march_year * 365 + march_year / 4 - march_year / 100 + march_year / 400 + day_of_year - 719468;
}

bool iso_time_read(mend_str text, uint64_t *ret_ns) {
  cursor at = {.rest = text};
  const int64_t year = digits(&at, 4, 1970, 2262);
  expect(&at, "-");
  const int64_t month = digits(&at, 2, 1, 12);
  expect(&at, "-");
  const int64_t day = digits(&at, 2, 1, 31);
  expect(&at, "Tt ");
  int64_t seconds = digits(&at, 2, 0, 23) * 3600;
  expect(&at, ":");
  seconds += digits(&at, 2, 0, 59) * 60;
  if (accept(&at, ":")) seconds += digits(&at, 2, 0, 60);
  const int64_t ns = decimals(&at);
  seconds -= zone(&at);
  if (at.failed || at.rest.len > 0 || day > days_in_month(year, month)) return false;
  seconds += days_from_date(year, month, day) * 86400;
  if (seconds < 0 || (uint64_t)seconds >= INT64_MAX / MEND_SECOND_NS) return false;
  *ret_ns = (uint64_t)seconds * MEND_SECOND_NS + (uint64_t)ns;
  return true;
}

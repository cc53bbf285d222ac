#include "fallback/retry_after.h"

#include "core/text.h"
#include "fallback/breaker.h"
#include "fallback/json_fields.h"
#include "mend/clock.h"
#include "mend/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- Times ---- */

enum { TIME_MAX = 63 };

static double seconds_until(double wall_s, uint64_t wall_ns) {
  const double seconds = wall_s - (double)wall_ns / (double)MEND_SECOND_NS;
  return seconds > 0 ? seconds : 0;
}

static bool set_utc(struct tm *parts, double offset_s, uint64_t wall_ns, double *ret_seconds) {
  const time_t time = timegm(parts);
  if (time == (time_t)-1 || parts->tm_mon < 0) return false;
  *ret_seconds = seconds_until((double)time - offset_s, wall_ns);
  return true;
}

/* 2026-11-30T16:20:00.5+01:00, by the second. */
static bool read_rfc3339(const char *text, uint64_t wall_ns, double *ret_seconds) {
  struct tm parts = {0};
  int used = 0, hours = 0, minutes = 0;
  char separator, sign = 'Z';
  if (sscanf(text, "%4d-%2d-%2d%c%2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &separator,
             &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &used) < 7) {
    return false;
  }
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  text += used;
  if (*text == '.') text += 1 + strspn(text + 1, "0123456789");
  if (strchr("Zz", *text) == NULL && sscanf(text, "%c%2d:%2d", &sign, &hours, &minutes) < 3) return false;
  const double offset_s = (sign == '-' ? -60.0 : 60.0) * (hours * 60 + minutes);
  return set_utc(&parts, offset_s, wall_ns, ret_seconds);
}

/* Sun, 06 Nov 1994 08:49:37 GMT */
static bool read_http_date(const char *text, uint64_t wall_ns, double *ret_seconds) {
  static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  struct tm parts = {0};
  char month[4] = "";
  if (sscanf(text, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT", &parts.tm_mday, month, &parts.tm_year,
             &parts.tm_hour, &parts.tm_min, &parts.tm_sec) < 6) {
    return false;
  }
  const char *place = strlen(month) == 3 ? strstr(months, month) : NULL;
  parts.tm_mon = place != NULL && (place - months) % 3 == 0 ? (int)(place - months) / 3 : -1;
  parts.tm_year -= 1900;
  return parts.tm_mon >= 0 && set_utc(&parts, 0, wall_ns, ret_seconds);
}

/* ---- Durations ---- */

/* Takes digits with or without a fraction from the front. */
static bool take_number(mend_str *rest, double *ret_number) {
  size_t len = 0;
  while (len < rest->len && (mend__is_digit(rest->ptr[len]) || rest->ptr[len] == '.'))
    len++;
  const mend_str number = {rest->ptr, len};
  if (len == 0 || mend_json_check(number, 1, NULL) != MEND_OK) return false;
  *ret_number = mend_json_double(number);
  *rest = (mend_str){rest->ptr + len, rest->len - len};
  return true;
}

static bool take_unit(mend_str *rest, double *ret_seconds) {
  static const struct {
    const char *name;
    double seconds;
  } units[] = {{"ms", 1e-3}, {"us", 1e-6}, {"\u00b5s", 1e-6}, {"ns", 1e-9},
               {"s", 1},     {"m", 60},    {"h", 3600},       {"d", 86400}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    const mend_str name = mend_str_from(units[i].name);
    if (!mend__begins_with(*rest, name)) continue;
    *ret_seconds = units[i].seconds;
    *rest = (mend_str){rest->ptr + name.len, rest->len - name.len};
    return true;
  }
  return false;
}

/* Without a unit a number is seconds; one this large is a time since 1970, in seconds or milliseconds. */
static double read_bare(double number, uint64_t wall_ns) {
  if (number < 1e9) return number;
  return seconds_until(number < 1e12 ? number : number / 1000, wall_ns);
}

static bool read_duration(mend_str text, uint64_t wall_ns, double *ret_seconds) {
  double total = 0, number, unit;
  if (!take_number(&text, &number)) return false;
  if (text.len == 0) {
    *ret_seconds = read_bare(number, wall_ns);
    return true;
  }
  for (;;) {
    if (!take_unit(&text, &unit)) return false;
    total += number * unit;
    if (text.len == 0) break;
    if (!take_number(&text, &number)) return false;
  }
  *ret_seconds = total;
  return true;
}

bool mend__wait_read(mend_str given, uint64_t wall_ns, double *ret_seconds) {
  char text[TIME_MAX + 1] = "";
  const mend_str trimmed = mend__trim(given);
  if (trimmed.len == 0 || trimmed.len > TIME_MAX) return false;
  memcpy(text, trimmed.ptr, trimmed.len);
  return read_duration(trimmed, wall_ns, ret_seconds) || read_http_date(text, wall_ns, ret_seconds) ||
         read_rfc3339(text, wall_ns, ret_seconds);
}

/* ---- Where it is said ---- */

static bool read_header(const mend__http_head *head, const char *name, uint64_t wall_ns, double *ret_seconds) {
  const mend_str value = mend__http_find(head, name);
  return value.ptr != NULL && mend__wait_read(value, wall_ns, ret_seconds);
}

/* Puts the name of the header that says how much is left of the limit whose reset `name` says; false for another
 * header. */
static bool remaining_of(mend_str name, char ret_name[TIME_MAX + 1]) {
  const mend_str begin = MEND_STR("x-ratelimit-reset"), anthropic = MEND_STR("anthropic-ratelimit-");
  const mend_str end = MEND_STR("-reset");
  if (name.len > begin.len + 24) return false;
  if (mend__begins_in_any_case(name, begin)) {
    snprintf(ret_name, TIME_MAX + 1, "x-ratelimit-remaining%.*s", (int)(name.len - begin.len), name.ptr + begin.len);
    return true;
  }
  if (name.len <= anthropic.len + end.len || !mend__begins_in_any_case(name, anthropic)) return false;
  const size_t len = name.len - end.len;
  if (!mend__begins_in_any_case((mend_str){name.ptr + len, end.len}, end)) return false;
  snprintf(ret_name, TIME_MAX + 1, "%.*s-remaining", (int)len, name.ptr);
  return true;
}

/* The longest wait, of limits that are used up where any is. */
static bool read_limits(const mend__http_head *head, uint64_t wall_ns, double *ret_seconds) {
  double longest = -1, longest_used_up = -1, seconds;
  char remaining[TIME_MAX + 1];
  for (size_t i = 0; i < head->header_count; i++) {
    if (!remaining_of(head->headers[i].name, remaining)) continue;
    if (!mend__wait_read(head->headers[i].value, wall_ns, &seconds)) continue;
    const bool used_up = mend_str_equal(mend__http_find(head, remaining), MEND_STR("0"));
    if (seconds > longest) longest = seconds;
    if (used_up && seconds > longest_used_up) longest_used_up = seconds;
  }
  *ret_seconds = longest_used_up >= 0 ? longest_used_up : longest;
  return *ret_seconds >= 0;
}

static double bounded(double seconds) { return seconds < MEND__COOL_DOWN_MAX_S ? seconds : MEND__COOL_DOWN_MAX_S; }

double mend__retry_after_of_head(const mend__http_head *head, uint64_t wall_ns) {
  double seconds;
  if (read_header(head, "retry-after-ms", wall_ns, &seconds)) return bounded(seconds / 1000);
  if (read_header(head, "retry-after", wall_ns, &seconds)) return bounded(seconds);
  if (head->status == 429 && read_limits(head, wall_ns, &seconds)) return bounded(seconds);
  return MEND_NAN;
}

double mend__retry_after_of_body(mend_str body) {
  double seconds;
  mend_str detail;
  mend__json_items details = mend__json_items_of(mend__json_find(mend__json_first(body), "error", "details", NULL));
  while (mend__json_items_next(&details, &detail)) {
    const mend_str delay = mend__json_inside(mend__json_find(detail, "retryDelay", NULL));
    if (delay.ptr != NULL && read_duration(delay, 0, &seconds)) return bounded(seconds);
  }
  return MEND_NAN;
}

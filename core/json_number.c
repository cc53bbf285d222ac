#include "core/text.h"
#include "mend/clock.h"
#include "mend/json.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A number taken apart: 0.d1d2d3... times 10^point, where d1 is not 0; zero has no digits. */
typedef struct decimal {
  const char *next, *end; /* the digits that are left, with the decimal point among them */
  int64_t point;
  bool negative;
} decimal;

/* Saturates far beyond what the digits of any text could outweigh. */
static int64_t read_exponent(const char *text, const char *end) {
  if (text == end) return 0;
  text++; /* the e */
  bool negative = text < end && *text == '-';
  if (text < end && !mend__is_digit(*text)) text++;
  int64_t exponent = 0;
  for (; text < end; text++) {
    if (exponent < INT64_C(1000000000000000)) exponent = exponent * 10 + (*text - '0');
  }
  return negative ? -exponent : exponent;
}

static decimal read_decimal(mend_str number) {
  const char *begin = number.ptr, *end = number.ptr + number.len;
  bool negative = begin < end && *begin == '-';
  if (negative) begin++;
  const char *exponent = begin;
  while (exponent < end && *exponent != 'e' && *exponent != 'E')
    exponent++;
  const char *dot = begin;
  while (dot < exponent && *dot != '.')
    dot++;
  const char *first = begin;
  while (first < exponent && (*first == '0' || *first == '.'))
    first++;
  int64_t point = first < dot ? dot - first : dot + 1 - first;
  return (decimal){first, exponent, point + read_exponent(exponent, end), negative};
}

/* The next digit, or -1 when there is none left. */
static int take_digit(decimal *rest) {
  if (rest->next < rest->end && *rest->next == '.') rest->next++;
  return rest->next < rest->end ? *rest->next++ - '0' : -1;
}

/* Beyond this many digits only whether any other follows matters to how a double is rounded (767 are needed). */
#define DIGITS_THAT_MATTER 768

/* strtod is exact; given digits and exponent without a decimal point it is independent of the locale, too. */
static double by_strtod(decimal rest) {
  char text[DIGITS_THAT_MATTER + 32];
  int64_t count = 0;
  int digit;
  while (count < DIGITS_THAT_MATTER && (digit = take_digit(&rest)) >= 0)
    text[count++] = (char)('0' + digit);
  bool more = false;
  while (!more && (digit = take_digit(&rest)) >= 0)
    more = digit != 0;
  if (more) text[count++] = '1';
  int64_t exponent = rest.point - count;
  if (exponent > 9999) exponent = 9999;
  if (exponent < -9999) exponent = -9999;
  snprintf(text + count, sizeof text - (size_t)count, "e%" PRId64, exponent);
  return strtod(text, NULL);
}

/* Up to 2^53 and 10^22 both are doubles, so that one multiplication or division rounds once: correctly. */
static bool is_exact_in_one_step(uint64_t mantissa, int64_t exponent) {
  return FLT_EVAL_METHOD == 0 && mantissa <= UINT64_C(1) << 53 && exponent >= -22 && exponent <= 22;
}

/* A number without a sign whose digits fit into 64 bits, as a whole number and the power of ten to multiply it with. */
static bool read_scaled(mend_str number, uint64_t *ret_mantissa, int64_t *ret_exponent) {
  enum { DIGITS_MAX = 19 };
  const char *place = number.ptr, *end = place + number.len, *dot = NULL;
  uint64_t mantissa = 0;
  if (number.len > DIGITS_MAX) return false;
  for (; place < end && (mend__is_digit(*place) || *place == '.'); place++) {
    if (*place == '.') {
      dot = place;
    } else {
      mantissa = mantissa * 10 + (uint64_t)(*place - '0');
    }
  }
  *ret_mantissa = mantissa;
  *ret_exponent = (dot != NULL ? dot + 1 - place : 0) + read_exponent(place, end);
  return true;
}

static double magnitude(mend_str number) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  uint64_t mantissa;
  int64_t exponent;
  if (!read_scaled(number, &mantissa, &exponent) || !is_exact_in_one_step(mantissa, exponent))
    return by_strtod(read_decimal(number));
  return exponent < 0 ? (double)mantissa / powers[-exponent] : (double)mantissa * powers[exponent];
}

double mend_json_double(mend_str number) {
  const bool negative = number.len > 0 && number.ptr[0] == '-';
  if (!negative) return magnitude(number);
  return -magnitude((mend_str){number.ptr + 1, number.len - 1});
}

static const uint64_t SECONDS_MAX_NS = UINT64_C(1) << 63;

static bool is_integer(mend_str digits) {
  for (size_t i = 0; i < digits.len; i++) {
    if (!mend__is_digit(digits.ptr[i])) return false;
  }
  return digits.len > 0;
}

static mend_status read_integer(mend_str number, bool *ret_negative, uint64_t *ret_magnitude) {
  bool negative = number.len > 0 && number.ptr[0] == '-';
  mend_str digits = negative ? (mend_str){number.ptr + 1, number.len - 1} : number;
  if (!is_integer(digits)) return MEND_EINVAL;
  uint64_t value = 0;
  for (size_t i = 0; i < digits.len; i++) {
    if (__builtin_mul_overflow(value, 10, &value)) return MEND_ELIMIT;
    if (__builtin_add_overflow(value, (uint64_t)(digits.ptr[i] - '0'), &value)) return MEND_ELIMIT;
  }
  *ret_negative = negative;
  *ret_magnitude = value;
  return MEND_OK;
}

mend_status mend_json_int64(mend_str number, int64_t *ret_value) {
  bool negative;
  uint64_t value;
  mend_status status = read_integer(number, &negative, &value);
  if (status != MEND_OK) return status;
  if (value > (uint64_t)INT64_MAX + negative) return MEND_ELIMIT;
  *ret_value = negative ? (int64_t)(0 - value) : (int64_t)value;
  return MEND_OK;
}

mend_status mend_json_uint64(mend_str number, uint64_t *ret_value) {
  bool negative;
  uint64_t value;
  mend_status status = read_integer(number, &negative, &value);
  if (status != MEND_OK) return status;
  if (negative && value != 0) return MEND_ELIMIT;
  *ret_value = value;
  return MEND_OK;
}

/* Seconds as clocks write them, up to ten digits with or without a fraction: 1796029200.25. */
static bool read_plain_seconds(mend_str number, uint64_t *ret_ns) {
  enum { WHOLE_DIGITS_MAX = 10 };
  uint64_t ns = 0, unit = MEND_SECOND_NS;
  size_t at = 0;
  for (; at < number.len && mend__is_digit(number.ptr[at]); at++)
    ns = ns * 10 + (uint64_t)(number.ptr[at] - '0');
  if (at == 0 || at > WHOLE_DIGITS_MAX) return false;
  ns *= unit;
  if (at < number.len && number.ptr[at] == '.') at++;
  for (; at < number.len && mend__is_digit(number.ptr[at]); at++) {
    unit /= 10;
    ns += unit * (uint64_t)(number.ptr[at] - '0');
  }
  if (at < number.len || ns > SECONDS_MAX_NS) return false;
  *ret_ns = ns;
  return true;
}

mend_status mend_json_seconds_ns(mend_str number, uint64_t *ret_ns) {
  if (read_plain_seconds(number, ret_ns)) return MEND_OK;
  decimal rest = read_decimal(number);
  bool zero = rest.next == rest.end;
  if (rest.negative && !zero) return MEND_ELIMIT;
  uint64_t ns = 0;
  for (int64_t digits = zero ? 0 : rest.point + 9; digits > 0; digits--) {
    int digit = take_digit(&rest);
    uint64_t units = digit > 0 ? (uint64_t)digit : 0;
    if (__builtin_mul_overflow(ns, 10, &ns) || ns > SECONDS_MAX_NS - units) return MEND_ELIMIT;
    ns += units;
  }
  *ret_ns = ns;
  return MEND_OK;
}

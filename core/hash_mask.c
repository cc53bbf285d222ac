/* What volatile values look like: times and ids that a program makes up anew for each call. */
#include "core/hash_internal.h"
#include "core/text.h"

/* ---- Taking a text apart ---- */

static bool take_any(mend_str *rest, const char *characters) {
  if (rest->len == 0 || rest->ptr[0] == '\0' || strchr(characters, rest->ptr[0]) == NULL) return false;
  rest->ptr++;
  rest->len--;
  return true;
}

static size_t take_digits(mend_str *rest, size_t most) {
  size_t count = 0;
  while (count < most && count < rest->len && mend__is_digit(rest->ptr[count]))
    count++;
  rest->ptr += count;
  rest->len -= count;
  return count;
}

/* Two digits with a value from `low` to `high`. */
static bool take_pair(mend_str *rest, int low, int high) {
  const char *pair = rest->ptr;
  if (take_digits(rest, 2) != 2) return false;
  int value = (pair[0] - '0') * 10 + (pair[1] - '0');
  return value >= low && value <= high;
}

/* ---- ISO 8601 ---- */

/* Z, or hours and minutes with a sign, which may follow a blank as in git's dates; or nothing. */
static bool take_zone(mend_str *rest) {
  if (rest->len == 0 || take_any(rest, "Zz")) return true;
  take_any(rest, " ");
  if (!take_any(rest, "+-") || !take_pair(rest, 0, 23)) return false;
  if (rest->len == 0) return true;
  take_any(rest, ":");
  return take_pair(rest, 0, 59);
}

/* In the extended format (2026-11-30T15:37:48.25Z, also with a blank for the T) or the basic one (20261130T153748Z), to
 * the minute at least. */
static bool is_time(mend_str rest) {
  if (take_digits(&rest, 4) != 4) return false;
  const bool extended = take_any(&rest, "-");
  if (!take_pair(&rest, 1, 12) || take_any(&rest, "-") != extended || !take_pair(&rest, 1, 31)) return false;
  if (!take_any(&rest, extended ? "Tt " : "Tt") || !take_pair(&rest, 0, 24)) return false;
  if (take_any(&rest, ":") != extended || !take_pair(&rest, 0, 59)) return false;
  const bool seconds = extended ? take_any(&rest, ":") : rest.len > 0 && mend__is_digit(rest.ptr[0]);
  if (seconds) {
    if (!take_pair(&rest, 0, 60)) return false;
    if (take_any(&rest, ".,") && take_digits(&rest, SIZE_MAX) == 0) return false;
  }
  return take_zone(&rest) && rest.len == 0;
}

/* ---- UUIDs and epochs ---- */

static bool is_uuid(mend_str text) {
  if (text.len != 36) return false;
  for (size_t i = 0; i < text.len; i++) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text.ptr[i] != '-' : mend__hex_value(text.ptr[i]) < 0) return false;
  }
  return true;
}

mend__mask mend__mask_of_number(double value) {
  const double first = 978307200, end = 4133980800; /* 2001-01-01 and 2101-01-01 in seconds */
  static const double units[] = {1, 1e3, 1e6, 1e9};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (value >= first * units[i] && value < end * units[i]) return MEND__MASK_EPOCH;
  }
  return MEND__MASK_NONE;
}

enum { EPOCH_DIGITS_MIN = 9, EPOCH_DIGITS_MAX = 19 };

static mend__mask mask_of_digits(mend_str text) {
  mend_str rest = text;
  if (text.len < EPOCH_DIGITS_MIN || text.len > EPOCH_DIGITS_MAX || text.ptr[0] == '0') return MEND__MASK_NONE;
  if (take_digits(&rest, SIZE_MAX) != text.len) return MEND__MASK_NONE;
  return mend__mask_of_number(mend_json_double(text));
}

mend__mask mend__mask_of_string(mend_str text) {
  if (text.len < EPOCH_DIGITS_MIN || mend__hex_value(text.ptr[0]) < 0) return MEND__MASK_NONE;
  if (is_uuid(text)) return MEND__MASK_UUID;
  if (is_time(text)) return MEND__MASK_TIME;
  return mask_of_digits(text);
}

/* ---- Where none of them is masked ---- */

/* Also next_cursor, pageToken and the like: masking a value that tells calls apart does more harm than keeping one that
 * does not. */
bool mend__name_keeps_values(mend_str name) {
  static const char *const words[] = {"cursor", "page", "offset", "path", "query"};
  for (; name.len > 0; name.ptr++, name.len--) {
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
      if (mend__begins_in_any_case(name, mend_str_from(words[i]))) return true;
    }
  }
  return false;
}

/* Times, durations and numbers in texts: how long they are, and which durations tell nothing. */
#include "watchdogs/evidence_loop_time.h"

/* ---- Times ---- */

/* 10:00:11, with a fraction. */
static size_t clock_len(mend_str text) {
  if (mend__count_digits(text, 0) != 2 || mend__char_at(text, 2) != ':' || mend__count_digits(text, 3) != 2) return 0;
  if (mend__char_at(text, 5) != ':' || mend__count_digits(text, 6) != 2) return 0;
  const bool has_fraction =
      (mend__char_at(text, 8) == '.' || mend__char_at(text, 8) == ',') && mend__is_digit(mend__char_at(text, 9));
  return has_fraction ? 9 + mend__count_digits(text, 9) : 8;
}

/* Z, +02:00, also behind a blank. */
static size_t zone_len(mend_str text) {
  const size_t blank = mend__char_at(text, 0) == ' ';
  if (blank == 0 && (mend__char_at(text, 0) | 0x20) == 'z') return 1;
  if (mend__char_at(text, blank) != '+' && mend__char_at(text, blank) != '-') return 0;
  if (mend__count_digits(text, blank + 1) == 4) return blank + 5;
  const bool is_apart = mend__count_digits(text, blank + 1) == 2 && mend__char_at(text, blank + 3) == ':';
  return is_apart && mend__count_digits(text, blank + 4) == 2 ? blank + 6 : 0;
}

/* Most numbers are told from a time by the character behind them. */
static bool may_be_time(mend_str text) {
  const size_t digits = mend__count_digits(text, 0);
  const char behind = mend__char_at(text, digits);
  return (digits == 2 && behind == ':') || (digits == 4 && behind == '-') || (digits == 8 && behind == 'T');
}

/* A time of day with or without its date; a date alone is none: agents page through days. */
size_t mend__time_len(mend_str text) {
  size_t len = 0;
  if (!may_be_time(text)) return 0;
  if (mend__count_digits(text, 0) == 8 && mend__char_at(text, 8) == 'T' && mend__count_digits(text, 9) == 6) {
    len = 15;
  } else {
    size_t date = 0;
    if (mend__count_digits(text, 0) == 4 && mend__char_at(text, 4) == '-' && mend__count_digits(text, 5) == 2 &&
        mend__char_at(text, 7) == '-' && mend__count_digits(text, 8) == 2 &&
        (mend__char_at(text, 10) == 'T' || mend__char_at(text, 10) == ' ')) {
      date = 11;
    }
    const size_t clock = clock_len(mend__text_from(text, date));
    if (clock == 0) return 0;
    len = date + clock;
  }
  return len + zone_len(mend__text_from(text, len));
}

/* ---- Durations: 12ms, 1.5 s, 2 minutes, 1m30s ---- */

static size_t unit_len(mend_str text) {
  static const mend_str apart[] = {
      MEND__TEXT("ms"),     MEND__TEXT("us"),      MEND__TEXT("ns"),    MEND__TEXT("sec"),
      MEND__TEXT("secs"),   MEND__TEXT("second"),  MEND__TEXT("min"),   MEND__TEXT("mins"),
      MEND__TEXT("minute"), MEND__TEXT("minutes"), MEND__TEXT("hr"),    MEND__TEXT("hrs"),
      MEND__TEXT("s"),      MEND__TEXT("hour"),    MEND__TEXT("hours"), MEND__TEXT("seconds")};
  const size_t blank = mend__char_at(text, 0) == ' ';
  const mend_str rest = mend__text_from(text, blank < text.len ? blank : text.len);
  size_t len = 0;
  if (!mend__begins_unit(mend__char_at(rest, 0))) return 0;
  while (mend__is_word(mend__char_at(rest, len)) && !mend__is_digit(mend__char_at(rest, len)))
    len++;
  if (blank == 0 && len == 1)
    return mend__char_at(rest, 0) == 's' || mend__char_at(rest, 0) == 'm' || mend__char_at(rest, 0) == 'h';
  for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
    if (mend_str_equal((mend_str){rest.ptr, len}, apart[i])) return blank + len;
  }
  return 0;
}

size_t mend__number_len(mend_str text) {
  size_t len = mend__count_digits(text, 0);
  if (len > 0 && mend__char_at(text, len) == '.' && mend__is_digit(mend__char_at(text, len + 1)))
    len += 1 + mend__count_digits(text, len + 1);
  return len;
}

size_t mend__duration_len(mend_str text) {
  size_t len = 0;
  for (size_t number; (number = mend__number_len(mend__text_from(text, len))) > 0;) {
    const size_t unit = unit_len(mend__text_from(text, len + number));
    if (unit == 0) return 0;
    len += number + unit;
  }
  return len > 0 && !mend__is_word(mend__char_at(text, len)) ? len : 0;
}

/* ---- Which durations nobody asked for ---- */

bool mend__is_listed(mend_str word, const mend_str *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    size_t same = 0;
    while (word.len == list[i].len && same < word.len && mend__lower(word.ptr[same]) == list[i].ptr[same])
      same++;
    if (same == list[i].len) return true;
  }
  return false;
}

#define IS_LISTED(word, list) mend__is_listed(word, list, sizeof list / sizeof *(list))

static bool is_between(char c) {
  return c == ' ' || c == '\t' || c == ':' || c == '=' || c == '"' || c == '\\' || c == '~' || c == '<';
}

static mend_str word_before(mend_str text, size_t place) {
  enum { SIGNS_MAX = 6, LONGEST = 12 };
  size_t end = place;
  while (end > 0 && place - end < SIGNS_MAX && is_between(text.ptr[end - 1]))
    end--;
  size_t begin = end;
  while (begin > 0 && end - begin <= LONGEST && mend__is_word(text.ptr[begin - 1]))
    begin--;
  return (mend_str){text.ptr + begin, end < place ? end - begin : 0};
}

static mend_str word_behind(mend_str text) {
  size_t begin = 0, len = 0;
  while (mend__char_at(text, begin) == ' ')
    begin++;
  while (mend__is_word(mend__char_at(text, begin + len)))
    len++;
  return (mend_str){text.ptr + begin, len};
}

/* In a column of its own, as in "ok  pkg  0.01s" and "Passed    0.02 sec"; longer units are of measurements. */
static bool is_column(mend_str text, size_t place, size_t len) {
  if (place < 2) return false;
  const char last = text.ptr[place - 1], before = text.ptr[place - 2];
  const bool is_tab = last == '\t' || (before == '\\' && last == 't');
  if (!is_tab && !(last == ' ' && before == ' ')) return false;
  const bool is_letter = len > 1 && mend__is_digit(text.ptr[place + len - 2]);
  return is_letter || (len > 4 && memcmp(text.ptr + place + len - 4, " sec", 4) == 0);
}

bool mend__is_incidental(mend_str text, size_t place, size_t len) {
  static const mend_str before[] = {
      MEND__TEXT("in"),     MEND__TEXT("took"),     MEND__TEXT("after"),  MEND__TEXT("elapsed"), MEND__TEXT("time"),
      MEND__TEXT("real"),   MEND__TEXT("user"),     MEND__TEXT("sys"),    MEND__TEXT("up"),      MEND__TEXT("for"),
      MEND__TEXT("within"), MEND__TEXT("duration"), MEND__TEXT("waited"), MEND__TEXT("uptime"),  MEND__TEXT("age")};
  static const mend_str behind[] = {MEND__TEXT("ago"),     MEND__TEXT("elapsed"), MEND__TEXT("user"),
                                    MEND__TEXT("system"),  MEND__TEXT("call"),    MEND__TEXT("setup"),
                                    MEND__TEXT("teardown")};
  const mend_str rest = mend__text_from(text, place + len);
  if (mend__char_at(rest, 0) == '/') return false;
  if (place > 0 && (text.ptr[place - 1] == '(' || text.ptr[place - 1] == '[')) return true;
  if (is_column(text, place, len)) return true;
  const mend_str earlier = word_before(text, place), later = word_behind(rest);
  return IS_LISTED(earlier, before) || IS_LISTED(later, behind);
}

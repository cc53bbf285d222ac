/* Texts without what changes with every call. Each volatile word becomes a 1: a digit, so that JSON stays JSON. */
#include "watchdogs/evidence_loop_text.h"
#include "watchdogs/numbered_words.h"

/* Longer texts are masked at their beginning; of arrays and objects that are longer nothing is. */
enum { MASKED_MAX = 8192 };

/* A mend_str in a table. */
#define TEXT(literal)                                                                                                  \
  { literal, sizeof literal - 1 }

static char at(mend_str text, size_t place) { return place < text.len ? text.ptr[place] : '\0'; }

static size_t count_digits(mend_str text, size_t from) {
  size_t count = 0;
  while (mend__is_digit(at(text, from + count)))
    count++;
  return count;
}

static size_t word_len(mend_str text) {
  size_t len = 0;
  while (mend__is_word(at(text, len)))
    len++;
  return len;
}

static mend_str from(mend_str text, size_t place) { return (mend_str){text.ptr + place, text.len - place}; }

/* Each of the next functions: the length of what it is about at the beginning of a text, 0 when it is not there. */

/* ---- Times ---- */

/* 10:00:11, with a fraction. */
static size_t clock_len(mend_str text) {
  if (count_digits(text, 0) != 2 || at(text, 2) != ':' || count_digits(text, 3) != 2) return 0;
  if (at(text, 5) != ':' || count_digits(text, 6) != 2) return 0;
  const bool has_fraction = (at(text, 8) == '.' || at(text, 8) == ',') && mend__is_digit(at(text, 9));
  return has_fraction ? 9 + count_digits(text, 9) : 8;
}

/* Z, +02:00, also behind a blank. */
static size_t zone_len(mend_str text) {
  const size_t blank = at(text, 0) == ' ';
  if (blank == 0 && (at(text, 0) | 0x20) == 'z') return 1;
  if (at(text, blank) != '+' && at(text, blank) != '-') return 0;
  if (count_digits(text, blank + 1) == 4) return blank + 5;
  const bool is_apart = count_digits(text, blank + 1) == 2 && at(text, blank + 3) == ':';
  return is_apart && count_digits(text, blank + 4) == 2 ? blank + 6 : 0;
}

/* Most numbers are told from a time by the character behind them. */
static bool may_be_time(mend_str text) {
  const size_t digits = count_digits(text, 0);
  const char behind = at(text, digits);
  return (digits == 2 && behind == ':') || (digits == 4 && behind == '-') || (digits == 8 && behind == 'T');
}

/* A time of day with or without its date; a date alone is none: agents page through days. */
static size_t time_len(mend_str text) {
  size_t len = 0;
  if (!may_be_time(text)) return 0;
  if (count_digits(text, 0) == 8 && at(text, 8) == 'T' && count_digits(text, 9) == 6) {
    len = 15;
  } else {
    size_t date = 0;
    if (count_digits(text, 0) == 4 && at(text, 4) == '-' && count_digits(text, 5) == 2 && at(text, 7) == '-' &&
        count_digits(text, 8) == 2 && (at(text, 10) == 'T' || at(text, 10) == ' ')) {
      date = 11;
    }
    const size_t clock = clock_len(from(text, date));
    if (clock == 0) return 0;
    len = date + clock;
  }
  return len + zone_len(from(text, len));
}

/* ---- Durations: 12ms, 1.5 s, 2 minutes, 1m30s ---- */

static bool begins_unit(char c) { return c == 'h' || c == 'm' || c == 'n' || c == 's' || c == 'u'; }

static size_t unit_len(mend_str text) {
  static const mend_str apart[] = {TEXT("ms"),     TEXT("us"),      TEXT("ns"),    TEXT("sec"),
                                   TEXT("secs"),   TEXT("second"),  TEXT("min"),   TEXT("mins"),
                                   TEXT("minute"), TEXT("minutes"), TEXT("hr"),    TEXT("hrs"),
                                   TEXT("s"),      TEXT("hour"),    TEXT("hours"), TEXT("seconds")};
  const size_t blank = at(text, 0) == ' ';
  const mend_str rest = from(text, blank < text.len ? blank : text.len);
  size_t len = 0;
  if (!begins_unit(at(rest, 0))) return 0;
  while (mend__is_word(at(rest, len)) && !mend__is_digit(at(rest, len)))
    len++;
  if (blank == 0 && len == 1) return at(rest, 0) == 's' || at(rest, 0) == 'm' || at(rest, 0) == 'h';
  for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
    if (mend_str_equal((mend_str){rest.ptr, len}, apart[i])) return blank + len;
  }
  return 0;
}

static size_t number_len(mend_str text) {
  size_t len = count_digits(text, 0);
  if (len > 0 && at(text, len) == '.' && mend__is_digit(at(text, len + 1))) len += 1 + count_digits(text, len + 1);
  return len;
}

static size_t duration_len(mend_str text) {
  size_t len = 0;
  for (size_t number; (number = number_len(from(text, len))) > 0;) {
    const size_t unit = unit_len(from(text, len + number));
    if (unit == 0) return 0;
    len += number + unit;
  }
  return len > 0 && !mend__is_word(at(text, len)) ? len : 0;
}

/* ---- Ids ---- */

static size_t hex_digits(mend_str text, size_t most) {
  size_t count = 0;
  while (count < most && mend__hex_value(at(text, count)) >= 0)
    count++;
  return count;
}

static size_t uuid_len(mend_str text) {
  static const size_t parts[] = {8, 4, 4, 4, 12};
  size_t len = 0;
  if (at(text, parts[0]) != '-') return 0;
  for (size_t i = 0; i < 5; i++) {
    if (i > 0 && at(text, len++) != '-') return 0;
    if (len > text.len || hex_digits(from(text, len), parts[i] + 1) != parts[i]) return 0;
    len += parts[i];
  }
  return mend__is_word(at(text, len)) ? 0 : len;
}

/* 0x and 6 digits or more, or 16 or more of which one is a letter and one is not. */
static size_t hex_len(mend_str text) {
  enum { ADDRESS_DIGITS = 6, LONG_DIGITS = 16 };
  const size_t len = word_len(text);
  if (len > 2 && text.ptr[0] == '0' && text.ptr[1] == 'x') {
    const bool is_hex = hex_digits(from(text, 2), len) == len - 2;
    return is_hex && len - 2 >= ADDRESS_DIGITS ? len : 0;
  }
  if (len < LONG_DIGITS || hex_digits(text, len) != len) return 0;
  size_t digits = 0;
  for (size_t i = 0; i < len; i++)
    digits += mend__is_digit(text.ptr[i]);
  return digits > 0 && digits < len ? len : 0;
}

static size_t volatile_len(mend_str text) {
  const bool is_digit = mend__is_digit(text.ptr[0]);
  size_t len = is_digit ? time_len(text) : 0;
  if (len == 0 && is_digit) len = duration_len(text);
  if (len == 0) len = uuid_len(text);
  return len > 0 ? len : hex_len(text);
}

/* ---- Numbers behind a name ---- */

static bool announces_number(mend_str word) {
  static const mend_str names[] = {TEXT("pid"),       TEXT("attempt"),    TEXT("attempts"),    TEXT("retry"),
                                   TEXT("retries"),   TEXT("try"),        TEXT("elapsed"),     TEXT("duration"),
                                   TEXT("took"),      TEXT("elapsed_ms"), TEXT("duration_ms"), TEXT("duration_s"),
                                   TEXT("timestamp"), TEXT("elapsed_s"),  TEXT("took_ms")};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t same = 0;
    while (word.len == names[i].len && same < word.len && mend__lower(word.ptr[same]) == names[i].ptr[same])
      same++;
    if (same == names[i].len) return true;
  }
  return false;
}

static bool is_sign(char c) {
  return c == ' ' || c == '\t' || c == ':' || c == '=' || c == '#' || c == '(' || c == '"' || c == '\\';
}

/* Whether such a name stands before what begins here, at most a few signs away: "pid 7", "pid=7", "attempt #7",
 * "pid": 7. */
static bool is_announced(mend_str text, size_t place) {
  enum { SIGNS_MAX = 4, LONGEST = 11 };
  size_t end = place;
  while (end > 0 && place - end < SIGNS_MAX && is_sign(text.ptr[end - 1]))
    end--;
  size_t begin = end;
  while (begin > 0 && end - begin <= LONGEST && mend__is_word(text.ptr[begin - 1]))
    begin--;
  return end < place && begin < end && announces_number((mend_str){text.ptr + begin, end - begin});
}

static size_t announced_len(mend_str text) {
  const size_t duration = duration_len(text);
  return duration > 0 ? duration : number_len(text);
}

/* ---- Copying: what is volatile has a digit, so only words with digits are looked at ---- */

/* Where the word begins that has a digit at `place`. The letter of an escape before it is not of the word: \n10:00. */
static size_t word_begin(mend_str text, size_t from_place, size_t place) {
  size_t begin = place;
  while (begin > from_place && mend__is_word(text.ptr[begin - 1]))
    begin--;
  if (begin > from_place && text.ptr[begin - 1] == '\\') begin += text.ptr[begin] == 'u' ? 5 : 1;
  return begin;
}

/* The first part of a UUID may have letters only. */
static size_t uuid_begin(mend_str text, size_t from_place, size_t begin) {
  enum { FIRST_PART = 9 };
  const bool may_be = begin >= from_place + FIRST_PART && text.ptr[begin - 1] == '-';
  return may_be && uuid_len(from(text, begin - FIRST_PART)) > 0 ? begin - FIRST_PART : begin;
}

typedef struct mask_copy {
  mend_str text;
  size_t done; /* so much of it is copied, or masked */
  char *to;
} mask_copy;

static void mask(mask_copy *copy, size_t begin, size_t len) {
  memcpy(copy->to, copy->text.ptr + copy->done, begin - copy->done);
  copy->to += begin - copy->done;
  *copy->to++ = '1';
  copy->done = begin + len;
}

/* The digit at `place`; returns where to look on. */
static size_t take_digit(mask_copy *copy, size_t place) {
  const mend_str text = copy->text;
  size_t begin = word_begin(text, copy->done, place);
  if (begin > place) return begin;
  begin = uuid_begin(text, copy->done, begin);
  size_t len = mend__hex_value(text.ptr[begin]) >= 0 ? volatile_len(from(text, begin)) : 0;
  if (len == 0 && begin == place && is_announced(text, begin)) len = announced_len(from(text, begin));
  if (len == 0) return place + word_len(from(text, place));
  mask(copy, begin, len);
  return copy->done;
}

/* The digit at `place`, and what its word has left behind it when a part of that was masked. */
static size_t take_word(mask_copy *copy, size_t place) {
  const mend_str text = copy->text;
  place = take_digit(copy, place);
  while (place < text.len && mend__is_word(text.ptr[place]))
    place = mend__is_digit(text.ptr[place]) ? take_digit(copy, place) : place + 1;
  return place;
}

/* In `room`, which is as long as the text, unless there is nothing to mask. */
static mend_str without_volatile(mend_str text, char *room) {
  mask_copy copy = {text, 0, room};
  size_t next = 0;
  bool may_go_on = false;
  for (size_t block = 0; block < text.len; block += MEND__WORDS_BLOCK) {
    for (uint64_t found = mend__numbered_words(text, block, &may_go_on); found != 0; found &= found - 1) {
      const size_t place = block + (size_t)__builtin_ctzll(found);
      if (place >= next) next = take_word(&copy, place);
    }
  }
  if (copy.done == 0) return text;
  memcpy(copy.to, text.ptr + copy.done, text.len - copy.done);
  return (mend_str){room, (size_t)(copy.to - room) + text.len - copy.done};
}

/* ---- Hashes ---- */

mend_hash mend__masked_text_hash(mend_str text) {
  char room[MASKED_MAX];
  const mend_str head = {text.ptr, text.len < MASKED_MAX ? text.len : MASKED_MAX};
  mend_hash hash = mend_hash_bytes(without_volatile(head, room));
  if (head.len < text.len) {
    const mend_hash rest = mend_hash_bytes(from(text, head.len));
    hash = (mend_hash){hash.hi + 3 * rest.hi, hash.lo + 3 * rest.lo + 1};
  }
  return hash;
}

static mend_hash structured_hash(mend_str json) {
  char room[MASKED_MAX];
  uint64_t scratch[2048];
  mend_loose_hash_options options = MEND_LOOSE_HASH_OPTIONS_INIT;
  options.mask_volatile = false; /* counters that have the size of an epoch are progress */
  if (json.len <= sizeof room) json = without_volatile(json, room);
  return mend_json_hash_loose(json, &options, scratch, sizeof scratch).hash;
}

/* An array or object, or a string of one. */
static bool is_structured(mend_str json) {
  if (json.len > 1 && json.ptr[0] == '"') json = mend__skip_blanks((mend_str){json.ptr + 1, json.len - 1});
  return json.len > 0 && (json.ptr[0] == '{' || json.ptr[0] == '[');
}

mend_hash mend__masked_json_hash(mend_str json) {
  json = mend__trim(json);
  return is_structured(json) ? structured_hash(json) : mend__masked_text_hash(json);
}

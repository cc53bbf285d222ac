/* Texts without what changes with every call. Each volatile word becomes a 1: a digit, so that JSON stays JSON. */
#include "watchdogs/evidence_loop_text.h"
#include "watchdogs/evidence_loop_time.h"

/* Longer texts are masked at their beginning; of arrays and objects that are longer nothing is. */
enum { MASKED_MAX = 8192 };

static size_t word_len(mend_str text) {
  size_t len = 0;
  while (mend__is_word(mend__char_at(text, len)))
    len++;
  return len;
}

/* Each of the next functions: the length of what it is about at the beginning of a text, 0 when it is not there. */

/* ---- Ids ---- */

static size_t hex_digits(mend_str text, size_t most) {
  size_t count = 0;
  while (count < most && mend__hex_value(mend__char_at(text, count)) >= 0)
    count++;
  return count;
}

static size_t uuid_len(mend_str text) {
  static const size_t parts[] = {8, 4, 4, 4, 12};
  size_t len = 0;
  if (mend__char_at(text, parts[0]) != '-') return 0;
  for (size_t i = 0; i < 5; i++) {
    if (i > 0 && mend__char_at(text, len++) != '-') return 0;
    if (len > text.len || hex_digits(mend__text_from(text, len), parts[i] + 1) != parts[i]) return 0;
    len += parts[i];
  }
  return mend__is_word(mend__char_at(text, len)) ? 0 : len;
}

/* 0x and 6 digits or more, or 16 or more of which one is a letter and one is not. */
static size_t hex_len(mend_str text) {
  enum { ADDRESS_DIGITS = 6, LONG_DIGITS = 16 };
  const size_t len = word_len(text);
  if (len > 2 && text.ptr[0] == '0' && text.ptr[1] == 'x') {
    const bool is_hex = hex_digits(mend__text_from(text, 2), len) == len - 2;
    return is_hex && len - 2 >= ADDRESS_DIGITS ? len : 0;
  }
  if (len < LONG_DIGITS || hex_digits(text, len) != len) return 0;
  size_t digits = 0;
  for (size_t i = 0; i < len; i++)
    digits += mend__is_digit(text.ptr[i]);
  return digits > 0 && digits < len ? len : 0;
}

static size_t incidental_len(mend_str text, size_t place) {
  const size_t len = mend__duration_len(mend__text_from(text, place));
  return len > 0 && mend__is_incidental(text, place, len) ? len : 0;
}

static size_t volatile_len(mend_str text, size_t place) {
  const mend_str rest = mend__text_from(text, place);
  const bool is_digit = mend__is_digit(rest.ptr[0]);
  size_t len = is_digit ? mend__time_len(rest) : 0;
  if (len == 0 && is_digit) len = incidental_len(text, place);
  if (len == 0) len = uuid_len(rest);
  return len > 0 ? len : hex_len(rest);
}

/* ---- Numbers behind a name ---- */

/* A set of letters, whatever their case. */
#define LETTER(letter) (UINT32_C(1) << ((letter) - 'a'))

static bool is_in(uint32_t letters, char c) {
  const unsigned place = (unsigned char)(c | 0x20) - (unsigned)'a';
  return place < 26 && (letters >> place & 1) != 0;
}

/* Most words are told from the names below by their last and their first letter. */
static const uint32_t last_letters =
    LETTER('d') | LETTER('k') | LETTER('n') | LETTER('p') | LETTER('s') | LETTER('t') | LETTER('y');
static const uint32_t first_letters = LETTER('a') | LETTER('d') | LETTER('e') | LETTER('p') | LETTER('r') | LETTER('t');

static bool announces_number(mend_str word) {
  static const mend_str names[] = {MEND__TEXT("pid"),        MEND__TEXT("attempt"),     MEND__TEXT("attempts"),
                                   MEND__TEXT("retry"),      MEND__TEXT("retries"),     MEND__TEXT("try"),
                                   MEND__TEXT("elapsed"),    MEND__TEXT("duration"),    MEND__TEXT("took"),
                                   MEND__TEXT("elapsed_ms"), MEND__TEXT("duration_ms"), MEND__TEXT("duration_s"),
                                   MEND__TEXT("timestamp"),  MEND__TEXT("elapsed_s"),   MEND__TEXT("took_ms")};
  return is_in(first_letters, word.ptr[0]) && mend__is_listed(word, names, sizeof names / sizeof *names);
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
  if (end == 0 || end == place || !is_in(last_letters, text.ptr[end - 1])) return false;
  size_t begin = end;
  while (begin > 0 && end - begin <= LONGEST && mend__is_word(text.ptr[begin - 1]))
    begin--;
  return announces_number((mend_str){text.ptr + begin, end - begin});
}

static size_t announced_len(mend_str text) {
  const size_t duration = mend__duration_len(text);
  return duration > 0 ? duration : mend__number_len(text);
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
  return may_be && uuid_len(mend__text_from(text, begin - FIRST_PART)) > 0 ? begin - FIRST_PART : begin;
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

/* The length of a number that can be no part of a time, a duration or an id, by what stands around it; 0 for others. */
static size_t plain_number_len(mend_str text, size_t place) {
  const size_t len = mend__count_digits(text, place);
  const char before = place > 0 ? text.ptr[place - 1] : ' ', behind = mend__char_at(text, place + len);
  if (mend__is_word(before) || before == '-' || before == '\\' || mend__is_word(behind)) return 0;
  if (behind == '.' || behind == ':' || behind == '-') return 0;
  return behind == ' ' && mend__begins_unit(mend__char_at(text, place + len + 1)) ? 0 : len;
}

/* The digit at `place`; returns where to look on. */
static size_t take_digit(mask_copy *copy, size_t place) {
  const mend_str text = copy->text;
  const size_t plain = plain_number_len(text, place);
  if (plain > 0 && !is_announced(text, place)) return place + plain;
  size_t begin = word_begin(text, copy->done, place);
  if (begin > place) return begin;
  begin = uuid_begin(text, copy->done, begin);
  size_t len = mend__hex_value(text.ptr[begin]) >= 0 ? volatile_len(text, begin) : 0;
  if (len == 0 && begin == place && is_announced(text, begin)) len = announced_len(mend__text_from(text, begin));
  if (len == 0) return place + word_len(mend__text_from(text, place));
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
    const mend_hash rest = mend_hash_bytes(mend__text_from(text, head.len));
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

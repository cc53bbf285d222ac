/* Private to the watchdog "loop" of mode evidence: times, durations and numbers in texts. */
#ifndef MEND_WATCHDOGS_EVIDENCE_LOOP_TIME_H
#define MEND_WATCHDOGS_EVIDENCE_LOOP_TIME_H

#include "core/text.h"
#include "watchdogs/numbered_words.h"

/* A mend_str in a table. */
#define MEND__TEXT(literal)                                                                                            \
  { literal, sizeof literal - 1 }

static inline char mend__char_at(mend_str text, size_t place) { return place < text.len ? text.ptr[place] : '\0'; }

static inline mend_str mend__text_from(mend_str text, size_t place) {
  return (mend_str){text.ptr + place, text.len - place};
}

static inline size_t mend__count_digits(mend_str text, size_t from) {
  size_t count = 0;
  while (mend__is_digit(mend__char_at(text, from + count)))
    count++;
  return count;
}

/* Whether a unit of time may begin so. */
static inline bool mend__begins_unit(char c) { return c == 'h' || c == 'm' || c == 'n' || c == 's' || c == 'u'; }

/* Whether the word, whatever its case, is one of these, which are in lower case. */
bool mend__is_listed(mend_str word, const mend_str *list, size_t count);

/* The length of what is at the beginning of a text, 0 when it is not there: a time of day with or without its date;
 * 12.5; 12.5 ms. */
size_t mend__time_len(mend_str text);
size_t mend__number_len(mend_str text);
size_t mend__duration_len(mend_str text);
/* Whether the duration of so many bytes at `place` is how long something took by the way, and not what the text is
 * about: "in 3.2s", "(84 ms)", but not "p95: 59 ms" nor "900 ns/op". */
bool mend__is_incidental(mend_str text, size_t place, size_t len);

#endif

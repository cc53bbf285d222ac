/* Private to the watchdog "loop" of mode evidence: words and phrases in texts,
 * whatever their case. */
#ifndef MEND_WATCHDOGS_EVIDENCE_LOOP_PHRASES_H
#define MEND_WATCHDOGS_EVIDENCE_LOOP_PHRASES_H

#include "mend/core.h"

static inline bool mend__is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Whether the text is this word; one of these words. All words and phrases are
 * given in lower case. */
bool mend__equals_lower(mend_str text, const char *lower);
bool mend__is_one_of(mend_str word, const char *const *list, size_t count);
bool mend__begins_lower(mend_str text, const char *lower);
/* Where the phrase begins, NULL when it is not there. Every phrase has two
 * characters or more, and begins with a letter. */
const char *mend__find_phrase(mend_str text, const char *lower);
bool mend__has_one_of(mend_str text, const char *const *phrases, size_t count);

#endif

/* Private to the watchdog "loop" of mode evidence: how a call ended. */
#ifndef MEND_WATCHDOGS_EVIDENCE_LOOP_OUTCOME_H
#define MEND_WATCHDOGS_EVIDENCE_LOOP_OUTCOME_H

#include "mend/bus.h"
#include "watchdogs/evidence_loop_text.h"

typedef enum mend__outcome_kind {
  MEND__OUTCOME_UNKNOWN, /* it has not ended, or nobody says how */
  MEND__OUTCOME_VETOED,  /* it did not run, by a watchdog's doing or a person's: no outcome at all */
  MEND__OUTCOME_OK,
  MEND__OUTCOME_EMPTY,   /* it found nothing */
  MEND__OUTCOME_SKIPPED, /* a hook answered instead */
  MEND__OUTCOME_ERROR,
  MEND__OUTCOME_UNKNOWN_TOOL,
  MEND__OUTCOME_TRY_LATER /* an error that may be gone later */
} mend__outcome_kind;

typedef struct mend__outcome {
  mend__outcome_kind kind;
  bool is_failing; /* an error, or a result that says that something failed */
  mend_hash hash;  /* of what it said, volatile values masked; none: unknown or vetoed */
} mend__outcome;

static inline bool mend__outcome_is_known(const mend__outcome *outcome) { return outcome->kind >= MEND__OUTCOME_OK; }
static inline bool mend__outcome_is_error(const mend__outcome *outcome) { return outcome->kind >= MEND__OUTCOME_ERROR; }
static inline bool mend__outcome_equal(const mend__outcome *a, const mend__outcome *b) {
  return a->kind == b->kind && mend_hash_equal(a->hash, b->hash);
}
/* "ok", "error", ... Static. */
mend_str mend__outcome_word(mend__outcome_kind kind);

/* What is known of a call that ends. */
typedef struct mend__outcome_hints {
  mend__tool_words words; /* of its tool */
  bool is_told;           /* this watchdog had something to say when it was asked for: a hook that skips it listened */
  bool is_repeated;       /* else nobody asks whether a result says that something failed */
} mend__outcome_hints;

mend__outcome mend__outcome_of(const mend_event *event, const mend__outcome_hints *hints);
/* The beginning of what it answered; returns how many bytes. */
enum { MEND__EXCERPT_MAX = 120 };
size_t mend__outcome_excerpt(const mend_event *event, char ret_text[MEND__EXCERPT_MAX]);

#endif

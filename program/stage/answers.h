/* What the calls of a run that ended last had to say, for what the report says about equal ones. */
#ifndef MEND_PROGRAM_STAGE_ANSWERS_H
#define MEND_PROGRAM_STAGE_ANSWERS_H

#include "core/buffer.h"
#include "program/reports/facts.h"

/* A tool and its arguments. */
typedef struct pair_key {
  mend_hash tool, args;
} pair_key;

/* So many pairs have their answers kept: as many as can be called in turn and still be loops by default. */
enum { ANSWERS_KEPT = 3 };

typedef struct answers {
  struct kept_answer *kept; /* ANSWERS_KEPT of them, NULL before the first */
  uint64_t count;           /* of all there were */
} answers;

/* An answer of a pair takes the place of its last one; `of` begins as zeros. `answer` is copied, `max` bytes of its
 * value. MEND_ENOMEM. */
mend_status answers_keep(answers *of, const pair_key *key, replay_answer answer, size_t max);
void answers_free(answers *of);
/* The pair's last answer, or that of the call with this id, which is not empty; zeros when there is none. Valid until
 * the next one is kept. */
replay_answer answers_find(const answers *of, const pair_key *key);
replay_answer answers_find_call(const answers *of, mend_str id);

#endif

/* Two recordings beside each other: how long their runs did the same, where they part, and what each did then. */
#ifndef MEND_PROGRAM_REPLAY_DIFF_H
#define MEND_PROGRAM_REPLAY_DIFF_H

#include "program/replay/steps.h"

/* So many calls of each run are aligned behind the first that differs. */
enum { DIFF_ALIGNED_MAX = 2000 };

typedef enum diff_mark {
  DIFF_SAME,
  DIFF_OTHER_ANSWER, /* the same call, which came to something else */
  DIFF_OTHER_HASH,   /* the same call; of an answer only the exact hash is known: times may be all that differs */
  DIFF_CHANGED,      /* different calls at the same place */
  DIFF_LEFT_ONLY,
  DIFF_RIGHT_ONLY
} diff_mark;

/* One line of two runs side by side; NULL where a run has no call. */
typedef struct diff_line {
  diff_mark mark;
  const step *left, *right;
} diff_line;

typedef struct diff_pair {
  const step_run *left, *right; /* NULL: the other recording has no such run */
  size_t same;                  /* calls with the same answers before the first difference */
  bool differs;
  diff_line *lines; /* from the first difference on */
  size_t count;
  size_t left_rest, right_rest; /* calls behind that were not aligned */
  size_t other_answers, other_hashes, changed, left_only, right_only;
} diff_pair;

typedef struct diff {
  const step_list *left, *right;
  diff_pair *pairs;
  size_t count;
  bool differs;
} diff;

/* Pairs runs by their ids, the others in order. MEND_ENOMEM. */
mend_status diff_make(diff *of, const step_list *left, const step_list *right);
void diff_free(diff *of);

/* For people, in lines of `width` columns; of each pair at most `shown` lines, 0 for all. */
void diff_write_text(const diff *of, const char *left_name, const char *right_name, size_t width, size_t shown,
                     mend__buffer *page);
/* One JSON object a pair of runs, a line each. */
void diff_write_json(const diff *of, mend__buffer *page);

#endif

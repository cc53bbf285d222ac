#include "program/replay/diff.h"

#include "core/memory.h"

/* ---- Aligning two runs ------------------------------------------------------------------------------------- */

static bool same_call(const step *left, const step *right) { return step_hash_equal(left->key, right->key); }

static bool same_answer(const step *left, const step *right) { return step_hash_equal(left->answer, right->answer); }

/* Of two equal calls. */
static diff_mark mark_answers(const step *left, const step *right) {
  if (same_answer(left, right)) return DIFF_SAME;
  const bool is_sure = left->end != right->end || step_hash_comparable(left->answer, right->answer);
  return is_sure ? DIFF_OTHER_ANSWER : DIFF_OTHER_HASH;
}

static size_t count_same(const step_run *left, const step_run *right) {
  size_t i = 0;
  while (i < left->count && i < right->count && same_call(&left->steps[i], &right->steps[i]) &&
         same_answer(&left->steps[i], &right->steps[i]))
    i++;
  return i;
}

/* What is aligned: the calls of both runs from the first difference on. */
typedef struct stretch {
  const step *left, *right;
  size_t left_count, right_count;
  uint16_t *longest; /* of the common subsequences of what is left of both, at i * (right_count + 1) + j */
} stretch;

static uint16_t *longest_at(const stretch *of, size_t i, size_t j) {
  return &of->longest[i * (of->right_count + 1) + j];
}

_Static_assert(DIFF_ALIGNED_MAX <= UINT16_MAX, "the longest common subsequence fits");

static void find_longest(stretch *of) {
  for (size_t i = of->left_count; i-- > 0;) {
    for (size_t j = of->right_count; j-- > 0;) {
      if (same_call(&of->left[i], &of->right[j])) {
        *longest_at(of, i, j) = (uint16_t)(*longest_at(of, i + 1, j + 1) + 1);
      } else {
        const uint16_t down = *longest_at(of, i + 1, j), right = *longest_at(of, i, j + 1);
        *longest_at(of, i, j) = down > right ? down : right;
      }
    }
  }
}

static void add_line(diff_pair *pair, diff_mark mark, const step *left, const step *right) {
  if (mark == DIFF_RIGHT_ONLY && pair->count > 0 && pair->lines[pair->count - 1].mark == DIFF_LEFT_ONLY) {
    left = pair->lines[--pair->count].left;
    mark = DIFF_CHANGED;
  }
  pair->lines[pair->count++] = (diff_line){mark, left, right};
}

/* Changed calls come one beside the other: the left ones of a gap wait until its right ones are there. */
static void add_gap(diff_pair *pair, const step *left, size_t left_count, const step *right, size_t right_count) {
  for (size_t i = 0; i < left_count || i < right_count; i++) {
    if (i < left_count) add_line(pair, DIFF_LEFT_ONLY, &left[i], NULL);
    if (i < right_count) add_line(pair, DIFF_RIGHT_ONLY, NULL, &right[i]);
  }
}

static void follow_longest(const stretch *of, diff_pair *pair) {
  size_t i = 0, j = 0, left_gap = 0, right_gap = 0;
  while (i < of->left_count || j < of->right_count) {
    const bool both = i < of->left_count && j < of->right_count;
    if (both && same_call(&of->left[i], &of->right[j])) {
      add_gap(pair, &of->left[left_gap], i - left_gap, &of->right[right_gap], j - right_gap);
      add_line(pair, mark_answers(&of->left[i], &of->right[j]), &of->left[i], &of->right[j]);
      left_gap = ++i;
      right_gap = ++j;
    } else if (j == of->right_count || (i < of->left_count && *longest_at(of, i + 1, j) >= *longest_at(of, i, j + 1))) {
      i++;
    } else {
      j++;
    }
  }
  add_gap(pair, &of->left[left_gap], i - left_gap, &of->right[right_gap], j - right_gap);
}

static void count_marks(diff_pair *pair) {
  for (size_t i = 0; i < pair->count; i++) {
    const diff_mark mark = pair->lines[i].mark;
    pair->other_answers += mark == DIFF_OTHER_ANSWER;
    pair->other_hashes += mark == DIFF_OTHER_HASH;
    pair->changed += mark == DIFF_CHANGED;
    pair->left_only += mark == DIFF_LEFT_ONLY;
    pair->right_only += mark == DIFF_RIGHT_ONLY;
  }
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static const step *steps_of(const step_run *run) {
  static const step none;
  return run->steps != NULL ? run->steps : &none;
}

static mend_status align(diff_pair *pair, const step_run *left, const step_run *right) {
  stretch of = {.left = steps_of(left) + pair->same, .right = steps_of(right) + pair->same};
  const size_t left_rest = left->count - pair->same, right_rest = right->count - pair->same;
  of.left_count = least(left_rest, DIFF_ALIGNED_MAX);
  of.right_count = least(right_rest, DIFF_ALIGNED_MAX);
  pair->left_rest = left_rest - of.left_count;
  pair->right_rest = right_rest - of.right_count;
  of.longest = mend__alloc_zero(NULL, (of.left_count + 1) * (of.right_count + 1) * sizeof *of.longest);
  pair->lines = mend__alloc(NULL, (of.left_count + of.right_count) * sizeof *pair->lines);
  mend_status status = of.longest != NULL && pair->lines != NULL ? MEND_OK : MEND_ENOMEM;
  if (status == MEND_OK) {
    find_longest(&of);
    follow_longest(&of, pair);
    count_marks(pair);
  }
  mend__free(NULL, of.longest);
  return status;
}

static mend_status compare(diff_pair *pair) {
  static const step_run nobody;
  const step_run *left = pair->left != NULL ? pair->left : &nobody;
  const step_run *right = pair->right != NULL ? pair->right : &nobody;
  pair->same = count_same(left, right);
  pair->differs = pair->same < left->count || pair->same < right->count || left == &nobody || right == &nobody;
  const bool is_there = pair->same < left->count || pair->same < right->count;
  return is_there ? align(pair, left, right) : MEND_OK;
}

/* ---- Pairing the runs of two recordings -------------------------------------------------------------------- */

static bool is_known(const step_list *list, const step_run *run) {
  return mend__strmap_get(&list->by_id, mend_str_from(run->id)) != NULL;
}

/* The next run of `list` from *position on that the other recording does not know. */
static const step_run *next_unpaired(const step_list *list, const step_list *other, size_t *position) {
  while (*position < list->count) {
    const step_run *run = list->runs[(*position)++];
    if (!is_known(other, run)) return run;
  }
  return NULL;
}

static void pair_runs(diff *of) {
  size_t left_at = 0, right_at = 0;
  for (size_t i = 0; i < of->left->count; i++) {
    const step_run *left = of->left->runs[i];
    const step_run *right = mend__strmap_get(&of->right->by_id, mend_str_from(left->id));
    if (right != NULL) of->pairs[of->count++] = (diff_pair){.left = left, .right = right};
  }
  for (;;) {
    const step_run *left = next_unpaired(of->left, of->right, &left_at);
    const step_run *right = next_unpaired(of->right, of->left, &right_at);
    if (left == NULL && right == NULL) return;
    of->pairs[of->count++] = (diff_pair){.left = left, .right = right};
  }
}

mend_status diff_make(diff *of, const step_list *left, const step_list *right) {
  *of = (diff){.left = left, .right = right};
  of->pairs = mend__alloc(NULL, (left->count + right->count + 1) * sizeof *of->pairs);
  if (of->pairs == NULL) return MEND_ENOMEM;
  pair_runs(of);
  mend_status status = MEND_OK;
  for (size_t i = 0; i < of->count && status == MEND_OK; i++) {
    status = compare(&of->pairs[i]);
    of->differs |= of->pairs[i].differs;
  }
  if (status != MEND_OK) diff_free(of);
  return status;
}

void diff_free(diff *of) {
  for (size_t i = 0; i < of->count; i++)
    mend__free(NULL, of->pairs[i].lines);
  mend__free(NULL, of->pairs);
  *of = (diff){.count = 0};
}

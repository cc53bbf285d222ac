#include "program/stage/answers.h"

#include "core/memory.h"
#include "program/stage/calls.h"

typedef struct kept_answer {
  pair_key key;
  uint64_t number;   /* from 1, 0 for none */
  mend__buffer text; /* what `answer` points to */
  replay_answer answer;
} kept_answer;

static bool is_of(const kept_answer *kept, const pair_key *key) {
  return kept->number > 0 && mend_hash_equal(kept->key.tool, key->tool) && mend_hash_equal(kept->key.args, key->args);
}

replay_answer answers_find(const answers *of, const pair_key *key) {
  for (size_t i = 0; of->kept != NULL && i < ANSWERS_KEPT; i++) {
    if (is_of(&of->kept[i], key)) return of->kept[i].answer;
  }
  return (replay_answer){0};
}

replay_answer answers_find_call(const answers *of, mend_str id) {
  for (size_t i = 0; of->kept != NULL && i < ANSWERS_KEPT; i++) {
    if (mend_str_equal(of->kept[i].answer.id, id)) return of->kept[i].answer;
  }
  return (replay_answer){0};
}

/* The pair's place, else the one with the oldest answer. */
static kept_answer *place_for(const answers *of, const pair_key *key) {
  kept_answer *oldest = &of->kept[0];
  for (kept_answer *each = of->kept; each < of->kept + ANSWERS_KEPT; each++) {
    if (is_of(each, key)) return each;
    if (each->number < oldest->number) oldest = each;
  }
  return oldest;
}

static mend_status reserve(answers *of) {
  if (of->kept != NULL) return MEND_OK;
  of->kept = mend__alloc_zero(NULL, ANSWERS_KEPT * sizeof *of->kept);
  if (of->kept == NULL) return MEND_ENOMEM;
  for (size_t i = 0; i < ANSWERS_KEPT; i++)
    mend__buffer_init(&of->kept[i].text, NULL);
  return MEND_OK;
}

mend_status answers_keep(answers *of, const pair_key *key, replay_answer answer, size_t max) {
  if (reserve(of) != MEND_OK) return MEND_ENOMEM;
  kept_answer *place = place_for(of, key);
  mend__buffer *text = &place->text;
  place->key = *key;
  place->number = ++of->count;
  place->answer = (replay_answer){0};
  mend__buffer_clear(text);
  mend__buffer_str(text, answer.id);
  answer.cut |= append_excerpt(text, answer.value, max);
  if (text->failed) return MEND_ENOMEM;
  if (text->len == 0) return MEND_OK; /* it said nothing, and has no id */
  answer.value = (mend_str){text->data + answer.id.len, text->len - answer.id.len};
  answer.id.ptr = text->data;
  place->answer = answer;
  return MEND_OK;
}

void answers_free(answers *of) {
  for (size_t i = 0; of->kept != NULL && i < ANSWERS_KEPT; i++)
    mend__buffer_free(&of->kept[i].text);
  mend__free(NULL, of->kept);
}

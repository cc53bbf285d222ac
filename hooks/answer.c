/* What a tool answers. A call has one answer, given by whoever exchanges its absence for it; so it may come from any
 * thread, several times, and while the call is being cancelled. */
#include "hooks/answer.h"
#include "core/json_hash.h"
#include "hooks/call_internal.h"

/* Never written: what stands for an answer. */
static mend__answer closed, taken;
static mend__answer out_of_memory = {
    .kind = MEND__ANSWER_FAILURE,
    .is_lasting = true,
    .text = {"MEND_ENOMEM", sizeof "MEND_ENOMEM" - 1},
    .more = {"out of memory for what the tool said", sizeof "out of memory for what the tool said" - 1},
};

static mend__answer question_lost = {
    .kind = MEND__ANSWER_QUESTION,
    .is_lasting = true,
    .text = {MEND__QUESTION_LOST, sizeof MEND__QUESTION_LOST - 1},
};

static bool is_told(const mend__answer *answer) { return answer != NULL && answer != &closed && answer != &taken; }

static mend__answer *answer_of(const mend_call *call) {
  return atomic_load_explicit(&((mend_call *)call)->answer, memory_order_acquire);
}

/* ---- Making ---- */

static mend__answer *answer_new(mend__answer_kind kind, mend_str text, const mend_allocator *allocator) {
  if (text.len > SIZE_MAX - sizeof(mend__answer) - 1) return NULL;
  mend__answer *answer = mend__alloc(allocator, sizeof *answer + text.len + 1);
  if (answer == NULL) return NULL;
  char *copy = (char *)(answer + 1);
  if (text.len > 0) memcpy(copy, text.ptr, text.len);
  copy[text.len] = '\0';
  *answer = (mend__answer){
      .kind = kind, .text = {copy, text.len}, .block = {.allocator = allocator, .memory = answer, .text = copy}};
  return answer;
}

void mend__answer_free(mend__answer *answer) {
  if (answer == NULL || answer->is_lasting) return;
  if (answer->more_block != NULL) mend__text_block_free(answer->more_block);
  mend__text_block_free(&answer->block);
}

static mend__answer *value_new(mend_str value, mend_hash hash, const mend_allocator *allocator) {
  mend__answer *answer = answer_new(MEND__ANSWER_VALUE, value, allocator);
  if (answer == NULL) return NULL;
  answer->value_hash = hash;
  return answer;
}

/* With a second text; NULL when there is no memory for both. */
static mend__answer *answer_new_with(mend__answer_kind kind, mend_str text, mend_str more,
                                     const mend_allocator *allocator) {
  mend__answer *answer = answer_new(kind, text, allocator);
  if (answer == NULL || more.ptr == NULL) return answer;
  answer->more_block = mend__text_block_new(more, allocator);
  if (answer->more_block == NULL) {
    mend__answer_free(answer);
    return NULL;
  }
  answer->more = (mend_str){answer->more_block->text, more.len};
  return answer;
}

/* A failure is never lost, nor is a question: without memory it is told by a sentence of our own. */
static mend__answer *failure_new(mend_str type, mend_str message, const mend_allocator *allocator) {
  mend__answer *answer = answer_new_with(MEND__ANSWER_FAILURE, type, message, allocator);
  return answer != NULL ? answer : &out_of_memory;
}

static mend__answer *question_new(mend_str question, mend_str hook, const mend_allocator *allocator) {
  mend__answer *answer = answer_new_with(MEND__ANSWER_QUESTION, question, hook, allocator);
  return answer != NULL ? answer : &question_lost;
}

/* ---- Giving ---- */

static mend_status refusal(const mend__answer *there) { return there == &closed ? MEND_ECANCELLED : MEND_EEXIST; }

static mend_status give(mend_call *call, mend__answer *answer) {
  mend__answer *there = NULL;
  if (!atomic_compare_exchange_strong(&call->answer, &there, answer)) {
    mend__answer_free(answer);
    return refusal(there);
  }
  if (call->kind == MEND_TOOL_ASYNC) {
    mend__boundary_delist(call); /* it has done its work; whoever it lands on finds its boundary drained */
    mend__call_land(call);
  }
  return MEND_OK;
}

static mend_status give_not_lost(mend_call *call, mend__answer *answer) {
  const bool is_lost = answer->is_lasting;
  const mend_status status = give(call, answer);
  return status == MEND_OK && is_lost ? MEND_ENOMEM : status;
}

/* What was hashed by its structure is JSON. */
mend_status mend__json_read(mend_str text, const mend_allocator *allocator, mend_hash *ret_hash, mend_error *error) {
  mend_json_hash_result read;
  mend_status status = mend__json_hash_alloc(text, allocator, &read);
  if (status != MEND_OK) return mend_error_set(error, status, "%s", mend_status_message(status));
  if (read.raw) status = mend_json_check(text, MEND__VALUE_DEPTH, error);
  if (status == MEND_OK) *ret_hash = read.hash;
  return status;
}

static mend_status lose(mend_call *call) {
  atomic_store_explicit(&call->lost, true, memory_order_relaxed);
  return MEND_ENOMEM;
}

/* Who answers plain text is told of the function for that. */
static void fail_bad_result(mend_call *call, const mend_error *error) {
  mend__buffer sentence;
  mend__buffer_init(&sentence, call->boundary->allocator);
  mend__buffer_str(&sentence, MEND_STR("the result of "));
  mend__buffer_str(&sentence, mend_call_tool(call));
  mend__buffer_printf(&sentence, " is no JSON (line %u, column %u): %s; mend_call_succeed_text takes text", error->line,
                      error->column, error->message);
  mend_call_fail(call, MEND_STR("bad_result"),
                 sentence.failed ? mend_str_from(error->message) : mend__buffer_text(&sentence));
  mend__buffer_free(&sentence);
}

mend_status mend_call_succeed(mend_call *call, mend_str result) {
  if (call == NULL) return MEND_EINVAL;
  const mend__answer *there = answer_of(call);
  if (there != NULL) return refusal(there);
  if (result.ptr == NULL) result = MEND_STR("null");
  const mend_allocator *allocator = call->boundary->allocator;
  mend_error error = MEND_ERROR_INIT;
  mend_hash hash = {0, 0};
  const mend_status status = mend__json_read(result, allocator, &hash, &error);
  if (status == MEND_ESYNTAX) fail_bad_result(call, &error);
  if (status != MEND_OK) return status == MEND_ENOMEM ? lose(call) : status;
  mend__answer *answer = value_new(result, hash, allocator);
  return answer != NULL ? give(call, answer) : lose(call);
}

mend_status mend_call_succeed_text(mend_call *call, mend_str text) {
  if (call == NULL) return MEND_EINVAL;
  const mend__answer *there = answer_of(call);
  if (there != NULL) return refusal(there);
  mend__buffer json;
  mend__buffer_init(&json, call->boundary->allocator);
  mend__buffer_json_string(&json, text);
  const mend_status status = json.failed ? lose(call) : mend_call_succeed(call, mend__buffer_text(&json));
  mend__buffer_free(&json);
  return status;
}

mend_status mend_call_fail(mend_call *call, mend_str type, mend_str message) {
  if (call == NULL) return MEND_EINVAL;
  const mend__answer *there = answer_of(call);
  if (there != NULL) return refusal(there);
  return give_not_lost(call, failure_new(type.len > 0 ? type : MEND_STR("error"), message, call->boundary->allocator));
}

mend_status mend__call_escalate_by(mend_call *call, mend_str question, mend_str hook) {
  const mend__answer *there = answer_of(call);
  if (there != NULL) return refusal(there);
  if (question.ptr == NULL) return MEND_EINVAL;
  return give_not_lost(call, question_new(question, hook, call->boundary->allocator));
}

mend_status mend_call_escalate(mend_call *call, mend_str question) {
  if (call == NULL) return MEND_EINVAL;
  return mend__call_escalate_by(call, question, (mend_str)MEND_ABSENT);
}

void mend__call_answer_status(mend_call *call, mend_status status) {
  if (answer_of(call) != NULL) return;
  if (atomic_load_explicit(&call->lost, memory_order_relaxed)) status = MEND_ENOMEM;
  if (status != MEND_OK) {
    mend_call_fail(call, mend_str_from(mend_status_name(status)), mend_str_from(mend_status_message(status)));
  } else if (mend_call_succeed(call, MEND_STR("null")) == MEND_ENOMEM) {
    mend_call_fail(call, out_of_memory.text, out_of_memory.more);
  }
}

/* There is no tool any more that could answer. */
void mend__call_answer_absence(mend_call *call) {
  if (atomic_load_explicit(&call->lost, memory_order_relaxed)) {
    mend__call_answer_status(call, MEND_ENOMEM);
  } else {
    mend_call_fail(call, MEND_STR("no_answer"), MEND_STR("the tool let go of the call without an answer"));
  }
}

/* ---- Taking ---- */

void mend__call_close(mend_call *call) {
  mend__answer *none = NULL;
  atomic_compare_exchange_strong(&call->answer, &none, &closed);
}

mend__answer *mend__call_take_answer(mend_call *call) {
  mend__answer *answer = answer_of(call);
  while (answer != &closed && !atomic_compare_exchange_weak(&call->answer, &answer, &taken)) {
  }
  return is_told(answer) ? answer : NULL;
}

static void tell_texts(const mend__answer *answer, mend_result *result) {
  switch (answer->kind) {
  case MEND__ANSWER_VALUE: result->value = answer->text; break;
  case MEND__ANSWER_FAILURE:
    result->error_type = answer->text;
    result->error_message = answer->more;
    break;
  case MEND__ANSWER_QUESTION:
    result->question = answer->text;
    result->hook = answer->more;
    break;
  }
}

void mend__answer_tell(mend__answer *answer, mend_result *result) {
  tell_texts(answer, result);
  if (answer->is_lasting) return;
  if (answer->more_block != NULL) mend__texts_take(&result->memory, answer->more_block);
  mend__texts_take(&result->memory, &answer->block);
}

/* ---- For wrappers ---- */

bool mend__call_answered(const mend_call *call, mend_str *ret_value) {
  const mend__answer *answer = answer_of(call);
  if (!is_told(answer)) return false;
  *ret_value = answer->kind == MEND__ANSWER_VALUE ? answer->text : (mend_str)MEND_ABSENT;
  return true;
}

bool mend__call_asks(const mend_call *call) {
  const mend__answer *answer = answer_of(call);
  return is_told(answer) && answer->kind == MEND__ANSWER_QUESTION;
}

void mend__call_forget_answer(mend_call *call) {
  mend__answer *answer = answer_of(call);
  atomic_store_explicit(&call->lost, false, memory_order_relaxed);
  if (is_told(answer) && atomic_compare_exchange_strong(&call->answer, &answer, NULL)) mend__answer_free(answer);
}

const mend_allocator *mend__call_allocator(const mend_call *call) { return call->boundary->allocator; }

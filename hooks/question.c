/* What watchdog hooks ask: an escalation waits for the next before of its run. */
#include "hooks/decider_internal.h"
#include "hooks/passage_internal.h"

static mend_str text_of(const mend__question *question) {
  return question->text != NULL ? mend_str_from(question->text) : MEND_STR(MEND__QUESTION_LOST);
}

/* So many of a hook's questions that are dropped are counted, and published when the first one is told. */
enum { DROPPED_MAX = 16 };

void mend__question_ask(mend__run_state *state, mend__decider *decider, mend_str question) {
  char *text = mend__str_copy(state->allocator, question);
  pthread_mutex_lock(&state->deciding_lock);
  const bool is_first = !decider->asks;
  if (is_first) {
    decider->asks = true;
    decider->question.text = text;
    atomic_fetch_add(&state->questions, 1);
  } else if (decider->question.dropped < DROPPED_MAX) {
    decider->question.dropped++;
  }
  pthread_mutex_unlock(&state->deciding_lock);
  if (!is_first) mend__free(state->allocator, text);
}

/* Under the deciding lock. */
static void stop_asking(mend__run_state *state, mend__decider *decider) {
  if (!decider->asks) return;
  decider->asks = false;
  decider->question.text = NULL;
  decider->question.dropped = 0;
  atomic_fetch_sub(&state->questions, 1);
}

static mend__decider *find_question(const mend__run_state *state) {
  mend__decider *decider = state->deciders;
  while (decider != NULL && !decider->asks)
    decider = decider->next;
  return decider;
}

/* Under the deciding lock: what is asked is not asked of the calls that a policy makes. */
static bool is_decider(const mend__run_state *state) {
  return state->deciding && pthread_equal(state->decider, pthread_self());
}

/* The question, whose text is then the caller's. Allocators do not call back, so the decision may be made under the
 * lock: a question is taken when it is told. */
static mend_status take_first(mend__run_state *state, mend_decision *decision, mend__question *ret_question) {
  mend_status status = MEND_ENOENT;
  pthread_mutex_lock(&state->deciding_lock);
  mend__decider *decider = is_decider(state) ? NULL : find_question(state);
  if (decider != NULL) {
    status = decision != NULL ? mend_decision_escalate(decision, text_of(&decider->question)) : MEND_OK;
  }
  if (status == MEND_OK) {
    *ret_question = decider->question;
    stop_asking(state, decider);
  }
  pthread_mutex_unlock(&state->deciding_lock);
  return status;
}

void mend__question_forget(mend__run_state *state, mend__decider *decider) {
  pthread_mutex_lock(&state->deciding_lock);
  char *text = decider->question.text;
  stop_asking(state, decider);
  pthread_mutex_unlock(&state->deciding_lock);
  mend__free(state->allocator, text);
}

static void publish_shadowed(const mend__passage *passage, const char *hook, const char *active_hook, unsigned times) {
  mend_hook_shadowed_event event = MEND_HOOK_SHADOWED_EVENT_INIT;
  event.event.call = passage->number;
  event.event.call_name = passage->name;
  event.hook = mend_str_from(hook);
  event.decision = mend_str_from(mend_decision_kind_name(MEND_DECISION_SKIP));
  event.active_hook = mend_str_from(active_hook);
  event.tool_name = passage->attempt.asked->tool;
  for (; times > 0; times--)
    mend_run_publish(passage->boundary->run, &event.event);
}

mend_status mend__question_take(mend__passage *passage) {
  mend__attempt *attempt = &passage->attempt;
  mend__run_state *state = passage->boundary->run_state;
  if (atomic_load_explicit(&state->questions, memory_order_acquire) == 0) return MEND_OK;
  mend__question first, other;
  const mend_status status = take_first(state, &attempt->decision, &first);
  if (status != MEND_OK) return status == MEND_ENOENT ? MEND_OK : status;
  mend__free(state->allocator, first.text);
  memcpy(attempt->asker, first.hook, sizeof first.hook);
  attempt->hook = mend_str_from(attempt->asker);
  publish_shadowed(passage, first.hook, first.hook, first.dropped);
  while (take_first(state, NULL, &other) == MEND_OK) {
    publish_shadowed(passage, other.hook, first.hook, 1 + other.dropped);
    mend__free(state->allocator, other.text);
  }
  return MEND_OK;
}

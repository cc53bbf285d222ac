#include "fallback/fallback_internal.h"

#include <pthread.h>

typedef struct question {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool is_over; /* the loop's thread is through with it, too */
  mend_status status;
  mend_reply reply;
  mend_error error;
} question;

/* Of a reply that there is not. Without memory for it there is nothing. */
static void keep_attempts(mend_reply *reply, mend_str attempts) {
  if (attempts.len == 0) return;
  mend__draft *draft = mend__draft_new(NULL, NULL);
  mend_reply partial = MEND_REPLY_INIT;
  partial.attempts = attempts;
  if (draft == NULL || mend__draft_note(draft, &partial) != MEND_OK || mend__draft_finish(draft, reply) != MEND_OK) {
    mend__draft_free(draft);
  }
}

static void take_answer(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure,
                        const mend_failure_signal *signal) {
  (void)signal;
  question *asked = ctx;
  asked->status = status;
  if (reply != NULL) {
    mend_reply_move(&asked->reply, reply);
    return;
  }
  keep_attempts(&asked->reply, failure->attempts);
  mend_error_set(&asked->error, status, "%.*s", MEND_STR_ARG(failure->message));
}

static void wake_up(void *ctx) {
  question *asked = ctx;
  pthread_mutex_lock(&asked->lock);
  asked->is_over = true;
  pthread_cond_signal(&asked->changed);
  pthread_mutex_unlock(&asked->lock);
}

static void await_answer(question *asked) {
  pthread_mutex_lock(&asked->lock);
  while (!asked->is_over)
    pthread_cond_wait(&asked->changed, &asked->lock);
  pthread_mutex_unlock(&asked->lock);
}

mend_status mend_model_ask(mend_model *model, const mend_model_request *request, mend_reply *ret_reply,
                           mend_error *error) {
  question asked = {.reply = MEND_REPLY_INIT};
  const mend__listener listener = {.done = take_answer, .gone = wake_up, .ctx = &asked};
  if (ret_reply == NULL) return mend_error_set(error, MEND_EINVAL, "mend_model_ask: ret_reply is NULL, expected one");
  if (mend_loop_is_here(model->loop)) {
    return mend_error_set(error, MEND_EDEADLK, "mend_model_ask would wait for the loop's thread on that thread");
  }
  pthread_mutex_init(&asked.lock, NULL);
  pthread_cond_init(&asked.changed, NULL);
  mend_status status = mend__exchange_send(model, request, &listener, NULL, error);
  if (status == MEND_OK) {
    await_answer(&asked);
    status = asked.status;
    mend_reply_move(ret_reply, &asked.reply);
    if (status != MEND_OK && error != NULL) *error = asked.error;
  }
  pthread_cond_destroy(&asked.changed);
  pthread_mutex_destroy(&asked.lock);
  return status;
}

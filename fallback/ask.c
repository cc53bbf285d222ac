#include "core/given.h"
#include "core/options_size.h"
#include "fallback/fallback_internal.h"
#include "fallback/room.h"

#include <pthread.h>

typedef struct question {
  mend__asking asking;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool is_over; /* the loop's thread is through with it, too */
  mend_status status;
  mend_reply reply;
  mend_error error;
} question;

static bool keep_failure(mend_reply *reply, const mend_failure *given) {
  mend_failure *kept = &((mend__draft *)reply->memory)->failure;
  const mend_str absent = MEND_ABSENT;
  *kept = *given;
  kept->type = kept->message = kept->body = kept->attempts = absent;
  return mend__reply_set(reply, &kept->type, given->type) == MEND_OK &&
         mend__reply_set(reply, &kept->message, given->message) == MEND_OK &&
         mend__reply_set(reply, &kept->body, given->body) == MEND_OK &&
         mend__reply_set(reply, &kept->attempts, given->attempts) == MEND_OK;
}

/* Of a reply that there is not. Without memory for it there is nothing. */
static void keep_what_is_known(mend_reply *reply, const mend_failure *failure) {
  mend__draft *draft = mend__draft_new(NULL, NULL);
  mend_reply partial = MEND_REPLY_INIT;
  partial.attempts = failure->attempts;
  partial.usage = failure->usage;
  if (draft == NULL || mend__draft_note(draft, &partial) != MEND_OK || mend__draft_finish(draft, reply) != MEND_OK) {
    mend__draft_free(draft);
    return;
  }
  if (keep_failure(reply, failure)) reply->failure = &draft->failure;
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
  keep_what_is_known(&asked->reply, failure);
  mend_error_set(&asked->error, status, "%.*s", MEND_STR_ARG(failure->message));
}

static void hand_on(void *ctx, const mend_delta *delta) {
  const mend__asking *asking = &((const question *)ctx)->asking;
  asking->delta(asking->ctx, delta);
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

static mend_status send_and_wait(question *asked, mend_model *model, const mend_model_request *request,
                                 mend_error *error) {
  const mend__asking *asking = &asked->asking;
  const mend__listener listener = {
      .delta = asking->delta != NULL ? hand_on : NULL, .done = take_answer, .gone = wake_up, .ctx = asked};
  mend_exchange *exchange = NULL;
  const mend_status status =
      mend__exchange_send(model, request, &listener, asking->sent != NULL ? &exchange : NULL, error);
  if (status != MEND_OK) return status;
  if (asking->sent != NULL) asking->sent(asking->ctx, exchange);
  mend_exchange_release(exchange);
  await_answer(asked);
  if (asked->status != MEND_OK && error != NULL) *error = asked->error;
  return asked->status;
}

/* Refuses one that was not started from MEND_REPLY_INIT. */
static mend_status check_reply(const mend_reply *reply, mend_error *error) {
  mend_reply taken = MEND_REPLY_INIT;
  if (reply == NULL) return mend_error_set(error, MEND_EINVAL, "mend_model_ask: ret_reply is NULL, expected one");
  return mend__options_take(&taken, reply, "mend_reply", error);
}

mend_status mend__model_ask(mend_model *model, const mend_model_request *request, const mend__asking *asking,
                            mend_reply *ret_reply, mend_error *error) {
  question asked = {.asking = *asking, .reply = MEND_REPLY_INIT};
  mend_status status = check_reply(ret_reply, error);
  if (status != MEND_OK) return status;
  if (model == NULL) return mend__refuse_null(error, "the model");
  if (mend_loop_is_here(model->loop)) {
    return mend_error_set(error, MEND_EDEADLK, "mend_model_ask would wait for the loop's thread on that thread");
  }
  pthread_mutex_init(&asked.lock, NULL);
  pthread_cond_init(&asked.changed, NULL);
  status = send_and_wait(&asked, model, request, error);
  mend_reply_move(ret_reply, &asked.reply);
  pthread_cond_destroy(&asked.changed);
  pthread_mutex_destroy(&asked.lock);
  return status;
}

mend_status mend_model_ask(mend_model *model, const mend_model_request *request, mend_reply *ret_reply,
                           mend_error *error) {
  const mend__asking nobody = {.delta = NULL};
  return mend__model_ask(model, request, &nobody, ret_reply, error);
}

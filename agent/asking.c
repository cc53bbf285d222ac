/* A request to the model that is waited for, and that the run's abort ends. */
#include "agent/agent_internal.h"

#include <pthread.h>

typedef struct question {
  mend__work *work;
  mend_exchange *exchange;
  pthread_mutex_t lock; /* covers what follows */
  pthread_cond_t answered;
  bool is_answered;
  mend_status status;
  mend_error error;
} question;

/* ---- On the loop's thread ---- */

static void hand_on(void *ctx, const mend_delta *delta) {
  const mend_agent *agent = ((const question *)ctx)->work->agent;
  agent->delta(agent->ctx, delta);
}

/* Who waits does nothing else meanwhile, so its work is ours. */
static void take_failure(question *asked, const mend_failure *failure) {
  mend_agent_report *report = asked->work->report;
  mend__usage_add(&report->usage, &failure->usage);
  if (mend__report_set(asked->work, &report->attempts, failure->attempts) != MEND_OK) asked->status = MEND_ENOMEM;
  mend_error_set(&asked->error, asked->status, "%.*s", MEND_STR_ARG(failure->message));
}

static void take_answer(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  question *asked = ctx;
  pthread_mutex_lock(&asked->lock);
  asked->status = status;
  if (reply != NULL) {
    mend_reply_move(&asked->work->reply, reply);
  } else {
    take_failure(asked, failure);
  }
  asked->is_answered = true;
  pthread_cond_signal(&asked->answered);
  pthread_mutex_unlock(&asked->lock);
}

/* ---- On the agent's ---- */

static void cancel(void *ctx) { mend_exchange_cancel(((const question *)ctx)->exchange); }

static void await_answer(question *asked) {
  pthread_mutex_lock(&asked->lock);
  while (!asked->is_answered)
    pthread_cond_wait(&asked->answered, &asked->lock);
  pthread_mutex_unlock(&asked->lock);
}

/* Without memory to be told of an abort the question is not asked to its end. */
static void await_answer_or_abort(question *asked) {
  uint64_t id;
  mend_token *token = asked->work->watch.token;
  const mend_status status = mend_token_on_cancel(token, cancel, asked, &id);
  if (status != MEND_OK) mend_exchange_cancel(asked->exchange);
  await_answer(asked);
  if (status == MEND_OK) {
    mend_token_forget(token, id);
  } else {
    asked->status = mend_error_set(&asked->error, status, "a request: out of memory");
  }
}

mend_status mend__work_ask(mend__work *work, mend_error *error) {
  const mend_agent *agent = work->agent;
  mend_model_request request = agent->request;
  question asked = {.work = work, .lock = PTHREAD_MUTEX_INITIALIZER, .answered = PTHREAD_COND_INITIALIZER};
  const mend_model_listener listener = {
      .size = sizeof listener, .delta = agent->delta != NULL ? hand_on : NULL, .done = take_answer, .ctx = &asked};
  request.messages = work->messages;
  mend_status status = mend_model_send(agent->model, &request, &listener, &asked.exchange, error);
  if (status == MEND_OK) {
    await_answer_or_abort(&asked);
    mend_exchange_release(asked.exchange);
    status = asked.status;
    if (status != MEND_OK && error != NULL) *error = asked.error;
  }
  pthread_cond_destroy(&asked.answered);
  pthread_mutex_destroy(&asked.lock);
  return status;
}

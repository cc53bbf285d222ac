/* A request to the model that is waited for, and that the end of the work ends. */
#include "agent/agent_internal.h"
#include "fallback/room.h"
#include "loop/room.h"

typedef struct question {
  const mend_agent *agent;
  mend_token *token;       /* the work's */
  mend_exchange *exchange; /* NULL: it was not sent */
  uint64_t cancel_id;
  mend_status watching; /* whether there is memory to hear of that; else the question is withdrawn at once */
} question;

/* On the loop's thread. */
static void hand_on(void *ctx, const mend_delta *delta) {
  const mend_agent *agent = ((const question *)ctx)->agent;
  agent->delta(agent->ctx, delta);
}

static void withdraw(void *ctx) { mend_exchange_cancel(((const question *)ctx)->exchange); }

static void watch(void *ctx, mend_exchange *exchange) {
  question *asked = ctx;
  asked->exchange = mend_exchange_retain(exchange);
  asked->watching = mend_token_on_cancel(asked->token, withdraw, asked, &asked->cancel_id);
  if (asked->watching != MEND_OK) withdraw(asked);
}

static void nothing(void *ctx) { (void)ctx; }

/* A cancel that came too late may still be posted: when this returns, the loop is through with the exchange, too. */
static void unwatch(const question *asked) {
  if (asked->exchange == NULL) return;
  const bool is_watching = asked->watching == MEND_OK;
  if (is_watching) mend_token_forget(asked->token, asked->cancel_id);
  mend_exchange_release(asked->exchange);
  const bool was_withdrawn = !is_watching || mend_token_is_cancelled(asked->token);
  if (was_withdrawn) mend__loop_call(mend__model_loop(asked->agent->model), nothing, NULL);
}

mend_status mend__work_ask(mend__work *work, mend_error *error) {
  const mend_agent *agent = work->agent;
  question asked = {.agent = agent, .token = work->watch.token};
  const mend__asking asking = {.delta = agent->delta != NULL ? hand_on : NULL, .sent = watch, .ctx = &asked};
  mend_model_request request = agent->request;
  request.messages = work->messages;
  const mend_status status = mend__model_ask(agent->model, &request, &asking, &work->reply, error);
  unwatch(&asked);
  if (asked.watching != MEND_OK) return mend_error_set(error, asked.watching, "a request: out of memory");
  return status;
}

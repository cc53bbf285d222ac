#include "fallback/exchange_internal.h"

#include <math.h>

/* ---- The end ---- */

static void call_cancel(mend_exchange *exchange) {
  const mend_model *model = exchange->model;
  if (model->vtable.cancel == NULL) return;
  exchange->inside++;
  model->vtable.cancel(model->ctx, exchange);
  exchange->inside--;
}

/* Nothing more is wanted of the model. It is not called back from inside of its own functions. */
static void stop_model(mend_exchange *exchange) {
  if (exchange->inside > 0) {
    exchange->owes_cancel = true;
  } else {
    call_cancel(exchange);
  }
}

/* A listener may be gone as soon as it was told, and the exchange with it, but for the loop's reference. */
void mend__exchange_let_go(void *ctx) {
  mend_exchange *exchange = ctx;
  const mend__listener listener = exchange->listener;
  if (exchange->owes_cancel) call_cancel(exchange);
  mend_exchange_release(exchange);
  if (listener.gone != NULL) listener.gone(listener.ctx);
}

static void close_exchange(mend_exchange *exchange) {
  exchange->state = MEND__EXCHANGE_ENDED;
  mend__clocks_free(&exchange->clocks);
}

static void tell_end(mend_exchange *exchange, mend_status status, mend_reply *reply, const mend_failure *failure,
                     const mend_failure_signal *signal) {
  const mend__listener *listener = &exchange->listener;
  if (listener->done != NULL) listener->done(listener->ctx, status, reply, failure, signal);
  mend__loop_post_own(exchange->model->loop, &exchange->let_go);
}

void mend__exchange_succeed(mend_exchange *exchange, mend_reply *reply) {
  reply->duration_ms = mend__exchange_ms(exchange);
  reply->first_content_ms = exchange->first_content_ms;
  close_exchange(exchange);
  mend__exchange_publish_usage(exchange, &reply->usage);
  mend__exchange_publish_response(exchange, reply);
  tell_end(exchange, MEND_OK, reply, NULL, NULL);
}

/* What the failing function left out and the exchange knows; a wait that is none was not told. */
static void complete_failure(const mend_exchange *exchange, mend_failure *failure, mend_failure_signal *signal,
                             char instead[MEND__INSTEAD_MAX]) {
  const mend__draft *draft = exchange->draft;
  failure->after_content = signal->after_content = mend__exchange_has_content(exchange);
  signal->streaming = exchange->asked.stream;
  if (!isfinite(failure->retry_after_s) || failure->retry_after_s < 0) failure->retry_after_s = MEND_NAN;
  if (signal->provider.len == 0) signal->provider = exchange->model->provider;
  if (failure->usage.input == MEND_NONE && failure->usage.output == MEND_NONE) failure->usage = draft->usage;
  if (failure->attempts.ptr == NULL) failure->attempts = (mend_str){draft->attempts.data, draft->attempts.len};
  mend__failure_complete(failure, signal, exchange->model->table, instead);
}

static void publish_failure(const mend_exchange *exchange, const mend_failure *failure) {
  mend__exchange_publish_usage(exchange, &failure->usage);
  mend__exchange_publish_error(exchange, failure);
}

void mend__exchange_end_failed(mend_exchange *exchange, mend_status status, const mend_failure *given,
                               const mend_failure_signal *given_signal) {
  mend_failure failure = *given;
  mend_failure_signal signal = *given_signal;
  char instead[MEND__INSTEAD_MAX];
  complete_failure(exchange, &failure, &signal, instead);
  close_exchange(exchange);
  if (exchange->has_begun) publish_failure(exchange, &failure);
  tell_end(exchange, status, NULL, &failure, &signal);
}

void mend__exchange_end_by(mend_exchange *exchange, mend_status status, const char *type, const char *sentence) {
  mend_failure failure = MEND_FAILURE_INIT;
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  signal.transport = type;
  failure.type = mend_str_from(type);
  failure.message = mend_str_from(sentence);
  mend__exchange_end_failed(exchange, status, &failure, &signal);
}

void mend__exchange_end_without_memory(mend_exchange *exchange) {
  mend__exchange_end_by(exchange, MEND_ENOMEM, "no_memory", "out of memory");
}

/* ---- Ends that are not the model's doing ---- */

/* What the model answers to being stopped does not count. */
static void stop(mend_exchange *exchange) {
  exchange->state = MEND__EXCHANGE_ENDED;
  if (exchange->has_begun) stop_model(exchange);
}

void mend__exchange_run_out_of_memory(mend_exchange *exchange) {
  stop(exchange);
  mend__exchange_end_without_memory(exchange);
}

static const char *timeout_sentence(const char *type) {
  switch (type[0]) {
  case 'c': return "no connection within connect_s";
  case 'f': return "no content within first_content_s";
  case 'i': return "no content for idle_s";
  default: return "not complete within total_s";
  }
}

void mend__exchange_ring(void *ctx) {
  mend_exchange *exchange = ctx;
  const uint64_t judged_ns = mend__loop_judged_ns(exchange->model->loop);
  const char *type = mend__clocks_check(&exchange->clocks, judged_ns, mend__exchange_now_ns(exchange));
  if (type == NULL) return;
  stop(exchange);
  mend__exchange_end_by(exchange, MEND_EFAILED, type, timeout_sentence(type));
}

static void cancel_here(mend_exchange *exchange) {
  if (exchange->state == MEND__EXCHANGE_ENDED) return;
  stop(exchange);
  mend__exchange_end_by(exchange, MEND_ECANCELLED, "cancelled", "the request was cancelled");
}

void mend__exchange_run_cancel(void *ctx) {
  mend_exchange *exchange = ctx;
  cancel_here(exchange);
  mend_exchange_release(exchange);
}

void mend_exchange_cancel(mend_exchange *exchange) {
  if (mend_loop_is_here(exchange->model->loop)) {
    cancel_here(exchange);
  } else if (!atomic_exchange(&exchange->cancel_is_posted, true)) {
    mend_exchange_retain(exchange);
    mend__loop_post_own(exchange->model->loop, &exchange->cancel);
  }
}

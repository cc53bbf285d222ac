#include "core/given.h"
#include "core/options_size.h"
#include "fallback/fallback_internal.h"

static mend_status prepare(mend_model *model, const mend_model_request *given, mend_exchange **ret_exchange,
                           mend_error *error) {
  mend__request *request;
  mend_status status = mend__request_new(given, model->allocator, &request, error);
  if (status != MEND_OK) return status;
  status = mend__exchange_new(model, request, ret_exchange);
  return status == MEND_OK ? MEND_OK : mend_error_set(error, status, "a request: out of memory");
}

/* ---- Inside of the room ---- */

mend_status mend__exchange_send(mend_model *model, const mend_model_request *request, const mend__listener *listener,
                                mend_exchange **ret_exchange, mend_error *error) {
  mend_exchange *exchange;
  const mend_status status = prepare(model, request, &exchange, error);
  if (status != MEND_OK) return status;
  exchange->listener = *listener;
  mend__exchange_begin(exchange, ret_exchange);
  return MEND_OK;
}

mend_status mend__attempt_send(mend_model *model, const mend__attempt *attempt, mend_exchange **ret_exchange) {
  mend_exchange *exchange;
  const mend_status status = mend__exchange_new(model, mend__request_retain(attempt->of->request), &exchange);
  if (status != MEND_OK) return status;
  exchange->asked = attempt->asked;
  exchange->attempt = attempt->number;
  exchange->listener = attempt->listener;
  mend__exchange_begin(exchange, ret_exchange);
  return MEND_OK;
}

/* ---- Users' listeners ---- */

static void tell_delta(void *ctx, const mend_delta *delta) {
  const mend_exchange *exchange = ctx;
  if (exchange->told.delta != NULL) exchange->told.delta(exchange->told.ctx, delta);
}

static void tell_done(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure,
                      const mend_failure_signal *signal) {
  (void)signal;
  const mend_exchange *exchange = ctx;
  if (exchange->told.done != NULL) exchange->told.done(exchange->told.ctx, status, reply, failure);
}

mend_status mend_model_send(mend_model *model, const mend_model_request *request, const mend_model_listener *listener,
                            mend_exchange **ret_exchange, mend_error *error) {
  if (model == NULL) return mend__refuse_null(error, "the model");
  if (request == NULL) return mend__refuse_null(error, "the request");
  mend_exchange *exchange;
  mend_model_listener told = {.size = sizeof told};
  mend_status status = mend__options_take(&told, listener, "mend_model_listener", error);
  if (status == MEND_OK) status = prepare(model, request, &exchange, error);
  if (status != MEND_OK) return status;
  exchange->told = told;
  exchange->listener = (mend__listener){.delta = tell_delta, .done = tell_done, .ctx = exchange};
  mend__exchange_begin(exchange, ret_exchange);
  return MEND_OK;
}

#include "fallback/fallback_internal.h"

/* Events of the same request have the same call, those of a chain's attempts too: each attempt begins with a
 * model.request and ends with a model.response or model.error, one after the other. A model that only hands on has
 * nothing to say itself. */

static mend_run *run_of(const mend_exchange *exchange) {
  return exchange->model->sort == MEND__MODEL_FORWARDS ? NULL : exchange->asked.run;
}

void mend__exchange_publish(const mend_exchange *exchange, mend_event *event) {
  event->call = exchange->request->call;
  event->call_name = exchange->asked.call_name;
  mend_run_publish(exchange->asked.run, event);
}

void mend__exchange_publish_request(const mend_exchange *exchange) {
  if (run_of(exchange) == NULL) return;
  mend_model_request_event event = MEND_MODEL_REQUEST_EVENT_INIT;
  event.model = exchange->model->name;
  event.provider = exchange->model->provider;
  event.messages = mend_messages_count(exchange->asked.messages);
  event.attempt = exchange->attempt;
  if (exchange->asked.within != 0) event.within = exchange->asked.within;
  mend__exchange_publish(exchange, &event.event);
}

static mend_str name_of_kind(mend_part_kind kind) {
  if (kind == MEND_PART_CALL) return MEND_STR("tool_args");
  return kind == MEND_PART_THINKING ? MEND_STR("thinking") : MEND_STR("text");
}

void mend__exchange_publish_delta(const mend_exchange *exchange, const mend_delta *delta) {
  if (run_of(exchange) == NULL) return;
  mend_model_delta_event event = MEND_MODEL_DELTA_EVENT_INIT;
  event.text = delta->text.ptr != NULL ? delta->text : MEND_STR("");
  event.delta_kind = name_of_kind(delta->kind);
  event.bytes = delta->text.len;
  mend__exchange_publish(exchange, &event.event);
}

void mend__exchange_publish_usage(const mend_exchange *exchange, const mend_usage *usage) {
  const bool is_known = usage->input != MEND_NONE || usage->output != MEND_NONE;
  if (run_of(exchange) == NULL || !is_known) return;
  mend_model_usage_event event = MEND_MODEL_USAGE_EVENT_INIT;
  event.model = exchange->model->name;
  event.provider = exchange->model->provider;
  event.input_tokens = usage->input;
  event.output_tokens = usage->output;
  event.cost_usd = mend_model_cost_usd(&exchange->model->facts, usage);
  event.tokens = (usage->input != MEND_NONE ? usage->input : 0) + (usage->output != MEND_NONE ? usage->output : 0);
  mend__exchange_publish(exchange, &event.event);
}

void mend__exchange_publish_response(const mend_exchange *exchange, const mend_reply *reply) {
  if (run_of(exchange) == NULL) return;
  mend_model_response_event event = MEND_MODEL_RESPONSE_EVENT_INIT;
  event.model = exchange->model->name;
  event.provider = exchange->model->provider;
  event.text = reply->text;
  event.finish_reason = mend_str_from(mend_finish_name(reply->finish));
  event.duration_ms = mend__exchange_ms(exchange);
  mend__exchange_publish(exchange, &event.event);
}

void mend__exchange_publish_error(const mend_exchange *exchange, const mend_failure *failure) {
  if (run_of(exchange) == NULL) return;
  mend_model_error_event event = MEND_MODEL_ERROR_EVENT_INIT;
  event.model = exchange->model->name;
  event.provider = exchange->model->provider;
  event.error_type = failure->type;
  event.error = failure->message;
  if (failure->http_status != 0) event.http_status = failure->http_status;
  event.duration_ms = mend__exchange_ms(exchange);
  mend__exchange_publish(exchange, &event.event);
}

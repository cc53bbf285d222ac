#include "fallback/chain_internal.h"

void mend__publish_retry(const mend_exchange *exchange, mend_str target, const char *class, uint64_t attempt,
                         double delay_ms) {
  if (exchange->asked.run == NULL) return;
  mend_model_retry_event event = MEND_MODEL_RETRY_EVENT_INIT;
  event.model = target;
  event.error_type = mend_str_from(class);
  event.attempt = attempt;
  event.delay_ms = delay_ms;
  mend__exchange_publish(exchange, &event.event);
}

void mend__publish_fallback(const mend_exchange *exchange, mend_str from, mend_str to, const char *class,
                            mend_str message) {
  if (exchange->asked.run == NULL) return;
  mend_model_fallback_event event = MEND_MODEL_FALLBACK_EVENT_INIT;
  event.from = from;
  event.to = to;
  event.error_type = mend_str_from(class);
  event.error = message;
  mend__exchange_publish(exchange, &event.event);
}

/* A target counts as tried as soon as one of its lanes was. */
static void write_tried(mend__buffer *json, const mend__chain *chain, const bool *tried) {
  mend__buffer_char(json, '[');
  for (size_t i = 0; i < chain->target_count; i++) {
    if (!tried[chain->targets[i].first_lane]) continue;
    if (json->len > 1) mend__buffer_char(json, ',');
    mend__buffer_json_string(json, chain->targets[i].name);
  }
  mend__buffer_char(json, ']');
}

void mend__publish_exhausted(const mend_exchange *exchange, const mend__chain *chain, const bool *tried,
                             const char *class, mend_str message) {
  if (exchange->asked.run == NULL) return;
  mend__buffer json;
  mend__buffer_init(&json, chain->allocator);
  write_tried(&json, chain, tried);
  mend_model_chain_exhausted_event event = MEND_MODEL_CHAIN_EXHAUSTED_EVENT_INIT;
  if (!json.failed) event.models_tried = (mend_str){json.data, json.len};
  event.last_error_type = mend_str_from(class);
  event.last_error = message;
  mend__exchange_publish(exchange, &event.event);
  mend__buffer_free(&json);
}

void mend__publish_recovered(const mend_exchange *exchange, mend_str target) {
  if (exchange->asked.run == NULL) return;
  mend_model_recovered_event event = MEND_MODEL_RECOVERED_EVENT_INIT;
  event.model = target;
  mend__exchange_publish(exchange, &event.event);
}

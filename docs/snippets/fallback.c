/* What docs/api/fallback.md quotes. */
#include <mend/fallback.h>

#include <stdio.h>

/* ---- A chain ----------------------------------------------------------------------------------------------- */

mend_status open_chain(mend_loop *loop, const char *openai_key, const char *anthropic_key, mend_model **ret_chain,
                       mend_error *error);

mend_status open_chain(mend_loop *loop, const char *openai_key, const char *anthropic_key, mend_model **ret_chain,
                       mend_error *error) {
  const mend_key keys[] = {{"openai", openai_key}, {"anthropic", anthropic_key}};
  const mend_endpoint endpoints[] = {{"compatible", "http://127.0.0.1:8080/v1"}};
  const char *const models[] = {"openai:gpt-4.1", "anthropic:claude-sonnet-4-6", "compatible:llama-4"};
  mend_fallback_options options = MEND_FALLBACK_OPTIONS_INIT;
  options.loop = loop;
  options.keys = keys;
  options.key_count = 2;
  options.endpoints = endpoints;
  options.endpoint_count = 1;
  options.profile = MEND_FALLBACK_RESILIENT;
  return mend_fallback_new(models, 3, &options, ret_chain, error);
}

/* ---- What it may cost --------------------------------------------------------------------------------------- */

static const char own_models[] = "{\"gpt-4.1*\": {\"input_usd_per_mtok\": 2, \"output_usd_per_mtok\": 8},"
                                 " \"compatible:*\": {\"input_usd_per_mtok\": 0, \"output_usd_per_mtok\": 0,"
                                 "                   \"context_tokens\": 131072}}";

mend_status ask_for_a_cent(mend_loop *loop, const mend_messages *messages, mend_reply *ret_reply, mend_error *error);

mend_status ask_for_a_cent(mend_loop *loop, const mend_messages *messages, mend_reply *ret_reply, mend_error *error) {
  const char *const models[] = {"openai:gpt-4.1", "compatible:llama-4"};
  mend_fallback_options options = MEND_FALLBACK_OPTIONS_INIT;
  options.loop = loop;
  options.keys_from_environment = true;
  options.models = own_models;
  mend_model *chain;
  mend_status status = mend_fallback_new(models, 2, &options, &chain, error);
  if (status != MEND_OK) return status;
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  request.messages = messages;
  request.max_tokens = 500;
  request.max_cost_usd = 0.01;
  status = mend_model_ask(chain, &request, ret_reply, error);
  mend_model_release(chain);
  return status;
}

/* ---- How it stands ----------------------------------------------------------------------------------------- */

void print_targets(mend_model *chain);

void print_targets(mend_model *chain) {
  static const char *const words[] = {"works", "cools down", "is probed"};
  mend_target_state state = {.size = sizeof state};
  for (size_t i = 0; mend_fallback_state(chain, i, &state) == MEND_OK; i++) {
    printf("%s %.*s %s", state.current ? ">" : " ", MEND_STR_ARG(state.model), words[state.breaker]);
    if (state.cool_down_s > 0) printf(", %.0f s left", state.cool_down_s);
    printf("%s\n", state.parked ? ", parked" : "");
  }
  const mend_str left_out = mend_fallback_left_out(chain);
  printf("left out: %.*s\n", MEND_STR_ARG(left_out));
}

/* ---- Rows of one's own ------------------------------------------------------------------------------------- */

/* A gateway that says 420 when it wants to be left alone, and a provider whose refusals another model may answer. */
static const char own_rows[] = "[{\"name\": \"calm_down\", \"status\": 420, \"action\": \"fail_over\","
                               "  \"cool_down_s\": [30, 300], \"scope\": \"provider\"},"
                               " {\"name\": \"filtered\", \"provider\": \"google\","
                               "  \"json\": {\"error.code\": \"content_filter\"}, \"action\": \"fail_over\"}]";

mend_status explain(mend_str body, mend_error *error);

mend_status explain(mend_str body, mend_error *error) {
  mend_classification *table;
  const mend_status status = mend_classification_new(own_rows, NULL, &table, error);
  if (status != MEND_OK) return status;
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  mend_failure_class class = MEND_FAILURE_CLASS_INIT;
  signal.http_status = 420;
  signal.body = body;
  mend_classify(table, &signal, &class);
  printf("%s: %s, out for %g s\n", class.name, mend_failure_action_name(class.action), class.cool_down_s);
  mend_classification_release(table);
  return MEND_OK;
}

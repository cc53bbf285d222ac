/* What docs/api/model.md and docs/scripted-models.md quote. */
#include <mend/fallback.h>

#include <stdio.h>

/* ---- Asking and waiting ------------------------------------------------------------------------------------ */

mend_status ask_for_capital(mend_loop *loop, mend_error *error);

mend_status ask_for_capital(mend_loop *loop, mend_error *error) {
  mend_model *model = NULL;
  mend_messages *messages = NULL;
  mend_reply reply = MEND_REPLY_INIT;
  mend_fallback_options options = MEND_FALLBACK_OPTIONS_INIT;
  options.loop = loop;
  mend_status status = mend_model_open("scripted:capitals.json", &options, &model, error);
  if (status == MEND_OK) status = mend_messages_new(NULL, &messages);
  if (status == MEND_OK) status = mend_messages_add_system(messages, MEND_STR("Be brief."));
  if (status == MEND_OK) status = mend_messages_add_user(messages, MEND_STR("What is the capital of France?"));
  if (status == MEND_OK) {
    mend_model_request request = MEND_MODEL_REQUEST_INIT;
    request.messages = messages;
    status = mend_model_ask(model, &request, &reply, error);
  }
  if (status == MEND_OK) puts(reply.text.ptr);
  mend_reply_clear(&reply);
  mend_messages_free(messages);
  mend_model_release(model);
  return status;
}

/* ---- A stream ---------------------------------------------------------------------------------------------- */

static void print_piece(void *ctx, const mend_delta *delta) {
  if (delta->kind == MEND_PART_TEXT) fwrite(delta->text.ptr, 1, delta->text.len, ctx);
}

static void print_end(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  if (status == MEND_OK) {
    fprintf(ctx, "\n%s after %.0f ms\n", mend_finish_name(reply->finish), reply->duration_ms);
  } else {
    fprintf(ctx, "\n%.*s: %.*s\n", MEND_STR_ARG(failure->type), MEND_STR_ARG(failure->message));
  }
}

mend_status print_stream(mend_model *model, const mend_messages *messages, mend_exchange **ret_exchange,
                         mend_error *error);

mend_status print_stream(mend_model *model, const mend_messages *messages, mend_exchange **ret_exchange,
                         mend_error *error) {
  const mend_model_listener listener = {sizeof listener, print_piece, print_end, stdout};
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  request.messages = messages;
  request.clocks.total_s = 60;
  return mend_model_send(model, &request, &listener, ret_exchange, error);
}

/* ---- Tools ------------------------------------------------------------------------------------------------- */

mend_status answer_calls(mend_messages *messages, const mend_reply *reply);

mend_status answer_calls(mend_messages *messages, const mend_reply *reply) {
  mend_status status = mend_messages_add_reply(messages, reply);
  for (size_t i = 0; i < reply->part_count && status == MEND_OK; i++) {
    const mend_part *part = &reply->parts[i];
    if (part->kind != MEND_PART_CALL) continue;
    status = mend_messages_add_result(messages, part->call_id, MEND_STR("{\"temperature\": 21}"), false);
  }
  return status;
}

/* ---- What it cost ------------------------------------------------------------------------------------------- */

mend_status tell_cost(const mend_reply *reply, mend_str prices, mend_error *error);

/* {"gpt-4.1*": {"input_usd_per_mtok": 2, "output_usd_per_mtok": 8, "cached_input_usd_per_mtok": 0.5}} */
mend_status tell_cost(const mend_reply *reply, mend_str prices, mend_error *error) {
  mend_model_table *table;
  mend_model_facts facts = MEND_MODEL_FACTS_INIT;
  const mend_status status = mend_model_table_new(prices, NULL, &table, error);
  if (status != MEND_OK) return status;
  if (mend_model_table_find(table, reply->target, &facts) == MEND_OK)
    printf("%.6f US dollars\n", mend_model_cost_usd(&facts, &reply->usage));
  mend_model_table_release(table);
  return MEND_OK;
}

/* ---- A model of one's own ---------------------------------------------------------------------------------- */

static mend_status echo(void *ctx, mend_exchange *exchange, mend_error *error) {
  (void)ctx;
  const mend_messages *messages = mend_exchange_request(exchange)->messages;
  mend_role role;
  const mend_part *parts;
  size_t count;
  mend_delta delta = MEND_DELTA_INIT;
  mend_status status = mend_messages_get(messages, mend_messages_count(messages) - 1, &role, &parts, &count);
  if (status != MEND_OK || role != MEND_ROLE_USER)
    return mend_error_set(error, MEND_EINVAL, "an echo wants to be told");
  delta.text = parts[0].text;
  mend_exchange_delta(exchange, &delta);
  mend_exchange_finish(exchange);
  return MEND_OK;
}

mend_status make_echo(mend_loop *loop, mend_model **ret_model, mend_error *error);

mend_status make_echo(mend_loop *loop, mend_model **ret_model, mend_error *error) {
  static const mend_model_vtable vtable = {.size = sizeof vtable, .begin = echo};
  return mend_model_new(loop, NULL, &vtable, NULL, "own", "echo", ret_model, error);
}

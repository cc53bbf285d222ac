/* What a chain does to a request so that a target takes it, and what it knows of models. */
#include "fallback/troupe.h"

/* Only the target that does not take a parameter is not sent it. */
Test(chain_repair, what_is_dropped_for_one_is_sent_to_the_next) {
  static const char *const two[] = {"a", "b"}, *const parts[] = {"P", "o", NULL};
  troupe t;
  answer a;
  troupe_open(&t, MEND_FALLBACK_RESILIENT, NULL, two, parts);
  mend_model_request request = world_request(&t.w);
  request.temperature = 0.5;
  mend_exchange_release(send_to(&t, &request, &a));
  cr_assert_str_eq(t.w.log, "aP aP bo");
  cr_assert(t.actors[0].temperature != t.actors[0].temperature, "the second time without");
  cr_assert_float_eq(t.actors[1].temperature, 0.5, 0);
  mend_reply_clear(&a.reply);
  troupe_close(&t);
}

Test(chain_repair, parameters_that_are_named) {
  static const struct {
    const char *words;
    unsigned named;
  } cases[] = {
      {"Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'", MEND__PARAMETER_MAX_TOKENS},
      {"Unsupported value: 'temperature' does not support 0.2", MEND__PARAMETER_TEMPERATURE},
      {"`temperature` and `top_p` cannot both be specified", MEND__PARAMETER_TEMPERATURE},
      {"{\"loc\": [\"body\", \"stop\"]}", MEND__PARAMETER_STOP},
      {"Unknown name \"topP\" at generation_config", MEND__PARAMETER_TOP_P},
      {"stop_sequences: Extra inputs are not permitted", MEND__PARAMETER_STOP},
      {"maxOutputTokens", MEND__PARAMETER_MAX_TOKENS},
      {"temperatures, stopped, nonstop and my_top_p", 0},
      {"", 0},
  };
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    request.temperature = request.top_p = 0.5;
    request.max_tokens = 10;
    request.stop = MEND_STR("[\"x\"]");
    const unsigned named = mend__parameters_named(&request, mend_str_from(cases[i].words));
    cr_assert_eq(named, cases[i].named, "%s: %u", cases[i].words, named);
    mend__parameters_drop(&request, named);
    cr_assert_eq(mend__parameters_named(&request, mend_str_from(cases[i].words)) & named, 0u, "%s", cases[i].words);
  }
}

Test(chain_repair, windows) {
  static const struct {
    const char *id;
    uint64_t tokens;
  } cases[] = {{"gpt-4", 8192},
               {"gpt-4-0613", 8192},
               {"gpt-4o-mini", 128000},
               {"gpt-4.1-nano", 1047576},
               {"anthropic/claude-sonnet-4-6", 200000},
               {"gemini-2.5-pro", 1048576},
               {"vendor/sub/o3-mini", 200000},
               {"llama-4", 0},
               {"gpt", 0},
               {"a/", 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    cr_assert_eq(mend__window_of(mend_str_from(cases[i].id)), cases[i].tokens, "%s", cases[i].id);
}

/* What a request through a chain may cost, and what is told of that; chains within chains. Who is asked then is in the
 * stories. */
#include "fallback/troupe.h"

#define PRICES                                                                                                         \
  "{\"a\": {\"input_usd_per_mtok\": 1, \"output_usd_per_mtok\": 200},"                                                 \
  " \"b\": {\"input_usd_per_mtok\": 1, \"output_usd_per_mtok\": 300}}"

static const char *const names[] = {"a", "b", NULL};

/* ---- What is told ---- */

Test(chain_budget, what_is_left_is_told) {
  static const char *const parts[] = {"o", "o", NULL};
  troupe t;
  answer a;
  open_with_tables(&t, MEND_FALLBACK_RESILIENT, NULL, names, parts, "", PRICES);
  mend_model_request request = world_request(&t.w);
  request.max_tokens = 1000;
  request.max_cost_usd = 0.125;
  mend_exchange_release(send_to(&t, &request, &a));
  cr_assert_eq(a.status, MEND_EFAILED);
  cr_assert_str_eq(a.type, "cost_limit");
  cr_assert_str_eq(
      a.attempts,
      "[{\"target\":\"t1:a\",\"class\":\"cost_limit\",\"action\":\"fail_over\",\"error\":\"asking it may cost "
      "up to 0.200002 US dollars, of max_cost_usd 0.125 are left\",\"ms\":0},{\"target\":\"t2:b\",\"class\":"
      "\"cost_limit\",\"action\":\"fail_over\",\"error\":\"asking it may cost up to 0.300002 US dollars, of "
      "max_cost_usd 0.125 are left\",\"ms\":0}]",
      "%s", a.attempts);
  cr_assert_str_eq(t.healing, "fallback(t1:a,t2:b,cost_limit) exhausted([\"t1:a\",\"t2:b\"],cost_limit) ", "%s",
                   t.healing);
  cr_assert_str_eq(t.w.log, "", "nobody is asked");
  mend_reply_clear(&a.reply);
  troupe_close(&t);
}

static mend_status log_cost(void *ctx, const mend_event *event) {
  const mend_model_usage_event *usage = (const mend_model_usage_event *)event;
  note(ctx, "%u tokens of %.*s, %g US dollars", (unsigned)usage->tokens, MEND_STR_ARG(usage->provider),
       usage->cost_usd);
  return MEND_OK;
}

Test(chain_budget, events_tell_what_was_paid) {
  static const struct {
    const char *models, *log;
  } cases[] = {
      {NULL, "2500 tokens of scripted, nan US dollars"},
      {"{\"scripted:*/costs.json\": {\"input_usd_per_mtok\": 1, \"output_usd_per_mtok\": 8}}",
       "2500 tokens of scripted, 0.006 US dollars"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    troupe t = {.models = cases[i].models};
    answer a;
    mend_error error = MEND_ERROR_INIT;
    world_open(&t.w);
    const mend_fallback_options options = options_of(&t, MEND_FALLBACK_RESILIENT);
    cr_assert_eq(mend_bus_subscribe(t.w.bus, "model.usage", log_cost, &t.w, NULL, &t.subscription, NULL), MEND_OK);
    cr_assert_eq(mend_model_open("scripted:" MEND_TEST_DATA "/fallback/chain/costs.json", &options, &t.chain, &error),
                 MEND_OK, "%s", error.message);
    const mend_model_request request = world_request(&t.w);
    mend_exchange_release(send_to(&t, &request, &a));
    cr_assert_str_eq(t.w.log, cases[i].log, "%s", t.w.log);
    mend_reply_clear(&a.reply);
    troupe_close(&t);
  }
}

/* ---- One model ---- */

Test(chain_budget, one_model_keeps_to_it) {
  static const char prices[] = "{\"scripted:*\": {\"input_usd_per_mtok\": 1, \"output_usd_per_mtok\": 8}}";
  static const struct {
    const char *models;
    double max_cost_usd;
    mend_status status;
    const char *type, *message;
  } cases[] = {
      {prices, 0, MEND_OK, NULL, NULL},
      {prices, 0.01, MEND_OK, NULL, NULL},
      {prices, 0.004, MEND_EFAILED, "cost_limit",
       "asking it may cost up to 0.008002 US dollars, of max_cost_usd 0.004 are left"},
      {NULL, 0.004, MEND_OK, NULL, NULL}, /* what has no price may be asked */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    troupe t = {.models = cases[i].models};
    mend_error error = MEND_ERROR_INIT;
    mend_reply reply = MEND_REPLY_INIT;
    world_open(&t.w);
    const mend_fallback_options options = options_of(&t, MEND_FALLBACK_SEED);
    cr_assert_eq(mend_model_open("scripted:" MEND_TEST_DATA "/fallback/chain/costs.json", &options, &t.chain, &error),
                 MEND_OK, "%s", error.message);
    mend_model_request request = world_request(&t.w);
    request.max_tokens = 1000;
    request.max_cost_usd = cases[i].max_cost_usd;
    cr_assert_eq(mend_model_ask(t.chain, &request, &reply, &error), cases[i].status, "case %zu: %s", i, error.message);
    if (cases[i].type != NULL) {
      cr_assert(mend_str_equal(reply.failure->type, mend_str_from(cases[i].type)), "case %zu", i);
      cr_assert_str_eq(error.message, cases[i].message);
    }
    mend_reply_clear(&reply);
    troupe_close(&t);
  }
}

/* ---- Chains within chains ---- */

/* The chain's first target becomes a chain of its own, in the seed profile: it repairs nothing itself. */
static void put_chain_in_chain(troupe *t, const char *models) {
  mend_model *inner = t->chain;
  mend_fallback_options options = options_of(t, MEND_FALLBACK_RESILIENT);
  options.models = models;
  cr_assert_eq(mend_fallback_of(&inner, 1, &options, &t->chain, NULL), MEND_OK);
  mend_model_release(inner);
}

Test(chain_budget, a_chain_in_a_chain_is_sent_the_repaired_request) {
  static const char *const parts[] = {"Po", NULL};
  troupe t;
  answer a;
  troupe_open(&t, MEND_FALLBACK_SEED, NULL, names, parts);
  put_chain_in_chain(&t, NULL);
  mend_model_request request = world_request(&t.w);
  request.temperature = 0.5;
  request.within = 7;
  mend_exchange_release(send_to(&t, &request, &a));
  cr_assert_eq(a.status, MEND_OK, "%s", a.message);
  cr_assert_str_eq(t.w.log, "aP ao");
  cr_assert_not_null(strstr(t.w.events, "request(a,1,1,in 7)"), "%s", t.w.events);
  cr_assert_not_null(strstr(t.w.events, "request(a,1,2,in 7)"), "%s", t.w.events);
  cr_assert(t.actors[0].temperature != t.actors[0].temperature, "the second time without");
  mend_reply_clear(&a.reply);
  troupe_close(&t);
}

/* The first `count` models become a chain, which is the first target of another one, before the rest. */
static void put_models_in_chain(troupe *t, size_t count, size_t all) {
  const mend_fallback_options options = options_of(t, MEND_FALLBACK_RESILIENT);
  mend_model *models[ACTORS], *targets[ACTORS];
  for (size_t i = 0; i < all; i++)
    models[i] = t->actors[i].model;
  mend_model_release(t->chain);
  cr_assert_eq(mend_fallback_of(models, count, &options, &targets[0], NULL), MEND_OK);
  memcpy(&targets[1], &models[count], (all - count) * sizeof *models);
  cr_assert_eq(mend_fallback_of(targets, 1 + all - count, &options, &t->chain, NULL), MEND_OK);
  mend_model_release(targets[0]);
}

/* What a chain in a chain has taken of a request's money and attempts is not there any more for those behind it. */
Test(chain_budget, a_chain_in_a_chain_spends_for_both) {
  static const char *const three[] = {"a", "b", "c", NULL};
  static const struct {
    const char *parts[ACTORS + 1];
    double max_cost_usd;
    uint32_t max_attempts;
    const char *log, *end, *requests;
  } cases[] = {
      {{"$", "5", "o"}, 0, 0, "a$ b5 co", "ok", "request(a,1,1) request(b,1,2) request(c,1,3) "},
      {{"$", "5", "o"}, 0.450, 0, "a$ b5 co", "ok", "request(a,1,1) request(b,1,2) request(c,1,3) "},
      {{"$", "5", "o"}, 0.430, 0, "a$ b5", "cost_limit", "request(a,1,1) request(b,1,2) "},
      {{"$", "5", "o"}, 0.350, 0, "a$", "cost_limit", "request(a,1,1) "},
      {{"5", "5", "o"}, 0, 3, "a5 b5 co", "ok", "request(a,1,1) request(b,1,2) request(c,1,3) "},
      {{"5", "5", "o"}, 0, 2, "a5 b5", "overloaded", "request(a,1,1) request(b,1,2) "},
      {{"5", "5", "o"}, 0, 1, "a5", "overloaded", "request(a,1,1) "},
      {{"2o", "o", "o"}, 0, 2, "a2 ao", "ok", "request(a,1,1) request(a,1,2) "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    troupe t;
    answer a;
    char requests[256] = "";
    open_with_tables(&t, MEND_FALLBACK_RESILIENT, NULL, three, cases[i].parts, "",
                     "{\"a\": {\"input_usd_per_mtok\": 1, \"output_usd_per_mtok\": 200},"
                     " \"b\": {\"input_usd_per_mtok\": 1, \"output_usd_per_mtok\": 300},"
                     " \"c\": {\"input_usd_per_mtok\": 1, \"output_usd_per_mtok\": 340}}");
    put_models_in_chain(&t, 2, 3);
    mend_model_request request = world_request(&t.w);
    request.max_tokens = 1000;
    request.max_cost_usd = cases[i].max_cost_usd;
    request.max_attempts = cases[i].max_attempts;
    mend_exchange_release(send_to(&t, &request, &a));
    cr_assert_str_eq(t.w.log, cases[i].log, "%zu: %s", i, t.w.log);
    cr_assert_str_eq(a.status == MEND_OK ? "ok" : a.type, cases[i].end, "%zu: %s %s", i, a.type, a.message);
    for (const char *at = t.w.events; (at = strstr(at, "request(")) != NULL; at++)
      snprintf(requests + strlen(requests), sizeof requests - strlen(requests), "%.*s ", (int)strcspn(at, ")") + 1, at);
    cr_assert_str_eq(requests, cases[i].requests, "%zu: %s", i, requests);
    mend_reply_clear(&a.reply);
    troupe_close(&t);
  }
}

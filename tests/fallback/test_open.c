/* Models by their names: which are opened, which are refused with what sentence, which are left out of a chain; keys
 * and endpoints. */
#include "fallback/chain_internal.h"
#include "fallback/provider.h"
#include "fallback/world.h"

#include <stdlib.h>

#define KNOWN "openai, openai-responses, anthropic, google, compatible, scripted"

static mend_fallback_options options_of(world *w) {
  mend_fallback_options options = MEND_FALLBACK_OPTIONS_INIT;
  options.loop = w->loop;
  options.allocator = &w->memory.base;
  return options;
}

/* ---- Names ---- */

Test(open, names_that_are_refused) {
  static const struct {
    const char *name;
    mend_status status;
    const char *sentence;
  } cases[] = {
      {NULL, MEND_EINVAL, "a model's name is NULL, expected provider:model_id"},
      {"gpt-4.1", MEND_EINVAL, "\"gpt-4.1\" names no provider, expected provider:model_id with one of " KNOWN},
      {"", MEND_EINVAL, "\"\" names no provider, expected provider:model_id with one of " KNOWN},
      {"openai:", MEND_EINVAL, "\"openai:\" names no model, expected provider:model_id"},
      {":gpt-4.1", MEND_EINVAL, "unknown provider \"\"; known are " KNOWN},
      {"opnai:gpt-4.1", MEND_EINVAL, "unknown provider \"opnai\"; did you mean openai? Known are " KNOWN},
      {"mistral:large", MEND_EINVAL, "unknown provider \"mistral\"; known are " KNOWN},
      {"OPENAI:gpt-4.1", MEND_EINVAL, "unknown provider \"OPENAI\"; did you mean openai? Known are " KNOWN},
  };
  world w;
  world_open(&w);
  const mend_fallback_options options = options_of(&w);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend_model *model = NULL;
    mend_error of_model = MEND_ERROR_INIT, of_chain = MEND_ERROR_INIT;
    cr_assert_eq(mend_model_open(cases[i].name, &options, &model, &of_model), cases[i].status);
    cr_assert_str_eq(of_model.message, cases[i].sentence);
    cr_assert_eq(mend_fallback_new(&cases[i].name, 1, &options, &model, &of_chain), cases[i].status);
    cr_assert_str_eq(of_chain.message, cases[i].sentence);
    cr_assert_null(model);
  }
  world_close(&w);
}

Test(open, names_that_are_opened) {
  static const mend_key keys[] = {{NULL, "sk-any"}};
  static const mend_endpoint endpoints[] = {{"compatible", "http://127.0.0.1:1/v1"}};
  static const struct {
    const char *whole, *provider, *name;
  } cases[] = {
      {"openai:gpt-4.1", "openai", "gpt-4.1"},
      {"openai:ft:gpt-4o:me::id", "openai", "ft:gpt-4o:me::id"},
      {"openai-responses:o3", "openai-responses", "o3"},
      {"anthropic:claude-sonnet-4-6", "anthropic", "claude-sonnet-4-6"},
      {"google:gemini-2.5-pro", "google", "gemini-2.5-pro"},
      {"compatible:meta-llama/llama-4:free", "compatible", "meta-llama/llama-4:free"},
  };
  world w;
  world_open(&w);
  mend_fallback_options options = options_of(&w);
  options.keys = keys;
  options.key_count = 1;
  options.endpoints = endpoints;
  options.endpoint_count = 1;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend_model *model;
    mend_error error = MEND_ERROR_INIT;
    cr_assert_eq(mend_model_open(cases[i].whole, &options, &model, &error), MEND_OK, "%s", error.message);
    cr_assert(mend_str_equal(mend_model_provider(model), mend_str_from(cases[i].provider)), "%s", cases[i].whole);
    cr_assert(mend_str_equal(mend_model_name(model), mend_str_from(cases[i].name)), "%s", cases[i].whole);
    mend_model_release(model);
  }
  world_close(&w);
}

/* ---- Options ---- */

Test(open, options_that_are_refused) {
  static const mend_key keys[] = {{"openai", "sk-mine"}};
  static const mend_endpoint endpoints[][1] = {{{"openai", "http://me:secret@127.0.0.1/v1"}},
                                               {{"openai", "ftp://x"}},
                                               {{"openai", "http://127.0.0.1/v1?a=b"}},
                                               {{"openai", "http://127.0.0.1:99999/"}},
                                               {{"openai", "http://[::1"}},
                                               {{"openai", "http://example.com/x"}}};
  static const mend_key odd_keys[][1] = {{{"openai", "bad\nkey"}}, {{"openai", "key "}}};
  world w;
  world_open(&w);
  const mend_fallback_options good = options_of(&w);
  struct {
    mend_fallback_options options;
    const char *name;
    mend_status status;
    const char *words;
  } cases[] = {{good, "openai:gpt-4.1", MEND_EINVAL, "a base URL with credentials in it"},
               {good, "openai:gpt-4.1", MEND_EINVAL, "http:// or https://"},
               {good, "openai:gpt-4.1", MEND_EINVAL, "query or fragment"},
               {good, "compatible:x", MEND_EINVAL, "base URL"},
               {good, "openai:gpt-4.1", MEND_EINVAL, "loop is NULL"},
               {good, "openai:gpt-4.1", MEND_EINVAL, "row 1: name is missing"},
               {good, "openai:gpt-4.1", MEND_EINVAL, "size is 0"},
               {good, "scripted:/nowhere/at/all.json", MEND_ENOENT, "/nowhere/at/all.json"},
               {good, "openai:gpt-4.1", MEND_EINVAL, ""},
               {good, "openai:gpt-4.1", MEND_EINVAL, ""},
               {good, "openai:gpt-4.1", MEND_EINVAL, "http"},
               {good, "openai:gpt-4.1", MEND_EINVAL, "the key for openai has a line end"},
               {good, "openai:gpt-4.1", MEND_EINVAL, "the key for openai has a line end"}};
  for (size_t i = 0; i < 3; i++) {
    cases[i].options.endpoints = endpoints[i];
    cases[i].options.endpoint_count = 1;
  }
  for (size_t i = 0; i < 3; i++) {
    cases[8 + i].options.endpoints = endpoints[3 + i];
    cases[8 + i].options.endpoint_count = 1;
  }
  cases[4].options.loop = NULL;
  cases[5].options.classification = "[{}]";
  cases[6].options.size = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend_model *model = NULL;
    mend_error error = MEND_ERROR_INIT;
    if (cases[i].options.size != 0) {
      cases[i].options.keys = i < 11 ? keys : odd_keys[i - 11];
      cases[i].options.key_count = 1;
    }
    cr_assert_eq(mend_model_open(cases[i].name, &cases[i].options, &model, &error), cases[i].status, "%zu: %s", i,
                 error.message);
    cr_assert(strstr(error.message, cases[i].words) != NULL, "%zu: %s", i, error.message);
    cr_assert(strstr(error.message, "secret") == NULL && strstr(error.message, "sk-mine") == NULL);
    cr_assert_eq(mend_fallback_new(&cases[i].name, 1, &cases[i].options, &model, &error), cases[i].status, "%zu", i);
    cr_assert_null(model);
  }
  world_close(&w);
}

/* What nobody would use is told, and what can be meant in two ways. */
Test(open, keys_and_endpoints_that_are_refused) {
  static const struct {
    mend_key key;
    mend_endpoint endpoints[2];
    const char *sentence;
  } cases[] = {
      {{"opnai", "a"}, {{0}}, "a key: unknown provider \"opnai\"; did you mean openai? Known are " KNOWN},
      {{"mistral:large", "a"}, {{0}}, "a key: unknown provider \"mistral\"; known are " KNOWN},
      {{"openai", "a"},
       {{"compatibel", "http://127.0.0.1:1/v1"}},
       "an endpoint: unknown provider \"compatibel\"; did you mean compatible? Known are " KNOWN},
      {{"openai", "a"},
       {{NULL, "http://127.0.0.1:1/v1"}},
       "an endpoint: its provider is NULL, expected one, or provider:model_id"},
      {{"openai", "a"},
       {{"compatible", "http://127.0.0.1:1/v1"}, {"compatible", "http://127.0.0.1:2/v1"}},
       "two base URLs for compatible; for several servers name the models, as in compatible:model_id"},
      {{"openai", "a"},
       {{"openai:gpt-4.1", "127.0.0.1:1/v1"}},
       "openai:gpt-4.1: the base URL \"127.0.0.1:1/v1\" has to begin with http:// or https://"},
  };
  static const char *const models[] = {"openai:gpt-4.1"};
  world w;
  world_open(&w);
  mend_fallback_options options = options_of(&w);
  options.key_count = 1;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend_model *model = NULL;
    mend_error of_model = MEND_ERROR_INIT, of_chain = MEND_ERROR_INIT;
    options.keys = &cases[i].key;
    options.endpoints = cases[i].endpoints;
    options.endpoint_count = cases[i].endpoints[1].provider != NULL   ? 2
                             : cases[i].endpoints[0].base_url != NULL ? 1
                                                                      : 0;
    cr_assert_eq(mend_model_open(models[0], &options, &model, &of_model), MEND_EINVAL, "case %zu", i);
    cr_assert_str_eq(of_model.message, cases[i].sentence);
    cr_assert_eq(mend_fallback_new(models, 1, &options, &model, &of_chain), MEND_EINVAL, "case %zu", i);
    cr_assert_str_eq(of_chain.message, cases[i].sentence);
    cr_assert_null(model);
  }
  world_close(&w);
}

/* ---- Several servers ---- */

static const char *base_url_of(mend_model *chain, size_t lane) {
  return mend__provider_base_url(mend__chain_of(chain)->lanes[lane].model);
}

/* What is given for a model goes before what is given for its provider, keys too; a server that is dead, or has refused
 * a key, says nothing about another one. */
Test(open, several_compatible_servers) {
  static const char *const models[] = {"compatible:a", "compatible:b", "compatible:c", "compatible:d"};
  static const mend_endpoint endpoints[] = {{"compatible:b", "http://127.0.0.1:2/v1/"},
                                            {"compatible", "http://127.0.0.1:1/v1"},
                                            {"compatible:c", "http://127.0.0.1:2/v1"}};
  static const mend_key keys[] = {{"compatible", "x"}, {"compatible:b", "y"}, {"compatible:b", "z"}};
  world w;
  world_open(&w);
  mend_fallback_options options = options_of(&w);
  options.endpoints = endpoints;
  options.endpoint_count = 3;
  options.keys = keys;
  options.key_count = 3;
  mend_model *chain;
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_fallback_new(models, 4, &options, &chain, &error), MEND_OK, "%s", error.message);
  const mend__lane *lanes = mend__chain_of(chain)->lanes; /* a, b with y, b with z, c, d */
  static const char *const base_urls[] = {"http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1", "http://127.0.0.1:2/v1",
                                          "http://127.0.0.1:2/v1", "http://127.0.0.1:1/v1"};
  static const size_t key_numbers[] = {0, 1, 2, 0, 0};
  cr_assert_eq(mend__chain_of(chain)->lane_count, 5u);
  for (size_t i = 0; i < 5; i++) {
    cr_assert_str_eq(base_url_of(chain, i), base_urls[i]);
    cr_assert_eq(lanes[i].key, key_numbers[i], "lane %zu", i);
    for (size_t j = 0; j < 5; j++) {
      const bool same = strcmp(base_urls[i], base_urls[j]) == 0;
      cr_assert_eq(lanes[i].breakers[MEND__SCOPE_PROVIDER] == lanes[j].breakers[MEND__SCOPE_PROVIDER], same, "%zu, %zu",
                   i, j);
      cr_assert_eq(lanes[i].breakers[MEND__SCOPE_KEY] == lanes[j].breakers[MEND__SCOPE_KEY],
                   same && lanes[i].key == lanes[j].key, "%zu, %zu", i, j);
    }
  }
  mend_model_release(chain);
  world_close(&w);
}

/* ---- Keys ---- */

static void expect_chain(world *w, const mend_fallback_options *options, const char *name, size_t lanes,
                         const char *left_out) {
  static const char *const models[] = {"openai:gpt-4.1", "anthropic:claude-sonnet-4-6", "google:gemini-2.5-pro"};
  mend_model *chain = NULL;
  mend_error error = MEND_ERROR_INIT;
  const mend_status status = mend_fallback_new(models, 3, options, &chain, &error);
  if (name == NULL) {
    cr_assert_eq(status, MEND_EINVAL);
    cr_assert(strncmp(error.message, "no model is left of the chain: ", 31) == 0, "%s", error.message);
    cr_assert(strstr(error.message, left_out) != NULL, "%s", error.message);
    return;
  }
  cr_assert_eq(status, MEND_OK, "%s", error.message);
  cr_assert(mend_str_equal(mend_model_name(chain), mend_str_from(name)), "%.*s", MEND_STR_ARG(mend_model_name(chain)));
  cr_assert_eq(mend__chain_of(chain)->lane_count, lanes, "%s", name);
  cr_assert(mend_str_equal(mend_fallback_left_out(chain), mend_str_from(left_out)), "%.*s",
            MEND_STR_ARG(mend_fallback_left_out(chain)));
  mend_model_release(chain);
  settle(w);
}

#define NO_KEY(model, provider) "{\"model\":\"" model "\",\"reason\":\"no key for " provider "\"}"
#define NO_OPENAI NO_KEY("openai:gpt-4.1", "openai")
#define NO_ANTHROPIC NO_KEY("anthropic:claude-sonnet-4-6", "anthropic")
#define NO_GOOGLE NO_KEY("google:gemini-2.5-pro", "google")

Test(open, a_chain_of_those_that_have_keys) {
  static const struct {
    mend_key keys[4];
    size_t count;
    bool from_environment;
    const char *name;
    size_t lanes;
    const char *left_out;
  } cases[] = {
      {{{0}}, 0, false, NULL, 0, "[" NO_OPENAI "," NO_ANTHROPIC "," NO_GOOGLE "]"},
      {{{"openai", "a"}}, 1, false, "fallback(gpt-4.1)", 1, "[" NO_ANTHROPIC "," NO_GOOGLE "]"},
      {{{"google", "a"}, {"openai", "b"}}, 2, false, "fallback(gpt-4.1,gemini-2.5-pro)", 2, "[" NO_ANTHROPIC "]"},
      {{{"openai", "a"}, {"openai", "b"}}, 2, false, "fallback(gpt-4.1)", 2, "[" NO_ANTHROPIC "," NO_GOOGLE "]"},
      {{{NULL, "a"}}, 1, false, "fallback(gpt-4.1,claude-sonnet-4-6,gemini-2.5-pro)", 3, "[]"},
      {{{NULL, "a"}, {"openai", "b"}, {NULL, "c"}},
       3,
       false,
       "fallback(gpt-4.1,claude-sonnet-4-6,gemini-2.5-pro)",
       5,
       "[]"},
      {{{"openai", ""}, {"anthropic", NULL}}, 2, false, NULL, 0, NO_OPENAI},
      {{{0}}, 0, true, "fallback(claude-sonnet-4-6,gemini-2.5-pro)", 2, "[" NO_OPENAI "]"},
      {{{"openai", "a"}}, 1, true, "fallback(gpt-4.1,claude-sonnet-4-6,gemini-2.5-pro)", 3, "[]"},
  };
  setenv("ANTHROPIC_API_KEY", "sk-of-the-environment", 1);
  setenv("GOOGLE_API_KEY", "sk-of-the-environment", 1);
  setenv("OPENAI_API_KEY", "", 1);
  unsetenv("GEMINI_API_KEY");
  world w;
  world_open(&w);
  mend_fallback_options options = options_of(&w);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    options.keys = cases[i].keys;
    options.key_count = cases[i].count;
    options.keys_from_environment = cases[i].from_environment;
    expect_chain(&w, &options, cases[i].name, cases[i].lanes, cases[i].left_out);
  }
  world_close(&w);
}

/* A provider that needs no key has a lane without one, and one a key when there are some. */
Test(open, a_provider_without_keys) {
  static const char *const models[] = {"compatible:x"};
  static const mend_endpoint endpoints[] = {{"compatible", "http://127.0.0.1:1/v1"}};
  static const mend_key keys[] = {{"compatible", "a"}, {"compatible", "b"}};
  world w;
  world_open(&w);
  mend_fallback_options options = options_of(&w);
  options.endpoints = endpoints;
  options.endpoint_count = 1;
  options.keys = keys;
  for (size_t count = 0; count <= 2; count++) {
    mend_model *chain;
    options.key_count = count;
    cr_assert_eq(mend_fallback_new(models, 1, &options, &chain, NULL), MEND_OK);
    cr_assert_eq(mend__chain_of(chain)->lane_count, count == 0 ? 1 : count);
    mend_model_release(chain);
  }
  world_close(&w);
}

/* ---- Scripted ones ---- */

Test(open, a_scripted_chain) {
  static const char *const models[] = {"scripted:" MEND_TEST_DATA "/fallback/chain/refused.json",
                                       "scripted:" MEND_TEST_DATA "/fallback/chain/hello.json"};
  world w;
  world_open(&w);
  const mend_fallback_options options = options_of(&w);
  mend_model *chain;
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_fallback_new(models, 2, &options, &chain, &error), MEND_OK, "%s", error.message);
  const mend__lane *lanes = mend__chain_of(chain)->lanes;
  cr_assert(lanes[0].breakers[MEND__SCOPE_PROVIDER] != lanes[1].breakers[MEND__SCOPE_PROVIDER],
            "each file is a server");
  const mend_model_request request = world_request(&w);
  mend_reply reply = MEND_REPLY_INIT;
  cr_assert_eq(mend_model_ask(chain, &request, &reply, &error), MEND_OK, "%s", error.message);
  cr_assert(mend_str_equal(reply.text, MEND_STR("hello")) && mend_str_equal(reply.target, mend_str_from(models[1])));
  mend_reply_clear(&reply);
  mend_model_release(chain);
  world_close(&w);
}

/* ---- Out of memory ---- */

static bool open_without_memory(size_t n, bool after) {
  static const char *const models[] = {"openai:gpt-4.1", "anthropic:claude-sonnet-4-6", "google:gemini-2.5-pro"};
  static const mend_key keys[] = {{"openai", "a"}, {"openai", "b"}, {"google", "c"}};
  static const mend_endpoint endpoints[] = {{"google", "http://127.0.0.1:1/v1"}};
  world w;
  world_open(&w);
  mend_fallback_options options = options_of(&w);
  options.keys = keys;
  options.key_count = 3;
  options.endpoints = endpoints;
  options.endpoint_count = 1;
  options.models = "{\"gpt-*\": {\"context_tokens\": 5}}";
  mend_model *chain = NULL;
  mend_error error = MEND_ERROR_INIT;
  mend_test_allocator_arm(&w.memory, n, after);
  const mend_status status = mend_fallback_new(models, 3, &options, &chain, &error);
  const bool failed = mend_test_allocator_failed(&w.memory);
  cr_assert(status == (failed ? MEND_ENOMEM : MEND_OK), "allocation %zu: %s", n, error.message);
  cr_assert(!failed || (chain == NULL && error.message[0] != '\0'));
  mend_test_allocator_arm(&w.memory, 0, false);
  mend_model_release(chain);
  world_close(&w);
  return failed;
}

Test(open, out_of_memory) {
  for (int after = 0; after < 2; after++) {
    size_t n = 1;
    while (open_without_memory(n, after != 0))
      n++;
    cr_assert(n > 20u, "%zu", n);
  }
}

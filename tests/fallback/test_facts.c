/* What callers know of models: whose facts are found, what tokens cost, and what is wrong with a table. */
#include "mend/model.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE                                                                                                          \
  "{\"gpt-4.1*\": {\"context_tokens\": 1}, \"gpt-4.1-mini\": {\"context_tokens\": 2}, "                                \
  "\"openai:gpt-4.1*\": {\"context_tokens\": 3}, \"claude-*-4*\": {\"context_tokens\": 4}, "                           \
  "\"\\u006clama\": {\"context_tokens\": 5}, \"compatible:*\": {\"context_tokens\": 6}, "                              \
  "\"*-preview\": {\"context_tokens\": 7}, \"a*b*c\": {\"context_tokens\": 8}, \"two/parts\": {\"context_tokens\": "   \
  "9}}"

static mend_model_table *table_of(const char *json) {
  mend_model_table *table = NULL;
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_model_table_new(mend_str_from(json), NULL, &table, &error), MEND_OK, "%s", error.message);
  return table;
}

Test(facts, found_by_name) {
  static const struct {
    const char *model;
    uint64_t context; /* 0: nothing is known */
  } cases[] = {
      {"gpt-4.1", 1},
      {"gpt-4.1-nano", 1},
      {"gpt-4.1-mini", 2},
      {"gpt-4", 0},
      {"openai:gpt-4.1-nano", 3},
      {"openai:gpt-4.1-mini", 3},
      {"azure:gpt-4.1-mini", 2},
      {"anthropic:claude-sonnet-4-6", 4},
      {"compatible:anthropic/claude-sonnet-4-6", 6},
      {"claude-sonnet-3", 0},
      {"vendor/claude-opus-4", 4},
      {"llama", 5},
      {"meta/sub/llama", 5},
      {"llama:8b", 0},
      {"compatible:llama:8b", 6},
      {"x-preview", 7},
      {"x-preview-2", 0},
      {"abc", 8},
      {"axbxc", 8},
      {"abcbc", 8},
      {"acb", 0},
      {"two/parts", 9},
      {"parts", 0},
      {"", 0},
      {"/", 0},
      {":", 0},
  };
  mend_model_table *table = table_of(TABLE);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend_model_facts facts = MEND_MODEL_FACTS_INIT;
    const mend_status status = mend_model_table_find(table, mend_str_from(cases[i].model), &facts);
    cr_assert_eq(status, cases[i].context != 0 ? MEND_OK : MEND_ENOENT, "%s", cases[i].model);
    cr_assert_eq(facts.context_tokens, cases[i].context, "%s: %u", cases[i].model, (unsigned)facts.context_tokens);
  }
  mend_model_facts older = {.size = offsetof(mend_model_facts, output_usd_per_mtok), .output_usd_per_mtok = 77};
  cr_assert_eq(mend_model_table_find(table, MEND_STR("llama"), &older), MEND_OK);
  cr_assert_eq(older.context_tokens, 5u);
  cr_assert_float_eq(older.output_usd_per_mtok, 77, 0, "not beyond its size");
  mend_model_table_release(table);
  mend_model_table_release(NULL);
}

#define NONE MEND_NONE

Test(facts, costs) {
  static const struct {
    const char *facts;
    mend_usage usage;
    double usd;
  } cases[] = {
      {"\"input_usd_per_mtok\": 2, \"output_usd_per_mtok\": 8", {1000000, 500000, NONE, NONE}, 6},
      {"\"input_usd_per_mtok\": 2, \"output_usd_per_mtok\": 8", {1000000, 0, 400000, NONE}, 2},
      {"\"input_usd_per_mtok\": 2, \"output_usd_per_mtok\": 8, \"cached_input_usd_per_mtok\": 0.5",
       {1000000, 0, 400000, NONE},
       1.4},
      {"\"input_usd_per_mtok\": 2, \"cached_input_usd_per_mtok\": 0", {10, NONE, 400000, NONE}, 0},
      {"\"input_usd_per_mtok\": 2", {500000, NONE, NONE, NONE}, 1},
      {"\"input_usd_per_mtok\": 2", {500000, 0, NONE, NONE}, 1},
      {"\"input_usd_per_mtok\": 2", {500000, 1, NONE, NONE}, MEND_NAN},
      {"\"output_usd_per_mtok\": 2", {500000, 1, NONE, NONE}, MEND_NAN},
      {"\"output_usd_per_mtok\": 2", {NONE, 500000, NONE, NONE}, 1},
      {"\"input_usd_per_mtok\": 0, \"output_usd_per_mtok\": 0", {500000, 1, 3, 4}, 0},
      {"\"input_usd_per_mtok\": 2, \"output_usd_per_mtok\": 8", {NONE, NONE, NONE, NONE}, MEND_NAN},
      {"", {1, 1, NONE, NONE}, MEND_NAN},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char json[256];
    mend_model_facts facts = MEND_MODEL_FACTS_INIT;
    snprintf(json, sizeof json, "{\"m\": {%s}}", cases[i].facts);
    mend_model_table *table = table_of(json);
    cr_assert_eq(mend_model_table_find(table, MEND_STR("m"), &facts), MEND_OK);
    const double usd = mend_model_cost_usd(&facts, &cases[i].usage);
    cr_assert_eq(isnan(usd), isnan(cases[i].usd), "%zu: %g", i, usd);
    if (!isnan(usd)) cr_assert_float_eq(usd, cases[i].usd, 1e-9, "%zu: %g", i, usd);
    mend_model_table_release(table);
  }
}

Test(facts, mistakes_have_a_place_and_a_sentence) {
  static const struct {
    const char *json, *told;
  } cases[] = {
      {"{}", NULL},
      {"{\"m\": {}}", NULL},
      {"[]", "1:1: expected an object of facts by model"},
      {"", "1:1: "},
      {"{\"m\": {}", "1:9: "},
      {"{\"m\": 5}", "1:7: m, its facts: expected an object"},
      {"{\"m\": {\"a\": {\"b\": {}}}}", "1:13: "},
      {"{\"\": {}}", "1:2: a pattern is empty"},
      {"{\"m\": {\n \"input_usd_per_mtk\": 2}}",
       "2:2: m: unknown member \"input_usd_per_mtk\"; did you mean input_usd_per_mtok?"},
      {"{\"m\": {\"colour\": 2}}", "1:8: m: unknown member \"colour\"; known are context_tokens, input_usd_per_mtok, "
                                   "output_usd_per_mtok, cached_input_usd_per_mtok"},
      {"{\"m\": {\"context_tokens\": 1, \"context_tokens\": 2}}",
       "1:29: m, context_tokens: expected it to be given once"},
      {"{\"m\": {\"context_tokens\": 0}}", "1:26: m, context_tokens: expected a whole number from 1 to 1000000000"},
      {"{\"m\": {\"context_tokens\": 1.5}}", "1:26: m, context_tokens: expected a whole number from 1 to 1000000000"},
      {"{\"m\": {\"context_tokens\": \"8k\"}}",
       "1:26: m, context_tokens: expected a whole number from 1 to 1000000000"},
      {"{\"m\": {\"input_usd_per_mtok\": -1}}",
       "1:30: m, input_usd_per_mtok: expected US dollars from 0 to 1000000000"},
      {"{\"m\": {\"input_usd_per_mtok\": 1e400}}",
       "1:30: m, input_usd_per_mtok: expected US dollars from 0 to 1000000000"},
      {"{\"m\": {\"output_usd_per_mtok\": null}}",
       "1:31: m, output_usd_per_mtok: expected US dollars from 0 to 1000000000"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char told[320];
    mend_error error = MEND_ERROR_INIT;
    mend_model_table *table = NULL;
    const mend_status status = mend_model_table_new(mend_str_from(cases[i].json), NULL, &table, &error);
    snprintf(told, sizeof told, "%u:%u: %s", error.line, error.column, error.message);
    cr_assert_eq(status == MEND_OK, cases[i].told == NULL, "%s: %s", cases[i].json, told);
    cr_assert_eq(table != NULL, status == MEND_OK, "%s", cases[i].json);
    if (cases[i].told != NULL) {
      cr_assert(strncmp(told, cases[i].told, strlen(cases[i].told)) == 0, "%s: %s", cases[i].json, told);
    }
    mend_model_table_release(table);
  }
}

Test(facts, out_of_memory) {
  mend_test_allocator allocator;
  mend_model_table *table;
  mend_test_allocator_init(&allocator);
  mend_test_allocator_arm(&allocator, 1, true);
  cr_assert_eq(mend_model_table_new(MEND_STR(TABLE), &allocator.base, &table, NULL), MEND_ENOMEM);
  mend_test_allocator_arm(&allocator, 2, true);
  cr_assert_eq(mend_model_table_new(MEND_STR(TABLE), &allocator.base, &table, NULL), MEND_OK);
  mend_model_table_release(table);
  cr_assert_eq(atomic_load(&allocator.blocks), 0u);
}

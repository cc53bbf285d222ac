#include "option_trees.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- The table of options ---- */

static const struct {
  const char *name, *type, *fallback, *range;
} infos[] = {
    {"loop.enable", "switch", "true", "true or false"},
    {"loop.k", "integer", "3", "1 to 65535"},
    {"loop.n", "integer", "10", "2 to 65536"},
    {"loop.poll_tools", "names", "[]", "array of names, or one name"},
    {"loop.poll_k", "integer", "20", "1 to 65535"},
    {"loop.ignore_args", "masks", "[]", "array of argument names, or one name, or object of such arrays by tool"},
    {"loop.only_args", "masks", "[]", "array of argument names, or one name, or object of such arrays by tool"},
    {"loop.rearm", "choice", "\"pair_change\"", "pair_change or leave_window or backoff"},
    {"loop.tool_k", "counts", "{}", "object of integers >= 1 by tool name or pattern"},
    {"loop.read_only", "names", "[]", "array of names, or one name"},
    {"loop.idempotent", "names", "[]", "array of names, or one name"},
    {"stall.enable", "switch", "true", "true or false"},
    {"stall.timeout_s", "seconds", "60", "> 0"},
    {"stall.tool_timeout_s", "limits", "{}", "object of seconds > 0 by tool name or pattern"},
    {"stall.progress_s", "seconds", "1200", "> 0"},
    {"stall.total_s", "seconds", "3600", "> 0"},
    {"stall.first_token_s", "seconds", "120", "> 0"},
    {"stall.stream_idle_s", "seconds", "60", "> 0"},
    {"stall.run_idle_s", "seconds", "300", "> 0"},
    {"regression.enable", "switch", "false", "true or false"},
    {"regression.window_n", "integer", "5", "2 to 65536"},
    {"regression.drop", "ratio", "0.2", "0 to 1"},
    {"budget.enable", "switch", "false", "true or false"},
    {"budget.calls", "integer", "0", ">= 0, 0 for no limit"},
    {"budget.tokens", "integer", "0", ">= 0, 0 for no limit"},
    {"budget.cost_usd", "number", "0", ">= 0, 0 for no limit"},
    {"budget.time_s", "number", "0", ">= 0, 0 for no limit"},
    {"budget.tool_calls", "counts", "{}", "object of integers >= 1 by tool name or pattern"},
    {"fallback.models", "names", "[]", "array of names, or one name"},
    {"poll_interval_s", "seconds", "1", "> 0"},
    {"mode", "choice", "\"seed\"", "seed or evidence"},
    {"ladder", "switch", "true", "true or false"},
    {"ceiling", "integer", "12", "1 to 65535"},
};

Test(options, every_option_and_its_default) {
  mend_option_tree *tree = new_tree(NULL);
  const mend_options defaults = MEND_OPTIONS_INIT;
  mend_option_info info = {.size = sizeof info};
  for (size_t i = 0; i < sizeof infos / sizeof infos[0]; i++) {
    cr_assert_eq(mend_option_at(i, &info), MEND_OK);
    cr_assert_str_eq(info.name, infos[i].name);
    cr_assert_str_eq(info.type, infos[i].type, "%s", info.name);
    cr_assert_str_eq(info.fallback, infos[i].fallback, "%s", info.name);
    cr_assert_str_eq(info.range, infos[i].range, "%s", info.name);
    cr_assert(strlen(info.help) > 10 && info.help[strlen(info.help) - 1] != '.', "%s: %s", info.name, info.help);
    cr_assert_str_eq(mend_option_nearest(mend_str_from(info.name)), info.name);
    mend_option_tree *other = new_tree(NULL);
    cr_assert_eq(set(other, info.name, info.fallback, NULL), MEND_OK, "%s", info.name);
    const char *differs = difference(mend_option_tree_get(other), &defaults);
    if (!mend__option_is_text(&mend__options[i])) cr_assert_null(differs, "%s", differs);
    mend_option_tree_free(other);
  }
  cr_assert_eq(mend_option_at(sizeof infos / sizeof infos[0], &info), MEND_ENOENT);
  cr_assert_null(difference(mend_option_tree_get(tree), &defaults));
  cr_assert_eq(mend_option_tree_check(tree, NULL), MEND_OK);
  mend_option_tree_free(tree);
  mend_option_tree_free(NULL);

  struct {
    size_t size;
    const char *name, *canary;
  } older = {2 * sizeof(size_t), NULL, "kept"};
  cr_assert_eq(mend_option_at(1, (mend_option_info *)(void *)&older), MEND_OK);
  cr_assert_str_eq(older.name, "loop.k");
  cr_assert_str_eq(older.canary, "kept", "an older caller's struct ends sooner");
  info.size = 0;
  cr_assert_eq(mend_option_at(0, &info), MEND_EINVAL);
}

/* Orqest's HealingConfig, field by field. */
Test(options, seed_defaults) {
  const mend_options options = MEND_OPTIONS_INIT;
  cr_assert_eq(options.stall.timeout_s, 60.0);
  cr_assert_eq(options.loop.k, 3u);
  cr_assert_eq(options.loop.n, 10u);
  cr_assert_eq(options.regression.window_n, 5u);
  cr_assert_eq(options.regression.drop, 0.2);
  cr_assert_eq(options.poll_interval_s, 1.0);
  cr_assert_eq(options.fallback.models.len, 0u);
  cr_assert(options.stall.enable);
  cr_assert(options.loop.enable);
  cr_assert(!options.regression.enable);
  cr_assert_eq(options.mode, MEND_WATCH_MODE_SEED);
}

/* ---- Setting one by name: `problem` NULL when it is taken, else the sentence behind the name ---- */

#define K_RANGE "expected an integer from 1 to 65535"
#define SECONDS_RANGE "expected a number of seconds > 0"
#define NAMES_SHAPE "expected an array of names such as [\"a\", \"b\"]"
#define LIMITS_SHAPE "expected an object of seconds > 0 by tool name or pattern"
#define COUNTS_SHAPE "expected an object of integers >= 1 by tool name or pattern"
#define MASKS_SHAPE "expected an array of argument names, or an object of such arrays by tool"

static const struct {
  const char *name, *value, *problem;
} sets[] = {
    {"loop.k", "1", NULL},
    {"loop.k", "65535", NULL},
    {"loop.k", " 5 ", NULL},
    {"loop.k", "3.0", NULL},
    {"loop.k", "3e0", NULL},
    {"loop.k", "30e-1", NULL},
    {"loop.k", "0", "0 is out of range, " K_RANGE},
    {"loop.k", "65536", "65536 is out of range, " K_RANGE},
    {"loop.k", "-1", "-1 is out of range, " K_RANGE},
    {"loop.k", "-1.0", "-1.0 is out of range, " K_RANGE},
    {"loop.k", "1e400", "1e400 is out of range, " K_RANGE},
    {"loop.k", "4294967297", "4294967297 is out of range, " K_RANGE},
    {"loop.k", "99999999999999999999999", "99999999999999999999999 is out of range, " K_RANGE},
    {"loop.k", "0.5", "0.5 is not an integer, " K_RANGE},
    {"loop.k", "true", "true is not a number, " K_RANGE},
    {"loop.k", "null", "null is not a number, " K_RANGE},
    {"loop.k", "\"3\"", "\"3\" is not a number, " K_RANGE},
    {"loop.k", "three", "three is not a number, " K_RANGE},
    {"loop.k", "NaN", "NaN is not a number, " K_RANGE},
    {"loop.k", "[3]", "[3] is not a number, " K_RANGE},
    {"loop.k", "{", "{ is not well-formed JSON, " K_RANGE},
    {"loop.k", "", "nothing is given, " K_RANGE},
    {"loop.k", "  ", "nothing is given, " K_RANGE},
    {"loop_threshold_k", "7", NULL},
    {"loop_threshold_k", "0", "0 is out of range, " K_RANGE},
    {"loop.n", "2", NULL},
    {"loop.n", "65536", NULL},
    {"loop.n", "1", "1 is out of range, expected an integer from 2 to 65536"},
    {"loop_window_n", "11", NULL},
    {"regression_window_n", "2", NULL},
    {"regression_window_n", "1", "1 is out of range, expected an integer from 2 to 65536"},
    {"loop.enable", "false", NULL},
    {"enable_loop", "true", NULL},
    {"enable_stall", "false", NULL},
    {"enable_regression", "true", NULL},
    {"loop.enable", "1", "1 is not a switch, expected true or false"},
    {"loop.enable", "yes", "yes is not a switch, expected true or false"},
    {"loop.enable", "\"true\"", "\"true\" is not a switch, expected true or false"},
    {"stall.timeout_s", "0.001", NULL},
    {"stall.timeout_s", "1e300", NULL},
    {"stall_timeout_s", "61", NULL},
    {"stall.timeout_s", "0", "0 is out of range, " SECONDS_RANGE},
    {"stall.timeout_s", "-0.0", "-0.0 is out of range, " SECONDS_RANGE},
    {"stall.timeout_s", "-3", "-3 is out of range, " SECONDS_RANGE},
    {"stall.timeout_s", "1e999", "1e999 is out of range, " SECONDS_RANGE},
    {"stall.timeout_s", "Infinity", "Infinity is not a number, " SECONDS_RANGE},
    {"stall.timeout_s", "false", "false is not a number, " SECONDS_RANGE},
    {"poll_interval_s", "0", "0 is out of range, " SECONDS_RANGE},
    {"regression.drop", "0", NULL},
    {"regression.drop", "1", NULL},
    {"regression_drop_threshold", "0.5", NULL},
    {"regression.drop", "1.0000001", "1.0000001 is out of range, expected a number from 0 to 1"},
    {"regression.drop", "-0.1", "-0.1 is out of range, expected a number from 0 to 1"},
    {"budget.calls", "0", NULL},
    {"budget.calls", "18446744073709551615", NULL},
    {"budget.tokens", "1e18", NULL},
    {"budget.tokens", "1e20", "1e20 is out of range, expected an integer >= 0 (0 for no limit)"},
    {"budget.calls", "18446744073709551616",
     "18446744073709551616 is out of range, expected an integer >= 0 (0 for no limit)"},
    {"budget.calls", "-1", "-1 is out of range, expected an integer >= 0 (0 for no limit)"},
    {"budget.calls", "1.5", "1.5 is not an integer, expected an integer >= 0 (0 for no limit)"},
    {"budget.cost_usd", "0.25", NULL},
    {"budget.cost_usd", "-0.25", "-0.25 is out of range, expected a number >= 0 (0 for no limit)"},
    {"budget.time_s", "1e309", "1e309 is out of range, expected a number >= 0 (0 for no limit)"},
    {"mode", "evidence", NULL},
    {"mode", "\"evidence\"", NULL},
    {"mode", "\"evi\\u0064ence\"", NULL},
    {"mode", "fast", "fast is none of the choices, expected seed or evidence"},
    {"mode", "\"fast\"", "\"fast\" is none of the choices, expected seed or evidence"},
    {"mode", "true", "true is not a string, expected seed or evidence"},
    {"mode", "\"seed", "\"seed is not well-formed JSON, expected seed or evidence"},
    {"loop.rearm", "backoff", NULL},
    {"loop.rearm", "Backoff", "Backoff is none of the choices, expected pair_change or leave_window or backoff"},
    {"fallback.models", "[]", NULL},
    {"fallback.models", "[\"openai:gpt-4.1\", \"anthropic:claude-sonnet-4-6\"]", NULL},
    {"fallback_models", "openai:gpt-4.1", NULL},
    {"fallback.models", "openai:gpt-4.1,x:y", "openai:gpt-4.1,x:y is not one name, " NAMES_SHAPE},
    {"fallback.models", "[\"a\", \"\"]", "\"\" is empty, " NAMES_SHAPE},
    {"fallback.models", "\"\"", "\"\" is empty, " NAMES_SHAPE},
    {"fallback.models", "[\"a\", 3]", "3 is not a string, " NAMES_SHAPE},
    {"fallback.models", "[[\"a\"], 3]", "[\"a\"] is not a string, " NAMES_SHAPE},
    {"fallback.models", "{\"a\": 3}", "{\"a\": 3} is not an array, " NAMES_SHAPE},
    {"fallback.models", "7", "7 is not an array, " NAMES_SHAPE},
    {"fallback.models", "null", "null is not an array, " NAMES_SHAPE},
    {"fallback.models", "[\"a\"", "[\"a\" is not well-formed JSON, " NAMES_SHAPE},
    {"stall.tool_timeout_s", "{}", NULL},
    {"stall.tool_timeout_s", "{\"bash\": 600, \"mcp_*\": 0.5}", NULL},
    {"stall.tool_timeout_s", "{\"bash\": 0}", "0 is out of range, " LIMITS_SHAPE},
    {"stall.tool_timeout_s", "{\"bash\": 1e999}", "1e999 is out of range, " LIMITS_SHAPE},
    {"stall.tool_timeout_s", "{\"bash\": \"6\"}", "\"6\" is not a number, " LIMITS_SHAPE},
    {"stall.tool_timeout_s", "{\"\": 6}", "\"\" is empty, " LIMITS_SHAPE},
    {"stall.tool_timeout_s", "{\"a\": 6, \"\\u0061\": 7}", "\"\\u0061\" is there twice, " LIMITS_SHAPE},
    {"stall.tool_timeout_s", "[]", "[] is not an object, " LIMITS_SHAPE},
    {"stall.tool_timeout_s", "600", "600 is not an object, " LIMITS_SHAPE},
    {"stall.tool_timeout_s", "bash", "bash is not an object, " LIMITS_SHAPE},
    {"loop.ignore_args", "[\"timestamp\"]", NULL},
    {"loop.ignore_args", "timestamp", NULL},
    {"loop.volatile_keys", "[\"nonce\"]", NULL},
    {"loop.only_args", "{\"search\": [\"query\"], \"*\": []}", NULL},
    {"loop.only_args", "{\"search\": \"query\"}", "\"query\" is not an array, " MASKS_SHAPE},
    {"loop.only_args", "{\"search\": [1]}", "1 is not a string, " MASKS_SHAPE},
    {"loop.only_args", "{\"search\": [], \"search\": []}", "\"search\" is there twice, " MASKS_SHAPE},
    {"loop.only_args", "5", "5 is neither, " MASKS_SHAPE},
    {"loop.tool_k", "{\"bash\": 5, \"read_*\": 18446744073709551615}", NULL},
    {"loop.tool_k", "{\"bash\": 0}", "0 is out of range, " COUNTS_SHAPE},
    {"loop.tool_k", "{\"bash\": 1.5}", "1.5 is not an integer, " COUNTS_SHAPE},
    {"loop.tool_k", "{\"bash\": \"5\"}", "\"5\" is not a number, " COUNTS_SHAPE},
    {"loop.tool_k", "bash", "bash is not an object, " COUNTS_SHAPE},
    {"loop.k", "\"0123456789012345678901234567890123456789012345678901234567\xE2\x82\xAC\xE2\x82\xAC\"",
     "\"0123456789012345678901234567890123456789012345678901234567... is not a number, " K_RANGE},
};

Test(options, set_by_name) {
  const mend_options defaults = MEND_OPTIONS_INIT;
  for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
    mend_option_tree *tree = new_tree(NULL);
    mend_error error = {.line = 9};
    char expected[256];
    const mend_status status = set(tree, sets[i].name, sets[i].value, &error);
    if (sets[i].problem == NULL) {
      cr_assert_eq(status, MEND_OK, "%s=%s: %s", sets[i].name, sets[i].value, error.message);
    } else {
      snprintf(expected, sizeof expected, "%s: %s", sets[i].name, sets[i].problem);
      cr_assert_eq(status, MEND_EINVAL, "%s=%s", sets[i].name, sets[i].value);
      cr_assert_str_eq(error.message, expected);
      cr_assert_eq(error.line, 0u, "no text to point into");
      cr_assert_null(difference(mend_option_tree_get(tree), &defaults), "the tree is unchanged");
    }
    mend_option_tree_free(tree);
  }
}

Test(options, what_was_set) {
  mend_option_tree *tree = new_tree(NULL);
  static const char *const given[][2] = {
      {"loop_threshold_k", "4.0"},
      {"loop.n", "12"},
      {"loop.rearm", "leave_window"},
      {"stall.timeout_s", "1.5"},
      {"enable_stall", "false"},
      {"regression.drop", "1"},
      {"budget.calls", "1e3"},
      {"budget.tokens", "18446744073709551615"},
      {"budget.cost_usd", "0.125"},
      {"mode", "\"evidence\""},
      {"fallback.models", "say \\\"x\\\""},
      {"loop.volatile_keys", "[ \"a\" ]"},
      {"loop.poll_tools", "\"poll\""},
      {"stall.tool_timeout_s", "{\"a\":1}"},
      {"loop.tool_k", "{\"a*\":2}"},
  };
  for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
    char value[64];
    snprintf(value, sizeof value, "%s", given[i][1]);
    cr_assert_eq(set(tree, given[i][0], value, NULL), MEND_OK, "%s", given[i][0]);
    memset(value, '?', sizeof value); /* the tree owns what it keeps */
  }
  const mend_options *options = mend_option_tree_get(tree);
  cr_assert_eq(options->loop.k, 4u);
  cr_assert_eq(options->loop.n, 12u);
  cr_assert_eq(options->loop.rearm, MEND_LOOP_REARM_LEAVE_WINDOW);
  cr_assert_eq(options->stall.timeout_s, 1.5);
  cr_assert(!options->stall.enable);
  cr_assert_eq(options->regression.drop, 1.0);
  cr_assert_eq(options->budget.calls, 1000u);
  cr_assert_eq(options->budget.tokens, UINT64_MAX);
  cr_assert_eq(options->budget.cost_usd, 0.125);
  cr_assert_eq(options->mode, MEND_WATCH_MODE_EVIDENCE);
  cr_assert(mend_str_equal(options->fallback.models, MEND_STR("[\"say \\\\\\\"x\\\\\\\"\"]")));
  cr_assert(mend_str_equal(options->loop.ignore_args, MEND_STR("[ \"a\" ]")));
  cr_assert(mend_str_equal(options->loop.poll_tools, MEND_STR("[\"poll\"]")));
  cr_assert(mend_str_equal(options->stall.tool_timeout_s, MEND_STR("{\"a\":1}")));
  cr_assert(mend_str_equal(options->loop.tool_k, MEND_STR("{\"a*\":2}")));
  cr_assert_eq(mend_option_tree_check(tree, NULL), MEND_OK, "what it keeps is well-formed");
  cr_assert_eq(set(tree, "loop.poll_tools", "[]", NULL), MEND_OK, "and can be replaced");
  mend_option_tree_free(tree);
}

/* ---- Modes and their defaults ---- */

static const struct {
  const char *given[2][2]; /* in this order */
  bool evidence;
  uint32_t window_n;
  mend_loop_rearm rearm;
} profiles[] = {
    {{{NULL}}, false, 5, MEND_LOOP_REARM_PAIR_CHANGE},
    {{{"mode", "evidence"}}, true, 10, MEND_LOOP_REARM_LEAVE_WINDOW},
    {{{"mode", "evidence"}, {"regression.window_n", "7"}}, true, 7, MEND_LOOP_REARM_LEAVE_WINDOW},
    {{{"regression_window_n", "7"}, {"mode", "evidence"}}, true, 7, MEND_LOOP_REARM_LEAVE_WINDOW},
    {{{"loop.rearm", "pair_change"}, {"mode", "evidence"}}, true, 10, MEND_LOOP_REARM_PAIR_CHANGE},
    {{{"mode", "evidence"}, {"mode", "seed"}}, false, 5, MEND_LOOP_REARM_PAIR_CHANGE},
    {{{"regression.window_n", "5"}, {"mode", "evidence"}}, true, 5, MEND_LOOP_REARM_LEAVE_WINDOW},
};

static void check_told_defaults(void) {
  static const char *const told[][2] = {
      {"loop.rearm", "\"leave_window\""}, {"regression.enable", "true"}, {"regression.window_n", "10"}};
  mend_option_info info = {.size = sizeof info};
  size_t found = 0;
  for (size_t i = 0; mend_option_at(i, &info) == MEND_OK; i++) {
    if (info.evidence == NULL) continue;
    cr_assert(found < sizeof told / sizeof told[0], "%s", info.name);
    cr_assert_str_eq(info.name, told[found][0]);
    cr_assert_str_eq(info.evidence, told[found++][1]);
  }
  cr_assert_eq(found, sizeof told / sizeof told[0]);
}

Test(options, a_mode_brings_its_defaults) {
  check_told_defaults();
  for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
    mend_option_tree *tree = new_tree(NULL);
    for (size_t j = 0; j < 2 && profiles[i].given[j][0] != NULL; j++)
      cr_assert_eq(set(tree, profiles[i].given[j][0], profiles[i].given[j][1], NULL), MEND_OK);
    const mend_options *options = mend_option_tree_get(tree);
    cr_assert_eq(options->mode == MEND_WATCH_MODE_EVIDENCE, profiles[i].evidence, "case %zu", i);
    cr_assert_eq(options->regression.enable, profiles[i].evidence, "case %zu", i);
    cr_assert_eq(options->regression.window_n, profiles[i].window_n, "case %zu", i);
    cr_assert_eq(options->loop.rearm, profiles[i].rearm, "case %zu", i);
    mend_option_tree_free(tree);
  }
  mend_options options = MEND_OPTIONS_INIT;
  const mend_options defaults = MEND_OPTIONS_INIT;
  mend_options_set_profile(&options, MEND_WATCH_MODE_EVIDENCE);
  cr_assert_eq(options.regression.window_n, 10u);
  cr_assert_eq(mend_options_check(&options, NULL), MEND_OK);
  mend_options_set_profile(&options, MEND_WATCH_MODE_SEED);
  cr_assert_null(difference(&options, &defaults));
}

/* ---- Rules between fields ---- */

#define NEVER_FIRES "a count can never exceed k inside a window of "

static const struct {
  const char *k, *n, *sentence;
} pairs[] = {
    {"3", "4", NULL},
    {"9", "10", NULL},
    {"65535", "65536", NULL},
    {"3", "3", "loop.n: 3 must be greater than loop.k (3): " NEVER_FIRES "k calls"},
    {"10", "5", "loop.n: 5 must be greater than loop.k (10): " NEVER_FIRES "fewer than k calls"},
};

Test(options, a_window_must_be_larger_than_its_count) {
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    for (int n_first = 0; n_first < 2; n_first++) {
      mend_option_tree *tree = new_tree(NULL);
      mend_error error;
      cr_assert_eq(set(tree, n_first ? "loop.n" : "loop.k", n_first ? pairs[i].n : pairs[i].k, &error), MEND_OK);
      cr_assert_eq(set(tree, n_first ? "loop.k" : "loop.n", n_first ? pairs[i].k : pairs[i].n, &error), MEND_OK);
      const mend_status status = mend_option_tree_check(tree, &error);
      cr_assert_eq(status, pairs[i].sentence == NULL ? MEND_OK : MEND_EINVAL, "case %zu", i);
      if (pairs[i].sentence != NULL) cr_assert_str_eq(error.message, pairs[i].sentence);
      mend_option_tree_free(tree);
    }
  }
}

/* ---- C structs ---- */

static void check_refused(const mend_options *options, const char *sentence) {
  mend_error error = {.message = ""};
  cr_assert_eq(mend_options_check(options, &error), MEND_EINVAL, "%s", sentence);
  cr_assert_str_eq(error.message, sentence);
  cr_assert_eq(mend_options_check(options, NULL), MEND_EINVAL);
}

/* Each case starts from the defaults and sets one field. */
#define REFUSED(field, value, sentence)                                                                                \
  do {                                                                                                                 \
    mend_options options = MEND_OPTIONS_INIT;                                                                          \
    options.field = (value);                                                                                           \
    check_refused(&options, sentence);                                                                                 \
  } while (0)
#define TAKEN(field, value)                                                                                            \
  do {                                                                                                                 \
    mend_options options = MEND_OPTIONS_INIT;                                                                          \
    mend_error error = {.message = ""};                                                                                \
    options.field = (value);                                                                                           \
    cr_assert_eq(mend_options_check(&options, &error), MEND_OK, "%s", error.message);                                  \
  } while (0)

Test(options, c_structs_are_checked) {
  cr_assert_eq(mend_options_check(NULL, NULL), MEND_EINVAL);
  TAKEN(loop.k, 9);
  REFUSED(loop.k, 0, "loop.k: 0 is out of range, " K_RANGE);
  REFUSED(loop.k, 65536, "loop.k: 65536 is out of range, " K_RANGE);
  REFUSED(loop.k, 10, "loop.n: 10 must be greater than loop.k (10): " NEVER_FIRES "k calls");
  REFUSED(loop.n, 1, "loop.n: 1 is out of range, expected an integer from 2 to 65536");
  REFUSED(loop.rearm, (mend_loop_rearm)3,
          "loop.rearm: 3 is out of range, expected pair_change or leave_window or backoff");
  REFUSED(mode, (mend_watch_mode)-1, "mode: 4294967295 is out of range, expected seed or evidence");
  TAKEN(stall.timeout_s, 1e-300);
  REFUSED(stall.timeout_s, 0, "stall.timeout_s: 0 is out of range, " SECONDS_RANGE);
  REFUSED(stall.timeout_s, -1.5, "stall.timeout_s: -1.5 is out of range, " SECONDS_RANGE);
  REFUSED(stall.timeout_s, NAN, "stall.timeout_s: NaN is out of range, " SECONDS_RANGE);
  REFUSED(stall.run_idle_s, INFINITY, "stall.run_idle_s: infinity is out of range, " SECONDS_RANGE);
  REFUSED(poll_interval_s, -INFINITY, "poll_interval_s: -infinity is out of range, " SECONDS_RANGE);
  TAKEN(regression.drop, 1);
  REFUSED(regression.drop, NAN, "regression.drop: NaN is out of range, expected a number from 0 to 1");
  REFUSED(regression.drop, 1.25, "regression.drop: 1.25 is out of range, expected a number from 0 to 1");
  REFUSED(regression.window_n, 1, "regression.window_n: 1 is out of range, expected an integer from 2 to 65536");
  TAKEN(budget.calls, UINT64_MAX);
  REFUSED(budget.cost_usd, -1, "budget.cost_usd: -1 is out of range, expected a number >= 0 (0 for no limit)");
  REFUSED(budget.time_s, NAN, "budget.time_s: NaN is out of range, expected a number >= 0 (0 for no limit)");
  TAKEN(fallback.models, MEND_STR(" [\"a\"] "));
  TAKEN(fallback.models, MEND_STR(""));
  REFUSED(fallback.models, MEND_STR("a:b"), "fallback.models: a:b is not well-formed JSON, " NAMES_SHAPE);
  REFUSED(fallback.models, MEND_STR("\"a\""), "fallback.models: \"a\" is not an array, " NAMES_SHAPE);
  REFUSED(loop.ignore_args, MEND_STR("[\"\"]"), "loop.ignore_args: \"\" is empty, " MASKS_SHAPE);
  REFUSED(stall.tool_timeout_s, MEND_STR("{\"a\": -1}"), "stall.tool_timeout_s: -1 is out of range, " LIMITS_SHAPE);
}

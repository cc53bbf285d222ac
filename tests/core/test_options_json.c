#include "core/options_json.h"
#include "support/mend_test.h"
#include "support/test_support.h"

/* What is written loads again into the same tree. */
Test(options_json, written_options_load_again) {
  static const char *const settings[][2] = {
      {"loop.k", "7"},
      {"loop.n", "65536"},
      {"loop.enable", "false"},
      {"loop.rearm", "backoff"},
      {"loop.poll_tools", "[\"poll\",\"wa\\\"it\"]"},
      {"stall.timeout_s", "0.125"},
      {"stall.tool_timeout_s", "{\"build_*\":900}"},
      {"regression.drop", "1"},
      {"budget.tokens", "18446744073709551615"},
      {"budget.cost_usd", "2.5"},
      {"mode", "evidence"},
      {"poll_interval_s", "1e-3"},
  };
  mend_option_tree *tree, *again;
  mend_error error = {0};
  cr_assert_eq(mend_option_tree_new(NULL, &tree), MEND_OK);
  for (size_t i = 0; i <= sizeof settings / sizeof settings[0]; i++) {
    mend__buffer first, second;
    mend__buffer_init(&first, NULL);
    mend__buffer_init(&second, NULL);
    mend__options_write(&first, mend_option_tree_get(tree));
    cr_assert_eq(mend_option_tree_new(NULL, &again), MEND_OK);
    cr_assert_eq(mend_option_tree_load(again, mend__buffer_text(&first), &error), MEND_OK, "%.*s: %s", (int)first.len,
                 first.data, error.message);
    mend__options_write(&second, mend_option_tree_get(again));
    cr_assert(mend_str_equal(mend__buffer_text(&first), mend__buffer_text(&second)), "%.*s", (int)first.len,
              first.data);
    cr_assert_not_null(memchr(first.data, '{', first.len));
    mend__buffer_free(&first);
    mend__buffer_free(&second);
    mend_option_tree_free(again);
    if (i == sizeof settings / sizeof settings[0]) break;
    const mend_status status =
        mend_option_tree_set(tree, mend_str_from(settings[i][0]), mend_str_from(settings[i][1]), &error);
    cr_assert_eq(status, MEND_OK, "%s: %s", settings[i][0], error.message);
  }
  mend_option_tree_free(tree);
}

/* Options by name: unknown names, JSON documents, and no memory. */
#include "option_trees.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Names that do not exist ---- */

static const struct {
  const char *name, *nearest;
} names[] = {
    {"loop.kk", "loop.k"},
    {"loop.K", "loop.k"},
    {"lopo.k", "loop.k"},
    {"loop-k", "loop.k"},
    {"stall.timeout", "stall.timeout_s"},
    {"stall.timeuot_s", "stall.timeout_s"},
    {"timeout_s", "stall.timeout_s"},
    {"timeout", "stall.timeout_s"},
    {"window_n", "regression.window_n"},
    {"volatile_keys", "loop.volatile_keys"},
    {"loop_treshold_k", "loop_threshold_k"},
    {"enable_loops", "enable_loop"},
    {"regresion_drop_threshold", "regression_drop_threshold"},
    {"fallback_model", "fallback_models"},
    {"poll_interval", "poll_interval_s"},
    {"poll_inteval_s", "poll_interval_s"},
    {"MODE", "mode"},
    {"modes", "mode"},
    {"mdoe", "mode"}, /* one swap, else two changes, which is too far for four letters */
    {"k", "loop.k"},
    {"x", NULL},
    {"", NULL},
    {"colour", NULL},
    {"something.else.altogether", NULL},
    {"0123456789012345678901234567890123456789012345678901234567890123456789", NULL},
};

Test(option_load, nearest_names) {
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    mend_option_tree *tree = new_tree(NULL);
    const char *nearest = mend_option_nearest(mend_str_from(names[i].name));
    char expected[256];
    mend_error error;
    cr_assert_eq(set(tree, names[i].name, "1", &error), MEND_ENOENT, "%s", names[i].name);
    if (names[i].nearest == NULL) {
      cr_assert_null(nearest, "%s: %s", names[i].name, nearest);
      snprintf(expected, sizeof expected, "unknown option \"%s\"", names[i].name);
    } else {
      cr_assert_not_null(nearest, "%s", names[i].name);
      cr_assert_str_eq(nearest, names[i].nearest, "for %s", names[i].name);
      snprintf(expected, sizeof expected, "unknown option \"%s\"; did you mean %s?", names[i].name, nearest);
    }
    cr_assert_str_eq(error.message, expected);
    cr_assert_eq(set(tree, "loop", "{\"k\": 5}", &error), MEND_ENOENT);
    cr_assert_str_eq(error.message, "loop is a group of options, expected the whole name of one of them");
    mend_option_tree_free(tree);
  }
}

/* ---- Loading: NAME.json and beside it NAME.expected ----
 * Either "ok" and then lines "name value", which set one by one give the same tree; or "STATUS line:column sentence".
 */

static void check_taken(const mend_option_tree *tree, char *lines, const char *file) {
  mend_option_tree *expected = new_tree(NULL);
  for (char *line = strtok(lines, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    char *value = strchr(line, ' ');
    cr_assert_not_null(value, "%s", file);
    *value++ = '\0';
    cr_assert_eq(set(expected, line, value, NULL), MEND_OK, "%s: %s", file, line);
  }
  const char *differs = difference(mend_option_tree_get(tree), mend_option_tree_get(expected));
  cr_assert_null(differs, "%s: %s", file, differs);
  mend_option_tree_free(expected);
}

static void check_file(void *ctx, const char *name) {
  (void)ctx;
  char expected_name[256], got[400];
  snprintf(expected_name, sizeof expected_name, "%.*s.expected", (int)(strlen(name) - strlen(".json")), name);
  size_t len;
  char *json = mend_test_read(name, &len), *expected = mend_test_read(expected_name, NULL);
  expected[strcspn(expected, "\n")] = '\0';
  mend_option_tree *tree = new_tree(NULL);
  mend_error error = {.message = ""};
  const mend_status status = mend_option_tree_load(tree, (mend_str){json, len}, &error);
  const char *sentence = status == MEND_ESYNTAX ? "(the scanner's own)" : error.message;
  snprintf(got, sizeof got, "%s %u:%u %s", mend_status_name(status), error.line, error.column, sentence);
  if (status == MEND_OK) strcpy(got, "ok");
  cr_assert_str_eq(got, expected, "%s: %s", name, got);
  if (status == MEND_OK) {
    check_taken(tree, expected + strlen(expected) + 1, name);
  } else {
    const mend_options defaults = MEND_OPTIONS_INIT;
    cr_assert_null(difference(mend_option_tree_get(tree), &defaults), "%s: the tree is unchanged", name);
    cr_assert_eq(mend_option_tree_load(tree, (mend_str){json, len}, NULL), status);
  }
  mend_option_tree_free(tree);
  free(json);
  free(expected);
}

Test(option_load, load_files) { cr_assert(mend_test_each("options/load", ".json", check_file, NULL) >= 30); }

/* ---- Out of memory ---- */

static const char torture_json[] =
    "{\"loop\": {\"k\": 5, \"ignore_args\": {\"a\": [\"x\"], \"b\": []}, \"poll_tools\": [\"p\"]},"
    " \"fallback_models\": \"a:b\", \"stall.tool_timeout_s\": {\"a\": 1, \"b\": 2}}";

static mend_status torture_step(mend_option_tree *tree, bool load) {
  if (load) return mend_option_tree_load(tree, mend_str_from(torture_json), NULL);
  return set(tree, "loop.volatile_keys", "nonce", NULL);
}

static void run_torture(bool load, bool fail_after) {
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  mend_option_tree *tree = new_tree(&allocator.base);
  cr_assert_eq(set(tree, "loop.poll_tools", "before", NULL), MEND_OK);
  for (size_t i = 1;; i++) {
    const size_t blocks = allocator.blocks;
    mend_test_allocator_arm(&allocator, i, fail_after);
    const mend_status status = torture_step(tree, load);
    if (!mend_test_allocator_failed(&allocator)) {
      cr_assert_eq(status, MEND_OK);
      cr_assert(i > 1);
      break;
    }
    cr_assert_eq(status, MEND_ENOMEM, "allocation %zu", i);
    cr_assert_eq(allocator.blocks, blocks, "allocation %zu", i);
    cr_assert_eq(mend_option_tree_get(tree)->loop.k, 3u);
    cr_assert_eq(mend_option_tree_get(tree)->loop.ignore_args.len, 0u);
    cr_assert(mend_str_equal(mend_option_tree_get(tree)->loop.poll_tools, MEND_STR("[\"before\"]")));
  }
  mend_option_tree_free(tree);
  cr_assert_eq(allocator.blocks, 0u);
}

Test(option_load, out_of_memory_changes_nothing) {
  for (int i = 0; i < 4; i++)
    run_torture(i & 1, i & 2);
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  mend_test_allocator_arm(&allocator, 1, false);
  mend_option_tree *tree;
  cr_assert_eq(mend_option_tree_new(&allocator.base, &tree), MEND_ENOMEM);
}

/* For tests of options by name. */
#ifndef MEND_TEST_OPTION_TREES_H
#define MEND_TEST_OPTION_TREES_H

#include "core/option_internal.h"
#include "support/mend_test.h"

static inline mend_option_tree *new_tree(const mend_allocator *allocator) {
  mend_option_tree *tree;
  cr_assert_eq(mend_option_tree_new(allocator, &tree), MEND_OK);
  return tree;
}

static inline mend_status set(mend_option_tree *tree, const char *name, const char *value, mend_error *error) {
  return mend_option_tree_set(tree, mend_str_from(name), mend_str_from(value), error);
}

/* The name of the first option in which the two differ, NULL when they are the same. */
static inline const char *difference(const mend_options *a, const mend_options *b) {
  for (size_t i = 0; i < MEND__OPTIONS_COUNT; i++) {
    const mend__option *option = &mend__options[i];
    const char *left = (const char *)a + option->offset, *right = (const char *)b + option->offset;
    const bool same = mend__option_is_text(option)
                          ? mend_str_equal(mend__option_load(option, a).text, mend__option_load(option, b).text)
                          : memcmp(left, right, option->size) == 0;
    if (!same) return option->name;
  }
  return NULL;
}

#endif

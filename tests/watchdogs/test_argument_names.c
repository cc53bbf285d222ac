/* Which names of arguments an option lists, for which tool. */
#include "support/mend_test.h"
#include "support/test_support.h"
#include "watchdogs/argument_names.h"

#include <stdio.h>

static const struct {
  const char *option, *tool, *name;
  bool is_said; /* something is said of the tool */
  bool has;     /* the name is listed */
} cases[] = {
    {NULL, "fetch", "url", false, false},
    {"[]", "fetch", "url", false, false},
    {"[\"url\", \"url\"]", "fetch", "url", true, true},
    {"[\"url\"]", "anything", "url", true, true},
    {"[\"url\"]", "fetch", "URL", true, false},
    {"[\"url\"]", "fetch", "", true, false},
    {"[\"u\\u0072l\", \"a\\tb\"]", "fetch", "url", true, true},
    {"[\"u\\u0072l\", \"a\\tb\"]", "fetch", "a\tb", true, true},
    {"{\"fetch\": [\"url\"], \"f*\": [\"path\"]}", "fetch", "url", true, true},
    {"{\"fetch\": [\"url\"], \"f*\": [\"path\"]}", "fetch", "path", true, false},
    {"{\"fetch\": [\"url\"], \"f*\": [\"path\"]}", "find", "path", true, true},
    {"{\"fetch\": [\"url\"], \"f*\": [\"path\"]}", "grep", "path", false, false},
    {"{\"fetch\": []}", "fetch", "url", true, false},
};

Test(argument_names, of_a_tool) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    mend__argument_rules rules;
    cr_assert_eq(mend__argument_rules_init(&rules, mend_str_from(cases[i].option), NULL), MEND_OK, "case %zu", i);
    const mend__argument_names *names = mend__argument_rules_find(&rules, mend_str_from(cases[i].tool));
    cr_assert_eq(names != NULL, cases[i].is_said, "case %zu", i);
    const bool has = names != NULL && mend__argument_names_have(names, mend_str_from(cases[i].name));
    cr_assert_eq(has, cases[i].has, "case %zu", i);
    mend__argument_rules_free(&rules, NULL);
    cr_assert_null(mend__argument_rules_find(&rules, mend_str_from(cases[i].tool)));
  }
}

/* name_1 to name_1000, of which every one is found, and no other. */
Test(argument_names, a_thousand) {
  static char option[16384];
  size_t len = 0;
  for (int i = 1; i <= 1000; i++)
    len += (size_t)snprintf(option + len, sizeof option - len, "%s\"name_%d\"", i > 1 ? "," : "[", i);
  snprintf(option + len, sizeof option - len, "]");
  mend__argument_rules rules;
  cr_assert_eq(mend__argument_rules_init(&rules, mend_str_from(option), NULL), MEND_OK);
  const mend__argument_names *names = mend__argument_rules_find(&rules, MEND_STR("t"));
  for (int i = 0; i <= 1001; i++) {
    char name[32];
    snprintf(name, sizeof name, "name_%d", i);
    cr_assert_eq(mend__argument_names_have(names, mend_str_from(name)), i >= 1 && i <= 1000, "%s", name);
  }
  mend__argument_rules_free(&rules, NULL);
}

Test(argument_names, each_allocation_fails) {
  const mend_str option = MEND_STR("{\"fetch\": [\"url\", \"path\", \"query\"], \"f*\": [\"path\"]}");
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  size_t fail_at = 1;
  for (bool failed = true; failed; fail_at++) {
    mend__argument_rules rules;
    mend_test_allocator_arm(&memory, fail_at, false);
    const mend_status status = mend__argument_rules_init(&rules, option, &memory.base);
    failed = mend_test_allocator_failed(&memory);
    cr_assert_eq(status, failed ? MEND_ENOMEM : MEND_OK, "allocation %zu", fail_at);
    if (failed) cr_assert_eq(atomic_load(&memory.blocks), 0u, "allocation %zu", fail_at);
    mend__argument_rules_free(&rules, &memory.base);
    cr_assert_eq(atomic_load(&memory.blocks), 0u, "allocation %zu", fail_at);
  }
  cr_assert(fail_at > 5, "%zu", fail_at);
}

/* Rules by tool name or pattern. */
#include "core/memory.h"
#include "core/tool_rules.h"
#include "mend/json.h"
#include "support/mend_test.h"
#include "support/test_support.h"

static const struct {
  const char *option;
  bool is_masks;
  const char *tool;
  double number;     /* 0: there is no rule */
  const char *names; /* of a mask */
} lookups[] = {
    {NULL, false, "bash", 0, NULL},
    {"[]", false, "bash", 0, NULL},
    {"[\"poll\"]", false, "poll", 1, NULL},
    {"[\"poll\"]", false, "polls", 0, NULL},
    {"[\"poll*\"]", false, "polls", 1, NULL},
    {"[\"po\\u006cl\"]", false, "poll", 1, NULL},
    {"{}", false, "bash", 0, NULL},
    {"{\"bash\": 900}", false, "bash", 900, NULL},
    {"{\"bash\": 900}", false, "Bash", 0, NULL},
    {"{\"*\": 1.5, \"run_*\": 2, \"run_sweep\": 3, \"run_s*\": 4}", false, "run_sweep", 3, NULL},
    {"{\"*\": 1.5, \"run_*\": 2, \"run_sweep\": 3, \"run_s*\": 4}", false, "run_sweeper", 4, NULL},
    {"{\"*\": 1.5, \"run_*\": 2, \"run_sweep\": 3, \"run_s*\": 4}", false, "run_", 2, NULL},
    {"{\"*\": 1.5, \"run_*\": 2, \"run_sweep\": 3, \"run_s*\": 4}", false, "run", 1.5, NULL},
    {"{\"*\": 1.5}", false, "", 0, NULL},
    {"[\"id\", \"nonce\"]", true, "anything", 1, "[\"id\", \"nonce\"]"},
    {"[]", true, "anything", 0, NULL},
    {"{\"search\": [\"query\"], \"s*\": []}", true, "search", 1, "[\"query\"]"},
    {"{\"search\": [\"query\"], \"s*\": []}", true, "see", 1, "[]"},
    {"{\"search\": [\"query\"], \"s*\": []}", true, "other", 0, NULL},
};

Test(tool_rules, the_most_exact_one_counts) {
  for (size_t i = 0; i < sizeof lookups / sizeof lookups[0]; i++) {
    mend__tool_rules rules;
    const mend_str option = mend_str_from(lookups[i].option);
    cr_assert_eq(mend__tool_rules_init(&rules, option, lookups[i].is_masks, NULL), MEND_OK);
    const mend__tool_rule *rule = mend__tool_rules_find(&rules, mend_str_from(lookups[i].tool));
    cr_assert_eq(rule != NULL, lookups[i].number > 0, "case %zu", i);
    if (rule != NULL) cr_assert_float_eq(rule->number, lookups[i].number, 0);
    if (lookups[i].names != NULL)
      cr_assert(mend_str_equal(rule->names, mend_str_from(lookups[i].names)), "case %zu", i);
    mend__tool_rules_free(&rules, NULL);
    cr_assert_eq(rules.count, 0u);
  }
}

Test(tool_rules, out_of_memory) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  mend_test_allocator_arm(&memory, 1, true);
  mend__tool_rules rules;
  cr_assert_eq(mend__tool_rules_init(&rules, MEND_STR("{\"a\": 1}"), false, &memory.base), MEND_ENOMEM);
  cr_assert_null(mend__tool_rules_find(&rules, MEND_STR("a")));
  mend__tool_rules_free(&rules, &memory.base);
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
}

#include "core/nearest.h"
#include "support/mend_test.h"

#include <stdio.h>

/* Nearest of the names; "" for none. */
static const struct {
  const char *wanted, *names, *nearest;
} cases[] = {
    {"args", "args", "args"},
    {"ARGS", "args", "args"},
    {"arg", "tool_name args args_hash", "args"},
    {"agrs", "args", "args"},
    {"arguments", "args", ""},
    {"agent", "agents agent", "agent"},
    {"agnt", "agent agents", "agent"},
    {"ageXt", "ageYt ageZt", "ageYt"},
    {"x", "y", ""},
    {"ab", "ax", "ax"},
    {"", "a b", ""},
    {"call_id", "", ""},
    {"parent_run_ids", "parent_run_id run_id", "parent_run_id"},
    {"0123456789012345678901234567890123456789012345678901234567890123",
     "012345678901234567890123456789012345678901234567890123456789012X",
     "012345678901234567890123456789012345678901234567890123456789012X"},
    {"01234567890123456789012345678901234567890123456789012345678901234",
     "0123456789012345678901234567890123456789012345678901234567890123", ""},
    {"0123456789012345678901234567890123456789012345678901234567890123",
     "01234567890123456789012345678901234567890123456789012345678901234", ""},
};

Test(nearest, cases) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char names[200];
    snprintf(names, sizeof names, "%s", cases[i].names);
    mend__nearest search = mend__nearest_to(mend_str_from(cases[i].wanted));
    char *rest = names;
    for (char *name; (name = strsep(&rest, " ")) != NULL;)
      mend__nearest_consider(&search, mend_str_from(name), name);
    const char *nearest = search.answer != NULL ? search.answer : "";
    cr_assert_str_eq(nearest, cases[i].nearest, "%s: %s", cases[i].wanted, nearest);
  }
}

/* What an agent has come to: sums of tokens, and reports that are used again. */
#include "agent/agent_internal.h"
#include "support/mend_test.h"

/* ---- Tokens: whatever a provider says ---- */

enum { MOST = 3 };

Test(agent_report, tokens_are_added) {
  static const uint64_t none = MEND_NONE, most = MEND_NONE - 1;
  const struct {
    uint64_t told[MOST], sum;
  } rows[] = {
      {{none, none, none}, none}, {{0, none, none}, 0},       {{none, 5, none}, 5},        {{5, none, 7}, 12},
      {{most, 0, none}, most},    {{most, most, none}, most}, {{1, most - 1, 0}, most},    {{2, most - 1, none}, most},
      {{most, 1, none}, most},    {{1, most, 1}, most},       {{most - 1, 1, none}, most},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend_usage sum = {none, none, none, none};
    for (size_t turn = 0; turn < MOST; turn++) {
      const uint64_t told = rows[i].told[turn];
      mend__usage_add(&sum, &(mend_usage){told, told, told, told});
    }
    cr_assert(sum.input == rows[i].sum && sum.output == rows[i].sum, "row %zu: %llu", i, (unsigned long long)sum.input);
    cr_assert(sum.cached_input == rows[i].sum && sum.reasoning == rows[i].sum, "row %zu", i);
  }
}

/* ---- A report of a newer program: what this library does not know of it stays ---- */

Test(agent_report, keeps_its_size) {
  struct {
    mend_agent_report known;
    char more[16];
  } report = {MEND_AGENT_REPORT_INIT, "of a newer one"};
  report.known.size = sizeof report;
  report.known.turns = 3;
  mend_agent_report_clear(&report.known);
  cr_assert_eq(report.known.size, sizeof report);
  cr_assert_eq(report.known.turns, 0u);
  cr_assert_str_eq(report.more, "of a newer one");
}

/* Hosts that were suspended while a run was recorded: what the recording shows of it, and what it does not. */
#include "shell.h"

Test(program, suspended_hosts) {
  static const struct {
    const char *file;
    const char *found; /* what is said of it; NULL: nothing */
  } rows[] = {
      {"suspended.jsonl", NULL},
      {"suspended-and-then-hung.jsonl", "\"reason\":\"tool_idle\",\"line\":9,\"ts\":29835.0"},
      {"suspended-said-so.jsonl", NULL},
      {"suspended-no-ticks.jsonl", "\"reason\":\"tool_idle\",\"line\":2"},
      {"suspended-slow-ticks.jsonl", "\"reason\":\"tool_idle\",\"line\":5"},
  };
  shell_prepare(MEND_TEST_DATA "/replay");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char command[512];
    snprintf(command, sizeof command, "mend replay --json --mode evidence --set stall.timeout_s=30 %s", rows[i].file);
    shell_result result = shell_run(command);
    cr_assert_eq(result.status, rows[i].found != NULL ? 1 : 0, "%s: %s%s", rows[i].file, result.out, result.err);
    if (rows[i].found != NULL)
      cr_assert_not_null(strstr(result.out, rows[i].found), "%s: %s", rows[i].file, result.out);
    shell_free(&result);
  }
}

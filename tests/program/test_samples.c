/* Real recordings, where they are at hand: not ours, so not in this repository. */
#include "shell.h"

static const struct {
  const char *file;
  const char *counts;   /* in the line of --stats */
  const char *left_out; /* what is told of rows that are none; NULL for nothing */
} samples[] = {
    {"claudecode-edge_cases.jsonl", "\"broken\":4,\"runs\":2,\"calls\":3,\"results\":1,", "line 13: not a row"},
    {"claudecode-edge_cases.jsonl", "\"unfinished\":2,\"detections\":0,", "line 14: not a row"},
    {"claudecode-edge_cases.jsonl", "\"format\":\"claude-code\",\"clock\":true,", "line 15: not a row"},
    {"claudecode-edge_cases.jsonl", "\"rows\":19,", "line 16: not a row"},
    {"claudecode-todowrite_examples.jsonl", "\"broken\":0,\"runs\":1,\"calls\":3,\"results\":3,", NULL},
    {"openai-chat-fncall-llm-message.json", "\"broken\":0,\"runs\":1,\"calls\":6,\"results\":6,", NULL},
};

Test(program, samples) {
  if (access(MEND_SHARED "/samples", R_OK) != 0) {
    fprintf(stderr, "skipped: there are no samples in %s\n", MEND_SHARED);
    return;
  }
  shell_prepare(MEND_SHARED "/samples");
  for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
    char command[256];
    snprintf(command, sizeof command, "mend replay --json --stats --mode seed %s", samples[i].file);
    shell_result result = shell_run(command);
    cr_assert_eq(result.status, 0, "%s: %s", samples[i].file, result.err);
    cr_assert_str_eq(result.out, "", "%s: nothing is to be detected", samples[i].file);
    cr_assert_not_null(strstr(result.err, samples[i].counts), "%s: %s", samples[i].file, result.err);
    cr_assert_eq(strstr(result.err, "not a row") != NULL, samples[i].left_out != NULL, "%s", result.err);
    if (samples[i].left_out != NULL) cr_assert_not_null(strstr(result.err, samples[i].left_out), "%s", result.err);
    shell_free(&result);
  }
}

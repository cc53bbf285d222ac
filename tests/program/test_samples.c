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

/* What cannot be read yet is named. */
static const struct {
  const char *file, *name;
} foreign[] = {
    {"SYNTHETIC-anthropic-messages.json", "a conversation of Anthropic Messages"},
    {"SYNTHETIC-gemini-session.jsonl", "a Gemini CLI session"},
    {"SYNTHETIC-langsmith-runs.jsonl", "a LangSmith trace"},
    {"SYNTHETIC-otlp-genai.json", "an OpenTelemetry trace (OTLP)"},
    {"codex-rollout-11111111.jsonl", "a Codex rollout"},
    {"mini-swe-agent-local.traj.json", "a mini-swe-agent trajectory"},
    {"openhands-v0-basic.json", "an OpenHands conversation"},
    {"openhands-v0-wrong_initial_state.json", "an OpenHands conversation"},
    {"openhands-v1-events.jsonl", "an OpenHands conversation"},
    {"sweagent-ctf-networking_1.traj", "a SWE-agent trajectory"},
    {"sweagent-function_calling_simple.traj", "a SWE-agent trajectory"},
};

static void check_foreign(const char *file, const char *name) {
  char command[256], expected[256];
  snprintf(command, sizeof command, "mend replay %s", file);
  snprintf(expected, sizeof expected, "mend: %s: it looks like %s, which mend cannot read yet\n", file, name);
  shell_result result = shell_run(command);
  cr_assert_eq(result.status, 2, "%s: %s", file, result.out);
  cr_assert_str_eq(result.out, "");
  cr_assert_str_eq(result.err, expected, "%s", result.err);
  shell_free(&result);
}

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
  for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
    check_foreign(foreign[i].file, foreign[i].name);
}

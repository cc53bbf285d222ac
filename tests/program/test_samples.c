/* Real recordings, where they are at hand: not ours, so not in this repository. The counts are of an independent
 * reading by the formats' definitions; nothing is to be detected in any of them, in either mode. */
#include "program/replay/replay.h"
#include "program/stage/stage.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>
#include <unistd.h>

typedef struct counts {
  uint64_t broken, runs, calls, results, errors, unfinished;
} counts;

static const struct {
  const char *file, *format;
  counts counts;
} samples[] = {
    {"SYNTHETIC-anthropic-messages.json", "anthropic", {0, 1, 2, 2, 1, 0}},
    {"SYNTHETIC-gemini-session.jsonl", "gemini-cli", {0, 1, 2, 2, 1, 0}}, /* what a rewind takes back has run */
    {"SYNTHETIC-langsmith-runs.jsonl", "langsmith", {0, 1, 2, 2, 1, 0}},
    {"SYNTHETIC-otlp-genai.json", "otlp", {0, 1, 2, 2, 1, 0}},
    {"claudecode-edge_cases.jsonl", "claude-code", {4, 2, 3, 1, 1, 2}},
    {"claudecode-todowrite_examples.jsonl", "claude-code", {0, 1, 3, 3, 0, 0}},
    {"codex-rollout-11111111.jsonl", "codex", {0, 1, 3, 3, 0, 0}},
    {"mini-swe-agent-local.traj.json", "mini-swe-agent", {0, 1, 2, 2, 0, 0}},
    {"openai-chat-fncall-llm-message.json", "openai-chat", {0, 1, 6, 6, 0, 0}},
    {"openhands-v0-basic.json", "openhands-v0", {0, 1, 1, 1, 0, 0}},
    {"openhands-v0-wrong_initial_state.json", "openhands-v0", {0, 1, 3, 3, 0, 0}},
    {"openhands-v1-events.jsonl", "openhands-v1", {0, 1, 2, 3, 3, 0}}, /* one result's call was left out */
    {"sweagent-ctf-networking_1.traj", "swe-agent", {0, 1, 4, 4, 0, 0}},
    {"sweagent-function_calling_simple.traj", "swe-agent", {0, 1, 5, 5, 0, 0}},
};

typedef struct listener {
  report base;
  char format[32];
  uint64_t errors;
} listener;

static mend_status on_error(void *ctx, const mend_event *event) {
  (void)event;
  ((listener *)ctx)->errors++;
  return MEND_OK;
}

static mend_status attach(void *ctx, stage *on) {
  return mend_bus_subscribe(on->bus, "tool.error", on_error, ctx, NULL, NULL, NULL);
}

static mend_status begin(report *to, const replay_file *file) {
  listener *of = (listener *)to;
  snprintf(of->format, sizeof of->format, "%s", file->format);
  return MEND_OK;
}

static mend_status tell_detection(report *to, const replay_detection *found) {
  (void)to;
  fprintf(stderr, "row %llu: %.*s\n", (unsigned long long)found->row, MEND_STR_ARG(found->detection->summary));
  return MEND_OK;
}

static bool equal(const counts *a, const counts *b) { return memcmp(a, b, sizeof *a) == 0; }

static void check(size_t index, mend_watch_mode mode) {
  const char *file = samples[index].file;
  mend_options watch = MEND_OPTIONS_INIT;
  mend_options_set_profile(&watch, mode);
  listener of = {.base = {.begin = begin, .detection = tell_detection}};
  const reports told = {.each = {&of.base}, .count = 1};
  const replay_settings settings = {.watch = &watch, .reports = &told, .attach = attach, .attach_ctx = &of};
  mend__buffer failure;
  mend__buffer_init(&failure, NULL);
  replay_summary summary;
  const mend_status status = replay_play(file, &settings, &summary, &failure);
  cr_assert_eq(status, MEND_OK, "%.*s", (int)failure.len, failure.data);
  mend__buffer_free(&failure);
  const counts got = {summary.counts.broken,  summary.counts.runs, summary.counts.calls,
                      summary.counts.results, of.errors,           summary.counts.unfinished};
  cr_assert_str_eq(of.format, samples[index].format, "%s: %s", file, of.format);
  cr_assert_eq(summary.counts.detections, 0, "%s: something was detected", file);
  cr_assert(equal(&got, &samples[index].counts),
            "%s: %llu broken, %llu runs, %llu calls, %llu results, %llu errors, %llu open", file,
            (unsigned long long)got.broken, (unsigned long long)got.runs, (unsigned long long)got.calls,
            (unsigned long long)got.results, (unsigned long long)got.errors, (unsigned long long)got.unfinished);
}

Test(program, samples) {
  if (chdir(MEND_SHARED "/samples") != 0) {
    fprintf(stderr, "skipped: there are no samples in %s\n", MEND_SHARED);
    return;
  }
  for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
    check(i, MEND_WATCH_MODE_SEED);
    check(i, MEND_WATCH_MODE_EVIDENCE);
  }
}

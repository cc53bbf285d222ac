/* `mend replay` beside `jq`, on one file, as programs: from the start of the program to its end. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* So many that the start of the program does not count. */
enum { MEGABYTES = 32 };

/* ---- Files: calls of a well-behaved agent, about a kilobyte each ---- */

/* Always the same texts. */
static uint32_t next_random(void) {
  static uint64_t state;
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(state >> 33);
}

static void write_words(FILE *file, unsigned count) {
  static const char *const words[] = {"static", "const", "size_t", "len",   "return", "line", "42",     "if",
                                      "buffer", "the",   "value",  "error", "name",   "of",   "open",   "int",
                                      "file",   "path",  "src",    "for",   "char",   "is",   "result", "v12"};
  for (unsigned i = 0; i < count; i++)
    fprintf(file, "%s ", words[next_random() % (sizeof words / sizeof *words)]);
}

enum { CALLS_A_RUN = 400, RESULT_WORDS = 110, SAID_WORDS = 20, FIRST_SECOND = 1700000000 };

static bool ends_run(unsigned call) { return (call + 1) % CALLS_A_RUN == 0; }

static void write_journal_call(FILE *file, unsigned call) {
  const unsigned run = call / CALLS_A_RUN;
  fprintf(file,
          "{\"ts\":%u.25,\"seq\":%u,\"topic\":\"tool.before\",\"run_id\":\"run-%u\",\"agent\":\"coder\",\"call_id\":"
          "\"c%u\",\"tool_name\":\"read_file\",\"args\":{\"path\":\"src/m%u.c\",\"from\":%u,\"why\":\"",
          FIRST_SECOND + call, 2 * call - 1, run, call, call, call % 900);
  write_words(file, 3);
  fprintf(file,
          "\"},\"attempt\":1}\n{\"ts\":%u.5,\"seq\":%u,\"topic\":\"tool.after\",\"run_id\":\"run-%u\",\"agent\":"
          "\"coder\",\"call_id\":\"c%u\",\"tool_name\":\"read_file\",\"duration_ms\":250.0,\"result\":\"",
          FIRST_SECOND + call, 2 * call, run, call);
  write_words(file, RESULT_WORDS);
  fprintf(file, "%u\",\"attempt\":1}\n", call);
  if (ends_run(call)) {
    fprintf(file, "{\"ts\":%u.75,\"topic\":\"agent.end\",\"run_id\":\"run-%u\"}\n", FIRST_SECOND + call, run);
  }
}

static void write_row_head(FILE *file, unsigned call, const char *type, const char *half) {
  const unsigned second = call % 86400;
  fprintf(file,
          "{\"parentUuid\":\"u%u\",\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/home/x/project\","
          "\"sessionId\":\"run-%u\",\"version\":\"1.0.60\",\"gitBranch\":\"main\",\"type\":\"%s\",\"uuid\":\"%s-%u\","
          "\"timestamp\":\"2026-%02u-%02uT%02u:%02u:%02u.%s\",\"message\":",
          call, call / CALLS_A_RUN, type, type, call, 1 + call / 86400 / 28 % 12, 1 + call / 86400 % 28, second / 3600,
          second / 60 % 60, second % 60, half);
}

/* What a tool answered is in the file twice: for the model, and for the program. */
static void write_session_call(FILE *file, unsigned call) {
  write_row_head(file, call, "assistant", "250Z");
  fprintf(file,
          "{\"id\":\"msg_%u\",\"role\":\"assistant\",\"model\":\"claude\",\"content\":[{\"type\":\"text\","
          "\"text\":\"",
          call);
  write_words(file, SAID_WORDS);
  fprintf(file,
          "\"},{\"type\":\"tool_use\",\"id\":\"toolu_%u\",\"name\":\"Read\",\"input\":{\"file_path\":\"/src/m%u.c\","
          "\"offset\":%u}}],\"stop_reason\":\"tool_use\",\"usage\":{\"input_tokens\":%u,\"output_tokens\":200}}}\n",
          call, call, call % 900, 1000 + call % 5000);
  write_row_head(file, call, "user", "750Z");
  fprintf(file, "{\"role\":\"user\",\"content\":[{\"tool_use_id\":\"toolu_%u\",\"type\":\"tool_result\",\"content\":\"",
          call);
  write_words(file, RESULT_WORDS);
  fprintf(file, "%u\"}]},\"toolUseResult\":{\"stdout\":\"", call);
  write_words(file, RESULT_WORDS);
  fprintf(file, "\",\"stderr\":\"\",\"interrupted\":false}}\n");
  if (!ends_run(call)) return;
  write_row_head(file, call, "assistant", "875Z");
  fprintf(file, "{\"role\":\"assistant\",\"content\":\"Done.\",\"stop_reason\":\"end_turn\"}}\n");
}

/* ---- Measuring ---- */

enum { JOURNAL, SESSION };

static void write_calls(FILE *file, int64_t kind) {
  const long wanted = MEGABYTES * 1000000L;
  for (unsigned call = 1; ftell(file) < wanted; call++)
    (kind == JOURNAL ? write_journal_call : write_session_call)(file, call);
}

/* Nanoseconds a megabyte; NaN when there is no such program. */
static double time_program(const char *program, int64_t kind) {
  char path[] = "/tmp/mend-bench-XXXXXX", command[1024];
  const int fd = mkstemp(path);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  bench_need(file != NULL, "making a temporary file");
  write_calls(file, kind);
  bench_need(fclose(file) == 0, "writing a temporary file");
  snprintf(command, sizeof command, "%s %s >/dev/null 2>&1", program, path);
  const uint64_t start = bench_now();
  const int status = system(command);
  const uint64_t elapsed = bench_now() - start;
  unlink(path);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? (double)elapsed / MEGABYTES : NAN;
}

static double time_mend(const bench_row *row) { return time_program(BENCH_MEND " replay", row->argument); }
static double time_jq(const bench_row *row) { return time_program("jq -c .", row->argument); }

#define OF_JOURNAL "replay of a megabyte of mend's journal"
#define OF_SESSION "replay of a megabyte of a Claude Code session"

static const bench_row rows[] = {
    {OF_JOURNAL, "mend", .measure = time_mend, .argument = JOURNAL, .versus = OF_JOURNAL, .versus_who = "jq -c .",
     .goal_ratio = 0.1},
    {OF_JOURNAL, "jq -c .", .measure = time_jq, .argument = JOURNAL},
    {OF_SESSION, "mend", .measure = time_mend, .argument = SESSION, .versus = OF_SESSION, .versus_who = "jq -c .",
     .goal_ratio = 0.1},
    {OF_SESSION, "jq -c .", .measure = time_jq, .argument = SESSION},
};
const bench_rows bench_replay_rows = BENCH_ROWS(rows);

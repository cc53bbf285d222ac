/* `mend replay` beside `jq`, on one file, as programs. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEGABYTES = 8 };

/* Calls of a well-behaved agent, as a journal has them. */
static void write_journal(FILE *file) {
  const long wanted = MEGABYTES * 1000000L;
  for (unsigned call = 1; ftell(file) < wanted; call++) {
    fprintf(file,
            "{\"ts\":%u.25,\"seq\":%u,\"topic\":\"tool.before\",\"run_id\":"
            "\"run-1\",\"call_id\":\"%u\",\"tool_name\":"
            "\"read_file\",\"args\":{\"path\":\"src/"
            "m%u.c\",\"line\":%u},\"attempt\":1}\n"
            "{\"ts\":%u.5,\"seq\":%u,\"topic\":\"tool.after\",\"run_id\":\"run-"
            "1\",\"call_id\":\"%u\",\"tool_name\":"
            "\"read_file\",\"duration_ms\":250.0,\"result_preview\":\"int "
            "main(void) { return 0; }\",\"result_len\":29}\n",
            1700000000 + call, 2 * call - 1, call, call, call, 1700000000 + call, 2 * call, call);
  }
}

/* Nanoseconds a megabyte; NaN when there is no such program. */
static double time_program(const char *program) {
  char path[] = "/tmp/mend-bench-XXXXXX", command[1024];
  const int fd = mkstemp(path);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  bench_need(file != NULL, "making a temporary file");
  write_journal(file);
  bench_need(fclose(file) == 0, "writing a temporary file");
  snprintf(command, sizeof command, "%s %s >/dev/null 2>&1", program, path);
  const uint64_t start = bench_now();
  const int status = system(command);
  const uint64_t elapsed = bench_now() - start;
  unlink(path);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? (double)elapsed / MEGABYTES : NAN;
}

static double time_mend(const bench_row *row) {
  (void)row;
  return time_program(BENCH_MEND " replay");
}

static double time_jq(const bench_row *row) {
  (void)row;
  return time_program("jq -c .");
}

#define REPLAY "replay of a megabyte of JSONL"

static const bench_row rows[] = {
    {REPLAY, "mend", .measure = time_mend, .versus = REPLAY, .versus_who = "jq -c .", .goal_ratio = 0.1},
    {REPLAY, "jq -c .", .measure = time_jq},
};
const bench_rows bench_replay_rows = BENCH_ROWS(rows);

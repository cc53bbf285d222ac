#include "bench/bench.h"
#include "bench/peers/peers.h"

#include "mend/watchdogs.h"

#include <stdio.h>

enum { RUNS = 16, STAMP = 45 };

static struct {
  mend_clock *clock;
  mend_bus *bus;
  mend_run *runs[RUNS];
  uint64_t next_call;
} watched;

static void watch_bus(mend_bus *bus, mend_watch_mode mode, bool loop, bool regression) {
  mend_options options = MEND_OPTIONS_INIT;
  mend_options_set_profile(&options, mode);
  options.loop.enable = loop;
  options.regression.enable = regression;
  bench_need(mend_bus_watch(bus, &options, NULL) == MEND_OK, "mend_bus_watch");
}

static void open_runs(mend_watch_mode mode, bool virtual_clock, bool loop) {
  watched.clock = mend_clock_real();
  if (virtual_clock) {
    bench_need(mend_clock_new_virtual(NULL, (mend_time){0, 0}, &watched.clock) == MEND_OK, "mend_clock_new_virtual");
  }
  watched.bus = bench_bus(NULL, watched.clock);
  watch_bus(watched.bus, mode, loop, false);
  for (int i = 0; i < RUNS; i++)
    bench_need(mend_run_new(watched.bus, NULL, &watched.runs[i], NULL) == MEND_OK, "mend_run_new");
  watched.next_call = 1;
}

static void close_runs(const bench_row *row) {
  (void)row;
  for (int i = 0; i < RUNS; i++)
    mend_run_release(watched.runs[i]);
  mend_bus_release(watched.bus);
  mend_clock_release(watched.clock);
}

static mend_tool_before_event call_start(uint64_t number) {
  mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
  before.event.call = number;
  before.tool_name = MEND_STR("read_file");
  before.args_hash = (mend_hash){number, ~number};
  return before;
}

static mend_tool_after_event call_end(uint64_t number) {
  mend_tool_after_event after = MEND_TOOL_AFTER_EVENT_INIT;
  after.event.call = number;
  after.tool_name = MEND_STR("read_file");
  return after;
}

static void open_with_calls(const bench_row *row) {
  open_runs(MEND_WATCH_MODE_SEED, false, row->argument == 0);
  for (int64_t i = 0; i < row->argument; i++) {
    mend_tool_before_event before = call_start(watched.next_call++);
    mend_run_publish(watched.runs[i % RUNS], &before.event);
  }
}

static void start_and_end(const bench_row *row, uint64_t count) {
  (void)row;
  for (uint64_t i = 0; i < count; i++) {
    mend_run *run = watched.runs[i % RUNS];
    mend_tool_before_event before = call_start(watched.next_call);
    mend_run_publish(run, &before.event);
    mend_tool_after_event after = call_end(watched.next_call++);
    mend_run_publish(run, &after.event);
  }
}

/* ---- Mode evidence, which also asks what a call answered ---- */

static void open_evidence(const bench_row *row) {
  (void)row;
  open_runs(MEND_WATCH_MODE_EVIDENCE, false, true);
}

/* Hashes only: what it costs to keep the account. */
static void start_and_answer(const bench_row *row, uint64_t count) {
  (void)row;
  for (uint64_t i = 0; i < count; i++) {
    mend_run *run = watched.runs[i % RUNS];
    mend_tool_before_event before = call_start(watched.next_call);
    mend_run_publish(run, &before.event);
    mend_tool_after_event after = call_end(watched.next_call++);
    after.result_hash = (mend_hash){before.args_hash.lo, before.args_hash.hi};
    mend_run_publish(run, &after.event);
  }
}

/* And what it costs to read what is said: arguments of 60 bytes, a result of 60. */
static void read_and_answer(const bench_row *row, uint64_t count) {
  (void)row;
  for (uint64_t i = 0; i < count; i++) {
    mend_run *run = watched.runs[i % RUNS];
    char args[96], result[96];
    const int args_len = snprintf(args, sizeof args, "{\"path\":\"source/part%llu/main.c\",\"from\":1,\"to\":400}",
                                  (unsigned long long)watched.next_call);
    const int result_len = snprintf(result, sizeof result, "\"400 lines of part %llu: int main(void) { return 0; }\"",
                                    (unsigned long long)watched.next_call);
    mend_tool_before_event before = call_start(watched.next_call);
    before.args = (mend_str){args, (size_t)args_len};
    mend_run_publish(run, &before.event);
    mend_tool_after_event after = call_end(watched.next_call++);
    after.result = (mend_str){result, (size_t)result_len};
    mend_run_publish(run, &after.event);
  }
}

/* ---- Expiry: many calls are open, one expires a millisecond, and as many
 * begin ---- */

static void tick(uint64_t i) {
  mend_tool_before_event before = call_start(watched.next_call++);
  mend_run_publish(watched.runs[i % RUNS], &before.event);
  mend_clock_advance(watched.clock, 1000000);
}

static void open_expiring(const bench_row *row) {
  (void)row;
  open_runs(MEND_WATCH_MODE_SEED, true, false);
  for (uint64_t i = 0; i < 60001; i++)
    tick(i); /* timeout_s is 60: from here on one expires with each tick */
}

static void expire_one_each(const bench_row *row, uint64_t count) {
  (void)row;
  for (uint64_t i = 0; i < count; i++)
    tick(i);
}

#define BOTH "a call's start and end, stamped, Stall and Loop"
#define EVIDENCE "the same in mode evidence, with the hashes of what it answered"
#define READING "the same, with arguments and results of 60 bytes read"
#define MANY "an event of a call, stamped, Stall, 1e6 calls open"

/* The goals are 250 ns a call, and 150 ns an event at a million open calls, without stamps, each of which may take 45.
 * A call keeps to its goal with both of them. */
static const bench_row rows[] = {
    {BOTH, "mend", open_with_calls, start_and_end, close_runs, .goal_ns = 250, .note = "with both stamps",
     .key = "watched-call", .counted = 20000},
    {BOTH, "libevent", BENCH_PEER_FUNCTIONS(libevent), .argument = 16, .note = "the oldest of 16 timers is replaced"},
    {EVIDENCE, "mend", open_evidence, start_and_answer, close_runs, .goal_ns = 250 + 2 * STAMP,
     .note = "250 and 45 for each stamp", .key = "watched-call-evidence", .counted = 20000},
    {READING, "mend", open_evidence, read_and_answer, close_runs, .key = "watched-call-evidence-read", .counted = 20000,
     .note = "both written anew by the bench"},
    {MANY, "mend", open_with_calls, start_and_end, close_runs, .argument = 1000000, .per_call = 2,
     .goal_ns = 150 + STAMP,
     .note = "150 and 45 for the stamp; Orqest polls 10,000 open calls in 3.9 ms, on its own machine"},
    {MANY, "libevent", BENCH_PEER_FUNCTIONS(libevent), .argument = 1000000, .per_call = 2,
     .note = "half of replacing the oldest of 1e6 timers"},
    {"one call begins, one of 60,000 expires", "mend", open_expiring, expire_one_each, close_runs, .key = "expiry",
     .counted = 2000, .note = "and is reported: with its detection"},
};
const bench_rows bench_watchdog_rows = BENCH_ROWS(rows);

#include "bench.h"

#include "mend/json.h"
#include "mend/watchdogs.h"

#include <stdlib.h>

enum { RUNS = 16 };

static struct {
  mend_clock *clock;
  mend_bus *bus;
  mend_run *runs[RUNS];
  uint64_t next_call;
} watched;

static void watch_bus(mend_bus *bus, bool loop, bool regression) {
  mend_options options = MEND_OPTIONS_INIT;
  options.loop.enable = loop;
  options.regression.enable = regression;
  bench_need(mend_bus_watch(bus, &options, NULL) == MEND_OK, "mend_bus_watch");
}

static void open_runs(bool virtual_clock, bool loop) {
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  watched.clock = mend_clock_real();
  if (virtual_clock) {
    bench_need(mend_clock_new_virtual(NULL, (mend_time){0, 0}, &watched.clock) == MEND_OK, "mend_clock_new_virtual");
  }
  options.clock = watched.clock;
  bench_need(mend_bus_new(&options, &watched.bus, NULL) == MEND_OK, "mend_bus_new");
  watch_bus(watched.bus, loop, false);
  for (int i = 0; i < RUNS; i++)
    bench_need(mend_run_new(watched.bus, NULL, &watched.runs[i]) == MEND_OK, "mend_run_new");
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
  open_runs(false, row->argument == 0);
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

/* ---- Expiry: many calls are open, one expires a millisecond, and as many begin ---- */

static void tick(uint64_t i) {
  mend_tool_before_event before = call_start(watched.next_call++);
  mend_run_publish(watched.runs[i % RUNS], &before.event);
  mend_clock_advance(watched.clock, 1000000);
}

static void open_expiring(const bench_row *row) {
  (void)row;
  open_runs(true, false);
  for (uint64_t i = 0; i < 60001; i++)
    tick(i); /* timeout_s is 60: from here on one expires with each tick */
}

static void expire_one_each(const bench_row *row, uint64_t count) {
  (void)row;
  for (uint64_t i = 0; i < count; i++)
    tick(i);
}

/* Without stamps the goals are 250 ns a call and 150 ns an event at a million open calls; each stamp may take 45. */
#define WATCH(what, open_calls, goal)                                                                                  \
  { what, "mend", open_with_calls, start_and_end, close_runs, open_calls, 1, goal, 0 }

const bench_row bench_watchdog_rows[] = {
    WATCH("a call's start and end, stamped, through Stall and Loop", 0, 250 + 2 * 45),
    {"a call's start and end, stamped, Stall, 1e6 calls open", "mend", open_with_calls, start_and_end, close_runs,
     1000000, 2, 150 + 45, 0},
    {"one call begins, one of 60,000 expires and is reported", "mend", open_expiring, expire_one_each, close_runs, 0, 1,
     0, 0},
};
const size_t bench_watchdog_row_count = sizeof bench_watchdog_rows / sizeof bench_watchdog_rows[0];

/* ---- Memory: what an allocator of ours is asked for ---- */

typedef struct counted {
  size_t bytes;
} counted;

enum { HEADER = 16 };

static void *counting_allocate(void *ctx, size_t size) {
  size_t *block = malloc(size + HEADER);
  if (block == NULL) return NULL;
  *block = size;
  ((counted *)ctx)->bytes += size;
  return (char *)block + HEADER;
}

static void counting_release(void *ctx, void *pointer) {
  size_t *block = (size_t *)(void *)((char *)pointer - HEADER);
  ((counted *)ctx)->bytes -= *block;
  free(block);
}

static void *counting_reallocate(void *ctx, void *pointer, size_t size) {
  if (pointer == NULL) return counting_allocate(ctx, size);
  size_t *block = (size_t *)(void *)((char *)pointer - HEADER);
  size_t old = *block;
  block = realloc(block, size + HEADER);
  if (block == NULL) return NULL;
  *block = size;
  ((counted *)ctx)->bytes += size - old;
  return (char *)block + HEADER;
}

static mend_status ignore(void *ctx, const mend_event *event) {
  (void)ctx;
  (void)event;
  return MEND_OK;
}

/* Bytes a run costs, once it has had a call: the mean over a thousand, so that tables that grow are in it. */
static size_t bytes_a_run(mend_bus *bus, counted *memory, bool guarded) {
  enum { MANY = 1000 };
  static mend_run *runs[MANY];
  static mend_boundary *boundaries[MANY];
  size_t before = memory->bytes;
  for (int i = 0; i < MANY; i++) {
    bench_need(mend_run_new(bus, NULL, &runs[i]) == MEND_OK, "mend_run_new");
    boundaries[i] = guarded ? bench_guard(runs[i]) : NULL;
    mend_tool_before_event start = call_start(1);
    mend_tool_after_event end = call_end(1);
    mend_run_publish(runs[i], &start.event);
    mend_run_publish(runs[i], &end.event);
  }
  size_t bytes = (memory->bytes - before) / MANY;
  for (int i = 0; i < MANY; i++) {
    mend_boundary_release(boundaries[i]);
    mend_run_release(runs[i]);
  }
  return bytes;
}

size_t bench_sizes(bench_size *ret_sizes, size_t capacity) {
  counted memory = {0};
  const mend_allocator allocator = {sizeof allocator, &memory, counting_allocate, counting_reallocate,
                                    counting_release};
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = &allocator;
  mend_bus *bus;
  bench_need(mend_bus_new(&options, &bus, NULL) == MEND_OK, "mend_bus_new");
  size_t of_bus = memory.bytes;
  mend_subscription *subscriptions[64];
  for (int i = 0; i < 64; i++)
    mend_bus_subscribe(bus, "tool.before", ignore, NULL, NULL, &subscriptions[i]);
  size_t of_subscriber = (memory.bytes - of_bus) / 64;
  for (int i = 0; i < 64; i++)
    mend_subscription_close(&subscriptions[i]);
  size_t of_run = bytes_a_run(bus, &memory, false);
  watch_bus(bus, true, true);
  size_t of_watched_run = bytes_a_run(bus, &memory, false);
  size_t of_guarded_run = bytes_a_run(bus, &memory, true);
  mend_bus_release(bus);
  const bench_size sizes[] = {
      {"a bus", of_bus, 0},
      {"a subscriber of one topic (48 and 8 a topic)", of_subscriber, 56},
      {"a run", of_run, 0},
      {"a run watched by Stall, Loop and Regression, idle", of_watched_run, 2048},
      {"a run with boundary and watchdog hook, watched, idle", of_guarded_run, 0},
      {"sizeof(mend_event)", sizeof(mend_event), 0},
      {"sizeof(mend_tool_before_event)", sizeof(mend_tool_before_event), 0},
      {"sizeof(mend_any_event)", sizeof(mend_any_event), 0},
      {"sizeof(mend_detection)", sizeof(mend_detection), 0},
      {"sizeof(mend_json)", sizeof(mend_json), 0},
      {"sizeof(mend_deadline)", sizeof(mend_deadline), 0},
  };
  size_t count = sizeof sizes / sizeof sizes[0];
  for (size_t i = 0; i < count && i < capacity; i++)
    ret_sizes[i] = sizes[i];
  return count < capacity ? count : capacity;
}

#include "bench/bench.h"

/* What a tool costs by itself, and through the boundary, watched and not. Every
 * call has other arguments, as an agent's calls do: a loop would be noticed. */
static struct {
  mend_bus *bus;
  mend_run *run;
  mend_tools *tools;
  mend_boundary *boundary;
  uint64_t calls;
} guarded;

static mend_status answer(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, MEND_STR("{\"lines\":42,\"ok\":true}"));
}

static void watch(void) {
  mend_options options = MEND_OPTIONS_INIT;
  options.regression.enable = true;
  bench_need(mend_bus_watch(guarded.bus, &options, NULL) == MEND_OK, "mend_bus_watch");
}

/* argument: whether watchdogs watch and a watchdog hook acts. */
static void open_boundary(const bench_row *row) {
  const mend_tool tool = {.size = sizeof tool, .name = "read_file", .execute = answer};
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  guarded.bus = bench_bus(NULL, NULL);
  if (row->argument != 0) watch();
  bench_need(mend_run_new(guarded.bus, NULL, &guarded.run, NULL) == MEND_OK, "mend_run_new");
  bench_need(mend_tools_new(NULL, &guarded.tools) == MEND_OK, "mend_tools_new");
  bench_need(mend_tools_add(guarded.tools, &tool, NULL, NULL) == MEND_OK, "mend_tools_add");
  options.run = guarded.run;
  options.tools = guarded.tools;
  bench_need(mend_boundary_new(&options, &guarded.boundary, NULL) == MEND_OK, "mend_boundary_new");
  if (row->argument != 0) {
    bench_need(mend_boundary_add_watchdog_hook(guarded.boundary, NULL, NULL, NULL, NULL) == MEND_OK,
               "mend_boundary_add_watchdog_hook");
  }
}

static void close_boundary(const bench_row *row) {
  (void)row;
  mend_boundary_release(guarded.boundary);
  mend_tools_release(guarded.tools);
  mend_run_release(guarded.run);
  mend_bus_release(guarded.bus);
}

static mend_str next_args(char *text) {
  static const char form[] = "{\"path\":\"/src/0000000000.c\",\"first_line\":1,\"last_line\":80}";
  const size_t digits = sizeof "{\"path\":\"/src/" - 1;
  memcpy(text, form, sizeof form);
  uint64_t rest = ++guarded.calls;
  for (size_t i = digits + 10; rest != 0 && i > digits; rest /= 10)
    text[--i] = (char)('0' + rest % 10);
  return (mend_str){text, sizeof form - 1};
}

static void call_guarded(const bench_row *row, uint64_t count) {
  (void)row;
  char text[96];
  mend_result result = MEND_RESULT_INIT;
  for (uint64_t i = 0; i < count; i++) {
    const mend_str args = next_args(text);
    bench_need(mend_boundary_call(guarded.boundary, MEND_STR("read_file"), args, NULL, &result) == MEND_OK,
               "mend_boundary_call");
  }
  mend_result_clear(&result);
}

/* The same tool without mend: its arguments are made and its answer is kept. */
static void call_directly(const bench_row *row, uint64_t count) {
  (void)row;
  char text[96], kept[64];
  for (uint64_t i = 0; i < count; i++) {
    const mend_str args = next_args(text);
    const mend_str result = MEND_STR("{\"lines\":42,\"ok\":true}");
    memcpy(kept, result.ptr, result.len);
    bench_use((uint64_t)(unsigned char)args.ptr[15] + (uint64_t)(unsigned char)kept[3]);
  }
}

/* ---- A tool that answers later: here as soon as the call has begun ---- */

static mend_call *begun;

static mend_status begin(void *ctx, mend_call *call) {
  (void)ctx;
  begun = mend_call_retain(call);
  return MEND_OK;
}

static void count_ending(void *ctx, mend_status status, const mend_result *result) {
  bench_need(status == MEND_OK, "an asynchronous call");
  *(uint64_t *)ctx += result->call;
}

static void open_asynchronous(const bench_row *row) {
  const mend_tool tool = {.size = sizeof tool, .name = "fetch", .execute = begin, .kind = MEND_TOOL_ASYNC};
  open_boundary(row);
  bench_need(mend_tools_add(guarded.tools, &tool, NULL, NULL) == MEND_OK, "mend_tools_add");
}

static void call_asynchronously(const bench_row *row, uint64_t count) {
  (void)row;
  char text[96];
  uint64_t ended = 0;
  for (uint64_t i = 0; i < count; i++) {
    const mend_status status =
        mend_boundary_start(guarded.boundary, MEND_STR("fetch"), next_args(text), NULL, count_ending, &ended, NULL);
    bench_need(status == MEND_OK, "mend_boundary_start");
    answer(NULL, begun);
    mend_call_release(begun);
  }
  bench_use(ended);
}

static const bench_row rows[] = {
    {"a guarded call, three detectors", "mend", open_boundary, call_guarded, close_boundary, .argument = 1,
     .goal_ns = 1500, .note = "Orqest: 16.6 us, on its own machine", .key = "guarded-call", .counted = 2000},
    {"a guarded call without watchdogs", "mend", open_boundary, call_guarded, close_boundary, .key = "call",
     .counted = 2000},
    {"a guarded call of an asynchronous tool", "mend", open_asynchronous, call_asynchronously, close_boundary,
     .argument = 1, .versus = "a guarded call, three detectors", .versus_who = "mend", .key = "asynchronous-call",
     .counted = 2000},
    {"the tool of a guarded call, called directly", "C", .run = call_directly},
};
const bench_rows bench_hook_rows = BENCH_ROWS(rows);

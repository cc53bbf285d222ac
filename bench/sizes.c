/* Memory: what our allocator is asked for, and the sizes of what users have on
 * their stacks. */
#include "bench/sizes.h"

#include "bench/peers/peers.h"

#include "mend/healing.h"
#include "mend/journal.h"
#include "mend/json.h"
#include "mend/queue.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- What of ours costs ---- */

static mend_status ignore(void *ctx, const mend_event *event) {
  (void)ctx;
  (void)event;
  return MEND_OK;
}

/* Bytes a run costs, once it has had a call: the mean over a thousand, so that
 * tables that grow are in it. */
static size_t bytes_a_run(mend_bus *bus, counted *memory, bool guarded) {
  enum { MANY = 1000 };
  static mend_run *runs[MANY];
  static mend_boundary *boundaries[MANY];
  size_t before = memory->bytes;
  for (int i = 0; i < MANY; i++) {
    bench_need(mend_run_new(bus, NULL, &runs[i], NULL) == MEND_OK, "mend_run_new");
    boundaries[i] = guarded ? bench_guard(runs[i]) : NULL;
    mend_tool_before_event start = MEND_TOOL_BEFORE_EVENT_INIT;
    mend_tool_after_event end = MEND_TOOL_AFTER_EVENT_INIT;
    start.event.call = end.event.call = 1;
    start.tool_name = end.tool_name = MEND_STR("read_file");
    start.args_hash = (mend_hash){1, 1};
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

static void watch_bus(mend_bus *bus, mend_watch_mode mode) {
  mend_options options = MEND_OPTIONS_INIT;
  mend_options_set_profile(&options, mode);
  options.regression.enable = true;
  bench_need(mend_bus_watch(bus, &options, NULL) == MEND_OK, "mend_bus_watch");
}

/* Bytes a subscriber of one topic costs: the mean over 64. */
static size_t bytes_a_subscriber(mend_bus *bus, const counted *memory) {
  enum { MANY = 64 };
  mend_subscription *subscriptions[MANY];
  const size_t before = memory->bytes;
  for (int i = 0; i < MANY; i++) {
    bench_need(mend_bus_subscribe(bus, "tool.before", ignore, NULL, NULL, &subscriptions[i], NULL) == MEND_OK,
               "subscribe");
  }
  const size_t bytes = (memory->bytes - before) / MANY;
  for (int i = 0; i < MANY; i++)
    mend_subscription_close(&subscriptions[i]);
  return bytes;
}

typedef struct size_list {
  bench_size *sizes;
  size_t count;
} size_list;

static void add(size_list *list, bench_size size) {
  bench_need(list->count < BENCH_MAX_SIZES, "making room for all sizes");
  list->sizes[list->count++] = size;
}

static void add_watched(size_list *list, const mend_allocator *allocator) {
  mend_bus *bus = bench_bus(allocator, NULL);
  watch_bus(bus, MEND_WATCH_MODE_EVIDENCE);
  add(list, (bench_size){"a run watched in mode evidence, idle", "mend", bytes_a_run(bus, allocator->ctx, false), 0});
  mend_bus_release(bus);
}

static void add_memory(size_list *list) {
  counted memory = {0};
  const mend_allocator allocator = {sizeof allocator, &memory, counting_allocate, counting_reallocate,
                                    counting_release};
  mend_bus *bus = bench_bus(&allocator, NULL);
  add(list, (bench_size){"a bus", "mend", memory.bytes, 0});
  add(list, (bench_size){"a subscriber of one topic (48 and 8 a topic)", "mend", bytes_a_subscriber(bus, &memory), 56});
  add(list, (bench_size){"a subscriber of one topic", "GSignal",
                         bench_glib_bytes_a_handler != NULL ? bench_glib_bytes_a_handler() : 0, 0});
  add(list, (bench_size){"a subscriber of one topic", "eventemitter3", bench_emitter_bytes_a_listener(), 0});
  add(list, (bench_size){"a run", "mend", bytes_a_run(bus, &memory, false), 0});
  watch_bus(bus, MEND_WATCH_MODE_SEED);
  add(list, (bench_size){"a run watched by Stall, Loop and Regression, idle", "mend", bytes_a_run(bus, &memory, false),
                         2048});
  add(list,
      (bench_size){"a run with boundary and watchdog hook, watched, idle", "mend", bytes_a_run(bus, &memory, true), 0});
  mend_bus_release(bus);
  add_watched(list, &allocator);
}

#define SIZE_OF(type)                                                                                                  \
  { "sizeof(" #type ")", "mend", sizeof(type), 0 }

size_t bench_sizes(bench_size *ret_sizes) {
  static const bench_size sizes[] = {
      SIZE_OF(mend_event),
      SIZE_OF(mend_tool_before_event),
      SIZE_OF(mend_tool_after_event),
      SIZE_OF(mend_any_event),
      SIZE_OF(mend_error),
      SIZE_OF(mend_json),
      SIZE_OF(mend_deadline),
      SIZE_OF(mend_options),
      SIZE_OF(mend_bus_options),
      SIZE_OF(mend_run_options),
      SIZE_OF(mend_queue_options),
      SIZE_OF(mend_journal_line),
      SIZE_OF(mend_detection),
      SIZE_OF(mend_action),
      SIZE_OF(mend_tool),
      SIZE_OF(mend_hook),
      SIZE_OF(mend_hook_call),
      SIZE_OF(mend_call_options),
      SIZE_OF(mend_batch_call),
      SIZE_OF(mend_result),
      SIZE_OF(mend_plan),
      SIZE_OF(mend_healing_options),
      SIZE_OF(mend_healing_report),
  };
  size_list list = {ret_sizes, 0};
  add_memory(&list);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    add(&list, sizes[i]);
  return list.count;
}

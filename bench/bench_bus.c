#include "bench/bench.h"
#include "bench/peers/peers.h"

#include "mend/bus.h"
#include "mend/queue.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOPICS = 1000, THREADS = 2 };

static struct {
  mend_bus *bus;
  mend_run *runs[THREADS];
  mend_topic topic;
  uint64_t calls[THREADS * 16]; /* each thread counts on a cache line of its own */
} with;

static mend_status on_event(void *ctx, const mend_event *event) {
  *(uint64_t *)ctx += event->call;
  return MEND_OK;
}

static void open_bus(const bench_row *row) {
  with.bus = bench_bus(NULL, NULL);
  for (int i = 0; i < THREADS; i++)
    bench_need(mend_run_new(with.bus, NULL, &with.runs[i], NULL) == MEND_OK, "mend_run_new");
  for (int64_t i = 0; i < row->argument; i++) {
    for (int t = 0; t < THREADS; t++) {
      mend_status status =
          mend_run_subscribe(with.runs[t], "tool.before", on_event, &with.calls[t * 16], NULL, NULL, NULL);
      bench_need(status == MEND_OK, "mend_run_subscribe");
    }
  }
}

static void open_bus_with_bus_subscribers(const bench_row *row) {
  bench_row none = *row;
  none.argument = 0;
  open_bus(&none);
  for (int64_t i = 0; i < row->argument; i++) {
    mend_status status = mend_bus_subscribe(with.bus, "tool.before", on_event, &with.calls[0], NULL, NULL, NULL);
    bench_need(status == MEND_OK, "mend_bus_subscribe");
  }
}

static void close_bus(const bench_row *row) {
  (void)row;
  for (int i = 0; i < THREADS; i++)
    mend_run_release(with.runs[i]);
  mend_bus_release(with.bus);
}

static void publish_stamped_on(mend_run *run, uint64_t count) {
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  event.event.run = run;
  event.event.call = 1;
  for (uint64_t i = 0; i < count; i++)
    mend_bus_publish(with.bus, &event.event);
}

static void publish_stamped(const bench_row *row, uint64_t count) {
  (void)row;
  publish_stamped_on(with.runs[0], count);
}

static void publish_and_stamp(const bench_row *row, uint64_t count) {
  (void)row;
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  for (uint64_t i = 0; i < count; i++)
    mend_run_publish(with.runs[0], &event.event);
}

static void read_clock(const bench_row *row, uint64_t count) {
  (void)row;
  for (uint64_t i = 0; i < count; i++)
    bench_use(bench_now());
}

/* ---- The peer: an array of function pointers and contexts, nothing else ----
 */

typedef struct bare_item {
  mend_handler handler;
  void *ctx;
} bare_item;

static struct {
  bare_item *items[THREADS];
  size_t count;
} bare;

static void open_bare(const bench_row *row) {
  bare.count = (size_t)row->argument;
  for (int t = 0; t < THREADS; t++) {
    bare.items[t] = calloc(bare.count + 1, sizeof *bare.items[t]);
    bench_need(bare.items[t] != NULL, "calloc");
    for (size_t i = 0; i < bare.count; i++)
      bare.items[t][i] = (bare_item){on_event, &with.calls[t * 16]};
  }
}

static void close_bare(const bench_row *row) {
  (void)row;
  for (int t = 0; t < THREADS; t++)
    free(bare.items[t]);
}

static void call_bare_items(const bare_item *items, uint64_t count) {
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  event.event.call = 1;
  for (uint64_t i = 0; i < count; i++) {
    for (size_t j = 0; j < bare.count; j++)
      items[j].handler(items[j].ctx, &event.event);
    bench_use(i);
  }
}

static void call_bare(const bench_row *row, uint64_t count) {
  (void)row;
  call_bare_items(bare.items[0], count);
}

/* ---- Two threads, each with subscribers of its own: the time is of one
 * publish of one thread. Where the two processors share a core the bare array
 * shows by how much that alone slows it down. ---- */

typedef struct share {
  void (*work)(int thread, uint64_t count);
  uint64_t count;
} share;

static void publish_share(int thread, uint64_t count) { publish_stamped_on(with.runs[thread], count); }
static void call_bare_share(int thread, uint64_t count) { call_bare_items(bare.items[thread], count); }

static void *do_share(void *ctx) {
  const share *s = ctx;
  s->work(1, s->count);
  return NULL;
}

static void on_two_threads(void (*work)(int thread, uint64_t count), uint64_t count) {
  pthread_t other;
  share theirs = {work, count};
  bench_need(pthread_create(&other, NULL, do_share, &theirs) == 0, "pthread_create");
  work(0, count);
  pthread_join(other, NULL);
}

static void publish_on_two_threads(const bench_row *row, uint64_t count) {
  (void)row;
  on_two_threads(publish_share, count);
}

static void call_bare_on_two_threads(const bench_row *row, uint64_t count) {
  (void)row;
  on_two_threads(call_bare_share, count);
}

/* ---- A thousand topics and one wildcard ---- */

static char topic_names[TOPICS][24];

static void open_topics(const bench_row *row) {
  open_bus(row);
  for (int i = 0; i < TOPICS; i++) {
    snprintf(topic_names[i], sizeof topic_names[i], "own.topic.%d", i);
    bench_need(mend_bus_topic(with.bus, mend_str_from(topic_names[i]), &with.topic, NULL) == MEND_OK, "mend_bus_topic");
  }
  bench_need(mend_bus_subscribe(with.bus, "own.*", on_event, &with.calls[0], NULL, NULL, NULL) == MEND_OK, "subscribe");
}

static void publish_custom(uint64_t count, bool by_name) {
  mend_custom_event event = {MEND_EVENT_INIT(CUSTOM, mend_custom_event), {"{}", 2}};
  event.event.run = with.runs[0];
  event.event.topic = with.topic;
  const mend_str name = MEND_STR("own.topic.777");
  for (uint64_t i = 0; i < count; i++) {
    if (by_name) mend_bus_topic(with.bus, name, &event.event.topic, NULL);
    mend_bus_publish(with.bus, &event.event);
  }
}

static void publish_interned(const bench_row *row, uint64_t count) {
  (void)row;
  publish_custom(count, false);
}

static void publish_by_name(const bench_row *row, uint64_t count) {
  (void)row;
  publish_custom(count, true);
}

/* ---- An asynchronous subscriber: what is published is copied, and taken out later ---- */

/* As many are published before all of them are taken out. */
enum { QUEUED = 500 };

static mend_queue *queue;

static void open_queue(const bench_row *row) {
  open_bus(row);
  bench_need(mend_bus_queue(with.bus, "tool.before", NULL, &queue, NULL) == MEND_OK, "mend_bus_queue");
}

static void close_queue(const bench_row *row) {
  mend_queue_close(&queue);
  close_bus(row);
}

static void publish_and_take(const bench_row *row, uint64_t count) {
  (void)row;
  for (uint64_t done = 0; done < count; done += QUEUED) {
    mend_event *event;
    publish_stamped_on(with.runs[0], count - done < QUEUED ? count - done : QUEUED);
    for (; mend_queue_next(queue, &event) == MEND_OK; mend_event_free(event))
      bench_use(event->call);
  }
}

#define QUEUE "publish to a queue, and take it out"

/* One event of the whole bus, and whoever else can do that. */
#define PUBLISH "publish a stamped event to "
#define BARE(subscribers)                                                                                              \
  {                                                                                                                    \
    .what = PUBLISH #subscribers, .who = "bare array", .prepare = open_bare, .run = call_bare, .finish = close_bare,   \
    .argument = subscribers                                                                                            \
  }
#define PEERS(subscribers)                                                                                             \
  BARE(subscribers),                                                                                                   \
      {PUBLISH #subscribers, "eventemitter3", .measure = bench_emitter_listeners, .argument = subscribers}, {          \
    PUBLISH #subscribers, "GSignal", BENCH_PEER_FUNCTIONS(glib), .argument = subscribers                               \
  }

/* A run's own subscribers, on one thread and on two. */
#define RUN(subscribers) "publish to " #subscribers " of a run"
#define TWO(subscribers) RUN(subscribers) " each, two threads"
#define RUN_ROW(name, what_runs, subscribers)                                                                          \
  .what = name, .who = "mend", .prepare = open_bus, .run = what_runs, .finish = close_bus, .argument = subscribers
#define BARE_ROW(name, what_runs, subscribers)                                                                         \
  .what = name, .who = "bare array", .prepare = open_bare, .run = what_runs, .finish = close_bare,                     \
  .argument = subscribers

static const bench_row rows[] = {
    {PUBLISH "0", "mend", open_bus_with_bus_subscribers, publish_stamped, close_bus, .argument = 0, .goal_ns = 5,
     .key = "publish-0", .counted = 100000},
    PEERS(0),
    {PUBLISH "1", "mend", open_bus_with_bus_subscribers, publish_stamped, close_bus, .argument = 1, .goal_ns = 12,
     .key = "publish-1", .counted = 100000, .note = "Orqest: 600 ns, on its own machine"},
    PEERS(1),
    {PUBLISH "1", "ZeroMQ inproc", BENCH_PEER_FUNCTIONS(zeromq), .argument = 1},
    {PUBLISH "64", "mend", open_bus_with_bus_subscribers, publish_stamped, close_bus, .argument = 64, .goal_ns = 200,
     .versus = PUBLISH "64", .versus_who = "bare array", .goal_ratio = 1.5, .key = "publish-64", .counted = 10000},
    PEERS(64),
    {PUBLISH "64", "ZeroMQ inproc", BENCH_PEER_FUNCTIONS(zeromq), .argument = 64},
    {RUN_ROW(RUN(1), publish_stamped, 1)},
    {BARE_ROW(RUN(1), call_bare, 1)},
    {RUN_ROW(TWO(1), publish_on_two_threads, 1), .versus = RUN(1), .versus_who = "mend", .goal_ratio = 1.3},
    {BARE_ROW(TWO(1), call_bare_on_two_threads, 1), .versus = RUN(1), .versus_who = "bare array"},
    {RUN_ROW(RUN(64), publish_stamped, 64)},
    {BARE_ROW(RUN(64), call_bare, 64)},
    {RUN_ROW(TWO(64), publish_on_two_threads, 64), .versus = RUN(64), .versus_who = "mend", .goal_ratio = 1.3},
    {BARE_ROW(TWO(64), call_bare_on_two_threads, 64), .versus = RUN(64), .versus_who = "bare array"},
    {QUEUE, "mend", open_queue, publish_and_take, close_queue, .key = "queue", .counted = 10000},
    {QUEUE, "ZeroMQ inproc", BENCH_PEER_FUNCTIONS(zeromq), .argument = 1},
    {"the stamp, with a publish to 0", "mend", open_bus, publish_and_stamp, close_bus, .goal_ns = 45, .key = "stamp",
     .counted = 100000},
    {"the stamp, with a publish to 0", "clock_gettime", .run = read_clock},
    {"1,000 topics, one wildcard: publish, interned", "mend", open_topics, publish_interned, close_bus, .goal_ns = 20,
     .key = "wildcard", .counted = 100000},
    {"1,000 topics, one wildcard: publish, interned", "GSignal", BENCH_PEER_FUNCTIONS(glib_detail), .argument = TOPICS},
    {"1,000 topics, one wildcard: publish, by name", "mend", open_topics, publish_by_name, close_bus, .goal_ns = 45,
     .key = "wildcard-by-name", .counted = 100000},
    {"1,000 topics, one wildcard: publish, by name", "GSignal", BENCH_PEER_FUNCTIONS(glib_detail_named),
     .argument = TOPICS},
    {"1,000 topics, one wildcard: publish, by name", "eventemitter3", .measure = bench_emitter_topics,
     .argument = TOPICS, .note = "a listener for each: it knows no wildcards"},
    {"1,000 topics, one wildcard: publish, by name", "ZeroMQ inproc", BENCH_PEER_FUNCTIONS(zeromq), .argument = 1,
     .note = "topics are prefixes of messages"},
};
const bench_rows bench_bus_rows = BENCH_ROWS(rows);

#include "mend/queue.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct scene {
  mend_test_allocator memory;
  mend_bus *bus;
  mend_run *run;
  mend_queue *queue;
  unsigned wakes;
} scene;

static void open_scene(scene *s) {
  *s = (scene){.wakes = 0};
  mend_test_allocator_init(&s->memory);
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = &s->memory.base;
  cr_assert_eq(mend_bus_new(&options, &s->bus, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(s->bus, NULL, &s->run, NULL), MEND_OK);
}

static void close_scene(scene *s) {
  mend_queue_close(&s->queue);
  mend_run_release(s->run);
  mend_bus_release(s->bus);
  cr_assert_eq(s->memory.blocks, 0u, "%zu blocks are left", (size_t)s->memory.blocks);
}

static void open_queue(scene *s, const char *pattern, const mend_queue_options *options) {
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_bus_queue(s->bus, pattern, options, &s->queue, &error), MEND_OK, "%s", error.message);
}

static void publish_note(mend_run *run, size_t len) {
  char *note = malloc(len + 1);
  memset(note, 'x', len);
  mend_tool_progress_event event = MEND_TOOL_PROGRESS_EVENT_INIT;
  event.note = (mend_str){note, len};
  cr_assert_eq(mend_run_publish(run, &event.event), MEND_OK);
  memset(note, '-', len);
  free(note);
}

static mend_queue_stats stats_of(mend_queue *queue) {
  mend_queue_stats stats = {.size = sizeof stats};
  mend_queue_get_stats(queue, &stats);
  return stats;
}

/* ---- What comes out ---- */

static void events_come_out_in_order_and_whole(scene *s) {
  open_queue(s, "tool.*", NULL);
  mend_run *other;
  cr_assert_eq(mend_run_new(s->bus, NULL, &other, NULL), MEND_OK);
  for (int i = 0; i < 3; i++) {
    publish_note(s->run, 3);
    cr_assert_eq(mend_run_emit(other, "tool.before", "{\"call_id\":\"c\",\"args\":{\"a\":1}}", NULL), MEND_OK);
    cr_assert_eq(mend_run_emit(other, "run.reset", NULL, NULL), MEND_OK);
  }
  mend_event *event = NULL;
  for (uint64_t i = 0; i < 3; i++) {
    cr_assert_eq(mend_queue_next(s->queue, &event), MEND_OK);
    cr_assert(event->run == s->run && event->seq == i + 1 && event->kind == MEND_EVENT_TOOL_PROGRESS);
    cr_assert(mend_str_equal(((mend_tool_progress_event *)event)->note, MEND_STR("xxx")));
    mend_event_free(event);
    cr_assert_eq(mend_queue_wait(s->queue, MEND_NEVER, &event), MEND_OK);
    cr_assert(event->run == other && event->seq == 2 * i + 1 && mend_str_equal(event->call_name, MEND_STR("c")));
    cr_assert(mend_str_equal(((mend_tool_before_event *)event)->args, MEND_STR("{\"a\":1}")));
    mend_event_free(event);
  }
  event = NULL;
  cr_assert_eq(mend_queue_next(s->queue, &event), MEND_ENOENT);
  cr_assert_eq(mend_queue_wait(s->queue, 1000, &event), MEND_ENOENT);
  cr_assert_null(event);
  mend_run_release(other);
}

static void a_run_has_queues_of_its_own(scene *s) {
  mend_run *other;
  mend_event *event;
  cr_assert_eq(mend_run_new(s->bus, NULL, &other, NULL), MEND_OK);
  cr_assert_eq(mend_run_queue(s->run, "*", NULL, &s->queue, NULL), MEND_OK);
  publish_note(other, 1);
  publish_note(s->run, 1);
  mend_run_release(other);
  cr_assert_eq(mend_queue_next(s->queue, &event), MEND_OK);
  cr_assert_eq(event->run, s->run);
  mend_event_free(event);
  cr_assert_eq(mend_queue_next(s->queue, &event), MEND_ENOENT);
}

/* ---- Bounds: events of these sizes are published, nobody drains ---- */

static const struct {
  const char *what;
  uint32_t capacity;
  uint64_t byte_limit;
  bool drop_oldest;
  const char *sizes, *kept;
} bounds[] = {
    {"what fits stays", 4, 4096, false, "1024 1024 1024 1024", "1 2 3 4"},
    {"the new one is dropped", 2, 1 << 20, false, "500 500 500 500", "1 2"},
    {"the oldest is dropped", 2, 1 << 20, true, "500 500 500 500", "3 4"},
    {"of one", 1, 1 << 20, false, "500 500", "1"},
    {"of one, the oldest", 1, 1 << 20, true, "500 500", "2"},
    {"bytes are a bound too", 100, 4096, false, "1024 1024 1024 1025 1024", "1 2 3 5"},
    {"the oldest make room for a large one", 100, 4096, true, "1024 1024 1024 1024 2049", "4 5"},
    {"all make room for one", 100, 4096, true, "1024 1024 1024 4096", "4"},
    {"one that is too large is dropped", 100, 4096, false, "1024 4097 1024", "1 3"},
    {"and pushes nobody out", 100, 4096, true, "1024 4097 1024", "1 3"},
};

/* How much memory a copy takes beside its note. */
static size_t overhead(scene *s) {
  open_queue(s, "*", NULL);
  publish_note(s->run, 0);
  const size_t bytes = stats_of(s->queue).bytes;
  mend_queue_close(&s->queue);
  return bytes;
}

static void check_bounds(scene *s, size_t row) {
  mend_queue_options options = MEND_QUEUE_OPTIONS_INIT;
  options.capacity = bounds[row].capacity;
  options.byte_limit = bounds[row].byte_limit;
  options.drop_oldest = bounds[row].drop_oldest;
  const size_t empty = overhead(s);
  open_queue(s, "*", &options);
  uint64_t published = 0, came = 0;
  char *rest = (char *)bounds[row].sizes;
  for (size_t size; (size = strtoul(rest, &rest, 10)) != 0; published++)
    publish_note(s->run, size - empty);

  const mend_queue_stats stats = stats_of(s->queue);
  char kept[64] = "";
  size_t len = 0;
  for (mend_event *event; mend_queue_next(s->queue, &event) == MEND_OK; mend_event_free(event)) {
    const int number = (int)event->seq - 1; /* the first was overhead()'s */
    len += (size_t)snprintf(kept + len, sizeof kept - len, "%s%d", len > 0 ? " " : "", number);
    came++;
  }
  cr_assert_str_eq(kept, bounds[row].kept, "%s: %s", bounds[row].what, kept);
  cr_assert_eq(stats.waiting, came, "%s", bounds[row].what);
  cr_assert_eq(stats.dropped, published - came, "%s", bounds[row].what);
  cr_assert(stats.bytes <= options.byte_limit && stats.bytes > 0, "%s", bounds[row].what);
  cr_assert(stats.taken >= came && stats.taken <= published, "%s", bounds[row].what);
  const mend_queue_stats after = stats_of(s->queue);
  cr_assert(after.waiting == 0 && after.bytes == 0, "%s", bounds[row].what);
}

/* A clone is not made to be thrown away. */
static void a_full_queue_needs_no_memory(scene *s) {
  mend_queue_options options = MEND_QUEUE_OPTIONS_INIT;
  options.capacity = 1;
  open_queue(s, "*", &options);
  publish_note(s->run, 1);
  const size_t calls = s->memory.calls;
  for (int i = 0; i < 1000; i++)
    publish_note(s->run, 1);
  cr_assert_eq(s->memory.calls, calls);
  cr_assert_eq(stats_of(s->queue).dropped, 1000u);
}

static void a_failure_of_memory_is_a_drop(scene *s) {
  open_queue(s, "*", NULL);
  publish_note(s->run, 1);
  mend_test_allocator_arm(&s->memory, 1, true);
  publish_note(s->run, 1);
  mend_test_allocator_arm(&s->memory, 0, false);
  publish_note(s->run, 1);
  const mend_queue_stats stats = stats_of(s->queue);
  cr_assert(stats.taken == 2 && stats.dropped == 1 && stats.waiting == 2);
  mend_bus_stats of_bus = {.size = sizeof of_bus};
  mend_bus_get_stats(s->bus, &of_bus);
  cr_assert_eq(of_bus.handler_failures, 0u, "no failure of a handler, which would be an event more");
}

/* ---- The waker ---- */

static void count_wake(void *ctx) { ++*(unsigned *)ctx; }

static void take(mend_queue *queue, unsigned count) {
  for (mend_event *event; count > 0; count--) {
    cr_assert_eq(mend_queue_next(queue, &event), MEND_OK);
    mend_event_free(event);
  }
}

static void the_waker_tells_of_the_first_event_and_of_the_end(scene *s) {
  mend_queue_options options = MEND_QUEUE_OPTIONS_INIT;
  options.capacity = 2;
  options.drop_oldest = true;
  options.waker = (mend_waker){count_wake, &s->wakes};
  open_queue(s, "tool.progress", &options);
  static const struct {
    unsigned taken, published, wakes;
  } steps[] = {{0, 0, 0}, {0, 1, 1}, {0, 1, 1}, {0, 5, 1}, {1, 1, 1}, {2, 0, 1}, {0, 1, 2}, {1, 3, 3}, {2, 0, 3}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    take(s->queue, steps[i].taken);
    for (unsigned n = 0; n < steps[i].published; n++)
      publish_note(s->run, 1);
    cr_assert_eq(mend_run_emit(s->run, "run.reset", NULL, NULL), MEND_OK);
    cr_assert_eq(s->wakes, steps[i].wakes, "step %zu", i);
  }
  mend_queue_stop(s->queue);
  cr_assert_eq(s->wakes, 4u);
  mend_queue_stop(s->queue);
  publish_note(s->run, 1);
  mend_queue_close(&s->queue);
  publish_note(s->run, 1);
  cr_assert_eq(s->wakes, 4u);
  open_queue(s, "*", &options);
  mend_queue_close(&s->queue);
  cr_assert_eq(s->wakes, 4u, "whoever closes it needs not be told");
}

/* ---- Ends ---- */

static void what_is_stopped_can_be_drained(scene *s) {
  mend_event *event;
  open_queue(s, "*", NULL);
  publish_note(s->run, 1);
  mend_queue_stop(s->queue);
  mend_queue_stop(s->queue);
  publish_note(s->run, 1);
  cr_assert_eq(mend_queue_wait(s->queue, MEND_NEVER, &event), MEND_OK);
  cr_assert_eq(event->seq, 1u);
  mend_event_free(event);
  cr_assert_eq(mend_queue_wait(s->queue, MEND_NEVER, &event), MEND_ECLOSED);
  cr_assert_eq(mend_queue_next(s->queue, &event), MEND_ECLOSED);
}

/* Everybody but the queue and an event lets go; what is left keeps the bus, in any order. */
static void the_bus_may_be_dropped_first(void) {
  enum { CLOSE_FIRST, FREE_FIRST, LEAVE_EVENTS, ORDERS };
  for (int order = 0; order < ORDERS; order++) {
    for (int of_run = 0; of_run < 2; of_run++) {
      scene own;
      open_scene(&own);
      mend_status status = of_run ? mend_run_queue(own.run, "*", NULL, &own.queue, NULL)
                                  : mend_bus_queue(own.bus, "*", NULL, &own.queue, NULL);
      cr_assert_eq(status, MEND_OK);
      publish_note(own.run, 1);
      publish_note(own.run, 2);
      mend_run_release(own.run);
      mend_bus_release(own.bus);
      own.run = NULL;
      own.bus = NULL;
      mend_event *event = NULL;
      if (order != LEAVE_EVENTS) cr_assert_eq(mend_queue_next(own.queue, &event), MEND_OK);
      if (order == FREE_FIRST) mend_event_free(event);
      mend_queue_close(&own.queue);
      if (order == CLOSE_FIRST) {
        cr_assert_eq(mend_run_emit(event->run, "run.reset", NULL, NULL), MEND_OK, "its run is alive");
        mend_event_free(event);
      }
      close_scene(&own);
    }
  }
}

static mend_status close_queue(void *ctx, const mend_event *event) {
  (void)event;
  scene *s = ctx;
  mend_queue_close(&s->queue);
  if (s->bus != NULL) {
    mend_run_release(s->run);
    mend_bus_release(s->bus);
    s->run = NULL;
    s->bus = NULL;
  }
  return MEND_OK;
}

/* The handler is the bus's last holder too. */
static void a_handler_may_close_it(void) {
  static const char *const patterns[] = {"tool.progress", "*"}; /* before the queue's and after it */
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    scene own;
    open_scene(&own);
    open_queue(&own, "tool.*", NULL);
    cr_assert_eq(mend_bus_subscribe(own.bus, patterns[i], close_queue, &own, NULL, NULL, NULL), MEND_OK);
    publish_note(own.run, 1);
    cr_assert(own.queue == NULL && own.bus == NULL);
    close_scene(&own);
  }
}

static mend_status let_the_run_go(void *ctx, const mend_event *event) {
  (void)event;
  scene *s = ctx;
  mend_run_release(s->run);
  s->run = NULL;
  return MEND_OK;
}

static void an_event_of_a_run_that_has_gone_is_a_drop(scene *s) {
  cr_assert_eq(mend_bus_subscribe(s->bus, "tool.progress", let_the_run_go, s, NULL, NULL, NULL), MEND_OK);
  open_queue(s, "*", NULL);
  publish_note(s->run, 1);
  const mend_queue_stats stats = stats_of(s->queue);
  cr_assert(stats.taken == 0 && stats.dropped == 1 && stats.bytes == 0);
}

static void closing_nothing_is_allowed(scene *s) {
  mend_queue_close(NULL);
  mend_queue_close(&s->queue);
  cr_assert_null(s->queue);
}

Test(queue, takes_and_gives) {
  static void (*const cases[])(scene *) = {
      events_come_out_in_order_and_whole,
      a_run_has_queues_of_its_own,
      a_full_queue_needs_no_memory,
      a_failure_of_memory_is_a_drop,
      the_waker_tells_of_the_first_event_and_of_the_end,
      what_is_stopped_can_be_drained,
      an_event_of_a_run_that_has_gone_is_a_drop,
      closing_nothing_is_allowed,
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    scene s;
    open_scene(&s);
    cases[i](&s);
    close_scene(&s);
  }
}

Test(queue, ends_in_any_order) {
  the_bus_may_be_dropped_first();
  a_handler_may_close_it();
}

Test(queue, is_bounded) {
  for (size_t row = 0; row < sizeof bounds / sizeof *bounds; row++) {
    scene s;
    open_scene(&s);
    check_bounds(&s, row);
    close_scene(&s);
  }
}

/* ---- What is refused, and what runs out ---- */

static const struct {
  const char *pattern;
  uint32_t capacity;
  uint64_t byte_limit;
  size_t size;
  mend_status status;
  const char *sentence;
} refusals[] = {
    {"*", 0, 4096, sizeof(mend_queue_options), MEND_EINVAL,
     "mend_queue_options.capacity: 0 is out of range, expected 1 to 1048576"},
    {"*", 1048577, 4096, sizeof(mend_queue_options), MEND_EINVAL,
     "mend_queue_options.capacity: 1048577 is out of range, expected 1 to 1048576"},
    {"*", 1, 4095, sizeof(mend_queue_options), MEND_EINVAL,
     "mend_queue_options.byte_limit: 4095, expected 4096 or more"},
    {"*", 1, 4096, 0, MEND_EINVAL, "mend_queue_options"},
    {"tool..x", 1, 4096, sizeof(mend_queue_options), MEND_EINVAL, "pattern \"tool..x\": expected a topic"},
    {NULL, 1, 4096, sizeof(mend_queue_options), MEND_EINVAL, "pattern: absent"},
};

static void bad_options_are_refused(void) {
  scene s;
  open_scene(&s);
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    mend_queue_options options = MEND_QUEUE_OPTIONS_INIT;
    options.size = refusals[i].size;
    options.capacity = refusals[i].capacity;
    options.byte_limit = refusals[i].byte_limit;
    mend_error error = MEND_ERROR_INIT;
    cr_assert_eq(mend_bus_queue(s.bus, refusals[i].pattern, &options, &s.queue, &error), refusals[i].status);
    cr_assert_eq(error.status, refusals[i].status);
    cr_assert_eq(strncmp(error.message, refusals[i].sentence, strlen(refusals[i].sentence)), 0, "%s", error.message);
    cr_assert_null(s.queue);
    cr_assert_eq(mend_run_queue(s.run, refusals[i].pattern, &options, &s.queue, NULL), refusals[i].status);
  }
  cr_assert_eq(mend_bus_queue(NULL, "*", NULL, &s.queue, NULL), MEND_EINVAL);
  cr_assert_eq(mend_run_queue(NULL, "*", NULL, &s.queue, NULL), MEND_EINVAL);
  close_scene(&s);
}

static mend_queue *made_at_the_end;
static mend_status status_at_the_end;

static void open_at_the_end(void *ctx) {
  status_at_the_end = mend_bus_queue(*(mend_bus **)ctx, "*", NULL, &made_at_the_end, NULL);
}

static mend_status ignore(void *ctx, const mend_event *event) {
  (void)ctx;
  (void)event;
  return MEND_OK;
}

static void an_ending_bus_takes_no_more(void) {
  mend_bus *bus;
  cr_assert_eq(mend_bus_new(NULL, &bus, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(bus, "*", ignore, &bus, open_at_the_end, NULL, NULL), MEND_OK);
  mend_bus_release(bus);
  cr_assert_eq(status_at_the_end, MEND_ECLOSED);
  cr_assert_null(made_at_the_end);
}

static mend_status scenario(scene *s, uint64_t *ret_seen) {
  mend_queue_options options = MEND_QUEUE_OPTIONS_INIT;
  options.capacity = 2;
  options.drop_oldest = true;
  mend_queue *of_run = NULL;
  mend_status status = mend_bus_queue(s->bus, "own.*", &options, &s->queue, NULL);
  if (status == MEND_OK) status = mend_run_queue(s->run, "*", NULL, &of_run, NULL);
  for (int i = 0; i < 3 && status == MEND_OK; i++)
    status = mend_run_emit(s->run, "own.topic", "{\"a\":1}", NULL);
  if (status == MEND_OK) {
    const mend_queue_stats stats = stats_of(s->queue), stats_of_run = stats_of(of_run);
    *ret_seen = stats.waiting + stats_of_run.waiting;
    cr_assert_eq(stats.waiting + stats.dropped, 3u);
    cr_assert_eq(stats_of_run.waiting + stats_of_run.dropped, 3u);
  }
  mend_queue_close(&of_run);
  mend_queue_close(&s->queue);
  return status;
}

static void memory_may_run_out(bool from_there_on) {
  for (size_t n = 1;; n++) {
    scene s;
    uint64_t seen = 0;
    open_scene(&s);
    mend_test_allocator_arm(&s.memory, n, from_there_on);
    const mend_status status = scenario(&s, &seen);
    const bool failed = mend_test_allocator_failed(&s.memory);
    mend_test_allocator_arm(&s.memory, 0, false);
    close_scene(&s);
    cr_assert(status == MEND_OK || status == MEND_ENOMEM, "failure at %zu: %s", n, mend_status_name(status));
    cr_assert(failed || (status == MEND_OK && seen == 5), "%d", (int)seen);
    if (failed) continue;
    cr_assert(n > 8, "only %zu points were tried", n);
    return;
  }
}

Test(queue, refuses_and_runs_out) {
  bad_options_are_refused();
  an_ending_bus_takes_no_more();
  memory_may_run_out(false);
  memory_may_run_out(true);
}

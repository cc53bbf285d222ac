#include "mend/bus.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <pthread.h>
#include <stdatomic.h>

static mend_status ignore(void *ctx, const mend_event *event) {
  (void)ctx;
  (void)event;
  return MEND_OK;
}

static mend_status fail(void *ctx, const mend_event *event) {
  (void)ctx;
  (void)event;
  return MEND_EFAILED;
}

typedef struct scene {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_bus *bus;
  mend_run *run, *kept;
  mend_subscription *closed;
} scene;

static void open_scene(scene *s) {
  mend_test_allocator_init(&s->memory);
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  cr_assert_eq(mend_clock_new_virtual(NULL, (mend_time){0, 0}, &s->clock), MEND_OK);
  options.allocator = &s->memory.base;
  options.clock = s->clock;
  cr_assert_eq(mend_bus_new(&options, &s->bus, NULL), MEND_OK);
  mend_run_options of_run = MEND_RUN_OPTIONS_INIT;
  of_run.id = MEND_STR("r\n1");
  of_run.agent = MEND_STR("coder");
  cr_assert_eq(mend_run_new(s->bus, &of_run, &s->run, NULL), MEND_OK);
  of_run.id = MEND_STR("kept");
  of_run.agent = (mend_str){NULL, 0};
  cr_assert_eq(mend_bus_run(s->bus, &of_run, &s->kept, NULL), MEND_OK);
  mend_run_release(s->kept);
}

static void close_scene(scene *s) {
  mend_run_release(s->run);
  mend_bus_release(s->bus);
  mend_clock_release(s->clock);
  cr_assert_eq(s->memory.blocks, 0u);
}

static char *dump(scene *s) {
  char *text = NULL;
  cr_assert_eq(mend_bus_dump(s->bus, NULL, &text), MEND_OK);
  return text;
}

/* Every line in turn is in the text, behind the one before. */
static void expect(scene *s, const char *when, const char *const *lines) {
  char *text = dump(s);
  const char *at = text;
  for (; *lines != NULL; lines++) {
    const char *found = strstr(at, *lines);
    cr_assert_not_null(found, "%s: \"%s\" is not in\n%s", when, *lines, text);
    at = found + strlen(*lines);
  }
  mend_free(NULL, text);
}

static void expect_none_of(scene *s, const char *when, const char *const *lines) {
  char *text = dump(s);
  for (; *lines != NULL; lines++)
    cr_assert_null(strstr(text, *lines), "%s: \"%s\" is in\n%s", when, *lines, text);
  mend_free(NULL, text);
}

static void nothing_has_happened(scene *s) {
  expect(s, "at first",
         (const char *const[]){"bus ", ", 2 references\n", "0 events published, 0 dropped, 0 failures",
                               " topics, 0 subscriptions, 2 runs, 0 runs forgotten\n",
                               "topics with subscribers, in the order of delivery:\nruns, the latest first:\n",
                               "  \"kept\": 0 events, 0 references, 0.0 s since the last event, kept\n",
                               "  \"r\\n1\" of \"coder\": 0 events, 1 references, 0.0 s since the last event\n",
                               "threads that have published, the latest first:\nwaiting to be freed: 0 subscriptions, "
                               "0 runs, 0 arrays; the epoch is 1\n",
                               NULL});
}

static void subscribers_are_in_order(scene *s) {
  mend_bus_subscribe(s->bus, "*", ignore, s, NULL, NULL, NULL);
  mend_bus_subscribe(s->bus, "own.*", ignore, s, NULL, &s->closed, NULL);
  mend_bus_subscribe(s->bus, "own.topic", fail, NULL, NULL, NULL, NULL);
  mend_run_subscribe(s->run, "own.*", ignore, s, NULL, NULL, NULL);
  cr_assert_eq(mend_run_emit(s->run, "own.topic", NULL, NULL), MEND_OK);
  cr_assert_eq(mend_clock_advance(s->clock, UINT64_C(1500000000)), MEND_OK);
  expect(s, "with subscribers",
         (const char *const[]){
             "2 events published, 0 dropped, 1 failures of handlers\n", " 4 subscriptions, 2 runs",
             "  \"tool.before\"\n    \"*\": handler 0x", "  \"own.topic\"\n    \"own.topic\": handler 0x",
             ", context 0x0\n    \"own.*\": handler 0x", "\n    \"*\": handler 0x",
             "runs, the latest first:", "\"kept\": 0 events",
             "  \"r\\n1\" of \"coder\": 2 events, 1 references, 1.5 s since the last event\n    \"own.*\": ",
             "latest first:\n  2 published, 0 dropped, 1 failures\nwaiting", NULL});
}

static mend_status dump_within(void *ctx, const mend_event *event) {
  (void)event;
  scene *s = ctx;
  mend_subscription_close(&s->closed);
  expect(s, "in a handler",
         (const char *const[]){"publishes now, since epoch ", "waiting to be freed: 1 subscriptions, 0 runs, ", NULL});
  return MEND_OK;
}

static void a_publish_under_way_shows(scene *s) {
  mend_subscription *within;
  mend_bus_subscribe(s->bus, "run.reset", dump_within, s, NULL, &within, NULL);
  cr_assert_eq(mend_run_emit(s->run, "run.reset", NULL, NULL), MEND_OK);
  mend_subscription_close(&within);
  expect(s, "after it", (const char *const[]){"waiting to be freed: 0 subscriptions, 0 runs, 0 arrays", NULL});
  expect_none_of(s, "after it", (const char *const[]){"publishes now", "NULL", NULL});
}

static void memory_may_run_out(scene *s) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  char *text = NULL;
  mend_status status = MEND_ENOMEM;
  size_t n = 0;
  while (status == MEND_ENOMEM) {
    n++;
    mend_test_allocator_arm(&memory, n, n % 2 == 0);
    status = mend_bus_dump(s->bus, &memory.base, &text);
    cr_assert(status == MEND_OK || (status == MEND_ENOMEM && memory.blocks == 0 && text == NULL));
  }
  cr_assert_eq(status, MEND_OK);
  cr_assert(n > 3 && memory.blocks == 1);
  mend_free(&memory.base, text);
  cr_assert_eq(memory.blocks, 0u);
}

Test(dump, tells_what_is_there) {
  scene s;
  open_scene(&s);
  nothing_has_happened(&s);
  subscribers_are_in_order(&s);
  a_publish_under_way_shows(&s);
  memory_may_run_out(&s);
  close_scene(&s);
}

/* ---- While others publish, subscribe and make runs ---- */

typedef struct worker {
  mend_bus *bus;
  _Atomic bool *stop;
  unsigned failures;
} worker;

static void *work(void *ctx) {
  worker *w = ctx;
  while (!atomic_load(w->stop)) {
    mend_run *run;
    mend_subscription *of_bus = NULL, *of_run = NULL;
    if (mend_run_new(w->bus, NULL, &run, NULL) != MEND_OK) {
      w->failures++;
      continue;
    }
    if (mend_bus_subscribe(w->bus, "own.*", ignore, NULL, NULL, &of_bus, NULL) != MEND_OK) w->failures++;
    if (mend_run_subscribe(run, "*", ignore, NULL, NULL, &of_run, NULL) != MEND_OK) w->failures++;
    if (mend_run_emit(run, "own.topic", NULL, NULL) != MEND_OK) w->failures++;
    mend_subscription_close(&of_run);
    mend_subscription_close(&of_bus);
    mend_run_release(run);
  }
  return NULL;
}

Test(dump, others_go_on_meanwhile) {
  scene s;
  open_scene(&s);
  _Atomic bool stop = false;
  worker workers[2] = {{s.bus, &stop, 0}, {s.bus, &stop, 0}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  for (int i = 0; i < 200; i++)
    mend_free(NULL, dump(&s));
  atomic_store(&stop, true);
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], NULL);
    cr_assert_eq(workers[i].failures, 0u);
  }
  close_scene(&s);
}

/* mend_run_watch_dump: what it says of a run in several states, while others work, and without memory. */
#include "watchdogs/room.h"
#include "world.h"

#include <pthread.h>
#include <sched.h>

/* ---- What is dumped ---- */

static mend_status poll_quietly(void *ctx, uint64_t now_ns, mend_emitter *emitter) {
  (void)ctx, (void)now_ns, (void)emitter;
  return MEND_OK;
}

static void describe_at_length(void *ctx, char *text, size_t size) {
  (void)ctx;
  memset(text, 'x', size - 1);
  text[size - 1] = '\0';
}

static const mend_watchdog_vtable poller = {
    .size = sizeof poller, .name = "poller", .expire = poll_quietly, .describe = describe_at_length};
/* As one built before `describe` was there. */
static const mend_watchdog_vtable older = {
    .size = offsetof(mend_watchdog_vtable, describe), .name = "older", .describe = describe_at_length};

static void watch_with(mend_run *run, const mend_watchdog_vtable *vtable) {
  mend_watchdog *watchdog;
  cr_assert_eq(mend_watchdog_new(vtable, NULL, mend_bus_allocator(mend_run_bus(run)), &watchdog, NULL), MEND_OK);
  cr_assert_eq(mend_watchdog_watch_run(watchdog, run), MEND_OK);
  mend_watchdog_release(watchdog);
}

static void watch_nothing(test_world *world, mend_run *run) {
  (void)world;
  mend_watch *watch;
  cr_assert_eq(mend_run_watch(run, &watch), MEND_OK);
}

static void watch_with_all(test_world *world, mend_run *run) {
  mend_options options = MEND_OPTIONS_INIT;
  options.regression.enable = true;
  cr_assert_eq(mend_bus_watch(world->bus, &options, NULL), MEND_OK);
  confidence(run, 0.5);
}

static void watch_with_customs(test_world *world, mend_run *run) {
  (void)world;
  watch_with(run, &poller);
  watch_with(run, &older);
}

static void find_a_loop_and_a_stall(test_world *world, mend_run *run) {
  cr_assert_eq(mend_bus_watch(world->bus, NULL, NULL), MEND_OK);
  for (uint64_t call = 1; call <= 4; call++)
    before(run, call, "say \"hi\"", NULL);
  after(run, 1);
  after(run, 2);
  after(run, 3);
  world_advance(world, 60);
  before(run, 5, "t", NULL);
  world_advance(world, 1);
}

static mend_status open_once(void *ctx, mend_run *run, void **ret_state) {
  (void)run, (void)ret_state;
  return ++*(int *)ctx == 1 ? MEND_OK : MEND_EIO;
}

/* A scope that could not watch it has no claim on it. */
static void fail_to_open_again(test_world *world, mend_run *run) {
  static const mend_watchdog_vtable once = {.size = sizeof once, .name = "once", .open = open_once};
  int opened = 0;
  mend_watchdog *watchdog;
  cr_assert_eq(mend_watchdog_new(&once, &opened, &world->memory.base, &watchdog, NULL), MEND_OK);
  cr_assert_eq(mend_watchdog_watch_run(watchdog, run), MEND_OK);
  reset(run);
  cr_assert_eq(mend__scope_watch(watchdog, run), MEND_EIO);
  mend_watchdog_release(watchdog);
}

/* ---- The texts ---- */

#define ALL_X                                                                                                          \
  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" \
  "x"                                                                                                                  \
  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static const struct dump_case {
  void (*prepare)(test_world *world, mend_run *run);
  const char *expected;
} cases[] = {
    {watch_nothing, "watch of run \"r\": it is 1000.0 s, the next deadline is never, looked for at never\n"
                    "watchdogs: 0\n"
                    "detections: 0, announced 0\n"},
    {watch_with_all, "watch of run \"r\": it is 1000.0 s, the next deadline is never, looked for at never\n"
                     "watchdogs: 3\n"
                     "  stall, for bus, deadline never: open calls 0, reported 0\n"
                     "  loop, for bus: calls 0 of 10, different 0\n"
                     "  regression, for bus: readings 1 of 5\n"
                     "detections: 0, announced 0\n"},
    {watch_with_customs, "watch of run \"r\": it is 1000.0 s, the next deadline is 1001.0 s, looked for at 1001.0 s\n"
                         "watchdogs: 2\n"
                         "  poller, for run, polled at 1001.0 s: " ALL_X "\n"
                         "  older, for run\n"
                         "detections: 0, announced 0\n"},
    {fail_to_open_again, "watch of run \"r\": it is 1000.0 s, the next deadline is never, looked for at never\n"
                         "watchdogs: 1\n"
                         "  once, for run: not open, there was an error\n"
                         "detections: 0, announced 0\n"},
    {find_a_loop_and_a_stall,
     "watch of run \"r\": it is 1061.0 s, the next deadline is 1120.000000001 s, looked for at 1120.000000001 s\n"
     "watchdogs: 2\n"
     "  stall, for bus, deadline 1120.000000001 s: open calls 2, reported 1\n"
     "  loop, for bus: calls 5 of 10, different 2\n"
     "detections: 2, announced 2\n"
     "  1 loop repeat at 1000.0 s, event 4: \"say \\\"hi\\\" was called 4 times with the same arguments in the last 10 "
     "calls\"\n"
     "  2 stall tool_total at 1060.000000001 s: \"say \\\"hi\\\" has not returned for 60.0 s\"\n"},
};

Test(watch_dump, tells_watchdogs_and_detections) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_world world;
    world_open(&world);
    mend_run *run = world_run(&world, "r");
    char *text = NULL;
    cr_assert_eq(mend_run_watch_dump(run, NULL, &text), MEND_ENOENT);
    cr_assert_null(text);
    cases[i].prepare(&world, run);
    cr_assert_eq(mend_run_watch_dump(run, &world.memory.base, &text), MEND_OK);
    cr_assert_str_eq(text, cases[i].expected, "case %zu", i);
    mend_free(&world.memory.base, text);
    mend_run_release(run);
    world_close(&world);
  }
}

/* ---- From a handler, before the detection it is called for has been announced ---- */

static mend_status dump_here(void *ctx, const mend_event *event) {
  if (event->kind != MEND_EVENT_TOOL_BEFORE) return MEND_OK;
  char *text = NULL;
  cr_assert_eq(mend_run_watch_dump(event->run, NULL, &text), MEND_OK);
  const bool waits = strstr(text, "1 loop repeat at 1000.0 s, event 4, not announced yet: ") != NULL;
  if (waits && strstr(text, "detections: 1, announced 0\n") != NULL) ++*(int *)ctx;
  mend_free(NULL, text);
  return MEND_OK;
}

Test(watch_dump, tells_what_waits_to_be_announced) {
  test_world world;
  world_open(&world);
  cr_assert_eq(mend_bus_watch(world.bus, NULL, NULL), MEND_OK);
  mend_run *run = world_run(&world, "r");
  int waited = 0;
  mend_subscription *subscription = NULL;
  cr_assert_eq(mend_run_subscribe(run, "*", dump_here, &waited, NULL, &subscription, NULL), MEND_OK);
  for (uint64_t call = 1; call <= 5; call++)
    before(run, call, "t", NULL);
  cr_assert_eq(waited, 1);
  mend_subscription_close(&subscription);
  mend_run_release(run);
  world_close(&world);
}

/* ---- Without memory ---- */

Test(watch_dump, without_memory_changes_nothing) {
  test_world world;
  world_open(&world);
  mend_run *run = world_run(&world, "r");
  find_a_loop_and_a_stall(&world, run);
  const size_t blocks = atomic_load(&world.memory.blocks);
  mend_status status = MEND_ENOMEM;
  for (size_t fail_at = 1; status != MEND_OK; fail_at++) {
    char *text = NULL;
    mend_test_allocator_arm(&world.memory, fail_at, false);
    status = mend_run_watch_dump(run, &world.memory.base, &text);
    const bool failed = mend_test_allocator_failed(&world.memory);
    cr_assert_eq(status, failed ? MEND_ENOMEM : MEND_OK, "allocation %zu", fail_at);
    cr_assert_eq(text == NULL, failed);
    mend_free(&world.memory.base, text);
    cr_assert_eq(atomic_load(&world.memory.blocks), blocks, "allocation %zu", fail_at);
  }
  mend_test_allocator_arm(&world.memory, 0, false);
  cr_assert_eq(detections_of(run), 2u);
  mend_run_release(run);
  world_close(&world);
}

/* ---- While others work ---- */

enum { PUBLISHERS = 2, CALLS = 2000 };

typedef struct crowd {
  mend_run *run;
  atomic_uint working, dumps;
} crowd;

static void *publish_calls(void *ctx) {
  crowd *all = ctx;
  for (int i = 0; i < CALLS; i++) {
    const uint64_t call = mend_run_next_call(all->run);
    before(all->run, call, "a tool", NULL);
    confidence(all->run, i % 10 < 5 ? 0.9 : 0.1);
    if (i % 9 != 0) after(all->run, call);
    if (i % 500 == 499) reset(all->run);
  }
  atomic_fetch_sub(&all->working, 1);
  return NULL;
}

static void *dump_again_and_again(void *ctx) {
  crowd *all = ctx;
  do {
    char *text = NULL;
    if (mend_run_watch_dump(all->run, NULL, &text) == MEND_OK) atomic_fetch_add(&all->dumps, 1);
    mend_free(NULL, text);
    sched_yield();
  } while (atomic_load(&all->working) > 0);
  return NULL;
}

Test(watch_dump, while_others_publish) {
  test_world world;
  world_open(&world);
  mend_options options = MEND_OPTIONS_INIT;
  options.regression.enable = true;
  cr_assert_eq(mend_bus_watch(world.bus, &options, NULL), MEND_OK);
  crowd all = {.run = world_run(&world, "r"), .working = PUBLISHERS};
  pthread_t threads[PUBLISHERS + 1];
  for (int i = 0; i <= PUBLISHERS; i++) {
    void *(*const part)(void *) = i < PUBLISHERS ? publish_calls : dump_again_and_again;
    cr_assert_eq(pthread_create(&threads[i], NULL, part, &all), 0);
  }
  for (int i = 0; i <= PUBLISHERS; i++)
    pthread_join(threads[i], NULL);
  cr_assert(atomic_load(&all.dumps) > 0);
  mend_run_release(all.run);
  world_close(&world);
}

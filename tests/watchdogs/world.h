/* A bus on a virtual clock and counted memory, and short ways to publish what watchdogs look at. */
#ifndef MEND_TESTS_WATCHDOGS_WORLD_H
#define MEND_TESTS_WATCHDOGS_WORLD_H

#include "mend/watchdogs.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND MEND_SECOND_NS
#define START_WALL_NS (UINT64_C(1700000000) * MEND_SECOND_NS)

typedef struct test_world {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_bus *bus;
} test_world;

static inline mend_status world_try_open(test_world *world) {
  world->clock = NULL;
  world->bus = NULL;
  mend_status status =
      mend_clock_new_virtual(&world->memory.base, (mend_time){1000 * SECOND, START_WALL_NS}, &world->clock);
  if (status != MEND_OK) return status;
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = &world->memory.base;
  options.clock = world->clock;
  options.id_seed = 7;
  return mend_bus_new(&options, &world->bus, NULL);
}

static inline void world_open(test_world *world) {
  mend_test_allocator_init(&world->memory);
  cr_assert_eq(world_try_open(world), MEND_OK);
}

/* Nothing may be left. */
static inline void world_close(test_world *world) {
  mend_bus_release(world->bus);
  mend_clock_release(world->clock);
  cr_assert_eq(atomic_load(&world->memory.blocks), 0u);
}

/* Does something with each of its allocations failing, once, and then again with all later ones failing, too; at least
 * so many. It may find anything missing, and leaves nothing. */
static inline void world_torture(void (*live)(test_world *world), size_t least) {
  for (int fail_after = 0; fail_after < 2; fail_after++) {
    test_world world;
    mend_test_allocator_init(&world.memory);
    size_t fail_at = 1;
    for (bool failed = true; failed; fail_at++) {
      mend_test_allocator_arm(&world.memory, fail_at, fail_after != 0);
      if (world_try_open(&world) == MEND_OK) live(&world);
      failed = mend_test_allocator_failed(&world.memory);
      mend_bus_release(world.bus);
      mend_clock_release(world.clock);
      cr_assert_eq(atomic_load(&world.memory.blocks), 0u, "allocation %zu", fail_at);
    }
    cr_assert(fail_at > least, "%zu", fail_at);
  }
}

static inline mend_run *world_run(test_world *world, const char *id) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = mend_str_from(id);
  mend_run *run = NULL;
  cr_assert_eq(mend_run_new(world->bus, &options, &run, NULL), MEND_OK);
  return run;
}

static inline void world_advance(test_world *world, double seconds) {
  cr_assert_eq(mend_clock_advance(world->clock, (uint64_t)(seconds * 1e9 + 0.5)), MEND_OK);
}

/* Call 0 and NULLs: absent. */
static inline mend_status before(mend_run *run, uint64_t call, const char *tool, const char *args) {
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  event.event.call = call;
  event.tool_name = mend_str_from(tool);
  event.args = mend_str_from(args);
  return mend_run_publish(run, &event.event);
}

/* An event that says nothing but its kind and call. */
static inline mend_status publish(mend_run *run, mend_event_kind kind, uint64_t call) {
  mend_any_event event;
  cr_assert_eq(mend_event_init(&event, kind), MEND_OK);
  event.event.call = call;
  return mend_run_publish(run, &event.event);
}

static inline mend_status after(mend_run *run, uint64_t call) {
  mend_tool_after_event event = MEND_TOOL_AFTER_EVENT_INIT;
  event.event.call = call;
  return mend_run_publish(run, &event.event);
}

static inline mend_status confidence(mend_run *run, double value) {
  mend_confidence_event event = MEND_CONFIDENCE_EVENT_INIT;
  event.confidence = value;
  return mend_run_publish(run, &event.event);
}

static inline mend_status usage(mend_run *run, uint64_t tokens) {
  mend_model_usage_event event = MEND_MODEL_USAGE_EVENT_INIT;
  event.tokens = tokens;
  return mend_run_publish(run, &event.event);
}

static inline mend_status reset(mend_run *run) {
  mend_run_reset_event event = MEND_RUN_RESET_EVENT_INIT;
  return mend_run_publish(run, &event.event);
}

static inline uint64_t detections_of(mend_run *run) {
  mend_watch *watch = NULL;
  cr_assert_eq(mend_run_watch(run, &watch), MEND_OK);
  return mend_watch_count(watch);
}

/* The latest detection that is in the log; the caller releases it. */
static inline const mend_detection *latest(mend_run *run) {
  mend_watch *watch = NULL;
  cr_assert_eq(mend_run_watch(run, &watch), MEND_OK);
  mend_detection_cursor cursor = MEND_DETECTION_CURSOR_INIT;
  const mend_detection *found = NULL;
  for (const mend_detection *next; mend_watch_next(watch, &cursor, &next) == MEND_OK; found = next) {
    mend_detection_release(found);
  }
  cr_assert_not_null(found);
  return found;
}

static inline bool text_is(mend_str text, const char *expected) {
  return mend_str_equal(text, mend_str_from(expected)) && (text.ptr == NULL) == (expected == NULL);
}

#endif

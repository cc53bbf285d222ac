/* A bus on a virtual clock and counted memory with one run, for tests of hooks. */
#ifndef MEND_TESTS_HOOKS_HOOK_WORLD_H
#define MEND_TESTS_HOOKS_HOOK_WORLD_H

#include "hooks/boundary_internal.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct hook_world {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_bus *bus;
  mend_run *run;
} hook_world;

static inline void hook_world_open_logged(hook_world *world, mend_log_fn log, void *log_ctx) {
  mend_test_allocator_init(&world->memory);
  const mend_time start = {1000 * MEND_SECOND_NS, UINT64_C(1700000000) * MEND_SECOND_NS};
  cr_assert_eq(mend_clock_new_virtual(&world->memory.base, start, &world->clock), MEND_OK);
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = &world->memory.base;
  options.clock = world->clock;
  options.id_seed = 7;
  options.log = log;
  options.log_ctx = log_ctx;
  cr_assert_eq(mend_bus_new(&options, &world->bus, NULL), MEND_OK);
  mend_run_options run_options = MEND_RUN_OPTIONS_INIT;
  run_options.id = MEND_STR("r");
  cr_assert_eq(mend_run_new(world->bus, &run_options, &world->run, NULL), MEND_OK);
}

static inline void hook_world_open(hook_world *world) { hook_world_open_logged(world, NULL, NULL); }

/* Nothing may be left. */
static inline void hook_world_close(hook_world *world) {
  mend_run_release(world->run);
  mend_bus_release(world->bus);
  mend_clock_release(world->clock);
  cr_assert_eq(atomic_load(&world->memory.blocks), 0u);
}

static inline bool text_is(mend_str text, const char *expected) {
  return mend_str_equal(text, mend_str_from(expected)) && (text.ptr == NULL) == (expected == NULL);
}

#endif

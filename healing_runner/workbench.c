#include "mend/workbench.h"
#include "core/memory.h"
#include "core/options_size.h"
#include "healing_runner/recent_internal.h"

#include <stdatomic.h>

struct mend_workbench {
  const mend_allocator *allocator;
  atomic_size_t references;
  mend_bus *bus;
  mend_loop *loop;
  mend_tracer *tracer;
  mend__recent *recent;
};

/* ---- Life ---- */

static mend_status check(const mend_workbench_options *options, mend_error *error) {
  return mend__options_check_range("mend_workbench_options.recent_events", options->recent_events, 0, UINT32_C(1) << 20,
                                   error);
}

static mend_status make_loop(mend_workbench *workbench, struct event_base *base, mend_error *error) {
  mend_loop_options options = MEND_LOOP_OPTIONS_INIT;
  options.allocator = workbench->allocator;
  options.clock = mend_bus_clock(workbench->bus);
  options.base = base;
  return mend_loop_new(&options, &workbench->loop, error);
}

static mend_status make_recent(mend_workbench *workbench, const mend_workbench_options *options, mend_error *error) {
  const mend_status status =
      mend__recent_new(workbench->bus, options->recent_events, options->recent_content, &workbench->recent);
  return status == MEND_OK
             ? MEND_OK
             : mend_error_set(error, status, "the workbench's recent events: %s", mend_status_message(status));
}

static mend_status furnish(mend_workbench *workbench, const mend_workbench_options *options, mend_error *error) {
  mend_status status = make_loop(workbench, options->base, error);
  if (status == MEND_OK) status = make_recent(workbench, options, error);
  if (status == MEND_OK) status = mend_tracer_new(workbench->bus, options->tracer, &workbench->tracer, error);
  return status;
}

/* The listeners before the bus; the allocator may live in it, so the bus is last. */
static void workbench_free(mend_workbench *workbench) {
  mend_tracer_free(workbench->tracer);
  mend__recent_close(workbench->recent);
  mend_loop_release(workbench->loop);
  mend_bus *bus = workbench->bus;
  mend__free(workbench->allocator, workbench);
  mend_bus_release(bus);
}

static mend_workbench *workbench_alloc(mend_bus *bus) {
  const mend_allocator *allocator = mend_bus_allocator(bus);
  mend_workbench *workbench = mend__alloc_zero(allocator, sizeof *workbench);
  if (workbench == NULL) return NULL;
  workbench->allocator = allocator;
  workbench->bus = bus;
  atomic_init(&workbench->references, 1);
  return workbench;
}

mend_status mend_workbench_new(const mend_workbench_options *given, mend_workbench **ret_workbench, mend_error *error) {
  mend_workbench_options options = MEND_WORKBENCH_OPTIONS_INIT;
  mend_status status = mend__options_take(&options, given, "mend_workbench_options", error);
  if (status == MEND_OK) status = check(&options, error);
  if (status != MEND_OK) return status;
  mend_bus *bus;
  status = mend_bus_new(options.bus, &bus, error);
  if (status != MEND_OK) return status;
  mend_workbench *workbench = workbench_alloc(bus);
  if (workbench == NULL) {
    mend_bus_release(bus);
    return mend_error_set(error, MEND_ENOMEM, "a workbench: out of memory");
  }
  status = furnish(workbench, &options, error);
  if (status == MEND_OK) {
    *ret_workbench = workbench;
  } else {
    workbench_free(workbench);
  }
  return status;
}

mend_workbench *mend_workbench_retain(mend_workbench *workbench) {
  atomic_fetch_add_explicit(&workbench->references, 1, memory_order_relaxed);
  return workbench;
}

void mend_workbench_release(mend_workbench *workbench) {
  if (workbench == NULL || atomic_fetch_sub(&workbench->references, 1) > 1) return;
  workbench_free(workbench);
}

/* ---- What is on it ---- */

mend_bus *mend_workbench_bus(const mend_workbench *workbench) { return workbench->bus; }

mend_loop *mend_workbench_loop(const mend_workbench *workbench) { return workbench->loop; }

mend_tracer *mend_workbench_tracer(const mend_workbench *workbench) { return workbench->tracer; }

size_t mend_workbench_each_recent(mend_workbench *workbench, bool (*visit)(void *ctx, mend_str line), void *ctx) {
  return mend__recent_each(workbench->recent, visit, ctx);
}

mend_status mend_workbench_with_healing(mend_workbench *workbench, const mend_healing_options *given,
                                        mend_healing_runner **ret_runner, mend_error *error) {
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  const mend_status status = mend__options_take(&options, given, "mend_healing_options", error);
  if (status != MEND_OK) return status;
  if (workbench == NULL) return mend_error_set(error, MEND_EINVAL, "the workbench is NULL");
  if (options.bus != NULL && options.bus != workbench->bus) {
    return mend_error_set(error, MEND_EINVAL, "mend_healing_options.bus: it is not the workbench's, expected NULL");
  }
  if (options.loop != NULL && options.loop != workbench->loop) {
    return mend_error_set(error, MEND_EINVAL, "mend_healing_options.loop: it is not the workbench's, expected NULL");
  }
  options.bus = workbench->bus;
  options.loop = workbench->loop;
  return mend_healing_runner_new(&options, ret_runner, error);
}

/* A boundary: a run, tools and hooks. What a call passes is in attempt.c. */
#include "core/options_size.h"
#include "hooks/boundary_internal.h"

/* ---- Life ---- */

/* Without a run of the caller's: one of its own, on a bus to which nobody subscribes. */
static mend_status open_run(mend_run *given, mend_run **ret_run, mend_error *error) {
  if (given != NULL) {
    *ret_run = mend_run_retain(given);
    return MEND_OK;
  }
  mend_bus *bus;
  mend_status status = mend_bus_new(NULL, &bus, error);
  if (status != MEND_OK) return status;
  status = mend_run_new(bus, NULL, ret_run, error);
  mend_bus_release(bus);
  return status;
}

static mend_status check_hooks(mend_hooks *hooks, mend_error *error) {
  if (hooks == NULL || mend__hooks_use(hooks)) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL,
                        "mend_boundary_options.hooks: they publish calls, which a boundary does by itself");
}

/* One of its own has no tools, but a pool. */
static mend_status open_tools(mend_tools *given, const mend_allocator *allocator, mend_tools **ret_tools) {
  if (given == NULL) return mend_tools_new(allocator, ret_tools);
  *ret_tools = mend_tools_retain(given);
  return MEND_OK;
}

static mend_status make(const mend_boundary_options *options, mend_run *run, size_t attached,
                        mend_boundary **ret_boundary) {
  const mend_allocator *allocator = mend_bus_allocator(mend_run_bus(run));
  mend__run_state *run_state;
  const mend_status status = mend__run_state_get(run, &run_state);
  if (status != MEND_OK) return status;
  mend_boundary *boundary = mend__alloc_zero(allocator, sizeof *boundary);
  if (boundary == NULL || open_tools(options->tools, allocator, &boundary->tools) != MEND_OK) {
    mend__free(allocator, boundary);
    return MEND_ENOMEM;
  }
  atomic_init(&boundary->references, 1);
  boundary->allocator = allocator;
  boundary->run = run;
  boundary->run_state = run_state;
  boundary->hooks = options->hooks != NULL ? mend_hooks_retain(options->hooks) : NULL;
  boundary->attached = attached;
  boundary->state = options->state;
  *ret_boundary = boundary;
  return MEND_OK;
}

/* The run becomes the boundary's. */
static mend_status attach_and_make(const mend_boundary_options *options, mend_run *run, mend_boundary **ret_boundary,
                                   mend_error *error) {
  size_t attached = 0;
  mend_status status = MEND_OK;
  if (options->hooks != NULL) status = mend__hooks_attach(options->hooks, run, &attached, error);
  if (status != MEND_OK) return status;
  status = make(options, run, attached, ret_boundary);
  if (status == MEND_OK) return MEND_OK;
  if (options->hooks != NULL) mend__hooks_detach(options->hooks, run, attached);
  return mend_error_set(error, status, "a boundary: %s", mend_status_message(status));
}

mend_status mend_boundary_new(const mend_boundary_options *given, mend_boundary **ret_boundary, mend_error *error) {
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  mend_run *run = NULL;
  mend_status status = mend__options_take(&options, given, "mend_boundary_options", error);
  if (status == MEND_OK) status = check_hooks(options.hooks, error);
  if (status == MEND_OK) status = open_run(options.run, &run, error);
  if (status != MEND_OK) return status;
  status = attach_and_make(&options, run, ret_boundary, error);
  if (status != MEND_OK) mend_run_release(run);
  return status;
}

mend_boundary *mend_boundary_retain(mend_boundary *boundary) {
  atomic_fetch_add_explicit(&boundary->references, 1, memory_order_relaxed);
  return boundary;
}

void mend_boundary_release(mend_boundary *boundary) {
  if (boundary == NULL || atomic_fetch_sub_explicit(&boundary->references, 1, memory_order_acq_rel) > 1) return;
  mend__deciders_remove(boundary->run_state, boundary);
  if (boundary->hooks != NULL) mend__hooks_detach(boundary->hooks, boundary->run, boundary->attached);
  mend_tools_release(boundary->tools);
  mend_hooks_release(boundary->hooks);
  mend_run *run = boundary->run;
  mend__free(boundary->allocator, boundary);
  mend_run_release(run);
}

mend_status mend__boundary_each_described(const mend_boundary *boundary,
                                          mend_status (*visit)(void *ctx, const mend_tool *tool), void *ctx) {
  return mend__tools_each_described(boundary->tools, visit, ctx);
}

mend_run *mend_boundary_run(const mend_boundary *boundary) { return boundary->run; }

mend_status mend_boundary_add_watchdog_hook(mend_boundary *boundary, const char *name, mend_policy policy, void *ctx,
                                            mend_error *error) {
  if (boundary == NULL) return mend_error_set(error, MEND_EINVAL, "watchdog hook: its boundary is NULL");
  if (name == NULL) name = "watchdog";
  mend_status status = mend__name_check_c("watchdog hook: its name", name, MEND__HOOK_NAME_SIZE - 1, error);
  if (status != MEND_OK) return status;
  status = mend__decider_add(boundary->run_state, boundary, name, policy != NULL ? policy : mend_default_policy, ctx);
  if (status == MEND_OK) return MEND_OK;
  return mend_error_set(error, status, "watchdog hook %s: %s", name, mend_status_message(status));
}

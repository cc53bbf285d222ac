/* A boundary: a run, tools and hooks, and what a healing scope needs of it. What a call passes is in attempt.c. */
#include "core/options_size.h"
#include "hooks/hooks_internal.h"
#include "hooks/scope.h"

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
  status = mend_run_new(bus, NULL, ret_run);
  mend_bus_release(bus);
  return status == MEND_OK ? MEND_OK : mend_error_set(error, status, "a boundary: %s", mend_status_message(status));
}

static mend_status check_hooks(mend_hooks *hooks, mend_error *error) {
  if (hooks == NULL || mend__hooks_use(hooks)) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL,
                        "mend_boundary_options.hooks: they publish calls, which a boundary does by itself");
}

static mend_status make(const mend_boundary_options *options, mend_run *run, mend_boundary **ret_boundary) {
  const mend_allocator *allocator = mend_bus_allocator(mend_run_bus(run));
  mend__run_state *run_state;
  const mend_status status = mend__run_state_get(run, &run_state);
  if (status != MEND_OK) return status;
  mend_boundary *boundary = mend__alloc_zero(allocator, sizeof *boundary);
  if (boundary == NULL) return MEND_ENOMEM;
  atomic_init(&boundary->references, 1);
  boundary->allocator = allocator;
  boundary->run = run;
  boundary->run_state = run_state;
  boundary->tools = options->tools != NULL ? mend_tools_retain(options->tools) : NULL;
  boundary->hooks = options->hooks != NULL ? mend_hooks_retain(options->hooks) : NULL;
  boundary->state = options->state;
  *ret_boundary = boundary;
  return MEND_OK;
}

mend_status mend_boundary_new(const mend_boundary_options *given, mend_boundary **ret_boundary, mend_error *error) {
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  mend_run *run = NULL;
  mend_status status = mend__options_take(&options, given, "mend_boundary_options", error);
  if (status == MEND_OK) status = check_hooks(options.hooks, error);
  if (status == MEND_OK) status = open_run(options.run, &run, error);
  if (status != MEND_OK) return status;
  status = make(&options, run, ret_boundary);
  if (status == MEND_OK) return MEND_OK;
  mend_run_release(run);
  return mend_error_set(error, status, "a boundary: %s", mend_status_message(status));
}

mend_boundary *mend_boundary_retain(mend_boundary *boundary) {
  atomic_fetch_add_explicit(&boundary->references, 1, memory_order_relaxed);
  return boundary;
}

void mend_boundary_release(mend_boundary *boundary) {
  if (boundary == NULL || atomic_fetch_sub_explicit(&boundary->references, 1, memory_order_acq_rel) > 1) return;
  mend__deciders_remove(boundary->run_state, boundary);
  mend_tools_release(boundary->tools);
  mend_hooks_release(boundary->hooks);
  mend_run *run = boundary->run;
  mend__free(boundary->allocator, boundary);
  mend_run_release(run);
}

mend_run *mend_boundary_run(const mend_boundary *boundary) { return boundary->run; }

mend_status mend_boundary_add_watchdog_hook(mend_boundary *boundary, const char *name, mend_policy policy, void *ctx,
                                            mend_error *error) {
  if (name == NULL) name = "watchdog";
  const size_t len = strnlen(name, MEND__HOOK_NAME_SIZE);
  if (len == 0 || len == MEND__HOOK_NAME_SIZE) {
    return mend_error_set(error, MEND_EINVAL, "watchdog hook: its name has %s bytes, expected 1 to %d",
                          len == 0 ? "no" : "too many", MEND__HOOK_NAME_SIZE - 1);
  }
  const mend_status status =
      mend__decider_add(boundary->run_state, boundary, name, policy != NULL ? policy : mend_default_policy, ctx);
  if (status == MEND_OK) return MEND_OK;
  return mend_error_set(error, status, "watchdog hook %s: %s", name, mend_status_message(status));
}

/* ---- The end of a scope ---- */

void mend__boundary_close(mend_boundary *boundary) {
  mend__run_lock(boundary->run);
  boundary->closed = true;
  mend__run_unlock(boundary->run);
}

static void cancel_open(mend_boundary *boundary, mend_str reason) {
  for (;;) {
    mend__run_lock(boundary->run);
    mend_call *call = boundary->run_state->first;
    while (call != NULL && (call->boundary != boundary || mend_token_is_cancelled(call->token)))
      call = call->next;
    mend_token *token = call != NULL ? mend_token_retain(call->token) : NULL;
    mend__run_unlock(boundary->run);
    if (token == NULL) return;
    mend_token_cancel(token, reason);
    mend_token_release(token);
  }
}

/* Sets what the last of the other threads' calls cancels; false when there are none. */
static bool await(mend_boundary *boundary, mend_token *drain) {
  mend__run_lock(boundary->run);
  boundary->drainer = pthread_self();
  const bool waits = !mend__boundary_is_drained(boundary);
  if (waits) boundary->drain = drain;
  mend__run_unlock(boundary->run);
  return waits;
}

static size_t stop_waiting(mend_boundary *boundary) {
  mend__run_lock(boundary->run);
  boundary->drain = NULL;
  const size_t open = boundary->open;
  mend__run_unlock(boundary->run);
  return open;
}

/* Without memory for something to wait on it does not wait. */
static size_t drain_for(mend_boundary *boundary, mend_clock *clock, uint64_t ns) {
  mend_token *drain = NULL;
  if (mend_token_new(boundary->allocator, clock, &drain) == MEND_OK && await(boundary, drain)) {
    mend_token_wait(drain, ns);
  }
  const size_t open = stop_waiting(boundary);
  mend_token_release(drain);
  return open;
}

static uint64_t since(mend_clock *clock, uint64_t start_ns) { return mend_clock_now(clock).mono_ns - start_ns; }

/* A virtual clock may move or stand still meanwhile: looked at every so often, and the grace passes in real time at last. */
static size_t drain_in_virtual_time(mend_boundary *boundary, mend_clock *clock, uint64_t grace_ns) {
  static const uint64_t slice_ns = 5000000;
  const uint64_t start_ns = mend_clock_now(clock).mono_ns, real_start_ns = mend_clock_now(mend_clock_real()).mono_ns;
  for (;;) {
    const uint64_t real_ns = since(mend_clock_real(), real_start_ns);
    const bool is_over = real_ns >= grace_ns || since(clock, start_ns) >= grace_ns;
    const uint64_t left_ns = is_over ? 0 : grace_ns - real_ns;
    const size_t open = drain_for(boundary, mend_clock_real(), left_ns < slice_ns ? left_ns : slice_ns);
    if (open == 0 || is_over) return open;
  }
}

size_t mend__boundary_drain(mend_boundary *boundary, mend_str reason, uint64_t grace_ns) {
  mend_clock *clock = mend_bus_clock(mend_run_bus(boundary->run));
  cancel_open(boundary, reason);
  return mend_clock_is_virtual(clock) ? drain_in_virtual_time(boundary, clock, grace_ns)
                                      : drain_for(boundary, clock, grace_ns);
}

void mend__boundary_settle(mend_boundary *boundary) { mend__decide(boundary->run_state); }

/* What a scope sets up, step by step, and takes down again. */
#include "healing_runner/healing_internal.h"
#include "hooks/scope.h"

/* ---- Its run: nobody else protects it meanwhile ---- */

/* Hangs on its run from the first scope on. */
typedef struct protection {
  const mend_allocator *allocator;
  _Atomic(mend_healing_runner *) runner; /* whose scope it is in; NULL: in none */
} protection;

static void protection_free(void *object) {
  protection *p = object;
  mend__free(p->allocator, p);
}

/* Made if need be; NULL when out of memory. */
static protection *protection_of(const mend_healing_runner *runner) {
  protection *there = mend__run_slot(runner->run, MEND__SLOT_HEALING);
  if (there != NULL) return there;
  protection *made = mend__alloc_zero(runner->allocator, sizeof *made);
  if (made == NULL) return NULL;
  made->allocator = runner->allocator;
  atomic_init(&made->runner, NULL);
  there = mend__run_slot_put(runner->run, MEND__SLOT_HEALING, made, protection_free);
  if (there != made) protection_free(made); /* another thread was faster */
  return there;
}

static mend_status take_run(mend_healing_runner *runner, mend_error *error) {
  protection *p = protection_of(runner);
  if (p == NULL) return mend_error_set(error, MEND_ENOMEM, "a healing scope: out of memory");
  mend_healing_runner *nobody = NULL;
  if (atomic_compare_exchange_strong(&p->runner, &nobody, runner)) return MEND_OK;
  return mend_error_set(error, MEND_EEXIST,
                        "run %.*s: another healing runner protects it already, all would be found and done twice",
                        MEND_STR_ARG(mend_run_id(runner->run)));
}

/* Nothing when it could not be taken. */
static void give_run_back(mend_healing_runner *runner) {
  protection *p = mend__run_slot(runner->run, MEND__SLOT_HEALING);
  mend_healing_runner *self = runner;
  if (p != NULL) atomic_compare_exchange_strong(&p->runner, &self, NULL);
}

/* ---- Its watchdogs ---- */

/* Where the bus is watched by one of this name already, a second would report everything twice. */
static bool is_superfluous(const mend_healing_runner *runner, size_t index) {
  mend_watchdog *of_bus;
  if (index >= runner->builtin_count) return false;
  if (mend_bus_watchdog(runner->bus, mend_watchdog_name(runner->watchdogs[index]), &of_bus) != MEND_OK) return false;
  mend_watchdog_release(of_bus);
  return true;
}

static mend_status watch(mend_healing_runner *runner, mend_error *error) {
  mend__healing_scope *scope = &runner->scope;
  for (; scope->watched < runner->watchdog_count; scope->watched++) {
    mend_watchdog *watchdog = runner->watchdogs[scope->watched];
    if (is_superfluous(runner, scope->watched)) continue;
    const mend_status status = mend__scope_watch(watchdog, runner->run);
    if (status == MEND_OK) continue;
    return mend_error_set(error, status, "watching the run with %s: %s", mend_watchdog_name(watchdog),
                          mend_status_message(status));
  }
  const mend_status status = mend__bus_set_ladder(runner->bus, &runner->config);
  if (status != MEND_OK) return mend_error_set(error, status, "a healing scope: %s", mend_status_message(status));
  return mend_bus_set_poll_interval(runner->bus, runner->config.poll_interval_s, error);
}

static void unwatch(mend_healing_runner *runner) {
  mend__healing_scope *scope = &runner->scope;
  while (scope->watched > 0)
    mend__scope_unwatch(runner->watchdogs[--scope->watched], runner->run);
}

/* ---- Its counts ---- */

static void counts_release(void *ctx) {
  mend__healing_counts *counts = ctx;
  if (counts == NULL || atomic_fetch_sub_explicit(&counts->references, 1, memory_order_acq_rel) > 1) return;
  mend__free(counts->allocator, counts);
}

static mend_status count_event(void *ctx, const mend_event *event) {
  mend__healing_counts *counts = ctx;
  if (event->kind == MEND_EVENT_DETECTION) atomic_fetch_add_explicit(&counts->detections, 1, memory_order_relaxed);
  if (event->kind == MEND_EVENT_ACTION) atomic_fetch_add_explicit(&counts->actions, 1, memory_order_relaxed);
  return MEND_OK;
}

static mend_status count_events(mend_healing_runner *runner, mend_error *error) {
  mend__healing_scope *scope = &runner->scope;
  mend__healing_counts *counts = mend__alloc_zero(runner->allocator, sizeof *counts);
  if (counts == NULL) return mend_error_set(error, MEND_ENOMEM, "a healing scope: out of memory");
  counts->allocator = runner->allocator;
  atomic_init(&counts->references, 2);
  scope->counts = counts;
  const mend_status status =
      mend_run_subscribe(runner->run, "healing.*", count_event, counts, counts_release, &scope->counting, error);
  if (status != MEND_OK) counts_release(counts);
  return status;
}

/* ---- Its boundary, and who waits for deadlines ---- */

static mend_status open_boundary(mend_healing_runner *runner, mend_error *error) {
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  options.run = runner->run;
  options.tools = runner->tools;
  options.hooks = runner->hooks;
  options.state = runner->state;
  mend_boundary *boundary;
  const mend_status status = mend_boundary_new(&options, &boundary, error);
  if (status != MEND_OK) return status;
  atomic_store(&runner->scope.boundary, boundary);
  return mend_boundary_add_watchdog_hook(boundary, NULL, runner->policy, runner->policy_ctx, error);
}

static mend_status wait_for_deadlines(mend_healing_runner *runner, mend_error *error) {
  const mend_status status = mend__waiting_begin(runner->bus, runner->loop, error);
  runner->scope.waits = status == MEND_OK;
  return status;
}

void mend__scope_stop_waiting(mend_healing_runner *runner) {
  if (runner->scope.waits) mend__waiting_end(runner->bus);
  runner->scope.waits = false;
}

/* ---- All of it ---- */

void mend__scope_take_down(mend_healing_runner *runner) {
  mend__healing_scope *scope = &runner->scope;
  mend__scope_stop_waiting(runner);
  mend_boundary *boundary = atomic_exchange(&scope->boundary, NULL);
  if (boundary != NULL) mend__boundary_end_policies(boundary);
  mend_boundary_release(boundary);
  mend_subscription_close(&scope->counting);
  counts_release(scope->counts);
  scope->counts = NULL;
  unwatch(runner);
  give_run_back(runner);
}

mend_status mend__scope_set_up(mend_healing_runner *runner, mend_error *error) {
  mend_status status = take_run(runner, error);
  if (status == MEND_OK) status = watch(runner, error);
  if (status == MEND_OK) status = count_events(runner, error);
  if (status == MEND_OK) status = open_boundary(runner, error);
  if (status == MEND_OK) status = wait_for_deadlines(runner, error);
  if (status == MEND_OK) status = mend__scope_say_started(runner, error);
  if (status != MEND_OK) mend__scope_take_down(runner);
  return status;
}

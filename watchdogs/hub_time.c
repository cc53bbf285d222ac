/* Time: which run somebody has to look at next, who waits for that, and how often those are asked who do not say. */
#include "core/given.h"
#include "core/seconds.h"
#include "watchdogs/room.h"
#include "watchdogs/watchdogs_internal.h"

/* ---- What is due ---- */

void mend__hub_arm(mend__hub *hub, mend_watch *watch, uint64_t deadline_ns) {
  pthread_mutex_lock(&hub->lock);
  mend_deadlines_arm(hub->deadlines, &watch->deadline, deadline_ns > 0 ? deadline_ns - 1 : 0, 0);
  pthread_mutex_unlock(&hub->lock);
}

/* A watch that is due, no longer armed, with a reference to its run. The lock keeps the run from being freed, for its
 * watch is removed first. */
static mend_watch *take_due(mend__hub *hub, uint64_t now_ns) {
  mend_watch *watch = NULL;
  pthread_mutex_lock(&hub->lock);
  for (mend_deadline *due; (due = mend_deadlines_expire(hub->deadlines, now_ns)) != NULL; watch = NULL) {
    watch = MEND__CONTAINER(due, mend_watch, deadline);
    if (mend__run_try_retain(watch->run)) break;
  }
  pthread_mutex_unlock(&hub->lock);
  return watch;
}

/* Releasing a run may end the bus, if the caller's reference to it was dropped meanwhile; the hub is kept. */
static mend_status expire_due(mend__hub *hub, uint64_t until_ns) {
  const mend_time now = mend_clock_now(hub->clock);
  const uint64_t judged_ns = until_ns < now.mono_ns ? until_ns : now.mono_ns;
  mend_status status = MEND_OK;
  mend__hub_retain(hub);
  for (mend_watch *watch; (watch = take_due(hub, judged_ns)) != NULL;) {
    mend_run *run = watch->run;
    const mend_status next = mend__watch_expire(watch, judged_ns, now);
    if (status == MEND_OK) status = next;
    mend_run_release(run);
  }
  mend__hub_release(hub);
  return status;
}

mend_status mend_bus_expire_until(mend_bus *bus, uint64_t until_ns) {
  if (bus == NULL) return MEND_EINVAL;
  mend__hub *hub = mend__bus_slot(bus, MEND__SLOT_WATCH);
  return hub != NULL ? expire_due(hub, until_ns) : MEND_OK;
}

mend_status mend_bus_expire(mend_bus *bus) { return mend_bus_expire_until(bus, MEND_NEVER); }

uint64_t mend_bus_next_deadline(mend_bus *bus) {
  mend__hub *hub = mend__bus_slot(bus, MEND__SLOT_WATCH);
  if (hub == NULL) return MEND_NEVER;
  pthread_mutex_lock(&hub->lock);
  const uint64_t deadline_ns = mend_deadlines_wait(hub->deadlines);
  pthread_mutex_unlock(&hub->lock);
  return deadline_ns;
}

/* ---- Who waits ---- */

void mend__hub_wake(void *ctx) {
  const mend__hub *hub = ctx;
  if (hub->waker.wake != NULL) hub->waker.wake(hub->waker.ctx);
}

static uint64_t driver_next(void *ctx) {
  mend__hub *hub = ctx;
  pthread_mutex_lock(&hub->lock);
  const uint64_t deadline_ns = mend_deadlines_next(hub->deadlines);
  pthread_mutex_unlock(&hub->lock);
  return deadline_ns;
}

static void driver_run(void *ctx, uint64_t now_ns) { expire_due(ctx, now_ns); }

mend_status mend__hub_drive(mend__hub *hub) {
  if (!mend_clock_is_virtual(hub->clock)) return MEND_OK;
  const mend_clock_driver driver = {sizeof driver, driver_next, driver_run, hub};
  return mend_clock_add_driver(hub->clock, &driver);
}

static void set_waker(mend__hub *hub, mend_waker waker) {
  pthread_mutex_lock(&hub->lock);
  hub->waker = waker;
  atomic_store(&hub->is_awaited, waker.wake != NULL);
  pthread_mutex_unlock(&hub->lock);
}

/* On a virtual clock either the hub drives itself or whoever gave the waker does, on a thread of its own. A waker that
 * is taken back is not called again, also where there is no memory to drive. */
mend_status mend_bus_set_waker(mend_bus *bus, mend_waker waker) {
  if (bus == NULL) return MEND_EINVAL;
  mend__hub *hub;
  mend_status status = mend__hub_of(bus, &hub);
  if (status != MEND_OK) return status;
  const bool somebody_waits = waker.wake != NULL;
  if (somebody_waits && mend_clock_is_virtual(hub->clock)) mend_clock_remove_driver(hub->clock, hub);
  set_waker(hub, waker);
  if (!somebody_waits) status = mend__hub_drive(hub);
  return status == MEND_EEXIST ? MEND_OK : status;
}

/* ---- Time that stood still, and polls ---- */

mend_status mend__bus_stood_still(mend_bus *bus, uint64_t gap_ns) {
  mend__hub *hub;
  const mend_status status = mend__hub_of(bus, &hub);
  if (status == MEND_OK) atomic_fetch_add(&hub->stood_ns, gap_ns);
  return status;
}

void mend__hub_set_poll_interval(mend__hub *hub, double seconds) {
  const uint64_t poll_ns = mend__seconds_to_ns(seconds);
  atomic_store_explicit(&hub->poll_ns, poll_ns > 0 ? poll_ns : 1, memory_order_relaxed);
  for (mend_watch *watch = NULL; (watch = mend__hub_next_watch(hub, watch)) != NULL;)
    mend__watch_poll_anew(watch);
}

mend_status mend_bus_set_poll_interval(mend_bus *bus, double seconds, mend_error *error) {
  if (bus == NULL) return mend__refuse_null(error, "the bus");
  mend_options options = MEND_OPTIONS_INIT;
  options.poll_interval_s = seconds;
  mend_status status = mend_options_check(&options, error);
  if (status != MEND_OK) return status;
  mend__hub *hub;
  status = mend__hub_of(bus, &hub);
  if (status != MEND_OK) return mend_error_set(error, status, "poll interval: %s", mend_status_message(status));
  mend__hub_set_poll_interval(hub, seconds);
  return MEND_OK;
}

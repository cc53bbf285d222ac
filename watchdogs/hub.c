/* What is one a bus: who watches all of its runs, and when somebody has to look at which of them. */
#include "core/seconds.h"
#include "watchdogs/room.h"
#include "watchdogs/watchdogs_internal.h"

/* ---- Beginning and end ---- */

static uint64_t driver_next(void *ctx);
static void driver_run(void *ctx, uint64_t now_ns);

/* Under the hub's lock: there is a deadline earlier than the one the waiter knows of. */
static void wake_waiter(void *ctx) {
  const mend__hub *hub = ctx;
  if (hub->waker.wake != NULL) hub->waker.wake(hub->waker.ctx);
}

static mend__hub *hub_new(mend_bus *bus) {
  const mend_allocator *allocator = mend_bus_allocator(bus);
  mend__hub *hub = mend__alloc_zero(allocator, sizeof *hub);
  if (hub == NULL) return NULL;
  if (mend_deadlines_new(allocator, (mend_waker){wake_waiter, hub}, &hub->deadlines) != MEND_OK) goto fail;
  if (pthread_mutex_init(&hub->lock, NULL) != 0) goto fail;
  hub->bus = bus;
  hub->allocator = allocator;
  hub->clock = mend_clock_retain(mend_bus_clock(bus));
  atomic_init(&hub->references, 1);
  atomic_init(&hub->poll_ns, MEND_SECOND_NS);
  atomic_init(&hub->ceiling, ((const mend_options)MEND_OPTIONS_INIT).ceiling);
  return hub;
fail:
  mend_deadlines_free(hub->deadlines);
  mend__free(allocator, hub);
  return NULL;
}

mend__hub *mend__hub_retain(mend__hub *hub) {
  atomic_fetch_add_explicit(&hub->references, 1, memory_order_relaxed);
  return hub;
}

void mend__hub_release(mend__hub *hub) {
  if (atomic_fetch_sub(&hub->references, 1) > 1) return;
  mend_clock_release(hub->clock);
  pthread_mutex_destroy(&hub->lock);
  mend_deadlines_free(hub->deadlines);
  mend__free(hub->allocator, hub->watchdogs);
  mend__free(hub->allocator, hub);
}

/* The end of the bus, or of a hub that came second. A driver's run on this thread may still be above us: it has a
 * reference of its own. */
static void hub_close(void *object) {
  mend__hub *hub = object;
  if (mend_clock_is_virtual(hub->clock)) mend_clock_remove_driver(hub->clock, hub);
  for (size_t i = 0; i < hub->count; i++)
    mend_watchdog_release(hub->watchdogs[i]);
  hub->count = 0;
  mend__hub_release(hub);
}

static mend_status add_driver(mend__hub *hub) {
  if (!mend_clock_is_virtual(hub->clock)) return MEND_OK;
  const mend_clock_driver driver = {sizeof driver, driver_next, driver_run, hub};
  return mend_clock_add_driver(hub->clock, &driver);
}

mend_status mend__hub_of(mend_bus *bus, mend__hub **ret_hub) {
  mend__hub *hub = mend__bus_slot(bus, MEND__SLOT_WATCH);
  if (hub == NULL) {
    mend__hub *made = hub_new(bus);
    if (made == NULL) return MEND_ENOMEM;
    const mend_status status = add_driver(made);
    if (status != MEND_OK) {
      mend__hub_release(made);
      return status;
    }
    hub = mend__bus_slot_put(bus, MEND__SLOT_WATCH, made, hub_close);
    if (hub != made) hub_close(made);
  }
  *ret_hub = hub;
  return MEND_OK;
}

/* ---- Its watches ---- */

void mend__hub_add(mend__hub *hub, mend_watch *watch) {
  pthread_mutex_lock(&hub->lock);
  watch->listed = true;
  watch->previous = hub->last;
  *(hub->last != NULL ? &hub->last->next : &hub->first) = watch;
  hub->last = watch;
  pthread_mutex_unlock(&hub->lock);
}

void mend__hub_remove(mend__hub *hub, mend_watch *watch) {
  pthread_mutex_lock(&hub->lock);
  mend_deadlines_disarm(hub->deadlines, &watch->deadline);
  if (watch->listed) {
    *(watch->previous != NULL ? &watch->previous->next : &hub->first) = watch->next;
    *(watch->next != NULL ? &watch->next->previous : &hub->last) = watch->previous;
  }
  pthread_mutex_unlock(&hub->lock);
}

/* The watch after `watch` (NULL: the first) whose run is not at its end, with a reference to that run; drops the one
 * to the run of `watch`, which kept its place in the list. */
static mend_watch *next_watch(mend__hub *hub, mend_watch *watch) {
  mend_run *passed = watch != NULL ? watch->run : NULL;
  pthread_mutex_lock(&hub->lock);
  watch = watch != NULL ? watch->next : hub->first;
  while (watch != NULL && !mend__run_try_retain(watch->run))
    watch = watch->next;
  pthread_mutex_unlock(&hub->lock);
  mend_run_release(passed);
  return watch;
}

/* ---- Time ---- */

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
static mend_status expire_due(mend__hub *hub, mend_time now) {
  mend_status status = MEND_OK;
  mend__hub_retain(hub);
  for (mend_watch *watch; (watch = take_due(hub, now.mono_ns)) != NULL;) {
    mend_run *run = watch->run;
    const mend_status next = mend__watch_expire(watch, now);
    if (status == MEND_OK) status = next;
    mend_run_release(run);
  }
  mend__hub_release(hub);
  return status;
}

static uint64_t driver_next(void *ctx) {
  mend__hub *hub = ctx;
  pthread_mutex_lock(&hub->lock);
  const uint64_t deadline_ns = mend_deadlines_next(hub->deadlines);
  pthread_mutex_unlock(&hub->lock);
  return deadline_ns;
}

static void driver_run(void *ctx, uint64_t now_ns) {
  mend__hub *hub = ctx;
  mend_time now = mend_clock_now(hub->clock);
  now.mono_ns = now_ns;
  expire_due(hub, now);
}

mend_status mend_bus_expire(mend_bus *bus) {
  mend__hub *hub = mend__bus_slot(bus, MEND__SLOT_WATCH);
  return hub != NULL ? expire_due(hub, mend_clock_now(hub->clock)) : MEND_OK;
}

uint64_t mend_bus_next_deadline(mend_bus *bus) {
  mend__hub *hub = mend__bus_slot(bus, MEND__SLOT_WATCH);
  if (hub == NULL) return MEND_NEVER;
  pthread_mutex_lock(&hub->lock);
  const uint64_t deadline_ns = mend_deadlines_wait(hub->deadlines);
  pthread_mutex_unlock(&hub->lock);
  return deadline_ns;
}

/* On a virtual clock either the hub drives itself or whoever gave the waker does, on a thread of its own. */
static mend_status choose_driver(mend__hub *hub, bool somebody_waits) {
  if (!mend_clock_is_virtual(hub->clock)) return MEND_OK;
  const mend_status status = somebody_waits ? mend_clock_remove_driver(hub->clock, hub) : add_driver(hub);
  return status == MEND_ENOENT || status == MEND_EEXIST ? MEND_OK : status;
}

mend_status mend_bus_set_waker(mend_bus *bus, mend_waker waker) {
  mend__hub *hub;
  mend_status status = mend__hub_of(bus, &hub);
  if (status == MEND_OK) status = choose_driver(hub, waker.wake != NULL);
  if (status != MEND_OK) return status;
  pthread_mutex_lock(&hub->lock);
  hub->waker = waker;
  atomic_store(&hub->is_awaited, waker.wake != NULL);
  pthread_mutex_unlock(&hub->lock);
  return MEND_OK;
}

void mend__hub_set_ceiling(mend__hub *hub, uint32_t ceiling) {
  atomic_store_explicit(&hub->ceiling, ceiling, memory_order_relaxed);
}

mend_status mend__bus_set_ladder(mend_bus *bus, const mend_options *options) {
  mend__hub *hub;
  const mend_status status = mend__hub_of(bus, &hub);
  if (status == MEND_OK) mend__hub_set_ceiling(hub, options->ladder ? options->ceiling : 0);
  return status;
}

void mend__hub_set_poll_interval(mend__hub *hub, double seconds) {
  const uint64_t poll_ns = mend__seconds_to_ns(seconds);
  atomic_store_explicit(&hub->poll_ns, poll_ns > 0 ? poll_ns : 1, memory_order_relaxed);
  for (mend_watch *watch = NULL; (watch = next_watch(hub, watch)) != NULL;)
    mend__watch_poll_anew(watch);
}

mend_status mend_bus_set_poll_interval(mend_bus *bus, double seconds, mend_error *error) {
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

/* ---- Watching every run ---- */

mend_watchdog *mend__hub_watchdog(mend__hub *hub, size_t *position) {
  mend_watchdog *watchdog = NULL;
  pthread_mutex_lock(&hub->lock);
  while (*position < hub->count && hub->watchdogs[*position] == NULL)
    ++*position;
  if (*position < hub->count) watchdog = mend_watchdog_retain(hub->watchdogs[*position]);
  pthread_mutex_unlock(&hub->lock);
  return watchdog;
}

static mend_watchdog **find_watchdog(mend__hub *hub, const mend_watchdog *watchdog) {
  for (size_t i = 0; i < hub->count; i++) {
    if (hub->watchdogs[i] == watchdog) return &hub->watchdogs[i];
  }
  return NULL;
}

/* MEND_EEXIST when it is there already. */
static mend_status add_watchdog_locked(mend__hub *hub, mend_watchdog *watchdog) {
  if (find_watchdog(hub, watchdog) != NULL) return MEND_EEXIST;
  mend_watchdog **place = find_watchdog(hub, NULL);
  if (place == NULL) {
    mend_watchdog **watchdogs = mend__realloc(hub->allocator, hub->watchdogs, (hub->count + 1) * sizeof *watchdogs);
    if (watchdogs == NULL) return MEND_ENOMEM;
    hub->watchdogs = watchdogs;
    place = &watchdogs[hub->count++];
  }
  *place = mend_watchdog_retain(watchdog);
  return MEND_OK;
}

static mend_status add_watchdog(mend__hub *hub, mend_watchdog *watchdog) {
  pthread_mutex_lock(&hub->lock);
  const mend_status status = add_watchdog_locked(hub, watchdog);
  pthread_mutex_unlock(&hub->lock);
  return status;
}

/* Undoes an add_watchdog and what came of it, where there was one. */
void mend__hub_remove_watchdog(mend__hub *hub, mend_watchdog *watchdog) {
  pthread_mutex_lock(&hub->lock);
  mend_watchdog **place = find_watchdog(hub, watchdog);
  if (place != NULL) *place = NULL;
  pthread_mutex_unlock(&hub->lock);
  if (place == NULL) return;
  for (mend_watch *watch = NULL; (watch = next_watch(hub, watch)) != NULL;)
    mend__watch_detach(watch, watchdog, MEND__CLAIM_BUS);
  mend_watchdog_release(watchdog);
}

static mend_status run_opened(void *ctx, mend_run *run) {
  (void)ctx;
  mend_watch *watch;
  return mend_run_watch(run, &watch);
}

static mend_status attach_to_all(mend__hub *hub, mend_watchdog *watchdog) {
  mend_status status = mend__bus_observe_runs(hub->bus, MEND__SLOT_WATCH, run_opened, hub);
  if (status == MEND_EEXIST) status = MEND_OK;
  for (mend_watch *watch = NULL; status == MEND_OK && (watch = next_watch(hub, watch)) != NULL;) {
    status = mend__watch_attach(watch, watchdog, MEND__CLAIM_BUS);
    if (status != MEND_OK) mend_run_release(watch->run);
  }
  return status;
}

/* The watchdog is on the hub's list first: a run made meanwhile finds it there. */
mend_status mend_watchdog_watch_bus(mend_watchdog *watchdog, mend_bus *bus) {
  mend__hub *hub;
  mend_status status = mend__hub_of(bus, &hub);
  if (status == MEND_OK) status = add_watchdog(hub, watchdog);
  if (status != MEND_OK) return status == MEND_EEXIST ? MEND_OK : status;
  status = attach_to_all(hub, watchdog);
  if (status != MEND_OK) mend__hub_remove_watchdog(hub, watchdog);
  return status;
}

mend_status mend_bus_watchdog(mend_bus *bus, const char *name, mend_watchdog **ret_watchdog) {
  mend__hub *hub = mend__bus_slot(bus, MEND__SLOT_WATCH);
  if (hub == NULL || name == NULL) return MEND_ENOENT;
  size_t position = 0;
  for (mend_watchdog *watchdog; (watchdog = mend__hub_watchdog(hub, &position)) != NULL; position++) {
    if (strcmp(watchdog->name, name) == 0) {
      *ret_watchdog = watchdog;
      return MEND_OK;
    }
    mend_watchdog_release(watchdog);
  }
  return MEND_ENOENT;
}

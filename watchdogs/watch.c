/* The life of a run's watch, who watches what with it, and its log. */
#include "watchdogs/room.h"
#include "watchdogs/watchdogs_internal.h"

/* ---- Beginning and end ---- */

/* Two references, the slot's and the subscription's: which of them ends first is the bus's business. */
static mend_watch *watch_new(mend_run *run, mend__hub *hub) {
  mend_watch *watch = mend__alloc_zero(hub->allocator, sizeof *watch);
  if (watch == NULL) return NULL;
  watch->run = run;
  watch->hub = mend__hub_retain(hub);
  watch->allocator = hub->allocator;
  watch->next_ns = MEND_NEVER;
  watch->armed_ns = MEND_NEVER;
  watch->stood_ns = atomic_load(&hub->stood_ns);
  watch->seen_ns = mend_clock_now(hub->clock).mono_ns;
  atomic_init(&watch->references, 2);
  return watch;
}

static void watch_release(void *ctx) {
  mend_watch *watch = ctx;
  if (atomic_fetch_sub(&watch->references, 1) > 1) return;
  mend__hub_release(watch->hub);
  mend__free(watch->allocator, watch);
}

/* A watchdog that is polled is asked once more; there is no log any more for what it finds. */
static void end_entry(mend_watch *watch, mend__watch_entry *entry) {
  if (entry->is_open && mend__watchdog_polls(entry->watchdog)) {
    mend_emitter emitter = {.watch = watch, .watchdog = entry->watchdog, .closing = true};
    entry->watchdog->vtable.expire(entry->state, mend_clock_now(watch->hub->clock).mono_ns, &emitter);
  }
  mend__entry_close(entry);
  mend_watchdog_release(entry->watchdog);
}

/* The run is freed: no event of it is under way, and nobody but the hub knows the watch. */
static void watch_end(void *object) {
  mend_watch *watch = object;
  mend__hub_remove(watch->hub, watch);
  for (size_t i = 0; i < watch->count; i++)
    end_entry(watch, &watch->entries[i]);
  mend__free(watch->allocator, watch->entries);
  mend__log_free(&watch->log, watch->allocator);
  mend__ladder_reset(&watch->ladder, watch->allocator);
  watch_release(watch);
}

static mend_status join_bus(mend_watch *watch) {
  mend_status status = MEND_OK;
  size_t position = 0;
  for (mend_watchdog *watchdog; (watchdog = mend__hub_watchdog(watch->hub, &position)) != NULL; position++) {
    const mend_status next = mend__watch_attach(watch, watchdog, MEND__CLAIM_BUS);
    if (status == MEND_OK) status = next;
    mend_watchdog_release(watchdog);
  }
  return status;
}

/* Of two threads that open one at the same time, one wins; the other's has no watchdogs yet and goes. */
static mend_status watch_open(mend_run *run, mend_watch **ret_watch) {
  mend__hub *hub;
  mend_status status = mend__hub_of(mend_run_bus(run), &hub);
  if (status != MEND_OK) return status;
  mend_watch *watch = watch_new(run, hub);
  if (watch == NULL) return MEND_ENOMEM;
  mend_subscription *subscription;
  status = mend_run_subscribe(run, "*", mend__watch_event, watch, watch_release, &subscription, NULL);
  if (status != MEND_OK) {
    watch_release(watch);
    watch_release(watch);
    return status;
  }
  mend_watch *there = mend__run_slot_put(run, MEND__SLOT_WATCH, watch, watch_end);
  if (there == watch) {
    mend__hub_add(hub, watch);
    status = join_bus(watch);
  } else {
    watch_release(watch);
    mend_subscription_close(&subscription);
  }
  if (status == MEND_OK) *ret_watch = there;
  return status;
}

mend_status mend_run_watch(mend_run *run, mend_watch **ret_watch) {
  if (run == NULL) return MEND_EINVAL;
  mend_watch *watch = mend__run_slot(run, MEND__SLOT_WATCH);
  if (watch == NULL) return watch_open(run, ret_watch);
  *ret_watch = watch;
  return MEND_OK;
}

/* ---- Who watches ---- */

mend_status mend_watchdog_watch_run(mend_watchdog *watchdog, mend_run *run) {
  if (watchdog == NULL || run == NULL) return MEND_EINVAL;
  mend_watch *watch;
  const mend_status status = mend_run_watch(run, &watch);
  return status == MEND_OK ? mend__watch_attach(watch, watchdog, MEND__CLAIM_RUN) : status;
}

/* Whoever else wanted it. */
mend_status mend_watchdog_unwatch_run(mend_watchdog *watchdog, mend_run *run) {
  if (watchdog == NULL || run == NULL) return MEND_EINVAL;
  mend_watch *watch = mend__run_slot(run, MEND__SLOT_WATCH);
  return watch != NULL ? mend__watch_remove(watch, watchdog) : MEND_ENOENT;
}

mend_status mend__scope_watch(mend_watchdog *watchdog, mend_run *run) {
  mend_watch *watch;
  const mend_status status = mend_run_watch(run, &watch);
  return status == MEND_OK ? mend__watch_attach(watch, watchdog, MEND__CLAIM_SCOPE) : status;
}

void mend__scope_unwatch(mend_watchdog *watchdog, mend_run *run) {
  mend_watch *watch = mend__run_slot(run, MEND__SLOT_WATCH);
  if (watch != NULL) mend__watch_detach(watch, watchdog, MEND__CLAIM_SCOPE);
}

bool mend_watchdog_watches_run(mend_watchdog *watchdog, mend_run *run) {
  mend_watch *watch = mend__run_slot(run, MEND__SLOT_WATCH);
  return watch != NULL && mend__watch_has(watch, watchdog);
}

/* ---- Reading the log ---- */

mend_status mend_watch_next(mend_watch *watch, mend_detection_cursor *cursor, const mend_detection **ret_detection) {
  if (watch == NULL || cursor == NULL) return MEND_EINVAL;
  mend__run_lock(watch->run);
  const mend_status status = mend__log_next(&watch->log, cursor, ret_detection);
  mend__run_unlock(watch->run);
  return status;
}

uint64_t mend_watch_count(mend_watch *watch) {
  mend__run_lock(watch->run);
  const uint64_t count = watch->log.count;
  mend__run_unlock(watch->run);
  return count;
}

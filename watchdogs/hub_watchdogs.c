/* Who watches every run of a bus. */
#include "watchdogs/watchdogs_internal.h"

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

void mend__hub_remove_watchdog(mend__hub *hub, mend_watchdog *watchdog) {
  pthread_mutex_lock(&hub->lock);
  mend_watchdog **place = find_watchdog(hub, watchdog);
  if (place != NULL) *place = NULL;
  pthread_mutex_unlock(&hub->lock);
  if (place == NULL) return;
  for (mend_watch *watch = NULL; (watch = mend__hub_next_watch(hub, watch)) != NULL;)
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
  for (mend_watch *watch = NULL; status == MEND_OK && (watch = mend__hub_next_watch(hub, watch)) != NULL;) {
    status = mend__watch_attach(watch, watchdog, MEND__CLAIM_BUS);
    if (status != MEND_OK) mend_run_release(watch->run);
  }
  return status;
}

/* The watchdog is on the hub's list first: a run made meanwhile finds it there. */
mend_status mend_watchdog_watch_bus(mend_watchdog *watchdog, mend_bus *bus) {
  if (watchdog == NULL || bus == NULL) return MEND_EINVAL;
  mend__hub *hub;
  mend_status status = mend__hub_of(bus, &hub);
  if (status == MEND_OK) status = add_watchdog(hub, watchdog);
  if (status != MEND_OK) return status == MEND_EEXIST ? MEND_OK : status;
  status = attach_to_all(hub, watchdog);
  if (status != MEND_OK) mend__hub_remove_watchdog(hub, watchdog);
  return status;
}

mend_status mend_bus_watchdog(mend_bus *bus, const char *name, mend_watchdog **ret_watchdog) {
  if (bus == NULL || name == NULL) return MEND_EINVAL;
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

/* Rooms above that want to know of every run. */
#include "bus/bus_internal.h"

/* ---- A run is made ---- */

static void notify_observer(mend_run *run, mend__run_observer observer) {
  if (observer.opened == NULL) return;
  mend_status status = observer.opened(observer.ctx, run);
  if (status == MEND_OK) return;
  mend__frame frame = {.failures = 1, .first_failure = status};
  mend__report_failure(run, NULL, &frame);
}

/* Who began to observe meanwhile is told too: observers take being told twice for once. */
void mend__run_announce_and_lock(mend_run *run) {
  mend_bus *bus = run->bus;
  uint32_t version = 0;
  pthread_mutex_lock(&bus->mutex);
  while (bus->observers_version != version) {
    mend__run_observer observers[MEND__SLOT_COUNT];
    memcpy(observers, bus->observers, sizeof observers);
    version = bus->observers_version;
    pthread_mutex_unlock(&bus->mutex);
    for (int slot = 0; slot < MEND__SLOT_COUNT; slot++)
      notify_observer(run, observers[slot]);
    pthread_mutex_lock(&bus->mutex);
  }
}

/* ---- An observer comes ---- */

typedef struct run_list {
  mend_run **runs;
  size_t count;
} run_list;

static mend_status list_runs(mend_bus *bus, run_list *ret_list) {
  *ret_list = (run_list){NULL, 0};
  if (bus->run_count == 0) return MEND_OK;
  ret_list->runs = mend__alloc(bus->allocator, bus->run_count * sizeof(mend_run *));
  if (ret_list->runs == NULL) return MEND_ENOMEM;
  for (mend_run *run = bus->runs; run != NULL; run = run->next) {
    mend__run_retain_known(run);
    ret_list->runs[ret_list->count++] = run;
  }
  return MEND_OK;
}

static void forget_observer(mend_bus *bus, mend__slot slot) {
  pthread_mutex_lock(&bus->mutex);
  bus->observers[slot] = (mend__run_observer){NULL, NULL};
  pthread_mutex_unlock(&bus->mutex);
}

mend_status mend__bus_observe_runs(mend_bus *bus, mend__slot slot, mend__run_opened opened, void *ctx) {
  run_list list = {NULL, 0};
  pthread_mutex_lock(&bus->mutex);
  mend_status status = bus->observers[slot].opened != NULL ? MEND_EEXIST : list_runs(bus, &list);
  if (status == MEND_OK) {
    bus->observers[slot] = (mend__run_observer){opened, ctx};
    bus->observers_version++;
  }
  pthread_mutex_unlock(&bus->mutex);
  if (status != MEND_OK) return status;
  for (size_t i = 0; i < list.count; i++) {
    mend_status failure = opened(ctx, list.runs[i]);
    if (status == MEND_OK) status = failure;
    mend_run_release(list.runs[i]);
  }
  mend__free(bus->allocator, list.runs);
  if (status != MEND_OK) forget_observer(bus, slot);
  return status;
}

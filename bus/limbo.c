#include "bus/bus_internal.h"

void mend__limbo_init(mend__retired_list *list) {
  list->first = NULL;
  list->last = &list->first;
}

/* What can no longer be found by a publish that begins from now on is in use until those under way are over, which
 * carry this epoch or an older one. */
uint64_t mend__epoch_end(mend_bus *bus) { return atomic_fetch_add(&bus->epoch, 1); }

void mend__retire_of(mend_bus *bus, mend__retired_list *list, mend__retired *retired, uint64_t epoch) {
  *retired = (mend__retired){.next = NULL, .tag = epoch};
  *list->last = retired;
  list->last = &retired->next;
  atomic_store(&bus->limbo_waits, true);
}

void mend__retire(mend_bus *bus, mend__retired_list *list, mend__retired *retired) {
  mend__retire_of(bus, list, retired, mend__epoch_end(bus));
}

static uint64_t oldest_publish(mend_bus *bus) {
  uint64_t oldest = UINT64_MAX;
  for (mend__reader *reader = atomic_load(&bus->readers); reader != NULL; reader = reader->next) {
    uint64_t epoch = atomic_load(&reader->epoch);
    if (epoch != 0 && epoch < oldest) oldest = epoch;
  }
  return oldest;
}

/* Cuts off the front of a list that is older than every publish under way. */
static mend__retired *take_free(mend__retired_list *list, uint64_t oldest) {
  mend__retired *first = list->first, **end = &list->first;
  while (*end != NULL && (*end)->tag < oldest)
    end = &(*end)->next;
  if (end == &list->first) return NULL;
  list->first = *end;
  if (list->first == NULL) list->last = &list->first;
  *end = NULL;
  return first;
}

static void free_arrays(mend_bus *bus, mend__retired *arrays) {
  while (arrays != NULL) {
    mend__retired *next = arrays->next;
    mend__free(bus->allocator, arrays); /* the link is the first member of both kinds of array */
    arrays = next;
  }
}

/* First all destroy functions: one may close the handles of the others. */
static void free_subscriptions(mend_bus *bus, mend__retired *subscriptions) {
  for (mend__retired *each = subscriptions; each != NULL; each = each->next) {
    const mend_subscription *subscription = MEND__CONTAINER(each, mend_subscription, retired);
    if (subscription->destroy != NULL) subscription->destroy(subscription->ctx);
  }
  while (subscriptions != NULL) {
    mend__retired *next = subscriptions->next;
    mend__free(bus->allocator, MEND__CONTAINER(subscriptions, mend_subscription, retired));
    subscriptions = next;
  }
}

static void free_runs(mend__retired *runs) {
  while (runs != NULL) {
    mend__retired *next = runs->next;
    mend__run_free(MEND__CONTAINER(runs, mend_run, retired));
    runs = next;
  }
}

static bool reclaim_once(mend_bus *bus) {
  pthread_mutex_lock(&bus->mutex);
  uint64_t oldest = oldest_publish(bus);
  mend__retired *arrays = take_free(&bus->limbo_arrays, oldest);
  mend__retired *subscriptions = take_free(&bus->limbo_subscriptions, oldest);
  mend__retired *runs = take_free(&bus->limbo_runs, oldest);
  bool waits =
      bus->limbo_arrays.first != NULL || bus->limbo_subscriptions.first != NULL || bus->limbo_runs.first != NULL;
  atomic_store(&bus->limbo_waits, waits);
  pthread_mutex_unlock(&bus->mutex);
  free_arrays(bus, arrays);
  free_subscriptions(bus, subscriptions);
  free_runs(runs);
  /* What destroy functions closed waits now. */
  return (subscriptions != NULL || runs != NULL) && atomic_load(&bus->limbo_waits);
}

/* Frees what can be freed. destroy functions run here and may do anything: what they close is freed by the loop
 * further up this stack, and the bus is kept until the end even if they drop the last reference to it. A publish
 * under way on this thread keeps it too, and then there may be none left to add to. */
void mend__reclaim(mend_bus *bus) {
  const mend_bus *outer = mend__reclaims_here();
  if (outer == bus || !atomic_load(&bus->limbo_waits)) return;
  const mend__reader *reader = mend__reader_find(bus);
  const bool keeps = reader == NULL || reader->holds == 0;
  if (keeps) mend_bus_retain(bus);
  atomic_fetch_add(&bus->reclaiming, 1);
  mend__reclaims_set(bus);
  while (reclaim_once(bus)) {
  }
  mend__reclaims_set(outer);
  atomic_fetch_sub(&bus->reclaiming, 1);
  if (keeps) mend_bus_release(bus);
}

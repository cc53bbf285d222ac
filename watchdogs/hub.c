/* What is one a bus: its life, and the watches of its runs. */
#include "watchdogs/room.h"
#include "watchdogs/watchdogs_internal.h"

/* ---- Beginning and end ---- */

static mend__hub *hub_new(mend_bus *bus) {
  const mend_allocator *allocator = mend_bus_allocator(bus);
  mend__hub *hub = mend__alloc_zero(allocator, sizeof *hub);
  if (hub == NULL) return NULL;
  if (mend_deadlines_new(allocator, (mend_waker){mend__hub_wake, hub}, &hub->deadlines) != MEND_OK) goto fail;
  if (pthread_mutex_init(&hub->lock, NULL) != 0) goto fail;
  if (pthread_cond_init(&hub->expiry_ended, NULL) != 0) goto fail_cond;
  hub->bus = bus;
  hub->allocator = allocator;
  hub->clock = mend_clock_retain(mend_bus_clock(bus));
  atomic_init(&hub->references, 1);
  atomic_init(&hub->poll_ns, MEND_SECOND_NS);
  atomic_init(&hub->ceiling, ((const mend_options)MEND_OPTIONS_INIT).ceiling);
  return hub;
fail_cond:
  pthread_mutex_destroy(&hub->lock);
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
  pthread_cond_destroy(&hub->expiry_ended);
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

mend_status mend__hub_of(mend_bus *bus, mend__hub **ret_hub) {
  mend__hub *hub = mend__bus_slot(bus, MEND__SLOT_WATCH);
  if (hub == NULL) {
    mend__hub *made = hub_new(bus);
    if (made == NULL) return MEND_ENOMEM;
    const mend_status status = mend__hub_drive(made);
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

mend_watch *mend__hub_next_watch(mend__hub *hub, mend_watch *watch) {
  mend_run *passed = watch != NULL ? watch->run : NULL;
  pthread_mutex_lock(&hub->lock);
  watch = watch != NULL ? watch->next : hub->first;
  while (watch != NULL && !mend__run_try_retain(watch->run))
    watch = watch->next;
  pthread_mutex_unlock(&hub->lock);
  mend_run_release(passed);
  return watch;
}

/* ---- The ladder ---- */

void mend__hub_set_ladder(mend__hub *hub, const mend_options *options) {
  atomic_store_explicit(&hub->ceiling, options->ladder ? options->ceiling : 0, memory_order_relaxed);
}

mend_status mend__bus_set_ladder(mend_bus *bus, const mend_options *options) {
  mend__hub *hub;
  const mend_status status = mend__hub_of(bus, &hub);
  if (status == MEND_OK) mend__hub_set_ladder(hub, options);
  return status;
}

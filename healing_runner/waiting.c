#include "healing_runner/healing_internal.h"

/* Hangs on its bus; made with the first scope and kept, so that nobody can find a dead one. */
typedef struct waiting {
  mend_bus *bus; /* not referenced: it goes with the bus */
  const mend_allocator *allocator;
  pthread_mutex_t lock;
  size_t scopes;
  mend_loop *loop; /* while there are scopes */
} waiting;

static void waiting_free(void *object) {
  waiting *w = object;
  pthread_mutex_destroy(&w->lock);
  mend__free(w->allocator, w);
}

static waiting *waiting_new(mend_bus *bus) {
  waiting *w = mend__alloc_zero(mend_bus_allocator(bus), sizeof *w);
  if (w == NULL) return NULL;
  w->bus = bus;
  w->allocator = mend_bus_allocator(bus);
  if (pthread_mutex_init(&w->lock, NULL) == 0) return w;
  mend__free(w->allocator, w);
  return NULL;
}

static waiting *waiting_of(mend_bus *bus) {
  waiting *there = mend__bus_slot(bus, MEND__SLOT_HEALING);
  if (there != NULL) return there;
  waiting *made = waiting_new(bus);
  if (made == NULL) return NULL;
  there = mend__bus_slot_put(bus, MEND__SLOT_HEALING, made, waiting_free);
  if (there != made) waiting_free(made);
  return there;
}

static uint64_t bus_next(void *ctx) { return mend_bus_next_deadline(((waiting *)ctx)->bus); }

/* A watchdog that fails is reported on its run. */
static void bus_run(void *ctx, uint64_t now_ns) { mend_bus_expire_until(((waiting *)ctx)->bus, now_ns); }

static mend_status choose_loop(const waiting *w, mend_loop *given, mend_loop **ret_loop, mend_error *error) {
  if (given != NULL) {
    *ret_loop = mend_loop_retain(given);
    return MEND_OK;
  }
  mend_loop_options options = MEND_LOOP_OPTIONS_INIT;
  options.allocator = w->allocator;
  options.clock = mend_bus_clock(w->bus);
  return mend_loop_new(&options, ret_loop, error);
}

static mend_status start(waiting *w, mend_loop *given, mend_error *error) {
  mend_loop *loop;
  mend_status status = choose_loop(w, given, &loop, error);
  if (status != MEND_OK) return status;
  const mend_clock_driver driver = {sizeof driver, bus_next, bus_run, w};
  mend_waker waker;
  status = mend_loop_add_driver(loop, &driver, &waker);
  if (status != MEND_OK) goto no_driver;
  status = mend_bus_set_waker(w->bus, waker);
  if (status != MEND_OK) goto no_waker;
  waker.wake(waker.ctx); /* calls may be open already */
  w->loop = loop;
  return MEND_OK;

no_waker:
  mend_loop_remove_driver(loop, w);
no_driver:
  mend_loop_release(loop);
  return mend_error_set(error, status, "waiting for the deadlines of the bus: %s", mend_status_message(status));
}

static void stop(waiting *w) {
  mend_bus_set_waker(w->bus, (mend_waker){NULL, NULL});
  mend_loop_remove_driver(w->loop, w);
  mend_loop_release(w->loop);
  w->loop = NULL;
}

mend_status mend__waiting_begin(mend_bus *bus, mend_loop *loop, mend_error *error) {
  waiting *w = waiting_of(bus);
  if (w == NULL) return mend_error_set(error, MEND_ENOMEM, "a healing scope: out of memory");
  pthread_mutex_lock(&w->lock);
  const mend_status status = w->scopes == 0 ? start(w, loop, error) : MEND_OK;
  if (status == MEND_OK) w->scopes++;
  pthread_mutex_unlock(&w->lock);
  return status;
}

void mend__waiting_end(mend_bus *bus) {
  waiting *w = mend__bus_slot(bus, MEND__SLOT_HEALING);
  pthread_mutex_lock(&w->lock);
  if (--w->scopes == 0) stop(w);
  pthread_mutex_unlock(&w->lock);
}

#include "bus/bus_internal.h"

static mend_status subscribe(mend_bus *bus, mend_run *run, const char *pattern, mend_handler handler, void *ctx,
                             void (*destroy)(void *), mend_subscription **ret_subscription) {
  if (pattern == NULL || handler == NULL) return MEND_EINVAL;
  mend_subscription *subscription = mend__alloc_zero(bus->allocator, sizeof *subscription);
  if (subscription == NULL) return MEND_ENOMEM;
  subscription->handler = handler;
  subscription->ctx = ctx;
  subscription->destroy = destroy;
  subscription->bus = bus;
  subscription->run = run;
  pthread_mutex_lock(&bus->mutex);
  mend_status status = bus->closing ? MEND_ECLOSED : mend__pattern_take(bus, pattern, subscription);
  if (status == MEND_OK) {
    status = run != NULL ? mend__run_subscribers_add(run, subscription) : mend__bus_subscribers_add(bus, subscription);
  }
  if (status == MEND_OK) bus->subscription_count++;
  pthread_mutex_unlock(&bus->mutex);
  if (status != MEND_OK) mend__free(bus->allocator, subscription);
  if (status == MEND_OK && ret_subscription != NULL) *ret_subscription = subscription;
  mend__reclaim(bus);
  return status;
}

mend_status mend_bus_subscribe(mend_bus *bus, const char *pattern, mend_handler handler, void *ctx,
                               void (*destroy)(void *ctx), mend_subscription **ret_subscription) {
  return subscribe(bus, NULL, pattern, handler, ctx, destroy, ret_subscription);
}

mend_status mend_run_subscribe(mend_run *run, const char *pattern, mend_handler handler, void *ctx,
                               void (*destroy)(void *ctx), mend_subscription **ret_subscription) {
  return subscribe(run->bus, run, pattern, handler, ctx, destroy, ret_subscription);
}

void mend__subscription_retire(mend_bus *bus, mend_subscription *subscription) {
  atomic_store_explicit(&subscription->closed, true, memory_order_relaxed);
  bus->subscription_count--;
  mend__retire(bus, &bus->limbo_subscriptions, &subscription->retired);
}

void mend_subscription_close(mend_subscription **handle) {
  if (handle == NULL || *handle == NULL) return;
  mend_subscription *subscription = *handle;
  *handle = NULL;
  mend_bus *bus = subscription->bus;
  mend_run *run = subscription->run;
  pthread_mutex_lock(&bus->mutex);
  if (run != NULL) {
    mend__run_subscribers_remove(run, subscription);
  } else {
    mend__bus_subscribers_remove(bus, subscription);
  }
  mend__subscription_retire(bus, subscription);
  pthread_mutex_unlock(&bus->mutex);
  mend__reclaim(bus);
}

void mend__subscription_free(mend_bus *bus, mend_subscription *subscription) {
  if (subscription->destroy != NULL) subscription->destroy(subscription->ctx);
  mend__free(bus->allocator, subscription);
}

#include "bus/bus_internal.h"
#include "core/given.h"

static mend_status check(const char *pattern, mend_handler handler, mend_error *error) {
  if (pattern == NULL) return mend_error_set(error, MEND_EINVAL, "pattern: absent, expected a topic, or * for all");
  const mend_str text = mend_str_from(pattern);
  if (!mend__pattern_is_one(text)) {
    return mend__name_refuse(error, MEND_EINVAL, "pattern", text,
                             "expected a topic (tool.before), all topics under a prefix (tool.*) or all (*)");
  }
  if (handler == NULL) return mend__name_refuse(error, MEND_EINVAL, "pattern", text, "handler is absent");
  return MEND_OK;
}

static mend_status link_subscription(mend_subscription *subscription, mend_str pattern) {
  mend_bus *bus = subscription->bus;
  const bool run_ended = subscription->run != NULL && subscription->run->ended;
  if (bus->closing || run_ended) return MEND_ECLOSED;
  mend_status status = mend__pattern_take(bus, pattern, subscription);
  if (status != MEND_OK) return status;
  status = subscription->run != NULL ? mend__run_subscribers_add(subscription->run, subscription)
                                     : mend__bus_subscribers_add(bus, subscription);
  if (status == MEND_OK) bus->subscription_count++;
  return status;
}

/* The one it is for; NULL when it is for several. */
static mend__topic *topic_of(const mend_subscription *subscription) {
  if (subscription->match != MEND__MATCH_EXACT) return NULL;
  return mend__topic_at(subscription->bus, subscription->pattern);
}

static mend_status subscribe(mend_bus *bus, mend_run *run, const char *pattern, mend_handler handler, void *ctx,
                             void (*destroy)(void *), mend_subscription **ret_subscription, mend_error *error) {
  mend_status status = check(pattern, handler, error);
  if (status != MEND_OK) return status;
  mend_subscription *subscription = mend__alloc_zero(bus->allocator, sizeof *subscription);
  if (subscription == NULL) return mend_error_set(error, MEND_ENOMEM, "a subscription: out of memory");
  subscription->handler = handler;
  subscription->ctx = ctx;
  subscription->destroy = destroy;
  subscription->bus = bus;
  subscription->run = run;
  pthread_mutex_lock(&bus->mutex);
  status = link_subscription(subscription, mend_str_from(pattern));
  mend__topic *topic = status == MEND_OK ? topic_of(subscription) : NULL;
  pthread_mutex_unlock(&bus->mutex);
  if (topic != NULL) mend__topic_doubt(bus, topic);
  if (status != MEND_OK) {
    mend__free(bus->allocator, subscription);
    mend__name_refuse(error, status, "pattern", mend_str_from(pattern), mend__bus_reason(status));
  } else if (ret_subscription != NULL) {
    *ret_subscription = subscription;
  }
  mend__reclaim(bus);
  return status;
}

mend_status mend_bus_subscribe(mend_bus *bus, const char *pattern, mend_handler handler, void *ctx,
                               void (*destroy)(void *ctx), mend_subscription **ret_subscription, mend_error *error) {
  if (bus == NULL) return mend__refuse_null(error, "the bus");
  return subscribe(bus, NULL, pattern, handler, ctx, destroy, ret_subscription, error);
}

mend_status mend_run_subscribe(mend_run *run, const char *pattern, mend_handler handler, void *ctx,
                               void (*destroy)(void *ctx), mend_subscription **ret_subscription, mend_error *error) {
  if (run == NULL) return mend__refuse_null(error, "the run");
  return subscribe(run->bus, run, pattern, handler, ctx, destroy, ret_subscription, error);
}

void mend__subscription_retire(mend_bus *bus, mend_subscription *subscription, uint64_t epoch) {
  atomic_store_explicit(&subscription->closed, true, memory_order_relaxed);
  bus->subscription_count--;
  mend__retire_of(bus, &bus->limbo_subscriptions, &subscription->retired, epoch);
}

void mend_subscription_close(mend_subscription **handle) {
  if (handle == NULL || *handle == NULL) return;
  mend_subscription *subscription = *handle;
  *handle = NULL;
  /* Its run or bus is at its end, and we are in the destroy function of another one of them. */
  if (atomic_load_explicit(&subscription->closed, memory_order_relaxed)) return;
  mend_bus *bus = subscription->bus;
  mend_run *run = subscription->run;
  pthread_mutex_lock(&bus->mutex);
  if (run != NULL) {
    mend__run_subscribers_remove(run, subscription);
  } else {
    mend__bus_subscribers_remove(bus, subscription);
  }
  mend__subscription_retire(bus, subscription, mend__epoch_end(bus));
  pthread_mutex_unlock(&bus->mutex);
  mend__reclaim(bus);
}

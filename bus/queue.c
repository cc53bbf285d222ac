#include "mend/queue.h"

#include "bus/event_internal.h"
#include "core/memory.h"
#include "core/options_size.h"
#include "core/seconds.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* Two own it: the handle, and the subscription, until no thread can be in take_event any more. */
struct mend_queue {
  mend_bus *bus; /* a reference, until it is closed */
  mend_run *run; /* likewise; NULL: of all runs */
  const mend_allocator *allocator;
  uint32_t capacity;
  uint64_t byte_limit;
  bool drop_oldest;
  mend_waker waker;
  _Atomic uint32_t owners;
  _Atomic uint64_t dropped;
  _Atomic uint64_t waiting, bytes; /* changed under the mutex, looked at without it */
  pthread_mutex_t mutex;           /* covers the rest */
  pthread_cond_t changed;          /* an event came, or it was stopped */
  mend_subscription *subscription;
  mend__event_clone *oldest, **last;
  uint64_t taken;
  bool stopped;
};

/* ---- Coming in ---- */

static bool has_room(const mend_queue *queue, size_t bytes) {
  return atomic_load_explicit(&queue->waiting, memory_order_relaxed) < queue->capacity &&
         atomic_load_explicit(&queue->bytes, memory_order_relaxed) + bytes <= queue->byte_limit;
}

/* Whether there is a point in making a clone. Without the mutex: a full queue that nobody drains costs publishers
 * neither memory nor a lock. */
static bool may_take(const mend_queue *queue, size_t bytes) {
  return bytes <= queue->byte_limit && (queue->drop_oldest || has_room(queue, bytes));
}

static void append(mend_queue *queue, mend__event_clone *clone) {
  clone->next = NULL;
  *queue->last = clone;
  queue->last = &clone->next;
  atomic_fetch_add_explicit(&queue->waiting, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&queue->bytes, clone->bytes, memory_order_relaxed);
}

static mend__event_clone *remove_oldest(mend_queue *queue) {
  mend__event_clone *clone = queue->oldest;
  if (clone == NULL) return NULL;
  queue->oldest = clone->next;
  if (queue->oldest == NULL) queue->last = &queue->oldest;
  atomic_fetch_sub_explicit(&queue->waiting, 1, memory_order_relaxed);
  atomic_fetch_sub_explicit(&queue->bytes, clone->bytes, memory_order_relaxed);
  return clone;
}

static void wake(const mend_queue *queue) {
  if (queue->waker.wake != NULL) queue->waker.wake(queue->waker.ctx);
}

/* Returns what must go, in a list: the new one or, with drop_oldest, those that make room for it. */
static mend__event_clone *put(mend_queue *queue, mend__event_clone *clone) {
  mend__event_clone *out = NULL;
  clone->next = NULL;
  if (queue->stopped || (!queue->drop_oldest && !has_room(queue, clone->bytes))) return clone;
  const bool was_empty = queue->oldest == NULL;
  while (!has_room(queue, clone->bytes)) {
    mend__event_clone *oldest = remove_oldest(queue);
    oldest->next = out;
    out = oldest;
  }
  append(queue, clone);
  queue->taken++;
  pthread_cond_signal(&queue->changed);
  if (was_empty) wake(queue);
  return out;
}

/* Returns how many there were. */
static uint64_t free_all(mend__event_clone *clones) {
  uint64_t count = 0;
  while (clones != NULL) {
    mend__event_clone *next = clones->next;
    mend_event_free(&clones->event);
    clones = next;
    count++;
  }
  return count;
}

/* The subscriber. What is lost is counted and no failure, which would be an event more for a full queue. */
static mend_status take_event(void *ctx, const mend_event *event) {
  mend_queue *queue = ctx;
  uint64_t lost = 1;
  mend_event *copy;
  if (may_take(queue, mend__event_clone_size(event)) && mend_event_clone(event, queue->allocator, &copy) == MEND_OK) {
    pthread_mutex_lock(&queue->mutex);
    mend__event_clone *out = put(queue, mend__event_clone_of(copy));
    pthread_mutex_unlock(&queue->mutex);
    lost = free_all(out);
  }
  if (lost > 0) atomic_fetch_add_explicit(&queue->dropped, lost, memory_order_relaxed);
  return MEND_OK;
}

/* ---- Going out ---- */

/* Under the mutex. */
static mend_status take_oldest(mend_queue *queue, mend_event **ret_event) {
  mend__event_clone *oldest = remove_oldest(queue);
  if (oldest == NULL) return queue->stopped ? MEND_ECLOSED : MEND_ENOENT;
  *ret_event = &oldest->event;
  return MEND_OK;
}

mend_status mend_queue_next(mend_queue *queue, mend_event **ret_event) {
  if (queue == NULL) return MEND_EINVAL;
  pthread_mutex_lock(&queue->mutex);
  mend_status status = take_oldest(queue, ret_event);
  pthread_mutex_unlock(&queue->mutex);
  return status;
}

static struct timespec real_time_in(uint64_t ns) {
  return mend__timespec(mend_clock_now(mend_clock_real()).mono_ns + ns);
}

/* Longer waits are for ever. */
#define WAIT_MAX_NS (UINT64_C(1) << 62)

mend_status mend_queue_wait(mend_queue *queue, uint64_t ns, mend_event **ret_event) {
  if (queue == NULL) return MEND_EINVAL;
  const bool for_ever = ns > WAIT_MAX_NS;
  const struct timespec due = for_ever ? (struct timespec){0, 0} : real_time_in(ns);
  int error = 0;
  pthread_mutex_lock(&queue->mutex);
  mend_status status = take_oldest(queue, ret_event);
  while (status == MEND_ENOENT && error == 0) {
    error = for_ever ? pthread_cond_wait(&queue->changed, &queue->mutex)
                     : pthread_cond_clockwait(&queue->changed, &queue->mutex, CLOCK_MONOTONIC, &due);
    status = take_oldest(queue, ret_event);
  }
  pthread_mutex_unlock(&queue->mutex);
  return status;
}

void mend_queue_get_stats(mend_queue *queue, mend_queue_stats *ret_stats) {
  mend_queue_stats stats = {.size = sizeof stats};
  pthread_mutex_lock(&queue->mutex);
  stats.taken = queue->taken;
  stats.dropped = atomic_load_explicit(&queue->dropped, memory_order_relaxed);
  stats.waiting = atomic_load_explicit(&queue->waiting, memory_order_relaxed);
  stats.bytes = atomic_load_explicit(&queue->bytes, memory_order_relaxed);
  pthread_mutex_unlock(&queue->mutex);
  mend__options_give(ret_stats, &stats);
}

/* ---- Making and ending ---- */

static void disown(void *ctx) {
  mend_queue *queue = ctx;
  if (atomic_fetch_sub(&queue->owners, 1) > 1) return;
  pthread_cond_destroy(&queue->changed);
  pthread_mutex_destroy(&queue->mutex);
  mend__free(queue->allocator, queue);
}

static mend_status check(const mend_queue_options *options, mend_error *error) {
  const mend_status status =
      mend__options_check_range("mend_queue_options.capacity", options->capacity, 1, UINT32_C(1) << 20, error);
  if (status != MEND_OK) return status;
  if (options->byte_limit < 4096) {
    return mend_error_set(error, MEND_EINVAL, "mend_queue_options.byte_limit: %llu, expected 4096 or more",
                          (unsigned long long)options->byte_limit);
  }
  return MEND_OK;
}

/* With no owner yet. */
static mend_queue *make(const mend_allocator *allocator, const mend_queue_options *options) {
  mend_queue *queue = mend__alloc_zero(allocator, sizeof *queue);
  if (queue == NULL) return NULL;
  if (pthread_mutex_init(&queue->mutex, NULL) != 0) goto no_mutex;
  if (pthread_cond_init(&queue->changed, NULL) != 0) goto no_condition;
  queue->allocator = allocator;
  queue->capacity = options->capacity;
  queue->byte_limit = options->byte_limit;
  queue->drop_oldest = options->drop_oldest;
  queue->waker = options->waker;
  queue->last = &queue->oldest;
  return queue;

no_condition:
  pthread_mutex_destroy(&queue->mutex);
no_mutex:
  mend__free(allocator, queue);
  return NULL;
}

static mend_status subscribe(mend_queue *queue, mend_bus *bus, mend_run *run, const char *pattern, mend_error *error) {
  mend_subscription **subscription = &queue->subscription;
  atomic_store(&queue->owners, 2);
  mend_status status = run != NULL ? mend_run_subscribe(run, pattern, take_event, queue, disown, subscription, error)
                                   : mend_bus_subscribe(bus, pattern, take_event, queue, disown, subscription, error);
  if (status != MEND_OK) atomic_store(&queue->owners, 1); /* destroy is not called then */
  return status;
}

static mend_status open_queue(mend_bus *bus, mend_run *run, const char *pattern, const mend_queue_options *given,
                              mend_queue **ret_queue, mend_error *error) {
  mend_queue_options options = MEND_QUEUE_OPTIONS_INIT;
  mend_status status = mend__options_take(&options, given, "mend_queue_options", error);
  if (status == MEND_OK) status = check(&options, error);
  if (status != MEND_OK) return status;
  mend_queue *queue = make(mend_bus_allocator(bus), &options);
  if (queue == NULL) return mend_error_set(error, MEND_ENOMEM, "a queue: %s", mend_status_message(MEND_ENOMEM));
  status = subscribe(queue, bus, run, pattern, error);
  if (status != MEND_OK) {
    disown(queue);
    return status;
  }
  queue->bus = mend_bus_retain(bus);
  queue->run = run != NULL ? mend_run_retain(run) : NULL;
  *ret_queue = queue;
  return MEND_OK;
}

mend_status mend_bus_queue(mend_bus *bus, const char *pattern, const mend_queue_options *options,
                           mend_queue **ret_queue, mend_error *error) {
  if (bus == NULL) return mend_error_set(error, MEND_EINVAL, "a queue: its bus is NULL");
  return open_queue(bus, NULL, pattern, options, ret_queue, error);
}

mend_status mend_run_queue(mend_run *run, const char *pattern, const mend_queue_options *options,
                           mend_queue **ret_queue, mend_error *error) {
  if (run == NULL) return mend_error_set(error, MEND_EINVAL, "a queue: its run is NULL");
  return open_queue(mend_run_bus(run), run, pattern, options, ret_queue, error);
}

static void stop(mend_queue *queue, bool wakes) {
  pthread_mutex_lock(&queue->mutex);
  mend_subscription *subscription = queue->subscription;
  queue->subscription = NULL;
  if (wakes && !queue->stopped) wake(queue);
  queue->stopped = true;
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->mutex);
  mend_subscription_close(&subscription);
}

void mend_queue_stop(mend_queue *queue) { stop(queue, true); }

static mend__event_clone *take_all(mend_queue *queue) {
  pthread_mutex_lock(&queue->mutex);
  mend__event_clone *all = queue->oldest;
  queue->oldest = NULL;
  queue->last = &queue->oldest;
  pthread_mutex_unlock(&queue->mutex);
  return all;
}

void mend_queue_close(mend_queue **handle) {
  if (handle == NULL || *handle == NULL) return;
  mend_queue *queue = *handle;
  *handle = NULL;
  stop(queue, false);
  free_all(take_all(queue));
  mend_bus *bus = queue->bus;
  mend_run_release(queue->run);
  disown(queue);
  mend_bus_release(bus);
}

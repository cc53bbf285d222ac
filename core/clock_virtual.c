#include "core/clock_internal.h"
#include "core/memory.h"
#include "core/options_size.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct driver {
  mend_clock_driver given;
  uint64_t id;      /* grows with each driver added */
  uint64_t instant; /* the last one it was run at, and how often */
  unsigned runs;
} driver;

typedef struct virtual_clock {
  mend_clock base;
  const mend_allocator *allocator;
  atomic_size_t references;
  atomic_uint_least64_t mono_ns; /* written by the advancing thread only */
  uint64_t wall_offset_ns;       /* wall minus monotonic, modulo 2^64; the two move together */

  pthread_mutex_t lock; /* covers all below; never held in a driver's call */
  pthread_cond_t changed;
  bool advancing;
  pthread_t advancer;
  uint64_t instant; /* counts the times the clock moved or began to advance */
  driver *drivers;  /* by id */
  size_t count, capacity;
  uint64_t last_id;
  const void *called; /* ctx of the driver whose call is under way, if `calling` */
  bool calling;
  uint64_t calls; /* so that one waits for a call and not for the one after it */
} virtual_clock;

static virtual_clock *virtual_of(mend_clock *clock) {
  return clock != NULL && clock->is_virtual ? (virtual_clock *)(void *)clock : NULL;
}

/* ---- Life ---- */

mend_status mend_clock_new_virtual(const mend_allocator *allocator, mend_time start, mend_clock **ret_clock) {
  virtual_clock *clock = mend__alloc_zero(allocator, sizeof *clock);
  if (clock == NULL) return MEND_ENOMEM;
  if (pthread_mutex_init(&clock->lock, NULL) != 0) goto no_lock;
  if (pthread_cond_init(&clock->changed, NULL) != 0) goto no_condition;
  clock->base.is_virtual = true;
  clock->allocator = allocator;
  clock->wall_offset_ns = start.wall_ns - start.mono_ns;
  atomic_init(&clock->references, 1);
  atomic_init(&clock->mono_ns, start.mono_ns);
  *ret_clock = &clock->base;
  return MEND_OK;

no_condition:
  pthread_mutex_destroy(&clock->lock);
no_lock:
  mend__free(allocator, clock);
  return MEND_ENOMEM;
}

void mend__virtual_retain(mend_clock *clock) {
  atomic_fetch_add_explicit(&virtual_of(clock)->references, 1, memory_order_relaxed);
}

void mend__virtual_release(mend_clock *base) {
  virtual_clock *clock = virtual_of(base);
  if (atomic_fetch_sub_explicit(&clock->references, 1, memory_order_acq_rel) != 1) return;
  pthread_cond_destroy(&clock->changed);
  pthread_mutex_destroy(&clock->lock);
  mend__free(clock->allocator, clock->drivers);
  mend__free(clock->allocator, clock);
}

static mend_time time_at(const virtual_clock *clock, uint64_t mono_ns) {
  return (mend_time){mono_ns, mono_ns + clock->wall_offset_ns};
}

static uint64_t mono_of(const virtual_clock *clock) {
  return atomic_load_explicit(&clock->mono_ns, memory_order_acquire);
}

mend_time mend__virtual_now(const mend_clock *base) {
  const virtual_clock *clock = (const virtual_clock *)(const void *)base;
  return time_at(clock, mono_of(clock));
}

/* ---- Drivers ---- */

static driver *find_driver(const virtual_clock *clock, const void *ctx) {
  for (size_t i = 0; i < clock->count; i++) {
    if (clock->drivers[i].given.ctx == ctx) return &clock->drivers[i];
  }
  return NULL;
}

static mend_status reserve_driver(virtual_clock *clock) {
  if (clock->count < clock->capacity) return MEND_OK;
  const size_t capacity = clock->capacity != 0 ? clock->capacity * 2 : 4;
  driver *drivers = mend__realloc(clock->allocator, clock->drivers, capacity * sizeof *drivers);
  if (drivers == NULL) return MEND_ENOMEM;
  clock->drivers = drivers;
  clock->capacity = capacity;
  return MEND_OK;
}

static mend_status add_driver(virtual_clock *clock, const mend_clock_driver *given) {
  if (find_driver(clock, given->ctx) != NULL) return MEND_EEXIST;
  const mend_status status = reserve_driver(clock);
  if (status == MEND_OK) clock->drivers[clock->count++] = (driver){.given = *given, .id = ++clock->last_id};
  return status;
}

mend_status mend_clock_add_driver(mend_clock *base, const mend_clock_driver *given) {
  virtual_clock *clock = virtual_of(base);
  mend_clock_driver taken = {.size = sizeof taken};
  if (clock == NULL || given == NULL) return MEND_EINVAL;
  if (mend__options_take(&taken, given, "mend_clock_driver", NULL) != MEND_OK) return MEND_EINVAL;
  if (taken.next == NULL || taken.run == NULL) return MEND_EINVAL;
  pthread_mutex_lock(&clock->lock);
  const mend_status status = add_driver(clock, &taken);
  pthread_mutex_unlock(&clock->lock);
  return status;
}

static bool is_own_advance(const virtual_clock *clock) {
  return clock->advancing && pthread_equal(clock->advancer, pthread_self());
}

static void wait_for_call(virtual_clock *clock, const void *ctx) {
  if (is_own_advance(clock)) return;
  const uint64_t call = clock->calls;
  while (clock->calling && clock->calls == call && clock->called == ctx) {
    pthread_cond_wait(&clock->changed, &clock->lock);
  }
}

mend_status mend_clock_remove_driver(mend_clock *base, const void *ctx) {
  virtual_clock *clock = virtual_of(base);
  if (clock == NULL) return MEND_EINVAL;
  pthread_mutex_lock(&clock->lock);
  driver *found = find_driver(clock, ctx);
  if (found != NULL) {
    driver *end = clock->drivers + clock->count--;
    memmove(found, found + 1, (size_t)(end - (found + 1)) * sizeof *found);
  }
  wait_for_call(clock, ctx);
  pthread_mutex_unlock(&clock->lock);
  return found != NULL ? MEND_OK : MEND_ENOENT;
}

/* ---- Advancing: on the advancing thread, with the lock held, which is let go for a driver's call. ---- */

/* The driver after the one with this id, NULL when there is none. A driver's call may change the table, so an index
 * would not do. */
static driver *driver_after(const virtual_clock *clock, uint64_t id) {
  size_t low = 0, high = clock->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (clock->drivers[middle].id <= id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < clock->count ? &clock->drivers[low] : NULL;
}

static void begin_call(virtual_clock *clock, const void *ctx) {
  clock->calling = true;
  clock->called = ctx;
  clock->calls++;
  pthread_mutex_unlock(&clock->lock);
}

static void end_call(virtual_clock *clock) {
  pthread_mutex_lock(&clock->lock);
  clock->calling = false;
  pthread_cond_broadcast(&clock->changed);
}

static uint64_t ask_next(virtual_clock *clock, mend_clock_driver given) {
  begin_call(clock, given.ctx);
  const uint64_t next_ns = given.next(given.ctx);
  end_call(clock);
  return next_ns;
}

static void run(virtual_clock *clock, mend_clock_driver given) {
  begin_call(clock, given.ctx);
  given.run(given.ctx, mono_of(clock));
  end_call(clock);
}

static uint64_t earliest_deadline(virtual_clock *clock) {
  uint64_t earliest_ns = MEND_NEVER;
  uint64_t id = 0;
  for (driver *each; (each = driver_after(clock, id)) != NULL;) {
    id = each->id;
    const uint64_t next_ns = ask_next(clock, each->given);
    if (next_ns < earliest_ns) earliest_ns = next_ns;
  }
  return earliest_ns;
}

static mend_status count_run(const virtual_clock *clock, driver *each) {
  if (each->instant != clock->instant) {
    each->instant = clock->instant;
    each->runs = 0;
  }
  if (each->runs == MEND_CLOCK_RUNS_MAX) return MEND_ELIMIT;
  each->runs++;
  return MEND_OK;
}

/* Lets every driver run that has a deadline at `due_ns` or before. */
static mend_status run_due(virtual_clock *clock, uint64_t due_ns) {
  uint64_t id = 0;
  for (driver *each; (each = driver_after(clock, id)) != NULL;) {
    id = each->id;
    if (ask_next(clock, each->given) > due_ns) continue;
    each = driver_after(clock, id - 1);
    if (each == NULL || each->id != id) continue; /* it was removed while it was asked */
    const mend_status status = count_run(clock, each);
    if (status != MEND_OK) return status;
    run(clock, each->given);
  }
  return MEND_OK;
}

static void move_to(virtual_clock *clock, uint64_t mono_ns) {
  if (mono_ns <= mono_of(clock)) return;
  atomic_store_explicit(&clock->mono_ns, mono_ns, memory_order_release);
  clock->instant++;
}

/* Drivers are asked once more when the clock stands at the target: a deadline may have appeared on another thread after
 * they were asked, and its driver have looked at the clock before it moved. */
static mend_status step_to(virtual_clock *clock, uint64_t target_ns) {
  bool arrived = false;
  for (;;) {
    const uint64_t due_ns = earliest_deadline(clock);
    if (due_ns <= target_ns && due_ns != MEND_NEVER) {
      move_to(clock, due_ns);
      const mend_status status = run_due(clock, due_ns);
      if (status != MEND_OK) return status;
    } else if (!arrived) {
      move_to(clock, target_ns);
      arrived = true;
    } else {
      return MEND_OK;
    }
  }
}

static mend_status begin_advance(virtual_clock *clock) {
  pthread_mutex_lock(&clock->lock);
  if (is_own_advance(clock)) {
    pthread_mutex_unlock(&clock->lock);
    return MEND_EDEADLK;
  }
  while (clock->advancing)
    pthread_cond_wait(&clock->changed, &clock->lock);
  clock->advancing = true;
  clock->advancer = pthread_self();
  clock->instant++;
  return MEND_OK;
}

static void end_advance(virtual_clock *clock) {
  clock->advancing = false;
  pthread_cond_broadcast(&clock->changed);
  pthread_mutex_unlock(&clock->lock);
}

static mend_status advance_by(virtual_clock *clock, uint64_t ns) {
  const mend_time now = time_at(clock, mono_of(clock));
  const uint64_t latest_ns = now.mono_ns > now.wall_ns ? now.mono_ns : now.wall_ns;
  const uint64_t left_ns = UINT64_MAX - latest_ns;
  return step_to(clock, now.mono_ns + (ns < left_ns ? ns : left_ns));
}

mend_status mend_clock_advance(mend_clock *base, uint64_t ns) {
  virtual_clock *clock = virtual_of(base);
  if (clock == NULL) return MEND_EINVAL;
  mend_status status = begin_advance(clock);
  if (status != MEND_OK) return status;
  status = advance_by(clock, ns);
  end_advance(clock);
  return status;
}

mend_status mend_clock_advance_to_wall(mend_clock *base, uint64_t wall_ns) {
  virtual_clock *clock = virtual_of(base);
  if (clock == NULL) return MEND_EINVAL;
  mend_status status = begin_advance(clock);
  if (status != MEND_OK) return status;
  const mend_time now = time_at(clock, mono_of(clock));
  if (wall_ns >= now.wall_ns) status = advance_by(clock, wall_ns - now.wall_ns);
  end_advance(clock);
  return status;
}

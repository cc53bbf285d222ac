#include "core/memory.h"
#include "core/options_size.h"
#include "loop/loop_internal.h"

/* ---- The table ---- */

static mend__loop_driver *find_driver(const mend_loop *loop, const void *ctx) {
  for (size_t i = 0; i < loop->driver_count; i++) {
    if (loop->drivers[i].given.ctx == ctx) return &loop->drivers[i];
  }
  return NULL;
}

/* The one after the driver with this id, NULL when there is none. A driver's call may change the table, so an index
 * would not do. */
static mend__loop_driver *driver_after(const mend_loop *loop, uint64_t id) {
  for (size_t i = 0; i < loop->driver_count; i++) {
    if (loop->drivers[i].id > id) return &loop->drivers[i];
  }
  return NULL;
}

static mend_status reserve_driver(mend_loop *loop) {
  if (loop->driver_count < loop->driver_capacity) return MEND_OK;
  const size_t capacity = loop->driver_capacity != 0 ? loop->driver_capacity * 2 : 4;
  mend__loop_driver *drivers = mend__realloc(loop->allocator, loop->drivers, capacity * sizeof *drivers);
  if (drivers == NULL) return MEND_ENOMEM;
  loop->drivers = drivers;
  loop->driver_capacity = capacity;
  return MEND_OK;
}

/* A virtual clock asks before it moves. */
static void wake(void *ctx) {
  mend_loop *loop = ctx;
  atomic_store(&loop->stale, true);
  mend__loop_signal(loop);
}

static mend_status add_driver(mend_loop *loop, const mend_clock_driver *given, mend_waker *ret_waker) {
  if (loop->ending) return MEND_ECLOSED;
  if (find_driver(loop, given->ctx) != NULL) return MEND_EEXIST;
  const mend_status status = reserve_driver(loop);
  if (status != MEND_OK) return status;
  const uint64_t id = ++loop->last_driver_id;
  loop->drivers[loop->driver_count++] = (mend__loop_driver){.given = *given, .id = id, .next_ns = MEND_NEVER};
  *ret_waker = (mend_waker){wake, loop};
  wake(loop);
  return MEND_OK;
}

mend_status mend_loop_add_driver(mend_loop *loop, const mend_clock_driver *driver, mend_waker *ret_waker) {
  if (loop == NULL) return MEND_EINVAL;
  mend_clock_driver taken = {.size = sizeof taken};
  if (driver == NULL) return MEND_EINVAL;
  if (mend__options_take(&taken, driver, "mend_clock_driver", NULL) != MEND_OK) return MEND_EINVAL;
  if (taken.next == NULL || taken.run == NULL) return MEND_EINVAL;
  pthread_mutex_lock(&loop->lock);
  const mend_status status = add_driver(loop, &taken, ret_waker);
  pthread_mutex_unlock(&loop->lock);
  return status;
}

mend_status mend_loop_remove_driver(mend_loop *loop, const void *ctx) {
  if (loop == NULL) return MEND_EINVAL;
  pthread_mutex_lock(&loop->lock);
  mend__loop_driver *found = find_driver(loop, ctx);
  if (found != NULL) {
    const mend__loop_driver *end = loop->drivers + loop->driver_count--;
    memmove(found, found + 1, (size_t)(end - (found + 1)) * sizeof *found);
  }
  mend__loop_await_call(loop, ctx);
  pthread_mutex_unlock(&loop->lock);
  return found != NULL ? MEND_OK : MEND_ENOENT;
}

/* ---- Calls, on the loop's thread ---- */

static void ask(mend_loop *loop, uint64_t id, mend_clock_driver given) {
  mend__loop_begin_call(loop, given.ctx);
  const uint64_t next_ns = given.next(given.ctx);
  mend__loop_end_call(loop);
  mend__loop_driver *driver = driver_after(loop, id - 1);
  if (driver != NULL && driver->id == id) driver->next_ns = next_ns; /* else it was removed meanwhile */
}

void mend__loop_ask_drivers(mend_loop *loop) {
  if (!atomic_exchange(&loop->stale, false)) return;
  uint64_t id = 0;
  for (const mend__loop_driver *driver; (driver = driver_after(loop, id)) != NULL;) {
    id = driver->id;
    ask(loop, id, driver->given);
  }
}

static void run(mend_loop *loop, mend_clock_driver given, uint64_t now_ns) {
  mend__loop_begin_call(loop, given.ctx);
  given.run(given.ctx, now_ns);
  mend__loop_end_call(loop);
}

void mend__loop_run_drivers(mend_loop *loop, uint64_t now_ns) {
  uint64_t id = 0;
  for (const mend__loop_driver *driver; !loop->ending && (driver = driver_after(loop, id)) != NULL;) {
    id = driver->id;
    if (driver->next_ns > now_ns || driver->next_ns == MEND_NEVER) continue;
    run(loop, driver->given, now_ns);
    driver = driver_after(loop, id - 1);
    if (driver != NULL && driver->id == id) ask(loop, id, driver->given);
  }
}

uint64_t mend__loop_next_driver(const mend_loop *loop) {
  uint64_t next_ns = MEND_NEVER;
  for (size_t i = 0; i < loop->driver_count; i++) {
    if (loop->drivers[i].next_ns < next_ns) next_ns = loop->drivers[i].next_ns;
  }
  return next_ns;
}

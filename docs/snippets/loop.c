/* What docs/api/loop.md quotes. */
#include <mend/loop.h>
#include <mend/watchdogs.h>

#include <stdio.h>

static void greet(void *ctx) { printf("hello, %s\n", (const char *)ctx); }

static void remind(void *ctx) { printf("a second has passed, %s\n", (const char *)ctx); }

int main(void) {
  mend_error error = MEND_ERROR_INIT;
  mend_clock *clock = NULL;
  mend_loop *loop = NULL;
  mend_timer *timer = NULL;
  char name[] = "loop";
  mend_loop_options options = MEND_LOOP_OPTIONS_INIT;
  mend_status status = mend_clock_new_virtual(NULL, (mend_time){0, 0}, &clock);
  options.clock = clock; /* so that this program need not wait for a second */
  if (status == MEND_OK) status = mend_loop_new(&options, &loop, &error);
  if (status == MEND_OK) status = mend_loop_post(loop, greet, name);
  if (status == MEND_OK) status = mend_loop_after(loop, MEND_SECOND_NS, remind, name, &timer);
  if (status == MEND_OK) status = mend_clock_advance(clock, 2 * MEND_SECOND_NS);
  if (status != MEND_OK) fprintf(stderr, "%s\n", mend_error_sentence(&error, status));
  mend_timer_cancel(&timer);
  mend_loop_release(loop); /* ends its thread */
  mend_clock_release(clock);
  return status == MEND_OK ? 0 : 1;
}

/* ---- A bus's deadlines, noticed in time -------------------------------------------------------------------- */

static uint64_t next_deadline(void *bus) { return mend_bus_next_deadline(bus); }

/* now_ns is behind the clock when the loop was busy: what has come meanwhile is read before it is late. */
static void expire(void *bus, uint64_t now_ns) {
  mend_bus_expire_until(bus, now_ns); /* a watchdog that fails is reported on its run */
}

mend_status wait_for(mend_loop *loop, mend_bus *bus);

mend_status wait_for(mend_loop *loop, mend_bus *bus) {
  const mend_clock_driver driver = {sizeof driver, next_deadline, expire, bus};
  mend_waker waker;
  mend_status status = mend_loop_add_driver(loop, &driver, &waker);
  if (status != MEND_OK) return status;
  status = mend_bus_set_waker(bus, waker);
  if (status != MEND_OK) {
    mend_loop_remove_driver(loop, bus);
    return status;
  }
  waker.wake(waker.ctx); /* calls may be open already */
  return MEND_OK;
}

void stop_waiting_for(mend_loop *loop, mend_bus *bus);

void stop_waiting_for(mend_loop *loop, mend_bus *bus) {
  mend_bus_set_waker(bus, (mend_waker){NULL, NULL});
  mend_loop_remove_driver(loop, bus);
}

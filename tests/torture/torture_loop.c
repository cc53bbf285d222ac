/* Loops, in a base that this thread dispatches: what fails, and when, is the same each time. libevent's memory
 * runs out with mend's. */
#include "mend/loop.h"
#include "torture/torture.h"

#include <event2/event.h>

static void count(void *ctx) { ((torture *)ctx)->events++; }

static mend_status open_clock(torture *t) {
  return mend_clock_new_virtual(t->allocator, (mend_time){MEND_SECOND_NS, MEND_SECOND_NS}, &t->clock);
}

static mend_status open_loop(torture *t, struct event_base *base, mend_loop **ret_loop) {
  mend_loop_options options = MEND_LOOP_OPTIONS_INIT;
  options.allocator = t->allocator;
  options.clock = t->clock;
  options.base = base;
  return mend_loop_new(&options, ret_loop, NULL);
}

static void close_clock(torture *t) {
  mend_clock_release(t->clock);
  t->clock = NULL;
}

static mend_status use_loop(torture *t) {
  mend_loop *loop = NULL;
  mend_timer *timer = NULL;
  struct event_base *base = event_base_new();
  mend_status status = base == NULL ? MEND_ENOMEM : open_clock(t);
  if (status == MEND_OK) status = open_loop(t, base, &loop);
  if (status != MEND_OK) goto end;
  TRY(mend_loop_after(loop, MEND_SECOND_NS, count, t, &timer));
  TRY(mend_loop_post(loop, count, t));
  TRY(mend_clock_advance(t->clock, 2 * MEND_SECOND_NS));
  torture_claim(t, t->events == 2, "the timer and the posted function have run");
end:
  mend_timer_cancel(&timer);
  mend_loop_release(loop);
  if (base != NULL) event_base_free(base);
  close_clock(t);
  return status;
}

typedef struct driver_state {
  torture *t;
  uint64_t due_ns;
} driver_state;

static uint64_t next_due(void *ctx) { return ((driver_state *)ctx)->due_ns; }

static void run_due(void *ctx, uint64_t now_ns) {
  driver_state *state = ctx;
  if (now_ns < state->due_ns) return;
  state->due_ns = MEND_NEVER;
  state->t->events++;
}

static mend_status drive(torture *t) {
  driver_state state = {t, 2 * MEND_SECOND_NS};
  const mend_clock_driver driver = {sizeof driver, next_due, run_due, &state};
  mend_waker waker;
  mend_loop *loop = NULL;
  struct event_base *base = event_base_new();
  mend_status status = base == NULL ? MEND_ENOMEM : open_clock(t);
  if (status == MEND_OK) status = open_loop(t, base, &loop);
  if (status != MEND_OK) goto end;
  TRY(mend_loop_add_driver(loop, &driver, &waker));
  TRY(mend_clock_advance(t->clock, 2 * MEND_SECOND_NS));
  torture_claim(t, t->events == 1, "the driver has run");
  TRY(mend_loop_remove_driver(loop, &state));
end:
  mend_loop_release(loop);
  if (base != NULL) event_base_free(base);
  close_clock(t);
  return status;
}

static mend_status start_thread(torture *t) {
  mend_loop *loop = NULL;
  const mend_status status = open_loop(t, NULL, &loop);
  mend_loop_release(loop);
  return status;
}

static const torture_scenario scenarios[] = {
    {"a timer and a posted function", use_loop, NULL, NULL},
    {"a driver", drive, NULL, NULL},
    {"a thread of its own", start_thread, NULL, NULL},
};
const torture_room torture_loop = TORTURE_ROOM("loop", scenarios);

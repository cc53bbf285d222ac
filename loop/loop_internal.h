/* Private to loop/. How the parts work together is in docs/internals/loop.md. */
#ifndef MEND_LOOP_LOOP_INTERNAL_H
#define MEND_LOOP_LOOP_INTERNAL_H

#include "loop/room.h"

#include <pthread.h>
#include <stdatomic.h>

struct event;

typedef struct mend__loop_driver {
  mend_clock_driver given;
  uint64_t id;      /* grows with each driver added */
  uint64_t next_ns; /* what it answered last */
} mend__loop_driver;

/* What a virtual clock wants of the loop's thread. */
typedef enum mend__loop_request {
  MEND__REQUEST_NONE,
  MEND__REQUEST_CATCH_UP, /* run what was posted, ask the drivers that have something new */
  MEND__REQUEST_RUN       /* run what is due too */
} mend__loop_request;

struct mend_timer {
  mend_deadline deadline; /* first: an expired one is its timer */
  mend_loop *loop;        /* its memory */
  void (*function)(void *ctx);
  void *ctx;
};

struct mend__descriptor {
  mend_loop *loop;
  struct event *event;
  int fd;
  const char *use;
  uint64_t since_ns; /* by the loop's clock */
  mend__ready ready;
  void *ctx;
  /* Under the lock, for who looks from another thread. */
  short wanted; /* EV_READ, EV_WRITE */
  mend__descriptor *next, **link;
};

struct mend_loop {
  const mend_allocator *allocator;
  mend_clock *clock;
  bool is_virtual;
  bool owns_thread;
  atomic_size_t references; /* the last one ends the loop */
  atomic_size_t holders;    /* of its memory: the loop until it has ended, timers' handles, turns */

  /* Only for the loop's thread, but for writing to the descriptor. */
  struct event_base *base;
  struct event *wake_event;
  struct event *timer_event; /* NULL under a virtual clock */
  int wake_fd;               /* an eventfd */
  uint64_t armed_ns;         /* what timer_event is set to */
  uint64_t judged_ns;        /* descriptors that were ready then have been called: what was due then is late */

  atomic_bool signalled; /* wake_fd was written and not yet read */
  atomic_bool stale;     /* some driver may have an earlier deadline than it answered */
  atomic_size_t turns;

  pthread_mutex_t lock; /* covers all below; not held while anything of the caller's is called but its allocator */
  pthread_cond_t changed;

  bool thread_known; /* in a caller's base: since it was dispatched */
  pthread_t thread;
  bool running; /* a turn is under way, on this thread: */
  pthread_t runner;
  bool ending;    /* the last reference is gone */
  bool ended;     /* nothing runs any more */
  bool ends_here; /* the last reference went on the loop's own thread: nobody joins it */

  mend__posted *first_posted, *last_posted;
  uint64_t last_posted_number;

  mend__loop_driver *drivers; /* by id */
  size_t driver_count, driver_capacity;
  uint64_t last_driver_id;
  mend_deadlines *deadlines; /* of timers; NULL when the loop has ended */
  mend__descriptor *first_descriptor;
  uint64_t wake_at_ns; /* real clock: when the loop's thread will look next, if nobody wakes it before */

  bool calling;       /* a driver's or timer's call is under way, of */
  const void *called; /* the driver with this ctx, or this timer */
  uint64_t calls;     /* so that one waits for a call and not for the one after it */

  mend__loop_request request;
  uint64_t request_ns; /* the time at which to run */
};

/* ---- loop.c ---- */

/* The loop's memory, not its life. */
void mend__loop_hold(mend_loop *loop);
void mend__loop_unhold(mend_loop *loop);
/* Takes down what a loop whose `ending` is set still has. On the loop's thread, once, without the lock. */
void mend__loop_end(mend_loop *loop);
/* After that, when nobody will wake the loop any more. */
void mend__loop_let_go(mend_loop *loop);

/* ---- turn.c; all but the two turns and mend__loop_signal want the lock held ---- */

/* Everything there is to do: `first`, unless it is NULL, what was posted, what is due, what a virtual clock wants. May
 * end the loop. */
void mend__loop_turn(mend_loop *loop, void (*first)(void *ctx), void *ctx);
/* The same from a callback of libevent, on the thread that dispatches the base. */
void mend__loop_turn_here(mend_loop *loop, void (*first)(void *ctx), void *ctx);
/* Makes the loop's thread take a turn. */
void mend__loop_signal(mend_loop *loop);
bool mend__loop_is_in_turn(const mend_loop *loop);
bool mend__loop_is_here(const mend_loop *loop);
typedef enum mend__loop_place { MEND__PLACE_ELSEWHERE, MEND__PLACE_ON_LOOP, MEND__PLACE_IN_TURN } mend__loop_place;
mend__loop_place mend__loop_place_of_caller(const mend_loop *loop);
/* Around a call of something that may be removed, which is made without the lock. Calls do not nest: posted functions,
 * which are not counted here, may advance a virtual clock, but what the clock runs may not. */
void mend__loop_begin_call(mend_loop *loop, const void *called);
void mend__loop_end_call(mend_loop *loop);
/* Waits until a call of it that is under way is over, unless this is the thread it is on. */
void mend__loop_await_call(mend_loop *loop, const void *called);

/* The drivers and timers that are due. */
void mend__loop_run_due(mend_loop *loop, uint64_t now_ns);
uint64_t mend__loop_next_deadline(const mend_loop *loop);

/* ---- virtual.c ---- */

/* In a turn, with the lock held: what the clock wants, or what is due when it wants nothing. */
void mend__loop_serve_clock(mend_loop *loop);
/* The loop as a driver. */
uint64_t mend__loop_clock_next(void *ctx);
void mend__loop_clock_run(void *ctx, uint64_t now_ns);

/* ---- posted.c, drivers.c and timers.c; with the lock held ---- */

/* What was posted before this call; at the loop's end everything. */
void mend__loop_run_posted(mend_loop *loop);
/* Asks every driver if one of them may have something new. */
void mend__loop_ask_drivers(mend_loop *loop);
void mend__loop_run_drivers(mend_loop *loop, uint64_t now_ns);
uint64_t mend__loop_next_driver(const mend_loop *loop);
void mend__loop_run_timers(mend_loop *loop, uint64_t now_ns);

#endif

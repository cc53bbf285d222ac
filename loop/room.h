/* House header: what the rooms above the loop may use beside mend/loop.h. Whoever has one of these holds a reference to
 * its loop meanwhile. What descriptors and timers call must not advance a virtual clock. */
#ifndef MEND_LOOP_ROOM_H
#define MEND_LOOP_ROOM_H

#include "mend/loop.h"

/* ---- Descriptors: only on the loop's thread ---- */

/* A descriptor that the loop watches: `ready` is called, on the loop's thread, whenever it can be read or written and
 * that was asked for, until it is unwatched (in `ready` too). An error or a hang-up counts as what was asked for. Real
 * descriptors are watched under a virtual clock as well; a clock that advances waits for a call that is under way. */
typedef struct mend__descriptor mend__descriptor;
typedef void (*mend__ready)(void *ctx, int fd, bool can_read, bool can_write);
/* use: what it is for, a word for mend_loop_dump, borrowed. Errors: MEND_ENOMEM, MEND_EIO (it cannot be waited for, as
 * a regular file). */
mend_status mend__loop_watch(mend_loop *loop, int fd, const char *use, bool reads, bool writes, mend__ready ready,
                             void *ctx, mend__descriptor **ret_descriptor);
/* Neither is allowed. Errors: MEND_EIO; nothing is waited for then. */
mend_status mend__descriptor_want(mend__descriptor *descriptor, bool reads, bool writes);
/* Sets the pointer to NULL; NULL is allowed. The descriptor stays open. */
void mend__descriptor_unwatch(mend__descriptor **given);

/* ---- Posting without allocating: any thread ---- */

/* Set function and ctx; the rest is the loop's. It belongs to whoever posts it and stays in place until it has begun to
 * run. */
typedef struct mend__posted {
  void (*function)(void *ctx);
  void *ctx;
  uint64_t number; /* grows with each function posted */
  struct mend__posted *next;
  bool is_loops; /* it is freed when it begins to run */
} mend__posted;

/* As mend_loop_post. Not again before it has begun to run. */
void mend__loop_post_own(mend_loop *loop, mend__posted *posted);
/* Calls it on the loop's thread and waits until it has returned; at once where the caller is on that thread, or nobody
 * has dispatched the base. */
void mend__loop_call(mend_loop *loop, void (*function)(void *ctx), void *ctx);

/* ---- Timers that are set again and again, without allocating ---- */

/* Not set yet. To be freed with mend_timer_cancel. */
mend_status mend__timer_new(mend_loop *loop, void (*function)(void *ctx), void *ctx, mend_timer **ret_timer);
/* As mend_loop_after; what it was set to before does not count any more. */
void mend__timer_set(mend_timer *timer, uint64_t delay_ns);
void mend__timer_clear(mend_timer *timer);
/* For a timer's function that has more than one deadline: those that are due at this time have passed. It is earlier
 * than the clock's when the loop is behind, for bytes that wait to be read may have come in time. */
uint64_t mend__loop_judged_ns(const mend_loop *loop);

#endif

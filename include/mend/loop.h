/**
 * mend/loop.h: an event loop on libevent, on a thread of its own or in the caller's event_base.
 *
 *   mend_loop *loop;
 *   mend_loop_new(NULL, &loop, &error);          // a thread that sleeps until there is something to do
 *   mend_loop_post(loop, say_hello, my_context);
 *   mend_loop_release(loop);                     // ends the thread
 *
 * The loop waits for whoever has deadlines (drivers: a bus whose watchdogs wait for a call to take too long, say), runs
 * timers and posted functions. A thread of its own is called "mend-loop" and takes no signals.
 *
 * Under a virtual clock the loop arms no real timer. mend_clock_advance hands each deadline over to the loop's thread
 * and waits until it is done, so a test sees an hour pass in a moment, on the right thread. Before the clock moves,
 * what was posted until then has run too, and what that has posted, up to MEND_CLOCK_RUNS_MAX turns of the loop. Three
 * things to know about it:
 * - Where the loop's thread is the one that advances, all of that happens inside mend_clock_advance (but when a posted
 *   function does so, what was posted behind it waits for its end).
 * - So it does in a caller's base that nobody has dispatched yet, on the thread that advances. Once a thread has
 *   dispatched it, advancing from another thread waits for that one, and for as long as it does not dispatch: libevent
 *   tells nobody whether it does. A test that dispatches on a second thread posts a function first and waits for it.
 * - A posted function may advance the clock, but only while no other thread does: the two would wait for each other.
 *   Drivers and timers may not: it is the clock that runs them.
 *
 * libevent ends the process on some internal failures (out of memory in its own structures) and writes warnings to
 * standard error; event_set_fatal_callback and event_set_log_callback change that, which is the program's business and
 * not this library's. A loop does not survive fork: the child must not use it.
 *
 * Threads: every function may be called from any thread. Drivers, timers and posted functions run on the loop's thread,
 * one at a time, and must not block.
 */
#ifndef MEND_LOOP_H
#define MEND_LOOP_H

#include "mend/clock.h"
#include "mend/core.h"

#ifdef __cplusplus
extern "C" {
#endif

struct event_base;
typedef struct mend_loop mend_loop;
typedef struct mend_timer mend_timer;

typedef struct mend_loop_options {
  size_t size;
  const mend_allocator *allocator; /**< NULL: malloc */
  mend_clock *clock;               /**< NULL: the real one; the loop keeps a reference */
  struct event_base *base; /**< NULL: a thread of its own. Else the caller's, borrowed, which the caller dispatches on
                                one thread; it should have EVENT_BASE_FLAG_PRECISE_TIMER. The loop is made on that
                                thread, or while nobody dispatches, and keeps event_base_dispatch from returning for
                                want of events */
} mend_loop_options;
#define MEND_LOOP_OPTIONS_INIT                                                                                         \
  { sizeof(mend_loop_options), NULL, NULL, NULL }

/** \param options  NULL for the defaults. Errors: MEND_EINVAL, MEND_ENOMEM, MEND_EIO (no descriptor or thread). */
MEND_API mend_status mend_loop_new(const mend_loop_options *options, mend_loop **ret_loop, mend_error *error);
MEND_API mend_loop *mend_loop_retain(mend_loop *loop);
/** Drops a reference; NULL is allowed. With the last one posted functions still run, timers and drivers are dropped,
 * and a thread of its own ends and is joined (on that thread itself: it ends by itself afterwards). A loop in the
 * caller's base is to be let go on the thread that dispatches it, or while nobody does; what was posted then runs
 * before this returns, or, from a function the loop runs, right after that. */
MEND_API void mend_loop_release(mend_loop *loop);
MEND_API mend_clock *mend_loop_clock(const mend_loop *loop); /**< borrowed */
/** Whether the caller is on the loop's thread: in a caller's base, the one that dispatched it last; also inside
 * anything the loop runs. */
MEND_API bool mend_loop_is_here(const mend_loop *loop);

/** Runs `function(ctx)` on the loop's thread, soon, in the order of posting; never inside this call. What is posted by
 * a posted function waits for the loop's next turn. Errors: MEND_ENOMEM, MEND_ECLOSED (the last reference is gone). */
MEND_API mend_status mend_loop_post(mend_loop *loop, void (*function)(void *ctx), void *ctx);

/**
 * Waits for somebody's deadlines: `next` is asked on the loop's thread after each run and whenever the waker was used;
 * `run` is called there when it is due. Drivers that are due together run in the order they were added, before timers.
 * In real time both come after what has come over connections meanwhile, so now_ns may be earlier than the clock's.
 * *ret_waker is for the driver's owner to use when an earlier deadline appears; it may be used from any thread, under
 * any lock. Errors: MEND_EINVAL, MEND_EEXIST (the same ctx), MEND_ENOMEM, MEND_ECLOSED.
 */
MEND_API mend_status mend_loop_add_driver(mend_loop *loop, const mend_clock_driver *driver, mend_waker *ret_waker);
/** The driver is not called after this returns; waits for a call under way on the loop's thread (not on that thread
 * itself). Its waker has no effect from then on; do not use it when the loop has ended. MEND_ENOENT. */
MEND_API mend_status mend_loop_remove_driver(mend_loop *loop, const void *ctx);

/** Calls `function(ctx)` once, on the loop's thread, when more than `delay_ns` have passed on the loop's clock (see
 * mend_deadlines_arm). The handle is the caller's to cancel, before or after the call, and may outlive the loop; it is
 * there before the function is called. Errors: MEND_ENOMEM, MEND_ECLOSED. */
MEND_API mend_status mend_loop_after(mend_loop *loop, uint64_t delay_ns, void (*function)(void *ctx), void *ctx,
                                     mend_timer **ret_timer);
/** Frees the timer, whose function is not called after this returns; waits for it when it runs on the loop's thread
 * (not on that thread itself). Sets the pointer to NULL; NULL is allowed. */
MEND_API void mend_timer_cancel(mend_timer **timer);

/** The loop as text, for people who debug: its thread and clock, posted functions that wait, drivers with their
 * deadlines, timers, the descriptors that are watched for HTTP and the like. Addresses are those of functions and
 * contexts. The caller's; free it with mend_free(allocator, ...). Errors: MEND_ENOMEM. */
MEND_API mend_status mend_loop_dump(mend_loop *loop, const mend_allocator *allocator, char **ret_text);

#ifdef __cplusplus
}
#endif
#endif

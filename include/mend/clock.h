/**
 * mend/clock.h: time, real and virtual, and deadlines.
 *
 * Everything in mend that waits or measures asks a mend_clock. Tests and `mend replay` use a virtual one, which stands
 * still until it is advanced, so an hour passes in microseconds and no test sleeps.
 *
 * Threads: a clock may be read from any thread. Advancing a virtual clock is serialised. A mend_deadlines has no lock of
 * its own: its owner's lock covers it.
 */
#ifndef MEND_CLOCK_H
#define MEND_CLOCK_H

#include "mend/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/** "No deadline": later than every time. */
#define MEND_NEVER UINT64_MAX
/** Nanoseconds in a second. */
#define MEND_SECOND_NS UINT64_C(1000000000)

typedef struct mend_clock mend_clock;

/** One reading: both are nanoseconds; wall counts from 1970-01-01T00:00:00Z. */
typedef struct mend_time {
  uint64_t mono_ns;
  uint64_t wall_ns;
} mend_time;

/** The real clock (CLOCK_MONOTONIC). One for the process, static; retaining and releasing it does nothing. */
MEND_API mend_clock *mend_clock_real(void);

/**
 * Makes a virtual clock that stands at `start` until it is advanced. Reference-counted, one reference is the caller's.
 * \param allocator  NULL for malloc
 * Errors: MEND_ENOMEM.
 */
MEND_API mend_status mend_clock_new_virtual(const mend_allocator *allocator, mend_time start, mend_clock **ret_clock);
MEND_API mend_clock *mend_clock_retain(mend_clock *clock);
/** NULL is allowed. */
MEND_API void mend_clock_release(mend_clock *clock);

/**
 * Reads the clock once. Of the real clock only the monotonic half is read each time; the distance from monotonic to
 * wall time is measured again once a second, so a step of the system's wall clock shows within a second.
 */
MEND_API mend_time mend_clock_now(mend_clock *clock);
MEND_API bool mend_clock_is_virtual(const mend_clock *clock);

/**
 * Somebody who has deadlines on a virtual clock. `next` returns the earliest one (monotonic ns, MEND_NEVER for none);
 * `run` does everything due at `now`. Both are called without any lock of the clock's held, from the thread that
 * advances, and may add and remove drivers (never wait for the advancing thread).
 */
typedef struct mend_clock_driver {
  size_t size; /**< sizeof(mend_clock_driver) */
  uint64_t (*next)(void *ctx);
  void (*run)(void *ctx, uint64_t now_ns);
  void *ctx;
} mend_clock_driver;

/**
 * Registers a driver (copied). Errors: MEND_EINVAL for the real clock or size 0, MEND_ENOMEM, MEND_EEXIST when the same
 * ctx is registered already.
 */
MEND_API mend_status mend_clock_add_driver(mend_clock *clock, const mend_clock_driver *driver);
/** Removes the driver with this ctx; after it returns on the advancing thread the driver is not called again. On another
 * thread it waits for a call of that driver that is under way. MEND_ENOENT if there is none. */
MEND_API mend_status mend_clock_remove_driver(mend_clock *clock, const void *ctx);

/**
 * Moves a virtual clock forward by `ns`: steps to each deadline of each driver in order of time, sets both clocks to it,
 * lets the driver run, and at last stands at the target. Errors: MEND_EINVAL for the real clock, MEND_EDEADLK when called
 * from a driver's run.
 */
MEND_API mend_status mend_clock_advance(mend_clock *clock, uint64_t ns);
/** The same to an absolute wall time; one in the past changes nothing and gives MEND_OK. */
MEND_API mend_status mend_clock_advance_to_wall(mend_clock *clock, uint64_t wall_ns);

/* ---- Deadlines --------------------------------------------------------------------------------------------- */

/**
 * A set of deadlines: arming and disarming are O(1) and never allocate, expiry costs what expired, not what is armed.
 * Equal timeouts share a FIFO (which stays sorted because time does not run backwards); the few odd ones go to a heap.
 */
typedef struct mend_deadlines mend_deadlines;

/** Embed it in what has the deadline; zero it before first use; it must stay in place while armed. Fields are private. */
typedef struct mend_deadline {
  uint64_t due_ns;
  struct mend_deadline *next, *previous, *child;
  void *queue;
} mend_deadline;

/** \param waker  woken when a deadline is armed that is earlier than the one its waiter was told of last */
MEND_API mend_status mend_deadlines_new(const mend_allocator *allocator, mend_waker waker, mend_deadlines **ret_deadlines);
/** Forgets every armed deadline. NULL is allowed. */
MEND_API void mend_deadlines_free(mend_deadlines *deadlines);
/**
 * A deadline means strictly later: it is due at start + timeout + 1 ns (saturating: MEND_NEVER is never due). Arming an
 * armed one moves it.
 */
MEND_API void mend_deadlines_arm(mend_deadlines *deadlines, mend_deadline *deadline, uint64_t start_ns, uint64_t timeout_ns);
/** Not armed: nothing happens. */
MEND_API void mend_deadlines_disarm(mend_deadlines *deadlines, mend_deadline *deadline);
MEND_API bool mend_deadline_is_armed(const mend_deadline *deadline);
/** The earliest due time, MEND_NEVER if none. */
MEND_API uint64_t mend_deadlines_next(mend_deadlines *deadlines);
/**
 * The same, and tells the set that its waiter will wait until then: only an earlier deadline wakes it again. Disarming
 * never wakes; the waiter then finds nothing due and asks again.
 */
MEND_API uint64_t mend_deadlines_wait(mend_deadlines *deadlines);
/** Takes out and returns one deadline that is due (due_ns <= now_ns), the earliest first, those of one time in the order
 * they were armed; NULL when none is. */
MEND_API mend_deadline *mend_deadlines_expire(mend_deadlines *deadlines, uint64_t now_ns);
/** How many are armed. */
MEND_API size_t mend_deadlines_count(const mend_deadlines *deadlines);

#ifdef __cplusplus
}
#endif
#endif

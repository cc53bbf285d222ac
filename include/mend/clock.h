/**
 * mend/clock.h: time, real and virtual, and deadlines.
 *
 * Everything in mend that waits or measures asks a mend_clock. Tests and `mend replay` use a virtual one, which stands
 * still until it is advanced, so an hour passes in microseconds and no test sleeps.
 *
 * Threads: a clock may be read from any thread. Advancing a virtual clock is serialised. A mend_deadlines has no lock
 * of its own: its owner's lock covers it.
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
 * `run` does everything due at `now_ns`, after which `next` is later. Both are called without any lock of the clock's
 * held, from the thread that advances. They may add and remove drivers, themselves too, and arm new deadlines, but must
 * not wait for the thread they are on.
 */
typedef struct mend_clock_driver {
  size_t size; /**< sizeof(mend_clock_driver) */
  uint64_t (*next)(void *ctx);
  void (*run)(void *ctx, uint64_t now_ns);
  void *ctx;
} mend_clock_driver;

/** How often one driver may be run at one instant. */
#define MEND_CLOCK_RUNS_MAX 1000

/**
 * Registers a driver (copied). Errors: MEND_EINVAL for the real clock, size 0, no `next` or no `run`; MEND_ENOMEM;
 * MEND_EEXIST when the same ctx is registered already.
 */
MEND_API mend_status mend_clock_add_driver(mend_clock *clock, const mend_clock_driver *driver);
/**
 * Removes the driver with this ctx. Afterwards it is not called again; a call of it that is under way on another thread
 * is waited for, one on this thread (removed from its own call) is not. MEND_ENOENT if there is none, MEND_EINVAL for
 * the real clock.
 */
MEND_API mend_status mend_clock_remove_driver(mend_clock *clock, const void *ctx);

/**
 * Moves a virtual clock forward by `ns`: steps to each deadline of each driver in order of time, sets both clocks to
 * it, lets the driver run (those of one time in the order they were added), and at last stands at the target. A
 * deadline that is past already is run at the present time, and so is one that is armed meanwhile and due before the
 * target. Neither half goes beyond UINT64_MAX. Errors: MEND_EINVAL for the real clock; MEND_EDEADLK when called from a
 * driver's next or run; MEND_ELIMIT when a driver that was run MEND_CLOCK_RUNS_MAX times at one instant is still due,
 * where the clock then stays.
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

/** Embed it in what has the deadline; zero it before first use; it must stay in place while armed. Fields are private,
 * but due_ns may be read: when it is due, kept after it expired or was disarmed. */
typedef struct mend_deadline {
  uint64_t due_ns;
  uint64_t order;
  struct mend_deadline *next, *previous, *child;
  void *queue;
} mend_deadline;

/**
 * \param waker  woken when a deadline is armed that is earlier than the one its waiter knows of: what
 * mend_deadlines_wait told it last (nothing at first) or what it was woken for since. Called with the owner's lock
 * held. Errors: MEND_ENOMEM.
 */
MEND_API mend_status mend_deadlines_new(const mend_allocator *allocator, mend_waker waker,
                                        mend_deadlines **ret_deadlines);
/** Disarms every armed deadline (each must still be in place) and frees the set. NULL is allowed. */
MEND_API void mend_deadlines_free(mend_deadlines *deadlines);
/**
 * A deadline means strictly later: it is due at start + timeout + 1 ns (saturating: MEND_NEVER is never due). Arming an
 * armed one moves it.
 */
MEND_API void mend_deadlines_arm(mend_deadlines *deadlines, mend_deadline *deadline, uint64_t start_ns,
                                 uint64_t timeout_ns);
/** Not armed: nothing happens. */
MEND_API void mend_deadlines_disarm(mend_deadlines *deadlines, mend_deadline *deadline);
MEND_API bool mend_deadline_is_armed(const mend_deadline *deadline);
/** The earliest due time, MEND_NEVER if none. */
MEND_API uint64_t mend_deadlines_next(mend_deadlines *deadlines);
/**
 * When the waiter is to come and call mend_deadlines_expire; only an earlier deadline wakes it before. That is the
 * earliest due time, or an earlier one of a deadline that has been disarmed since: nothing is due then, and the waiter
 * asks again. So a million calls that end in time cost one wake-up a timeout, not one a call.
 */
MEND_API uint64_t mend_deadlines_wait(mend_deadlines *deadlines);
/** Takes out and returns one deadline that is due (due_ns <= now_ns), the earliest first, those of one time in the
 * order they were armed; NULL when none is. */
MEND_API mend_deadline *mend_deadlines_expire(mend_deadlines *deadlines, uint64_t now_ns);
/** How many are armed. */
MEND_API size_t mend_deadlines_count(const mend_deadlines *deadlines);
/** Checks that everything in it is as it should be: the order of FIFOs and heap, links both ways, the count. For tests
 * and debuggers; costs what is armed. MEND_EINVAL with a sentence that says what is wrong where. */
MEND_API mend_status mend_deadlines_validate(const mend_deadlines *deadlines, mend_error *error);
/** What is armed where, a line each, for people who debug; of a broken set what is wrong. The caller's; free it with
 * mend_free(allocator, ...). Errors: MEND_ENOMEM. */
MEND_API mend_status mend_deadlines_dump(const mend_deadlines *deadlines, const mend_allocator *allocator,
                                         char **ret_text);

#ifdef __cplusplus
}
#endif
#endif

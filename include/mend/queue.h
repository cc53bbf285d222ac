/**
 * mend/queue.h: asynchronous subscribers. A queue takes copies of events, and whoever likes takes them out, in their
 * own time and on their own thread.
 *
 *   mend_queue *queue;
 *   mend_bus_queue(bus, "tool.*", NULL, &queue, &error);
 *   mend_event *event;
 *   while (mend_queue_wait(queue, MEND_NEVER, &event) == MEND_OK) {   // until somebody calls mend_queue_stop
 *     puts(mend_event_kind_topic(event->kind).ptr);
 *     mend_event_free(event);
 *   }
 *   mend_queue_close(&queue);
 *
 * Publishing never waits for whoever takes events out. When a queue is full, events are dropped and counted: the new
 * ones or, with drop_oldest, the oldest. A queue that nobody drains costs what it holds and no more.
 *
 * A queue keeps its bus (and its run, if it is one run's) until it is closed, and an event's copy keeps its run and
 * with it the bus: a bus that everybody else has dropped ends when its last queue is closed and the last copy is freed,
 * in any order.
 *
 * Threads: every function may be called from any thread and from any handler; closing while another thread is in a
 * function of the same queue is the caller's to prevent: stop it first.
 */
#ifndef MEND_QUEUE_H
#define MEND_QUEUE_H

#include "mend/bus.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mend_queue mend_queue;

typedef struct mend_queue_options {
  size_t size;
  uint32_t capacity;   /**< events it holds, 1..2^20; default 1024 */
  uint64_t byte_limit; /**< of memory the copies take, >= 4096; default 64 MiB. A larger event is always dropped */
  bool drop_oldest;    /**< when it is full the oldest make room; default false: the new one is dropped */
  mend_waker waker; /**< called when an event comes into the empty queue, on the publishing thread, and when the queue
                            is stopped; default none */
} mend_queue_options;
#define MEND_QUEUE_OPTIONS_INIT                                                                                        \
  {                                                                                                                    \
    sizeof(mend_queue_options), 1024, UINT64_C(67108864), false, { NULL, NULL }                                        \
  }

/**
 * Subscribes a queue to a topic, a prefix or all (as mend_bus_subscribe) of the bus. The handle is the caller's to
 * close.
 * \param options  NULL for the defaults. Errors: MEND_EINVAL (the sentence names what is wrong), MEND_ELIMIT,
 * MEND_ENOMEM, MEND_ECLOSED at the end of the bus.
 */
MEND_API mend_status mend_bus_queue(mend_bus *bus, const char *pattern, const mend_queue_options *options,
                                    mend_queue **ret_queue, mend_error *error);
/** The same of one run. */
MEND_API mend_status mend_run_queue(mend_run *run, const char *pattern, const mend_queue_options *options,
                                    mend_queue **ret_queue, mend_error *error);

/** Takes out the oldest event: the caller's, to be freed with mend_event_free. MEND_ENOENT when the queue is empty,
 * MEND_ECLOSED when it is empty and stopped. */
MEND_API mend_status mend_queue_next(mend_queue *queue, mend_event **ret_event);
/** The same, waiting up to `ns` of real time (MEND_NEVER: for ever) for an event to come or the queue to be stopped. */
MEND_API mend_status mend_queue_wait(mend_queue *queue, uint64_t ns, mend_event **ret_event);

/** Set size before the call: with size 0 nothing is filled in. */
typedef struct mend_queue_stats {
  size_t size;
  uint64_t taken;   /**< events that came in, those that drop_oldest dropped later included */
  uint64_t dropped; /**< events that were lost for want of room, of memory, or of a run that is still there */
  uint64_t waiting; /**< events in it now */
  uint64_t bytes;   /**< of memory they take */
} mend_queue_stats;
MEND_API void mend_queue_get_stats(mend_queue *queue, mend_queue_stats *ret_stats);

/** Unsubscribes and lets those go who wait; the waker is called, so that a loop comes and finds MEND_ECLOSED. What is
 * in the queue can still be taken out. Stopping twice is allowed, and does nothing the second time. */
MEND_API void mend_queue_stop(mend_queue *queue);
/** Unsubscribes, frees what is in it and sets the pointer to NULL (NULL is allowed). The waker is not called for that,
 * nor used after this returns. */
MEND_API void mend_queue_close(mend_queue **queue);

#ifdef __cplusplus
}
#endif
#endif

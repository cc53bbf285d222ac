/**
 * mend/workbench.h: everything on one bench: a bus, the recent events, a tracer, one loop for all healing runners.
 *
 *   mend_workbench *workbench;
 *   mend_workbench_new(NULL, &workbench, &error);
 *   mend_healing_runner *runner;
 *   mend_workbench_with_healing(workbench, NULL, &runner, &error);
 *   MEND_HEALING_SCOPE(runner, NULL) {
 *     mend_boundary_call(mend_healing_boundary(runner), MEND_STR("search"), args, NULL, &result);
 *   }
 *   mend_workbench_each_recent(workbench, print_line, NULL);     // the last 200 events
 *   char *picture;
 *   mend_tracer_draw(mend_workbench_tracer(workbench), NULL, NULL, &picture);
 *   puts(picture);
 *
 * Beside them: mend_tracer alone, on a bus of one's own. docs/api/workbench.md shows more.
 *
 * Source: Orqest's workbench.
 *
 * Threads: every function may be called from any thread.
 */
#ifndef MEND_WORKBENCH_H
#define MEND_WORKBENCH_H

#include "mend/healing.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The tracer -------------------------------------------------------------------------------------------- */

/**
 * What took how long: a run, or a call of a tool or a model. Its ids are those stamped on its events. Borrowed where it
 * is given.
 *
 * A run's span begins with the first event that is heard of it and ends with run.finished. A call's begins with
 * tool.before or model.request and ends with the event that ends the attempt; the next attempt of the same call opens
 * the same span again.
 */
typedef struct mend_span {
  size_t size;
  uint8_t trace_id[16];
  uint8_t span_id[8];
  uint8_t parent_span_id[8]; /**< of a call: what its first event names as `within`, else the run; zero: none */
  const char *kind;          /**< "run", "tool" or "model" */
  mend_str name;             /**< the tool or model of the latest attempt, the run's agent or name; cut to 128 bytes */
  mend_str run_id;
  uint64_t call;      /**< 0 of a run */
  uint64_t start_ns;  /**< wall */
  uint64_t end_ns;    /**< wall; 0 while it is open */
  double duration_ms; /**< by the monotonic clock, from the first attempt on; NaN while it is open */
  uint32_t attempts;  /**< of a call */
  /** How it ended, cut to 32 bytes: its last event's topic without the prefix ("after", "error"), of a run the status
   * in run.finished; absent while it is open. */
  mend_str status;
  uint32_t detections; /**< that name it as their last call; of a run all */
} mend_span;

/**
 * A span for other programs: one JSON object on one line. Its members, in this order, without those that are absent:
 * trace_id, span_id, parent_span_id (hexadecimal), kind, name, run_id, call (a number, as `within` in events),
 * started_at, ended_at (seconds since 1970, as `ts` in events), duration_ms, attempts (of a call), status, detections.
 * A span leads to its events by span_id.
 * \param ret_json  NUL-terminated, the caller's; free it with mend_free(allocator, ...)
 * \param ret_len  may be NULL
 * Errors: MEND_ENOMEM, MEND_EINVAL for NULL and for a span that has no kind or whose size was never set.
 */
MEND_API mend_status mend_span_to_json(const mend_span *span, const mend_allocator *allocator, char **ret_json,
                                       size_t *ret_len);

typedef struct mend_tracer_options {
  size_t size;
  /** Spans open at once, and runs known, 1..2^20; default 65,536. Beyond, the run that was heard of longest ago is
   * forgotten with its open spans; where all are of one run, its next call is not traced. */
  uint32_t open_limit;
  uint32_t finished_limit; /**< that are kept, the latest, 0..2^20; default 1000 */
  /** Told each one when it ends, on the publishing thread, and again when a further attempt of its call ends. It may do
   * anything. NULL: nobody is told. */
  void (*finished)(void *ctx, const mend_span *span);
  void *finished_ctx;
} mend_tracer_options;
#define MEND_TRACER_OPTIONS_INIT                                                                                       \
  { sizeof(mend_tracer_options), 65536, 1000, NULL, NULL }

/** A tracer makes spans of the events of a bus, which it keeps a reference to. Its memory is bounded, and an event
 * costs the same however many spans there are. Several may trace one bus. */
typedef struct mend_tracer mend_tracer;
/** \param options  NULL for the defaults. Errors: MEND_EINVAL, MEND_ENOMEM, MEND_ELIMIT, MEND_ECLOSED. */
MEND_API mend_status mend_tracer_new(mend_bus *bus, const mend_tracer_options *options, mend_tracer **ret_tracer,
                                     mend_error *error);
/** Stops tracing; open spans are dropped. On a thread that is publishing `finished` may be called once more
 * (mend_bus_quiesce waits for it). NULL is allowed. */
MEND_API void mend_tracer_free(mend_tracer *tracer);
/** Calls `visit` for every span that is kept, the finished ones in the order they ended, then the open ones in the
 * order they began or were opened again. `visit` must neither publish nor call the tracer, which holds its lock; false
 * ends it. */
MEND_API void mend_tracer_each(mend_tracer *tracer, bool (*visit)(void *ctx, const mend_span *span), void *ctx);
/** The spans that are kept as a tree with a time line, for people: each run to its own scale, runs that work for one of
 * its calls under that call; a call that succeeded is "ok". \param run_id  only that run; NULL: all. *ret_text is the
 * caller's, to be freed with mend_free(allocator, ...). Errors: MEND_ENOMEM. */
MEND_API mend_status mend_tracer_draw(mend_tracer *tracer, const char *run_id, const mend_allocator *allocator,
                                      char **ret_text);
/** Set size before the call. */
typedef struct mend_tracer_stats {
  size_t size;
  uint64_t open;     /**< now */
  uint64_t finished; /**< since it was made */
  /** Events that came to no span: of calls beyond open_limit, without memory or without a number, and of those that
   * began before the tracer was there. */
  uint64_t untraced;
  uint64_t forgotten; /**< open spans that made room for others */
} mend_tracer_stats;
MEND_API void mend_tracer_get_stats(mend_tracer *tracer, mend_tracer_stats *ret_stats);

/* ---- The workbench ----------------------------------------------------------------------------------------- */

typedef struct mend_workbench_options {
  size_t size;
  const mend_bus_options *bus;       /**< how its bus is made; NULL: the defaults */
  struct event_base *base;           /**< for its loop, as mend_loop_options.base; NULL: a thread of its own */
  uint32_t recent_events;            /**< how many are kept, 0..2^20; default 200 */
  bool recent_content;               /**< with full arguments and results, however large; default false */
  const mend_tracer_options *tracer; /**< NULL: the defaults */
} mend_workbench_options;
#define MEND_WORKBENCH_OPTIONS_INIT                                                                                    \
  { sizeof(mend_workbench_options), NULL, NULL, 200, false, NULL }

typedef struct mend_workbench mend_workbench;
/** Reference-counted; a runner made from it keeps its bus and loop, not the workbench. \param options  NULL for the
 * defaults. Errors: those of mend_bus_new, mend_loop_new and mend_tracer_new. */
MEND_API mend_status mend_workbench_new(const mend_workbench_options *options, mend_workbench **ret_workbench,
                                        mend_error *error);
MEND_API mend_workbench *mend_workbench_retain(mend_workbench *workbench);
/** With the last reference its tracer goes and, unless others hold them, its loop (as mend_loop_release) and bus. NULL
 * is allowed. */
MEND_API void mend_workbench_release(mend_workbench *workbench);
MEND_API mend_bus *mend_workbench_bus(const mend_workbench *workbench);   /**< borrowed, as the following */
MEND_API mend_loop *mend_workbench_loop(const mend_workbench *workbench); /**< made with the workbench */
MEND_API mend_tracer *mend_workbench_tracer(const mend_workbench *workbench);

/** A healing runner on the workbench's bus and loop. \param options  NULL for the defaults; its bus and loop must be
 * NULL or the workbench's. Errors: those of mend_healing_runner_new. */
MEND_API mend_status mend_workbench_with_healing(mend_workbench *workbench, const mend_healing_options *options,
                                                 mend_healing_runner **ret_runner, mend_error *error);
/** Calls `visit` with the JSON view of each recent event, oldest first; borrowed. `visit` may publish; false ends it.
 * Returns how many it was called with: without memory 0. An event that there is no memory for is left out, and counted
 * in mend_bus_stats.handler_failures. */
MEND_API size_t mend_workbench_each_recent(mend_workbench *workbench, bool (*visit)(void *ctx, mend_str line),
                                           void *ctx);

#ifdef __cplusplus
}
#endif
#endif

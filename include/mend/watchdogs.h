/**
 * mend/watchdogs.h: what goes wrong with a run, noticed once, with evidence; and what to do about it.
 *
 *   mend_watchdog *stall, *loop;
 *   mend_stall_watchdog_new(NULL, NULL, &stall, &error);
 *   mend_loop_watchdog_new(NULL, NULL, &loop, &error);
 *   mend_watchdog_watch_bus(stall, bus);            // every run of the bus
 *   mend_watchdog_watch_run(loop, run);             // or one
 *
 *   mend_watch *watch;
 *   mend_run_watch(run, &watch);
 *   mend_detection_cursor cursor = MEND_DETECTION_CURSOR_INIT;
 *   const mend_detection *detection;
 *   while (mend_watch_next(watch, &cursor, &detection) == MEND_OK) {
 *     puts(detection->summary.ptr);
 *     mend_detection_release(detection);
 *   }
 *
 * A watchdog is a vtable and a context; what it knows of one run is a state of its own. A run has one mend_watch, which
 * feeds all its watchdogs under the run's lock, keeps the log of their detections and publishes each as
 * `healing.detection` after the event that caused it has been delivered to everybody. Watchdogs only observe: acting is
 * a policy's business (below) and happens in hooks.
 *
 * Threads: every function may be called from any thread and any handler; a watchdog's own functions are called under
 * the run's lock, never two at once for one run. They may call mend_emit and whatever only reads (mend_run_id,
 * mend_json_*, mend_hash_*, mend_call_from_name, mend_bus_topic_name); not publish, subscribe or call anything else of
 * this header.
 */
#ifndef MEND_WATCHDOGS_H
#define MEND_WATCHDOGS_H

#include "mend/bus.h"
#include "mend/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Detections -------------------------------------------------------------------------------------------- */

/**
 * How far the answer to an incident has come: first a warning or what the policy says, then one rung up each time the
 * same incident comes back, and at last an abort. An incident of confidence below 0.5 and a regression begin at the
 * warning, any other with the policy. When more than the option `ceiling` detections of a run have been more than
 * warnings, each is an abort; mend_run_reset lets incidents begin anew, but does not take that back.
 */
typedef enum mend_rung {
  MEND_RUNG_NONE = 0, /**< no ladder: the policy decides (mode seed, no incident named, option `ladder` off) */
  MEND_RUNG_WARN,     /**< no action; the policy is not asked */
  MEND_RUNG_ACT,      /**< the policy decides */
  MEND_RUNG_ABORT     /**< an abort; the policy is not asked */
} mend_rung;
/** "none", "warn", "act" or "abort". Static. */
MEND_API const char *mend_rung_name(mend_rung rung);

/**
 * What a watchdog found. A watchdog fills in one of these on its stack, from MEND_DETECTION_INIT, and hands it to
 * mend_emit, which copies it; `id` to `wall_ns`, `occurrence` and `rung` are filled in there. Strings of one read from
 * a log are NUL-terminated.
 */
typedef struct mend_detection {
  size_t size;
  uint64_t id; /**< unique in the run, from 1 */
  /** The watchdog's name: "stall", "loop", "regression", ... Of a detection got from mend_watch_next this and the texts
   * below end in a NUL, unless they are absent. */
  mend_str detector;
  mend_str run_id;
  uint64_t cause_seq;   /**< seq of the event that completed the evidence; 0 when a deadline passed */
  uint64_t detected_ns; /**< when the evidence was complete: the event's monotonic time, or the deadline */
  uint64_t wall_ns;     /**< the same as wall time */

  mend_str kind;       /**< what kind of trouble: "stall", "loop", "regression", "budget" or one's own; absent: the
                          detector's name */
  mend_str reason;     /**< short and fixed: "repeat", "tool_total", "half_window", ... */
  double severity;     /**< 0..1; clamped, NaN becomes 1 */
  double confidence;   /**< 0..1: how sure the detector is; clamped */
  mend_str summary;    /**< one sentence for a person, without a full stop */
  mend_str tool_name;  /**< the tool it is about, if it is about one */
  mend_str first_call; /**< ids of the first and the last call it is about, if any */
  mend_str last_call;
  uint64_t count;    /**< how often it happened; 0 when that is no question */
  uint64_t period;   /**< length of a cycle; 0 when there is none */
  mend_str evidence; /**< JSON array, up to MEND_DETECTION_JSON_MAX bytes; absent: none */
  mend_str steer;    /**< what might help, as a sentence for the agent; absent: none */
  mend_str payload;  /**< JSON object: the detector's own fields, up to MEND_DETECTION_JSON_MAX bytes; absent: {} */

  mend_str incident;   /**< what makes it the same trouble again, such as "repeat/bash/9f3c"; absent: no ladder */
  uint64_t occurrence; /**< how often this incident has come in the run, this time included; 0 without one */
  mend_rung rung;
} mend_detection;
/** Other texts are cut to this many bytes, at a character boundary. */
#define MEND_DETECTION_TEXT_MAX ((size_t)4096)
#define MEND_DETECTION_JSON_MAX ((size_t)65536)
#define MEND_DETECTION_INIT                                                                                            \
  {                                                                                                                    \
    sizeof(mend_detection), 0, MEND_ABSENT, MEND_ABSENT, 0, 0, 0, MEND_ABSENT, MEND_ABSENT, 1.0, 1.0, MEND_ABSENT,     \
        MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, 0, 0, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, 0,            \
        MEND_RUNG_NONE                                                                                                 \
  }

/** For a detection got from mend_watch_next; another reference to it. */
MEND_API const mend_detection *mend_detection_retain(const mend_detection *detection);
/** NULL is allowed. */
MEND_API void mend_detection_release(const mend_detection *detection);

/* ---- Watchdogs --------------------------------------------------------------------------------------------- */

typedef struct mend_watchdog mend_watchdog;
typedef struct mend_emitter mend_emitter;

/**
 * Appends a detection to the run's log; to be called from a watchdog's event or expire, with the emitter it was given.
 * The reason stands in for a summary that is absent. In summary, evidence, steer and payload what looks like a secret
 * is covered by three stars, in JSON in strings too: "password":"***", sk-***, Bearer *** (docs/evidence.md has all of
 * it); what looks like none is copied as it is. Errors: MEND_EINVAL (size 0, no reason, evidence or payload not JSON of
 * the right kind), MEND_ELIMIT (evidence or payload too long), MEND_ENOMEM, MEND_ECLOSED from the last expire,
 * when the watch is being closed; a watchdog returns them. What it gave wrongly is logged as a sentence.
 */
MEND_API mend_status mend_emit(mend_emitter *emitter, const mend_detection *detection);

/**
 * A kind of watchdog. Copied at mend_watchdog_new; absent members mean the default named. The built-in ones use nothing
 * else. An error returned by event or expire is counted, reported as `bus.handler_failed`, and changes nothing else.
 */
typedef struct mend_watchdog_vtable {
  size_t size;
  const char *name;   /**< the detector's name; 1..63 of a-z, 0-9, '_', '.', '-' */
  const char *topics; /**< what it wants to see: topics or prefixes separated by blanks, no commas:
                         "tool.* model.usage"; "*", or absent: all */
  /** State for one run, made when the run is first watched. Default: the context is the state (then for all runs). */
  mend_status (*open)(void *ctx, mend_run *run, void **ret_state);
  /** An event of the run, of one of the topics. Default: nothing. */
  mend_status (*event)(void *state, const mend_event *event, mend_emitter *emitter);
  /** When expire wants to be called (monotonic ns, MEND_NEVER: not). Asked after open, event, expire and reset.
   * Default: a watchdog with expire is called every poll_interval_s and once when the watch is closed. */
  uint64_t (*deadline)(void *state);
  /** Time has passed: now_ns is at or after the deadline, whose time the detections bear. Called again while the next
   * deadline has passed too; a deadline that does not move on is tried again after poll_interval_s. Default:
   * nothing. */
  mend_status (*expire)(void *state, uint64_t now_ns, mend_emitter *emitter);
  /** The run is reset: forget everything. Default: close and open. */
  void (*reset)(void *state);
  /** The end of a state. Default: nothing. */
  void (*close)(void *state);
  /** The end of the watchdog: frees ctx. Called once, after the last close. Default: nothing. */
  void (*destroy)(void *ctx);
  /** For mend_run_watch_dump: what the state holds, as a line of text with a NUL behind, cut to `size`. Default:
   * nothing is said. */
  void (*describe)(void *state, char *text, size_t size);
} mend_watchdog_vtable;

#define MEND_WATCHDOG_VTABLE_INIT                                                                                      \
  { sizeof(mend_watchdog_vtable), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/** Makes a watchdog, with one reference for the caller. \param allocator  NULL: malloc. Errors: MEND_EINVAL,
 * MEND_ENOMEM; destroy is then not called. */
MEND_API mend_status mend_watchdog_new(const mend_watchdog_vtable *vtable, void *ctx, const mend_allocator *allocator,
                                       mend_watchdog **ret_watchdog, mend_error *error);
MEND_API mend_watchdog *mend_watchdog_retain(mend_watchdog *watchdog);
/** Drops a reference; NULL is allowed. Watches keep their own. */
MEND_API void mend_watchdog_release(mend_watchdog *watchdog);
MEND_API const char *mend_watchdog_name(const mend_watchdog *watchdog);

/**
 * Stall: a call that is open too long (mode seed: strictly longer than timeout_s, once a call). Reason tool_total;
 * severity min(1, elapsed / (2 * timeout_s)); payload call_id, started_at (wall seconds), elapsed_s. Calls are paired
 * by id; an event without one is ignored and counted. A call that is open already and starts again is a duplicate,
 * unless its attempt is a later one: that has timeout_s of its own. tool.after, .error, .skipped, .aborted and
 * .cancelled end a call.
 * \param options  NULL for the defaults. Errors: MEND_EINVAL (the sentence names the option), MEND_ENOMEM.
 */
MEND_API mend_status mend_stall_watchdog_new(const mend_stall_watchdog_options *options,
                                             const mend_allocator *allocator, mend_watchdog **ret_watchdog,
                                             mend_error *error);
/**
 * Loop: the same tool with the same arguments too often (mode seed: more than k times, this call included, among the
 * last n). Then silent for that pair until another pair appears; the window is not cleared. Reason repeat; severity
 * min(1, count / (2 k)); payload tool_name, args_hash, count, window_size. A tool.before without a tool is ignored and
 * counted. Source of the rule: Orqest's LoopDetector.
 */
MEND_API mend_status mend_loop_watchdog_new(const mend_loop_watchdog_options *options, const mend_allocator *allocator,
                                            mend_watchdog **ret_watchdog, mend_error *error);
/**
 * Regression: confidence that falls (mode seed: of the last window_n readings of a run, the mean of the oldest
 * floor(n/2) exceeds that of the newest floor(n/2) by at least drop, with a tolerance of 1e-9). Then silent until the
 * difference is below drop again. Reason half_window; severity min(1, difference / max(0.001, drop)); payload
 * head_mean, tail_mean, scores (the newest 256). Readings that are no number in 0..1, and a second one of the same
 * call, attempt and source as one of the last 256, are ignored and counted; one without a call is never a second one.
 * With no readings it does nothing at all. In 100 quiet readings at noise 0.10 the default window_n of 5 raises a false
 * alarm in 83 % of runs, 10 in 5.8 %. Source of the rule: Orqest's RegressionDetector.
 */
MEND_API mend_status mend_regression_watchdog_new(const mend_regression_watchdog_options *options,
                                                  const mend_allocator *allocator, mend_watchdog **ret_watchdog,
                                                  mend_error *error);

/**
 * The same three in mode evidence, which weigh what calls answered before they speak, and what a run spends. They know
 * more reasons (docs/evidence.md), name their incidents, and use the options that are marked (mode evidence).
 * \param options  NULL for the defaults, which are those of mode seed: see mend_options_set_profile. Errors:
 * MEND_EINVAL, MEND_ENOMEM.
 */
MEND_API mend_status mend_evidence_stall_watchdog_new(const mend_stall_watchdog_options *options,
                                                      const mend_allocator *allocator, mend_watchdog **ret_watchdog,
                                                      mend_error *error);
MEND_API mend_status mend_evidence_loop_watchdog_new(const mend_loop_watchdog_options *options,
                                                     const mend_allocator *allocator, mend_watchdog **ret_watchdog,
                                                     mend_error *error);
MEND_API mend_status mend_evidence_regression_watchdog_new(const mend_regression_watchdog_options *options,
                                                           const mend_allocator *allocator,
                                                           mend_watchdog **ret_watchdog, mend_error *error);
/**
 * Budget: what a run may spend, told before the call that would go beyond it; each limit once. Reasons calls, tokens,
 * cost, time. Tokens and cost are those of `model.usage`.
 */
MEND_API mend_status mend_budget_watchdog_new(const mend_budget_watchdog_options *options,
                                              const mend_allocator *allocator, mend_watchdog **ret_watchdog,
                                              mend_error *error);

/** Counters of a built-in watchdog over all its runs. Set size before the call. */
typedef struct mend_watchdog_stats {
  size_t size;
  uint64_t ignored;    /**< events that lacked what the rule needs, or held what it cannot use */
  uint64_t duplicates; /**< readings, or starts of a call, that were there already */
  uint64_t unwatched;  /**< calls, sources of confidence and tools not watched because a run had too many
                            (docs/limits.md) */
  uint64_t raw;        /**< arguments that Loop hashed as the bytes they are: not JSON, or over a limit of the hash */
} mend_watchdog_stats;
/** MEND_ENOTSUP for a custom one. */
MEND_API mend_status mend_watchdog_get_stats(mend_watchdog *watchdog, mend_watchdog_stats *ret_stats);

/* ---- Watching ---------------------------------------------------------------------------------------------- */

/** A run's watch: feeds its watchdogs, keeps its detections. Lives as long as its run. */
typedef struct mend_watch mend_watch;

/** Watches one run. Watching it twice with one watchdog changes nothing. Errors: MEND_ENOMEM, and what open returns. */
MEND_API mend_status mend_watchdog_watch_run(mend_watchdog *watchdog, mend_run *run);
/** Stops watching the run: its state of this watchdog is closed, what was detected stays in the log. MEND_ENOENT when
 * it is not watched. */
MEND_API mend_status mend_watchdog_unwatch_run(mend_watchdog *watchdog, mend_run *run);
/** Whether the run is watched by it, by itself or with the whole bus. */
MEND_API bool mend_watchdog_watches_run(mend_watchdog *watchdog, mend_run *run);
/** Watches every run of the bus: those alive now and those to come (an error of a later open is reported as
 * `bus.handler_failed` of that run). Watching it twice changes nothing. Errors: MEND_ENOMEM, and what open returns for
 * a run alive now; then no run is watched by it. */
MEND_API mend_status mend_watchdog_watch_bus(mend_watchdog *watchdog, mend_bus *bus);
/** The watchdog of this name that watches the whole bus, for its counters: mend_bus_watch hands none out. One reference
 * is the caller's. MEND_ENOENT. */
MEND_API mend_status mend_bus_watchdog(mend_bus *bus, const char *name, mend_watchdog **ret_watchdog);

/** The run's watch, made if need be; borrowed, valid as long as the run. Errors: MEND_ENOMEM. */
MEND_API mend_status mend_run_watch(mend_run *run, mend_watch **ret_watch);
/** A consumer's place in a watch's log. Each consumer has its own, so none can take a detection from another. */
typedef struct mend_detection_cursor {
  uint64_t next; /**< private */
  uint64_t lost; /**< detections that left the log (the last 256 are kept) before this consumer came to them */
} mend_detection_cursor;
#define MEND_DETECTION_CURSOR_INIT                                                                                     \
  { 0, 0 }
/** The next detection; the caller releases it. MEND_ENOENT when there is none yet. */
MEND_API mend_status mend_watch_next(mend_watch *watch, mend_detection_cursor *cursor,
                                     const mend_detection **ret_detection);
/** How many detections the log has taken. */
MEND_API uint64_t mend_watch_count(mend_watch *watch);
/** The run's watch as text, for people who debug: its watchdogs with their deadlines and what they say of their state,
 * the detections of the log and which of them still wait to be announced. The caller's; free it with
 * mend_free(allocator, ...). Errors: MEND_ENOENT (nothing has ever watched the run), MEND_ENOMEM. */
MEND_API mend_status mend_run_watch_dump(mend_run *run, const mend_allocator *allocator, char **ret_text);

/**
 * Time. Under a virtual clock advancing it is all there is to do. Under the real one whoever waits (an event loop)
 * calls mend_bus_expire when mend_bus_next_deadline has passed, and gives a waker to learn of an earlier one. Where
 * nobody waits, a deadline is noticed with the run's next event; it always bears its own time.
 *
 * The time returned may be that of a call that has ended since: nothing is due then, and one asks again. So a run of
 * ordinary calls wakes the waiter once a timeout, not once a call. MEND_NEVER: nothing is waited for.
 */
MEND_API uint64_t mend_bus_next_deadline(mend_bus *bus);
/** Lets every watchdog of every run do what is due by now, and publishes what they find. Returns the first error of a
 * watchdog, which is reported as `bus.handler_failed` of its run; all others have been asked nevertheless. */
MEND_API mend_status mend_bus_expire(mend_bus *bus);
/** The same for a waiter that may be behind: only what was due at until_ns (monotonic), and by now. An event loop that
 * was busy has not read what came meanwhile, which may put off what seems due: it passes the time for which it has read
 * everything, which is the now_ns of a mend_clock_driver. */
MEND_API mend_status mend_bus_expire_until(mend_bus *bus, uint64_t until_ns);
/** Somebody waits from now on: on a virtual clock too, where advancing then no longer calls the watchdogs by itself (be
 * a driver of the clock, as an event loop is). Ask mend_bus_next_deadline once afterwards. \param waker  {NULL, NULL}:
 * nobody waits any more. Errors: MEND_ENOMEM; then nobody waits, and a virtual clock does not call either. */
MEND_API mend_status mend_bus_set_waker(mend_bus *bus, mend_waker waker);
/** How often watchdogs without a deadline of their own are asked, from now on; seconds, > 0; default 1. Errors:
 * MEND_EINVAL, MEND_ENOMEM. */
MEND_API mend_status mend_bus_set_poll_interval(mend_bus *bus, double seconds, mend_error *error);

/** The watchdogs that `options` enable, onto every run of the bus: what `mend replay` does. Each call makes watchdogs
 * of its own, so a second one adds a second set. \param options NULL for the defaults. Errors: MEND_EINVAL,
 * MEND_ENOMEM; then the bus is watched by none of them. */
MEND_API mend_status mend_bus_watch(mend_bus *bus, const mend_options *options, mend_error *error);

/* ---- Policy ------------------------------------------------------------------------------------------------ */

typedef enum mend_action_kind {
  MEND_ACTION_NONE = 0, /**< observe only */
  MEND_ACTION_ABORT,
  MEND_ACTION_ESCALATE
} mend_action_kind;
/** "none", "abort" or "escalate". Static. */
MEND_API const char *mend_action_kind_name(mend_action_kind kind);

/** What to do about a detection. `text` is the reason of an abort or the question of an escalation, NUL-terminated. */
typedef struct mend_action {
  mend_action_kind kind;
  char text[1024];
} mend_action;

MEND_API mend_action mend_action_none(void);
/** printf-like; a text that does not fit is cut at a character boundary. */
MEND_API mend_action mend_action_abort(const char *format, ...) MEND_PRINTF(1, 2);
MEND_API mend_action mend_action_escalate(const char *format, ...) MEND_PRINTF(1, 2);

/**
 * A policy: from a detection to an action. Runs on the agent's or the loop's thread, never two at once for one run, and
 * must not block. Anything but MEND_OK means no action for this detection, which is still published, with the failure.
 */
typedef mend_status (*mend_policy)(void *ctx, const mend_detection *detection, mend_action *ret_action);
/** Aborts on everything: "<detector>: <summary>". ctx is not used. Source: Orqest's default policy, which names a
 * detector of one's own as unknown instead. */
MEND_API mend_status mend_default_policy(void *ctx, const mend_detection *detection, mend_action *ret_action);
/**
 * What to do about a detection: its rung, and on the rungs MEND_RUNG_ACT and MEND_RUNG_NONE the policy. Returns what
 * the policy returns, and MEND_EINVAL for an answer of it that is none; the action is then MEND_ACTION_NONE.
 */
MEND_API mend_status mend_detection_decide(const mend_detection *detection, mend_policy policy, void *ctx,
                                           mend_action *ret_action);

#ifdef __cplusplus
}
#endif
#endif

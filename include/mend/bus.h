/**
 * mend/bus.h: the event bus, its runs and their subscribers.
 *
 *   mend_bus *bus;
 *   mend_bus_new(NULL, &bus, NULL);
 *   mend_subscription *subscription;
 *   mend_bus_subscribe(bus, "tool.*", on_tool, my_context, NULL, &subscription, NULL);
 *   mend_run *run;
 *   mend_run_new(bus, NULL, &run, NULL);
 *   mend_run_emit(run, "tool.before", "{\"tool_name\":\"search\"}", NULL);
 *
 * Order: publishing calls the subscribers of the whole bus (exact topic, prefix, all), then those of the run
 * (likewise), each in the order of subscription, on the publishing thread. A publish from a handler is delivered at
 * once, depth first, down to the nesting limit; what is refused there is counted and reported once as `bus.dropped`
 * when the outermost publish is done. Order is per run (seq); there is no order between runs.
 *
 * Threads: every function may be called from any thread and from any handler, except where it says otherwise.
 * Publishing takes no lock and allocates nothing but a record for each thread, with its first event on the bus.
 */
#ifndef MEND_BUS_H
#define MEND_BUS_H

#include "mend/clock.h"
#include "mend/core.h"
#include "mend/events.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mend_bus mend_bus;
typedef struct mend_subscription mend_subscription;

/* ---- The bus ----------------------------------------------------------------------------------------------- */

typedef struct mend_bus_options {
  size_t size;
  const mend_allocator *allocator; /**< NULL: malloc; inherited by runs, watches and everything else on the bus */
  mend_clock *clock;               /**< NULL: the real one; the bus keeps a reference */
  uint32_t nesting_limit;          /**< how deep publishes may nest, 1..1024; default 32 */
  uint32_t run_limit;              /**< runs made by mend_bus_run that are kept, 1..2^31; default 10,000 */
  uint32_t topic_limit;            /**< topics, built-in ones included, 64..65,536; default 65,536 */
  uint64_t id_seed;                /**< seed of trace ids, for tests; 0: from getrandom, once a bus */
  mend_log_fn log;                 /**< for everything on the bus; NULL: nowhere */
  void *log_ctx;
} mend_bus_options;
#define MEND_BUS_OPTIONS_INIT                                                                                          \
  { sizeof(mend_bus_options), NULL, NULL, 32, 10000, 65536, 0, NULL, NULL }

/** \param options  NULL for the defaults. Errors: MEND_EINVAL (the sentence names the option), MEND_ENOMEM, MEND_EIO
 * when the system has no randomness. One reference is the caller's. */
MEND_API mend_status mend_bus_new(const mend_bus_options *options, mend_bus **ret_bus, mend_error *error);
MEND_API mend_bus *mend_bus_retain(mend_bus *bus);
/**
 * Drops a reference; NULL is allowed. A publisher must hold one (a run's counts). With the last one the subscriptions
 * are closed, their destroy functions run (making subscriptions or runs is MEND_ECLOSED from then on) and the bus is
 * freed; dropped in a handler, that happens when the thread's outermost publish returns; publishes under way on other
 * threads are waited for.
 */
MEND_API void mend_bus_release(mend_bus *bus);
MEND_API mend_clock *mend_bus_clock(const mend_bus *bus);
MEND_API const mend_allocator *mend_bus_allocator(const mend_bus *bus);

/** Finds or makes the topic with this dotted name: 1..255 bytes of UTF-8, no empty part, no blank, control character or
 * `*`. A new one under a prefix of the library's ("tool.end") is allowed and logged as a warning, once, with the topic
 * that was probably meant; so it is when it is made by a publish or a subscription. Errors: MEND_EINVAL for another
 * name, MEND_ELIMIT when topic_limit is reached, MEND_ENOMEM. */
MEND_API mend_status mend_bus_topic(mend_bus *bus, mend_str name, mend_topic *ret_topic, mend_error *error);
/** A topic's name; valid as long as the bus; absent for a number that is none. */
MEND_API mend_str mend_bus_topic_name(const mend_bus *bus, mend_topic topic);

/** Counters since the bus was made. Set size before the call: with size 0 nothing is filled in. */
typedef struct mend_bus_stats {
  size_t size;
  uint64_t published;        /**< events delivered, or offered to nobody */
  uint64_t dropped;          /**< publishes refused for nesting too deeply, or for want of memory */
  uint64_t handler_failures; /**< handlers that returned an error */
  uint64_t runs;             /**< runs alive now */
  uint64_t runs_evicted;     /**< runs forgotten because of run_limit */
  uint64_t topics;           /**< topics known now */
  uint64_t subscriptions;    /**< subscriptions open now */
} mend_bus_stats;
MEND_API void mend_bus_get_stats(mend_bus *bus, mend_bus_stats *ret_stats);
/** The bus as text, for people who debug: counters, topics with their subscribers in the order of delivery, runs,
 * threads that publish, what waits to be freed. The caller's; free it with mend_free(allocator, ...). Errors:
 * MEND_ENOMEM. */
MEND_API mend_status mend_bus_dump(mend_bus *bus, const mend_allocator *allocator, char **ret_text);

/* ---- Subscribing ------------------------------------------------------------------------------------------- */

/** A subscriber; several threads may be in it at once. The event and all it points to are borrowed. Anything but
 * MEND_OK is counted and reported as `bus.handler_failed` after the event has been delivered to everybody; failures on
 * that topic itself only count. */
typedef mend_status (*mend_handler)(void *ctx, const mend_event *event);

/**
 * Subscribes to a topic ("tool.before"), to all topics under a prefix ("tool.*") or to all ("*"), of every run of the
 * bus. The first event seen is the first whose publish begins afterwards. Subscribing twice calls twice.
 * \param handler  called on the thread that publishes, and by several at once where several publish, as a loop's thread
 * (models, watchdogs) and those of pooled tools do: what it writes to needs a lock of its own, or is atomic
 * \param destroy  called once with ctx when the subscription is closed and no thread can be in the handler; NULL:
 * nothing
 * \param ret_subscription  the caller's to close; NULL when it shall live as long as the bus
 * \param error  names the pattern and what was expected; NULL: the status alone
 * Errors: MEND_EINVAL for a malformed pattern or no handler, MEND_ELIMIT when topic_limit is reached by topics or by
 * prefixes, MEND_ENOMEM, MEND_ECLOSED from a destroy function at the end of the bus. destroy is then not called.
 */
MEND_API mend_status mend_bus_subscribe(mend_bus *bus, const char *pattern, mend_handler handler, void *ctx,
                                        void (*destroy)(void *ctx), mend_subscription **ret_subscription,
                                        mend_error *error);
/** The same for one run, with the same errors, and MEND_ECLOSED in a handler when an earlier one has dropped the last
 * reference to the run. It ends with the run at the latest; the caller still closes its handle, before dropping its
 * last reference to the run. destroy must not touch the run: another thread may be freeing it. */
MEND_API mend_status mend_run_subscribe(mend_run *run, const char *pattern, mend_handler handler, void *ctx,
                                        void (*destroy)(void *ctx), mend_subscription **ret_subscription,
                                        mend_error *error);

/**
 * Closes a subscription and sets the pointer to NULL (NULL is allowed). Never blocks, never fails, works from any
 * thread and any handler, its own too. On this thread the handler is not called again, not even by a publish under way;
 * another thread may be in it once more. destroy(ctx) runs when that is over: here if nobody is, else on the thread
 * that leaves its outermost publish, at the latest with the next publish, subscribe, close, quiesce or the end of the
 * bus. What the end of its run or bus has closed already may be closed in the destroy functions that run then, and not
 * later.
 */
MEND_API void mend_subscription_close(mend_subscription **subscription);

/** Waits until every publish now under way on other threads is over and every destroy that is due has run. MEND_EDEADLK
 * when called from a handler or a destroy function. */
MEND_API mend_status mend_bus_quiesce(mend_bus *bus);

/* ---- Runs -------------------------------------------------------------------------------------------------- */

typedef struct mend_run_options {
  size_t size;
  mend_str id;          /**< unique on the bus, 1..255 bytes; absent: 32 hexadecimal digits are made */
  mend_run *parent;     /**< the run this one works for; the new run keeps its id, not the run */
  mend_str parent_id;   /**< the same by name, where the parent is not here */
  mend_str parent_call; /**< the parent's call that started this run */
  mend_str agent;
  mend_str session_id;
  mend_str project_id;
  uint8_t trace_id[16];      /**< zero: the parent's, or a new one */
  uint8_t parent_span_id[8]; /**< zero: the parent's: that of parent_call, or its own when that is absent; with no
                                  parent none */
} mend_run_options;
#define MEND_RUN_OPTIONS_INIT                                                                                          \
  {                                                                                                                    \
    sizeof(mend_run_options), {NULL, 0}, NULL, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {0}, { 0 }       \
  }

/**
 * Makes a run. One reference is the caller's; the run keeps one to the bus.
 * \param options  NULL for the defaults
 * \param error  names the option, its value and what was expected; NULL: the status alone
 * Errors: MEND_EINVAL for an id of 0 or more than 255 bytes, a parent on another bus, or options of a size that is
 * none; MEND_EEXIST when the bus has a run of this id, MEND_ENOMEM, MEND_ECLOSED from a destroy function at the end of
 * the bus.
 */
MEND_API mend_status mend_run_new(mend_bus *bus, const mend_run_options *options, mend_run **ret_run,
                                  mend_error *error);
/**
 * Finds the run with this id or makes it, for events that arrive with an id only. The bus keeps up to run_limit of
 * these; beyond, the one whose last event is oldest is forgotten, never one that is referenced. One reference is the
 * caller's.
 * \param options  its id is the wanted one, the rest is for a run that has to be made
 * Errors: MEND_EINVAL as above and when there is no id, MEND_ENOMEM, MEND_ECLOSED as above.
 */
MEND_API mend_status mend_bus_run(mend_bus *bus, const mend_run_options *options, mend_run **ret_run,
                                  mend_error *error);
/** Adds a reference and returns the run. An event's run is at its end when an earlier handler has dropped the last one:
 * retaining it then keeps it no longer than the event is delivered, which mend_event_clone tells. */
MEND_API mend_run *mend_run_retain(mend_run *run);
/** NULL is allowed. With the last reference the run's subscriptions are closed; dropped in a handler, the run's memory
 * stays until that thread's outermost publish returns. */
MEND_API void mend_run_release(mend_run *run);

MEND_API mend_bus *mend_run_bus(const mend_run *run); /**< borrowed */
MEND_API mend_str mend_run_id(const mend_run *run);   /**< this and the following live as long as the run */
MEND_API mend_str mend_run_parent_id(const mend_run *run);
MEND_API mend_str mend_run_parent_call(const mend_run *run);
MEND_API mend_str mend_run_agent(const mend_run *run);
MEND_API mend_str mend_run_session_id(const mend_run *run);
MEND_API mend_str mend_run_project_id(const mend_run *run);
/** A number for a call, unique in the run, counting from 1. */
MEND_API uint64_t mend_run_next_call(mend_run *run);

/* ---- Traces ------------------------------------------------------------------------------------------------ */

/* Source of ids and of traceparent: W3C Trace Context, level 1. */

MEND_API void mend_run_trace_id(const mend_run *run, uint8_t ret_trace_id[16]);
/** The span of a call, or, for call 0, of the run itself: what mend_run_publish stamps on its events. Made from a
 * random number of the run's own and the call's, so the same call always has the same one. Never zero. */
MEND_API void mend_run_span_id(const mend_run *run, uint64_t call, uint8_t ret_span_id[8]);
/** Zero when there is none. */
MEND_API void mend_run_parent_span_id(const mend_run *run, uint8_t ret_span_id[8]);
/** Room for a traceparent and a NUL. */
#define MEND_TRACEPARENT_SIZE 56
/** Reads "00-<trace id>-<span id>-<flags>", for trace_id and parent_span_id of mend_run_options. Later versions are
 * read as far as they are known. MEND_EINVAL for anything else, and for ids that are all zero. */
MEND_API mend_status mend_traceparent_parse(mend_str text, uint8_t ret_trace_id[16], uint8_t ret_span_id[8]);
/** Writes the one to send along with what a call asks of others; flags: sampled. */
MEND_API void mend_traceparent_format(const mend_run *run, uint64_t call, char ret_text[MEND_TRACEPARENT_SIZE]);

/* ---- Publishing -------------------------------------------------------------------------------------------- */

/**
 * Stamps the event (seq, one reading of the bus's clock, run, trace id, the call's span; the call's number, when it has
 * only a name) and delivers it. The event is the caller's; only its stamp is written. Errors, with which it is not
 * delivered: MEND_ELIMIT when publishes nest too deeply, MEND_EINVAL when size, kind and topic do not fit together,
 * MEND_ENOMEM on a thread that publishes on this bus for the first time: only when another one has come before it since
 * memory ran out, for the bus keeps what one thread needs in reserve.
 */
MEND_API mend_status mend_run_publish(mend_run *run, mend_event *event);
/** Delivers an event that is stamped already; event->run says whose it is. Errors as above, and MEND_EINVAL when that
 * is no run of this bus. */
MEND_API mend_status mend_bus_publish(mend_bus *bus, const mend_event *event);
/**
 * Publishes an event given as JSON. An own topic takes any object as its payload. A built-in topic's object is read
 * into its struct; a field of the wrong type or out of its range, and one the topic does not have, are refused by name.
 * Short names are taken too: tool for tool_name, error for error_message. "call_id" names the call, "span_id" the span;
 * what else a journal's line has before its payload (ts, seq, run_id, ...) may be there and is the run's to say.
 * \param payload  a JSON object; NULL for {}
 * Errors: MEND_ESYNTAX, MEND_EINVAL (what is wrong with topic or payload), and those of publishing.
 */
MEND_API mend_status mend_run_emit(mend_run *run, const char *topic, const char *payload, mend_error *error);
/** The same from texts that no NUL ends, such as those of a mend_journal_line. An absent payload is {}. */
MEND_API mend_status mend_run_emit_text(mend_run *run, mend_str topic, mend_str payload, mend_error *error);

#ifdef __cplusplus
}
#endif
#endif

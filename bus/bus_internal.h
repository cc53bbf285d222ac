/* Private to the room: how a bus is put together. docs/internals/bus.md tells the whole story.
 *
 * Publishing reads; everything else (subscribing, closing, making topics and runs) writes, under bus->mutex. What
 * readers walk over is immutable or atomic and is replaced, never changed; what was replaced waits in limbo until no
 * publish that could still see it is under way. A publish announces itself in its thread's reader record. */
#ifndef MEND_BUS_INTERNAL_H
#define MEND_BUS_INTERNAL_H

#include "bus/room.h"
#include "core/heap.h"
#include "core/memory.h"
#include "core/mix.h"
#include "core/strmap.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- Readers ---- */

/* One publish under way on a thread; they nest, the innermost is the event whose handlers are being called. */
typedef struct mend__frame {
  struct mend__frame *outer;
  mend__after *first_after, **last_after;
  uint64_t failures;
  mend_status first_failure;
  uint32_t failed_pattern;
  uint8_t failed_match;
  char failed_name[64]; /* what the first one to fail calls itself, if it does */
} mend__frame;

/* A thread's record on a bus. Only its thread writes it, but for `next`; others read `epoch` and the counters. A
 * record is known by the address of its thread's cache and is taken over by the next thread that has that address. */
typedef struct mend__reader {
  _Atomic uint64_t epoch; /* 0: not publishing; else everything retired at this epoch or later may be in use here */
  uint32_t holds;         /* reasons to keep `epoch`: publishes under way */
  uint32_t depth;         /* how deep publishes nest, counted while handlers run */
  mend__frame *frame;
  bool reporting_drops;
  bool last_reference_gone; /* the bus dies when this thread leaves its outermost publish */
  uint64_t drops;           /* not reported yet */
  mend_topic first_drop;
  _Atomic uint64_t published, dropped, failures;
  const void *thread;
  struct mend__reader *next;
  void *block; /* what was allocated: the record is aligned to 128 bytes in it */
} mend__reader;

/* ---- Limbo ---- */

/* What has been taken out of reach at epoch `tag`; free when every publishing thread entered later. */
typedef struct mend__retired {
  struct mend__retired *next;
  uint64_t tag;
} mend__retired;

typedef struct mend__retired_list {
  mend__retired *first, **last;
} mend__retired_list;

/* ---- Subscriptions ---- */

typedef enum mend__match { MEND__MATCH_EXACT, MEND__MATCH_PREFIX, MEND__MATCH_ALL } mend__match;

/* 48 bytes, which is the goal: 64 of them and their array stay within a few pages. */
struct mend_subscription {
  mend_handler handler;
  void *ctx;
  void (*destroy)(void *ctx);
  union {
    struct { /* open */
      mend_bus *bus;
      mend_run *run; /* NULL: it is the bus's */
    };
    mend__retired retired; /* closed */
  };
  uint32_t pattern; /* EXACT: the topic; else an index of bus->patterns */
  uint8_t match;
  _Atomic bool closed; /* a publish under way on the closing thread must not call it, whatever array it walks */
};

/* The subscribers of one topic, in the order of delivery. A closed one's place becomes NULL, which needs no memory
 * and so cannot fail; the next rebuild leaves it out. */
typedef struct mend__subscribers {
  mend__retired retired;
  uint32_t count;
  uint32_t firsts[3]; /* where each mend__match begins */
  _Atomic(mend_subscription *) items[];
} mend__subscribers;

/* A run's subscribers: all of them, told apart when an event comes. A run has few, mostly one that wants all. */
typedef struct mend__run_subscriber {
  _Atomic(mend_subscription *) subscription;
  uint8_t match;
  mend_topic topic;
  mend_str prefix;
} mend__run_subscriber;

typedef struct mend__run_subscribers {
  mend__retired retired;
  uint32_t count;
  mend__run_subscriber items[];
} mend__run_subscribers;

/* ---- Topics ---- */

typedef struct mend__topic {
  _Atomic(mend__subscribers *) subscribers; /* NULL: nobody */
  mend_str name;
  mend_topic number;
  atomic_bool is_new; /* and nobody has looked yet whether another one was meant */
} mend__topic;

#define MEND__TOPICS_IN_CHUNK 256u
#define MEND__TOPIC_CHUNKS 256u

/* A pattern other than an exact topic, kept as long as the bus. */
typedef struct mend__pattern {
  mend_str text;   /* "tool.*", "*" */
  mend_str prefix; /* "tool.", "" */
  uint32_t index;  /* in bus->patterns */
} mend__pattern;

/* Growing list of pointers or structs, under the mutex. */
typedef struct mend__list {
  void *items;
  size_t count, capacity;
} mend__list;

/* ---- Bus and run ---- */

typedef struct mend__slot_entry {
  _Atomic(void *) object;
  mend__slot_release release;
} mend__slot_entry;

struct mend_run {
  mend_bus *bus;
  _Atomic uint64_t seq;
  _Atomic(mend__run_subscribers *) subscribers; /* NULL: nobody */
  uint8_t trace_id[16], parent_span_id[8];
  uint64_t span_seed;
  _Atomic uint64_t last_event_ns; /* monotonic; when it was made, before its first event */
  _Atomic uint32_t references;    /* by others than the bus; while it is above 0 the run holds a reference to the bus */
  bool kept;                      /* made by mend_bus_run: stays known without references */
  bool linked;                    /* found by id */
  bool ended;                     /* in limbo: handlers of an event under way may still have it */
  _Atomic uint64_t calls;
  mend__slot_entry slots[MEND__SLOT_COUNT];
  pthread_mutex_t mutex;
  mend__retired retired;
  struct mend_run *previous, *next; /* in bus->runs */
  mend_deadline idle;               /* in bus->idle, from its last event on */
  mend_str id, parent_id, parent_call, agent, session_id, project_id;
  char text[]; /* what they point to */
};

typedef struct mend__run_observer {
  mend__run_opened opened;
  void *ctx;
} mend__run_observer;

struct mend_bus {
  uint64_t id; /* never used again: the thread-local cache is keyed by it */
  mend_clock *clock;
  const mend_allocator *allocator;
  uint32_t nesting_limit, run_limit, topic_limit;
  mend_log_fn log;
  void *log_ctx;

  _Atomic uint64_t epoch;
  _Atomic bool limbo_waits; /* something is in limbo: whoever leaves a publish looks */
  _Atomic(mend__reader *) readers;
  _Atomic(mend__reader *) spare_reader; /* for a thread that comes when there is no memory; NULL: it was taken */
  _Atomic uint64_t unrecorded;          /* publishes of threads for which there was not even that */
  _Atomic(mend__topic *) topics[MEND__TOPIC_CHUNKS];
  _Atomic uint32_t topic_count;

  _Atomic uint32_t references;
  _Atomic uint32_t reclaiming; /* threads that are running destroy functions */

  pthread_mutex_t mutex; /* covers everything below */
  mend__strmap topics_by_name;
  mend__strmap patterns_by_text;
  mend__list patterns;     /* of mend__pattern * */
  mend__list wildcards[2]; /* of mend_subscription *, PREFIX and ALL, in the order of subscription */
  mend__retired_list limbo_arrays, limbo_subscriptions, limbo_runs;
  uint64_t subscription_count;
  bool closing; /* destroy functions of the end run: nothing new is made */

  mend__strmap runs_by_id;
  mend_run *runs;
  size_t run_count, kept_count;
  mend__heap idle; /* those that are kept and not referenced: the one whose last event is oldest first */
  uint64_t idle_order;
  uint64_t runs_evicted;
  uint64_t id_seed, id_counter;

  mend__slot_entry slots[MEND__SLOT_COUNT];
  mend__run_observer observers[MEND__SLOT_COUNT];
  uint32_t observers_version;
};

/* readers.c */
mend__reader *mend__reader_find(const mend_bus *bus);                   /* this thread's, NULL when it has none */
mend_status mend__reader_get(mend_bus *bus, mend__reader **ret_reader); /* makes it if need be */
mend_status mend__readers_make_spare(mend_bus *bus);                    /* unless there is one */
void mend__reader_enter(mend_bus *bus, mend__reader *reader);
void mend__reader_leave(mend_bus *bus, mend__reader *reader); /* may free the bus */
void mend__readers_wait(mend_bus *bus, uint64_t until_epoch); /* other threads' publishes that began up to then */
void mend__readers_free(mend_bus *bus);
void mend__pause(unsigned *turns); /* between two looks at what another thread is about to finish; start with 0 */
const mend_bus *mend__reclaims_here(void); /* the bus whose destroy functions this thread is in; NULL: none */
void mend__reclaims_set(const mend_bus *bus);

/* limbo.c: retire under the mutex, reclaim without it */
void mend__limbo_init(mend__retired_list *list);
void mend__retire(mend_bus *bus, mend__retired_list *list, mend__retired *retired);
uint64_t mend__epoch_end(mend_bus *bus); /* returns the one that has ended, for several that are to go together */
void mend__retire_of(mend_bus *bus, mend__retired_list *list, mend__retired *retired, uint64_t epoch);
void mend__reclaim(mend_bus *bus);

/* topics.c: under the mutex, but for mend__topic_at */
static inline mend__topic *mend__topic_at(const mend_bus *bus, mend_topic number) {
  mend__topic *chunk =
      atomic_load_explicit(&((mend_bus *)bus)->topics[number / MEND__TOPICS_IN_CHUNK], memory_order_acquire);
  return &chunk[number % MEND__TOPICS_IN_CHUNK];
}
mend_status mend__topics_init(mend_bus *bus);
void mend__topics_free(mend_bus *bus);
/* Finds or makes it. MEND_EINVAL: the name has a fault. */
mend_status mend__topic_intern(mend_bus *bus, mend_str name, mend__topic **ret_topic);
/* near_topics.c: the first time, without the mutex: warns when it looks like one of the library's and is none. */
void mend__topic_doubt(mend_bus *bus, mend__topic *topic);
/* What is wrong with a topic's name, as a sentence; NULL when nothing is. */
const char *mend__topic_name_fault(mend_str name);
/* Why a topic, a subscription or a run could not be made. */
const char *mend__bus_reason(mend_status status);
/* Sets the error to: WHAT "NAME": REASON. A long name is cut. Returns the status. */
mend_status mend__name_refuse(mend_error *error, mend_status status, const char *what, mend_str name,
                              const char *reason);

/* patterns.c: under the mutex */
/* "*", "tool.*" or "tool.before". Needs no mutex. */
bool mend__pattern_is_one(mend_str pattern);
/* Fills in match and pattern from one that is one. */
mend_status mend__pattern_take(mend_bus *bus, mend_str pattern, mend_subscription *subscription);
bool mend__pattern_matches(const mend_bus *bus, uint8_t match, uint32_t pattern, const mend__topic *topic);
mend_str mend__pattern_prefix(const mend_bus *bus, uint32_t pattern);
mend_str mend__pattern_text(const mend_bus *bus, uint8_t match, uint32_t pattern); /* valid as long as the bus */

/* subscribers.c: the arrays that publishers walk over; under the mutex. Removing needs no memory. */
mend_status mend__bus_subscribers_add(mend_bus *bus, mend_subscription *subscription);
void mend__bus_subscribers_remove(mend_bus *bus, mend_subscription *subscription);
mend_status mend__run_subscribers_add(mend_run *run, mend_subscription *added);
void mend__run_subscribers_remove(mend_run *run, const mend_subscription *subscription);
mend_status mend__subscribers_for_new_topic(mend_bus *bus, mend__topic *topic);
void mend__run_close_subscriptions(mend_run *run);
void mend__bus_close_subscriptions(mend_bus *bus);

/* subscriptions.c */
/* Out of the arrays, in an epoch that has ended; under the mutex. */
void mend__subscription_retire(mend_bus *bus, mend_subscription *subscription, uint64_t epoch);

/* observers.c: tells of a run before anybody can find it, and leaves the bus's mutex locked */
void mend__run_announce_and_lock(mend_run *run);

/* run_lock.c */
bool mend__run_lock_init(mend_run *run);

/* runs.c */
void mend__run_retain_known(mend_run *run); /* one that is alive or kept; under the mutex */
void mend__run_free(mend_run *run);         /* from limbo, without the mutex; drops nothing of the bus */
void mend__runs_free_kept(mend_bus *bus);

/* traces.c */
mend_hash mend__id_next(mend_bus *bus); /* 128 bits, new: the bus's seed and a counter, hashed; under the mutex */
void mend__trace_begin(mend_run *run, const mend_run_options *options); /* under the mutex */

/* No two calls of a run share a span. */
static inline uint64_t mend__span_of(const mend_run *run, uint64_t call) {
  const uint64_t mixed = mend__mix(run->span_seed + call * MEND__MIX_STEP);
  return mixed != 0 ? mixed : 1;
}

static inline void mend__put_big_endian(uint64_t value, uint8_t *ret_bytes) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  value = __builtin_bswap64(value);
#endif
  memcpy(ret_bytes, &value, sizeof value);
}

/* bus.c */
void mend__bus_destroy(mend_bus *bus);
void mend__slots_release(mend__slot_entry slots[MEND__SLOT_COUNT]);
/* Makes room for one more item of item_size in a list. */
mend_status mend__list_reserve(mend_bus *bus, mend__list *list, size_t item_size);

/* publish.c */
void mend__report_failure(mend_run *run, const mend_event *cause, const mend__frame *frame);

#endif

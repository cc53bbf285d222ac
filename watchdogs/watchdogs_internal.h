/* Private to watchdogs/.
 *
 * Locks, in the order they are taken: a run's (watch, states, log), the hub's, the bus's. Nothing is published and no
 * destroy function runs under any of them.
 *
 * A watch lives in its run's slot and ends when the run is freed. The hub only points to it, and lets go of it then. */
#ifndef MEND_WATCHDOGS_INTERNAL_H
#define MEND_WATCHDOGS_INTERNAL_H

#include "bus/room.h"
#include "core/memory.h"
#include "watchdogs/detector.h"
#include "watchdogs/ladder.h"
#include "watchdogs/wants.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- watchdog.c ---- */

struct mend_watchdog {
  const mend_allocator *allocator;
  atomic_size_t references;
  mend_watchdog_vtable vtable; /* its name is the one below */
  void *ctx;
  mend__counters *counters; /* in ctx; NULL for a custom one */
  mend__wants wants;
  char name[64];
};

/* A watchdog without deadlines of its own: asked every poll interval. */
static inline bool mend__watchdog_polls(const mend_watchdog *watchdog) {
  return watchdog->vtable.expire != NULL && watchdog->vtable.deadline == NULL;
}

/* ---- detection.c ---- */

typedef struct mend__detection {
  mend_detection detection;
  atomic_size_t references;
  const mend_allocator *allocator;
  mend_run *run; /* referenced while it waits to be announced, else NULL */
  atomic_bool announced;
  struct mend__detection *next; /* in a batch */
  mend__after after;
  char text[];
} mend__detection;

static inline mend__detection *mend__detection_of(const mend_detection *detection) {
  return MEND__CONTAINER(detection, mend__detection, detection);
}

typedef struct mend__notice mend__notice; /* notice.c */

/* What one callback of a watch found, in order, to be announced when the run's lock is released; and what else is to be
 * published then. */
typedef struct mend__batch {
  mend__detection *first, *last;
  mend__notice *first_notice, *last_notice;
  char *refusal; /* what the first detection that was refused lacks; NULL: none was, or no memory for that */
} mend__batch;

/* Copies what a watchdog filled in; the stamp (id to wall_ns) is the caller's to set. One reference. Errors as
 * mend_emit, and a sentence for what was given wrongly. */
mend_status mend__detection_new(const mend_detection *given, mend_str detector, mend_str run_id,
                                const mend_allocator *allocator, mend__detection **ret_detection, mend_error *error);

/* ---- announce.c ---- */

/* Publishes each as `healing.detection`: after the event now being delivered on this thread, or at once. What was
 * refused is logged. */
void mend__batch_announce(mend__batch *batch, mend_run *run);

/* ---- notice.c: what a watchdog knows that is no detection ---- */

/* Has a copy of the event published on its run, behind the detections of the batch. MEND_ENOMEM. */
mend_status mend__batch_add_notice(mend__batch *batch, const mend_event *event, const mend_allocator *allocator);
void mend__batch_announce_notices(mend__batch *batch, mend_bus *bus);

/* ---- log.c ---- */

/* The last 256 detections of a run. */
#define MEND__LOG_MAX 256
typedef struct mend__log {
  mend__detection **ring;
  size_t capacity;
  uint64_t count; /* ever taken; the id of the latest */
} mend__log;

/* Makes room for one more. MEND_ENOMEM. */
mend_status mend__log_reserve(mend__log *log, const mend_allocator *allocator);
/* In room that was made: takes over the reference and sets the id. */
void mend__log_append(mend__log *log, mend__detection *detection);
mend_status mend__log_next(const mend__log *log, mend_detection_cursor *cursor, const mend_detection **ret_detection);
void mend__log_free(mend__log *log, const mend_allocator *allocator);

/* ---- One run's watch ---- */

typedef struct mend__hub mend__hub;
typedef struct mend__expiry mend__expiry;

/* Who wants a run watched by a watchdog: it stays as long as any of them does. */
typedef enum mend__claim {
  MEND__CLAIM_RUN,   /* mend_watchdog_watch_run: once */
  MEND__CLAIM_BUS,   /* the watchdog watches the whole bus: once */
  MEND__CLAIM_SCOPE, /* healing scopes: counted */
  MEND__CLAIM_COUNT
} mend__claim;

typedef struct mend__watch_entry {
  mend_watchdog *watchdog;
  void *state;
  uint64_t deadline_ns;
  bool is_open;                       /* false after a reset that could not open a new state */
  uint16_t claims[MEND__CLAIM_COUNT]; /* why it is here */
  uint32_t verdicts[8];               /* custom topics seen lately: topic << 1 | wanted, at topic % 8 */
} mend__watch_entry;

struct mend_watch {
  mend_run *run; /* not referenced: the watch ends with it */
  mend__hub *hub;
  const mend_allocator *allocator;
  atomic_size_t references;                     /* the slot's and the subscription's: its memory must outlast both */
  _Atomic uint64_t interests[MEND__KIND_WORDS]; /* what any entry wants; read without the lock */
  _Atomic uint64_t announced;                   /* detections */

  /* Under the run's lock. */
  mend__watch_entry *entries;
  size_t count, capacity;
  uint64_t next_ns;  /* the earliest deadline of the entries */
  uint64_t armed_ns; /* what the hub was told, maybe earlier: only an earlier one is worth telling */
  mend__log log;
  mend__ladder ladder;
  uint64_t seen_ns;  /* when anybody looked at the run last */
  uint64_t stood_ns; /* of the hub's, what the watchdogs have been told */

  /* Under the hub's lock. */
  mend__expiry *expiries; /* under way, the latest first */
  mend_deadline deadline;
  bool listed;
  mend_watch *next, *previous;
};

/* ---- expiry.c: expiries under way ---- */

/* On its thread's stack. */
struct mend__expiry {
  pthread_t thread;
  mend__expiry *earlier; /* of the same watch */
};
void mend__expiry_begin(mend__expiry *expiry, mend_watch *watch);
/* When what it found is announced. */
void mend__expiry_end(mend__expiry *expiry, mend_watch *watch);
/* Until none is under way on another thread; at once on a thread that has one itself. */
void mend__expiry_await(mend_watch *watch);

/* ---- emit.c ---- */

struct mend_emitter {
  mend_watch *watch;
  const mend_watchdog *watchdog;
  uint64_t cause_seq, detected_ns, wall_ns;
  bool closing; /* the log is about to go */
  mend__batch *batch;
};

/* ---- entries.c: the first five take the run's lock, the others want it held ---- */

/* Attaches the watchdog unless it is there. */
mend_status mend__watch_attach(mend_watch *watch, mend_watchdog *watchdog, mend__claim claim);
/* Takes a claim back, and the watchdog off when it was the last. */
void mend__watch_detach(mend_watch *watch, mend_watchdog *watchdog, mend__claim claim);
/* Takes the watchdog off, whoever wants it. MEND_ENOENT. */
mend_status mend__watch_remove(mend_watch *watch, mend_watchdog *watchdog);
bool mend__watch_has(mend_watch *watch, const mend_watchdog *watchdog);
/* Asks the watchdogs without deadlines of their own from now on every poll interval, counted from now. */
void mend__watch_poll_anew(mend_watch *watch);

/* When a watchdog without deadlines of its own is asked that was asked now. */
uint64_t mend__watch_next_poll(const mend_watch *watch, uint64_t now_ns);
/* Finds the earliest deadline, and tells the hub when it is earlier than what that knows. */
void mend__watch_arm(mend_watch *watch);
/* The run was reset. Errors: what open returns; the entry is then not open. */
mend_status mend__entry_reset(mend__watch_entry *entry, const mend_watch *watch);
void mend__entry_close(mend__watch_entry *entry);

static inline void mend__entry_ask_deadline(mend__watch_entry *entry) {
  const mend_watchdog_vtable *vtable = &entry->watchdog->vtable;
  if (vtable->deadline != NULL && vtable->expire != NULL) entry->deadline_ns = vtable->deadline(entry->state);
}

/* ---- pass.c ---- */

/* The watch as a subscriber of its run. */
mend_status mend__watch_event(void *ctx, const mend_event *event);
/* The hub's waiting is over: lets the watchdogs do what was due at judged_ns, not after `now`, and announces what they
 * find. */
mend_status mend__watch_expire(mend_watch *watch, uint64_t judged_ns, mend_time now);

/* ---- What is one a bus ---- */

struct mend__hub {
  mend_bus *bus; /* not referenced: the bus's slot holds the hub */
  const mend_allocator *allocator;
  mend_clock *clock;
  atomic_size_t references; /* the slot, every watch, every expire under way */
  _Atomic uint64_t poll_ns;
  _Atomic uint32_t ceiling;  /* of the ladder; 0: there is none */
  atomic_bool is_awaited;    /* somebody waits for its deadlines */
  _Atomic uint64_t stood_ns; /* a recorded host stood still for so long, in all */
  pthread_mutex_t lock;
  pthread_cond_t expiry_ended;

  /* Under the lock. */
  mend_watchdog **watchdogs; /* of the whole bus; NULL where one was taken back */
  size_t count, capacity;
  mend_watch *first, *last;  /* all watches */
  mend_deadlines *deadlines; /* of those that have one */
  mend_waker waker;
};

/* ---- hub.c ---- */

/* The bus's hub, made if need be. Errors: MEND_ENOMEM. */
mend_status mend__hub_of(mend_bus *bus, mend__hub **ret_hub);
mend__hub *mend__hub_retain(mend__hub *hub);
void mend__hub_release(mend__hub *hub);
void mend__hub_add(mend__hub *hub, mend_watch *watch);
/* Takes the watch out of the list and disarms it. */
void mend__hub_remove(mend__hub *hub, mend_watch *watch);
/* The watch after `watch` (NULL: the first) whose run is not at its end, with a reference to that run; drops the one to
 * the run of `watch`, which kept its place in the list. */
mend_watch *mend__hub_next_watch(mend__hub *hub, mend_watch *watch);
void mend__hub_set_ladder(mend__hub *hub, const mend_options *options);

/* ---- hub_time.c ---- */

void mend__hub_arm(mend__hub *hub, mend_watch *watch, uint64_t deadline_ns);
/* Of mend_deadlines, under the hub's lock: there is a deadline earlier than the one the waiter knows of. */
void mend__hub_wake(void *hub);
/* On a virtual clock: the hub is called when time passes. MEND_EEXIST: it is already. MEND_ENOMEM. */
mend_status mend__hub_drive(mend__hub *hub);
void mend__hub_set_poll_interval(mend__hub *hub, double seconds);

/* ---- hub_watchdogs.c ---- */

/* Takes a watchdog of the whole bus off all its runs; one that is not there is allowed. */
void mend__hub_remove_watchdog(mend__hub *hub, mend_watchdog *watchdog);
/* The watchdog at or after *position among those of the whole bus, with a reference; NULL at the end. */
mend_watchdog *mend__hub_watchdog(mend__hub *hub, size_t *position);

#endif

/* Private to hooks/: what a run knows of its calls, its aborts and its watchdog hooks. It hangs in the run's slot
 * MEND__SLOT_HOOKS and is covered by the run's lock. Nothing is published, no hook, tool, policy or on_cancel function
 * is called under that lock. */
#ifndef MEND_HOOKS_RUN_INTERNAL_H
#define MEND_HOOKS_RUN_INTERNAL_H

#include "bus/room.h"
#include "core/buffer.h"
#include "core/memory.h"
#include "mend/boundary.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct mend__decider mend__decider;
typedef struct mend__passage mend__passage;
typedef struct mend__run_state mend__run_state;

/* ---- open_calls.c: the passages that are open, in the order they were opened; under the run's lock ---- */

enum { MEND__OPEN_MAX = 65536, MEND__OPEN_FEW = 8 };

/* A place in the order: a passage's, or a bookmark of somebody who goes through them. */
typedef struct mend__open_link {
  struct mend__open_link *previous, *next;
  bool is_bookmark;
} mend__open_link;

typedef struct mend__open_calls {
  const mend_allocator *allocator;
  mend__open_link ends; /* of the ring of links */
  size_t count;
  mend__passage **by_hash; /* so many lists, a power of two, more when there is memory for more */
  size_t hash_size;
  mend__passage *few[MEND__OPEN_FEW];
} mend__open_calls;

void mend__open_calls_init(mend__open_calls *calls, const mend_allocator *allocator);
void mend__open_calls_free(mend__open_calls *calls);
void mend__open_calls_add(mend__open_calls *calls, mend__passage *passage);
void mend__open_calls_remove(mend__open_calls *calls, mend__passage *passage);
/* NULL: none is open by this number. */
mend__passage *mend__open_calls_find(const mend__open_calls *calls, uint64_t number);
/* The one behind it; NULL at the end. Begins with &calls->ends. */
mend__passage *mend__open_calls_next(const mend__open_calls *calls, const mend__open_link *link);
/* Without the lock: cancels the tokens of those that are picked, the first first. on_cancel functions run here, and
 * calls that nobody waits for go on here. */
void mend__open_calls_cancel(mend__run_state *state, bool (*picks)(const void *ctx, const mend__passage *passage),
                             const void *ctx, mend_str reason);

/* ---- abort.c: aborting, and why ---- */

typedef struct mend__abort {
  atomic_size_t references;
  const mend_allocator *allocator;
  mend_str reason, source; /* NUL-terminated pieces of `text` */
  char text[];
} mend__abort;

mend__abort *mend__abort_retain(mend__abort *abort); /* NULL is allowed, here and below: there was no memory for it */
void mend__abort_release(mend__abort *abort);
mend_str mend__abort_reason(const mend__abort *abort);
mend_str mend__abort_source(const mend__abort *abort); /* absent when it is not known */
/* Marks the frame that the passage is under (NULL: the innermost) and cancels the open calls under it. Nothing happens
 * when it is aborted already. */
void mend__run_state_abort(mend__run_state *state, const mend__passage *passage, mend_str reason, mend_str source);

/* ---- run_state.c ---- */

/* A step whose abort ends with it (confine_abort), or the run itself, the outermost. Belongs to who opens it. */
typedef struct mend__abort_frame {
  struct mend__abort_frame *outer;
  uint32_t depth; /* of the run's own: 0 */
  bool marked;
  mend__abort *abort;
} mend__abort_frame;

struct mend__run_state {
  mend_run *run; /* not referenced: the state ends with it */
  const mend_allocator *allocator;
  atomic_size_t references; /* the slot's and the subscription's: its memory must outlast both */

  /* Under the run's lock. */
  mend__abort_frame of_run, *innermost;
  mend__open_calls open;
  struct mend__abort_watch *watches;

  /* decider.c, question.c */
  _Atomic uint64_t decided;      /* announcements that have been looked at */
  atomic_uint questions;         /* that wait for the next before */
  pthread_mutex_t deciding_lock; /* covers what follows; nobody is called under it */
  pthread_cond_t changed;
  bool deciding, again;
  pthread_t decider;       /* the thread that decides, while `deciding` */
  mend_watch *watch;       /* NULL until there is a watchdog hook */
  mend__decider *deciders; /* changed only by who decides */
};

/* The run's, made if need be; valid as long as the run. MEND_ENOMEM. */
mend_status mend__run_state_get(mend_run *run, mend__run_state **ret_state);
/* Drops a reference. */
void mend__run_state_release(void *state);
static inline mend__run_state *mend__run_state_find(mend_run *run) { return mend__run_slot(run, MEND__SLOT_HOOKS); }

void mend__frame_open(mend__run_state *state, mend__abort_frame *frame);
/* Afterwards `marked` says whether it was aborted. */
void mend__frame_close(mend__run_state *state, mend__abort_frame *frame);
/* Under the run's lock: the mark that covers the frame, NULL for none. */
const mend__abort_frame *mend__frame_marked(const mend__abort_frame *frame);

/* ---- abort_watch.c: who waits for something that is no call (hooks/abort_watch.h) ---- */

/* Under the run's lock: the frame is being marked, and it is closed. */
void mend__abort_watches_doom(mend__run_state *state, const mend__abort_frame *frame);
void mend__abort_watches_hand_out(mend__run_state *state, const mend__abort_frame *frame);
/* Without the lock: cancels the tokens of those that are doomed. */
void mend__abort_watches_tell(mend__run_state *state, mend_str reason);

/* ---- decider.c: watchdog hooks ---- */

/* Errors: MEND_ENOMEM. */
mend_status mend__decider_add(mend__run_state *state, const mend_boundary *owner, const char *name, mend_policy policy,
                              void *ctx);
/* Never waits: a policy of the owner's that another thread asks now is asked to its end. */
void mend__deciders_remove(mend__run_state *state, const mend_boundary *owner);
/* The same, but when it returns no policy of the owner's is being asked, unless by this thread. */
void mend__deciders_end(mend__run_state *state, const mend_boundary *owner);
/* Has what is pending decided about, here or by the thread that does so already, which is waited for. An abort takes
 * effect at once. */
void mend__decide(mend__run_state *state);
/* Forgets what is pending. */
void mend__deciders_forget(mend__run_state *state);
/* A line each. */
void mend__deciders_dump(mend__run_state *state, mend__buffer *text);

#endif

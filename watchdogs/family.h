/* Private to watchdogs/: what is known of the runs that work for a call of another run. A run tells it here, and
 * whoever watches that call asks here, each under the lock of its own run only. */
#ifndef MEND_WATCHDOGS_FAMILY_H
#define MEND_WATCHDOGS_FAMILY_H

#include "mend/bus.h"
#include "watchdogs/table.h"

#include <pthread.h>
#include <stdatomic.h>

/* Those who work for one call, or for a run. */
typedef struct mend__kin mend__kin;

typedef struct mend__family {
  const mend_allocator *allocator;
  pthread_mutex_t lock;
  atomic_size_t count; /* of kin; no lock is taken while there are none */
  mend__table places;
  mend__kin *oldest_left, *newest_left; /* nobody works there any more, and somebody may still ask */
  size_t left_count;
} mend__family;

/* MEND_ENOMEM. */
mend_status mend__family_init(mend__family *family, const mend_allocator *allocator);
void mend__family_free(mend__family *family);

/* Joins those who work for the parent's call that `run` names, and for the parent; NULL for a run that names none.
 * MEND_ENOMEM. */
mend_status mend__family_join(mend__family *family, const mend_run *run, mend__kin **ret_kin);
/* Of one that is not busy. NULL is allowed. */
void mend__family_leave(mend__family *family, mend__kin *kin);

/* A sign of life; NULL is allowed. */
void mend__kin_note(mend__kin *kin, uint64_t now_ns);
/* A member begins, or ends, to have something open that is watched by itself. */
void mend__kin_set_busy(mend__kin *kin, bool is_busy);

typedef struct mend__kin_life {
  uint64_t last_ns; /* the last sign of life */
  bool is_busy;     /* a member has something open */
} mend__kin_life;
/* Of those who work, or lately worked, for this call of the run; call 0: for the run. False when there are none. */
bool mend__family_look(mend__family *family, const mend_run *run, uint64_t call, mend__kin_life *ret_life);

#endif

/* Private to healing_runner/. */
#ifndef MEND_HEALING_INTERNAL_H
#define MEND_HEALING_INTERNAL_H

#include "bus/room.h"
#include "core/memory.h"
#include "mend/healing.h"
#include "watchdogs/room.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- waiting.c: who waits for the deadlines of a bus ---- */

/* Scopes of one bus share one loop, for a bus has one waiter. Begins waiting with the first of them, on `loop` or, when
 * that is NULL, one made for it. Errors: those of mend_loop_new. */
mend_status mend__waiting_begin(mend_bus *bus, mend_loop *loop, mend_error *error);
/* Ends with the last. */
void mend__waiting_end(mend_bus *bus);

/* ---- models.c ---- */

/* Makes runner->model of the names, a JSON array, if there are any. Errors: those of mend_fallback_new; unless the
 * runner may do without. */
mend_status mend__models_open(mend_healing_runner *runner, const mend_healing_options *options, mend_str models,
                              mend_error *error);

/* ---- A runner and its scope ---- */

/* What is counted of a scope's run. A publish on another thread may be counting when the scope and its runner are gone,
 * so the scope and its subscription have a reference each. */
typedef struct mend__healing_counts {
  atomic_size_t references;
  const mend_allocator *allocator;
  atomic_uint_least64_t detections, actions;
} mend__healing_counts;

/* What a scope sets up, in this order; exit and a failed enter take it down from the end. */
typedef struct mend__healing_scope {
  _Atomic(mend_boundary *) boundary;
  mend__healing_counts *counts;
  mend_subscription *counting;
  size_t watched; /* of the runner's watchdogs, from the first */
  bool waits;
} mend__healing_scope;

struct mend_healing_runner {
  const mend_allocator *allocator;
  atomic_size_t references;
  mend_bus *bus;
  mend_options config;                            /* without its JSON texts: no scope looks at them */
  const char *warnings[MEND__WATCH_WARNINGS_MAX]; /* about it */
  size_t warning_count;
  mend_tools *tools;
  mend_hooks *hooks;
  void *state;
  mend_watchdog **watchdogs; /* those that config enables, then the given ones */
  size_t watchdog_count, builtin_count;
  mend_policy policy;
  void *policy_ctx;
  mend_loop *loop;
  uint64_t exit_grace_ns;
  mend_model *model;   /* NULL: none is configured, or none could be made: */
  mend_error no_model; /* why; MEND_OK: there is one, or none is configured */

  pthread_mutex_t lock; /* covers all below; held while entering, not while leaving waits for calls */
  mend_run *run;        /* the one it belongs to, from the first enter on */
  bool made_run;        /* whose beginning and end are the scope's to tell */
  unsigned depth;       /* while it is above 0 the runner holds a reference to itself */
  bool leaving;
  mend__healing_scope scope;
};

/* ---- scope_parts.c ---- */

/* What was set up is taken down again when a later step fails. */
mend_status mend__scope_set_up(mend_healing_runner *runner, mend_error *error);
void mend__scope_take_down(mend_healing_runner *runner);
/* The loop lets go of the scope's run. Also done by taking down. */
void mend__scope_stop_waiting(mend_healing_runner *runner);

/* ---- scope_words.c ---- */

/* `healing.started`, before it `run.started` of a run that is the scope's to tell. Errors: those of mend_run_publish,
 * MEND_ENOMEM. */
mend_status mend__scope_say_started(mend_healing_runner *runner, mend_error *error);
/* `healing.stopped`, and `run.finished` likewise. */
void mend__scope_say_stopped(mend_healing_runner *runner, uint64_t abandoned);
/* NULL is allowed. */
void mend__scope_report(mend_healing_runner *runner, uint64_t abandoned, mend_healing_report *ret_report);

#endif

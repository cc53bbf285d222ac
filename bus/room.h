/* House header: what the rooms above the bus may use beside mend/bus.h. */
#ifndef MEND_BUS_ROOM_H
#define MEND_BUS_ROOM_H

#include "mend/bus.h"

/* ---- After the event ---- */

/* Something to be done on this thread when the event now being delivered to the calling handler has been delivered to
 * everybody, in the order it was asked for: this is how a detection is announced after its cause. The node belongs to
 * the caller and must live until `run` is called; run may free it and may publish. Outside of a handler of this bus:
 * MEND_ENOENT, and the caller does it itself. */
typedef struct mend__after {
  struct mend__after *next;
  void (*run)(struct mend__after *after);
} mend__after;
mend_status mend__emit_after(mend_bus *bus, mend__after *after);

/* For a handler that stands for several parts and is about to return an error: which of them failed, for
 * `bus.handler_failed`, which names the subscription's pattern otherwise. Copied, cut to 63 bytes. */
void mend__name_failure(mend_bus *bus, mend_str name);

/* Whether this thread is in a handler or a destroy function, where mend_bus_quiesce is refused. */
bool mend__would_wait_for_itself(const mend_bus *bus);

/* mend_run_publish for an event that was read: a span that it names stays, and one without gets its call's. */
mend_status mend__run_publish_in_span(mend_run *run, mend_event *event);

/* The built-in kind with this topic; MEND_EVENT_CUSTOM for a topic that is no built-in one. */
mend_event_kind mend__kind_from_topic(mend_str topic);

/* ---- Things of other rooms that hang on a bus or a run ---- */

typedef enum mend__slot {
  MEND__SLOT_WATCH,
  MEND__SLOT_HOOKS,
  MEND__SLOT_HEALING,
  MEND__SLOT_METACOGNITION,
  MEND__SLOT_COUNT
} mend__slot;

/* Called when the owner is freed, after its last event and when no handler can be running. */
typedef void (*mend__slot_release)(void *object);
/* What hangs there, or NULL. */
void *mend__bus_slot(mend_bus *bus, mend__slot slot);
void *mend__run_slot(mend_run *run, mend__slot slot);
/* Hangs `object` there unless something does already; returns what hangs there then: compare to see who won. */
void *mend__bus_slot_put(mend_bus *bus, mend__slot slot, void *object, mend__slot_release release);
void *mend__run_slot_put(mend_run *run, mend__slot slot, void *object, mend__slot_release release);

/* Calls `opened` for every run made from now on, on the thread that makes it, before anybody else has it, and for
 * every run alive now. One observer a slot; MEND_EEXIST when there is one. An error about a run made later is
 * reported on that run as `bus.handler_failed`; one about a run alive now is returned, and nobody observes. Lives as
 * long as the bus. */
typedef mend_status (*mend__run_opened)(void *ctx, mend_run *run);
mend_status mend__bus_observe_runs(mend_bus *bus, mend__slot slot, mend__run_opened opened, void *ctx);

/* A reference to a run that somebody else keeps from being freed (a lock that its slot's release takes, for example),
 * unless the run is at its end already. */
bool mend__run_try_retain(mend_run *run);

/* ---- Log ---- */

void mend__bus_log(const mend_bus *bus, mend_log_level level, const char *message);

/* ---- The run's lock ---- */

/* One mutex a run, for the rooms above; never held by the bus, never held while publishing. */
void mend__run_lock(mend_run *run);
void mend__run_unlock(mend_run *run);

#endif

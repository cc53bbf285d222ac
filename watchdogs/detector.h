/* Private to watchdogs/: what the built-in watchdogs share. Of the watch that calls them they know as little as one of
 * somebody else's does. */
#ifndef MEND_WATCHDOGS_DETECTOR_H
#define MEND_WATCHDOGS_DETECTOR_H

#include "core/buffer.h"
#include "mend/watchdogs.h"
#include "watchdogs/kept_text.h"

#include <stdatomic.h>

/* What a built-in watchdog counts, over all its runs. */
typedef struct mend__counters {
  _Atomic uint64_t ignored, duplicates, unwatched, raw;
} mend__counters;

static inline void mend__count(_Atomic uint64_t *counter) {
  atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* mend_watchdog_new with counters, which are in ctx. */
mend_status mend__watchdog_new_counting(const mend_watchdog_vtable *vtable, void *ctx, mend__counters *counters,
                                        const mend_allocator *allocator, mend_watchdog **ret_watchdog,
                                        mend_error *error);

/* ---- Telling ---- */

/* Seconds with one decimal, for sentences. */
void mend__buffer_tenths(mend__buffer *buffer, uint64_t ns);
/* A tool's name in a sentence, cut to a usual length; "a call" when it has none. */
void mend__buffer_tool(mend__buffer *buffer, mend_str tool_name);
/* Emits, with summary and payload from `text`, in which the payload begins at `payload_at`. */
mend_status mend__emit_written(mend_emitter *emitter, mend_detection *detection, const mend__buffer *text,
                               size_t payload_at);
/* The id of the latest detection that was emitted. */
uint64_t mend__emitter_last_id(const mend_emitter *emitter);
/* The wall time of an earlier moment, counted back from when the evidence is complete: in between the clock may have
 * stood still. */
uint64_t mend__emitter_wall_of(const mend_emitter *emitter, uint64_t mono_ns);
/* Has a copy of the event published on the run, behind what was emitted; not from the last expire. MEND_ENOMEM. */
mend_status mend__emit_event(mend_emitter *emitter, mend_event *event);

#endif

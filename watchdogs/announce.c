/* How the bus hears of what watchdogs found: once each, after the event that was the cause. */
#include "watchdogs/room.h"
#include "watchdogs/watchdogs_internal.h"

bool mend__detection_is_announced(const mend_detection *detection) {
  return atomic_load_explicit(&mend__detection_of(detection)->announced, memory_order_acquire);
}

static void count_announced(mend_watch *watch, mend__detection *block) {
  if (!atomic_exchange(&block->announced, true)) atomic_fetch_add(&watch->announced, 1);
}

uint64_t mend__run_announcements(mend_run *run) {
  mend_watch *watch = mend__run_slot(run, MEND__SLOT_WATCH);
  return watch != NULL ? atomic_load(&watch->announced) : 0;
}

void mend__run_announced(mend_run *run, uint64_t id) {
  mend_watch *watch = mend__run_slot(run, MEND__SLOT_WATCH);
  mend_detection_cursor cursor = {.next = id - 1};
  const mend_detection *detection;
  if (watch == NULL || mend_watch_next(watch, &cursor, &detection) != MEND_OK) return;
  if (detection->id == id) count_announced(watch, mend__detection_of(detection));
  mend_detection_release(detection);
}

/* A publish that is refused, for nesting too deeply, is counted and reported by the bus. */
static void publish(mend_run *run, const mend_detection *detection) {
  mend_detection_event event = MEND_DETECTION_EVENT_INIT;
  event.detection_id = detection->id;
  event.detector = detection->detector;
  event.kind = detection->kind;
  event.reason = detection->reason;
  event.severity = detection->severity;
  event.confidence = detection->confidence;
  event.summary = detection->summary;
  event.tool_name = detection->tool_name;
  event.first_call_id = detection->first_call;
  event.last_call_id = detection->last_call;
  if (detection->count != 0) event.count = detection->count;
  if (detection->period != 0) event.period = detection->period;
  event.evidence = detection->evidence;
  event.steer = detection->steer;
  event.detected_at = (double)detection->wall_ns / 1e9;
  if (detection->cause_seq != 0) event.cause_seq = detection->cause_seq;
  event.payload = detection->payload;
  event.incident = detection->incident;
  if (detection->occurrence != 0) event.occurrence = detection->occurrence;
  if (detection->rung != MEND_RUNG_NONE) event.rung = mend_str_from(mend_rung_name(detection->rung));
  mend_run_publish(run, &event.event);
}

static void announce(mend__after *after) {
  mend__detection *block = MEND__CONTAINER(after, mend__detection, after);
  mend_run *run = block->run;
  block->run = NULL;
  publish(run, &block->detection);
  count_announced(mend__run_slot(run, MEND__SLOT_WATCH), block);
  mend_detection_release(&block->detection);
  mend_run_release(run);
}

void mend__batch_announce(mend__batch *batch, mend_run *run) {
  mend_bus *bus = mend_run_bus(run);
  for (mend__detection *block = batch->first, *next; block != NULL; block = next) {
    next = block->next;
    block->run = mend_run_retain(run);
    block->after.run = announce;
    if (mend__emit_after(bus, &block->after) != MEND_OK) announce(&block->after);
  }
  mend__batch_announce_notices(batch, bus);
  if (batch->refusal == NULL) return;
  mend__bus_log(bus, MEND_LOG_WARNING, batch->refusal);
  mend__free(mend_bus_allocator(bus), batch->refusal);
  batch->refusal = NULL;
}

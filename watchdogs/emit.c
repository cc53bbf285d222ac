/* What a watchdog has to say: into the log of its run, and into the batch that is announced. */
#include "core/seconds.h"
#include "watchdogs/watchdogs_internal.h"

/* Told when the run's lock is free. */
static void note_refusal(mend_emitter *emitter, const mend_error *error) {
  mend__batch *batch = emitter->batch;
  if (error->status == MEND_OK || batch->refusal != NULL) return;
  mend_error sentence;
  mend_error_set(&sentence, error->status, "watchdog %s: a detection was refused: %s", emitter->watchdog->name,
                 error->message);
  batch->refusal = mend__str_copy(emitter->watch->allocator, mend_str_from(sentence.message));
}

mend_status mend_emit(mend_emitter *emitter, const mend_detection *given) {
  if (emitter == NULL || given == NULL) return MEND_EINVAL;
  mend_watch *watch = emitter->watch;
  if (emitter->closing) return MEND_ECLOSED;
  mend_error error = MEND_ERROR_INIT;
  mend__detection *detection;
  mend_status status = mend__detection_new(given, mend_str_from(emitter->watchdog->name), mend_run_id(watch->run),
                                           watch->allocator, &detection, &error);
  if (status != MEND_OK) {
    note_refusal(emitter, &error);
    return status;
  }
  detection->detection.cause_seq = emitter->cause_seq;
  detection->detection.detected_ns = emitter->detected_ns;
  detection->detection.wall_ns = emitter->wall_ns;
  const uint32_t ceiling = atomic_load_explicit(&watch->hub->ceiling, memory_order_relaxed);
  status = mend__log_reserve(&watch->log, watch->allocator);
  if (status == MEND_OK) {
    status = mend__ladder_climb(&watch->ladder, ceiling, &detection->detection, watch->allocator);
  }
  if (status != MEND_OK) {
    mend_detection_release(&detection->detection);
    return status;
  }
  mend__log_append(&watch->log, detection);
  mend_detection_retain(&detection->detection); /* the log's reference, and the batch's until it is announced */
  mend__batch *batch = emitter->batch;
  *(batch->last != NULL ? &batch->last->next : &batch->first) = detection;
  batch->last = detection;
  return MEND_OK;
}

mend_status mend__emit_event(mend_emitter *emitter, mend_event *event) {
  event->run = emitter->watch->run;
  return mend__batch_add_notice(emitter->batch, event, emitter->watch->allocator);
}

uint64_t mend__emitter_last_id(const mend_emitter *emitter) { return emitter->watch->log.count; }

uint64_t mend__emitter_wall_of(const mend_emitter *emitter, uint64_t mono_ns) {
  return mend__ns_between(mend__ns_between(mono_ns, emitter->detected_ns), emitter->wall_ns);
}

#include "watchdogs/watchdogs_internal.h"

struct mend__notice {
  mend__after after;
  mend__notice *next;
  const mend_allocator *allocator;
  mend_event *event; /* a clone, which keeps its run */
};

mend_status mend__batch_add_notice(mend__batch *batch, const mend_event *event, const mend_allocator *allocator) {
  mend__notice *notice = mend__alloc_zero(allocator, sizeof *notice);
  if (notice == NULL) return MEND_ENOMEM;
  notice->allocator = allocator;
  const mend_status status = mend_event_clone(event, allocator, &notice->event);
  if (status != MEND_OK) {
    mend__free(allocator, notice);
    return status;
  }
  *(batch->last_notice != NULL ? &batch->last_notice->next : &batch->first_notice) = notice;
  batch->last_notice = notice;
  return MEND_OK;
}

static void announce(mend__after *after) {
  mend__notice *notice = MEND__CONTAINER(after, mend__notice, after);
  mend_run_publish(notice->event->run, notice->event);
  mend_event_free(notice->event);
  mend__free(notice->allocator, notice);
}

void mend__batch_announce_notices(mend__batch *batch, mend_bus *bus) {
  for (mend__notice *notice = batch->first_notice, *next; notice != NULL; notice = next) {
    next = notice->next;
    notice->after.run = announce;
    if (mend__emit_after(bus, &notice->after) != MEND_OK) announce(&notice->after);
  }
}

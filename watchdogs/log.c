/* The latest detections of a run, in a ring. */
#include "watchdogs/watchdogs_internal.h"

static mend__detection **place(const mend__log *log, uint64_t index) { return &log->ring[index % log->capacity]; }

/* Until it is as long as it gets the ring has never gone round, so a longer one begins the same. */
mend_status mend__log_reserve(mend__log *log, const mend_allocator *allocator) {
  if (log->count < log->capacity || log->capacity == MEND__LOG_MAX) return MEND_OK;
  const size_t capacity = log->capacity == 0 ? 4 : log->capacity * 2;
  mend__detection **ring = mend__realloc(allocator, log->ring, capacity * sizeof *ring);
  if (ring == NULL) return MEND_ENOMEM;
  log->ring = ring;
  log->capacity = capacity;
  return MEND_OK;
}

void mend__log_append(mend__log *log, mend__detection *detection) {
  mend__detection **slot = place(log, log->count);
  if (log->count >= MEND__LOG_MAX) mend_detection_release(&(*slot)->detection);
  *slot = detection;
  detection->detection.id = ++log->count;
}

mend_status mend__log_next(const mend__log *log, mend_detection_cursor *cursor, const mend_detection **ret_detection) {
  const uint64_t oldest = log->count > MEND__LOG_MAX ? log->count - MEND__LOG_MAX : 0;
  if (cursor->next < oldest) {
    cursor->lost += oldest - cursor->next;
    cursor->next = oldest;
  }
  if (cursor->next >= log->count) return MEND_ENOENT;
  *ret_detection = mend_detection_retain(&(*place(log, cursor->next))->detection);
  cursor->next++;
  return MEND_OK;
}

void mend__log_free(mend__log *log, const mend_allocator *allocator) {
  const uint64_t kept = log->count < MEND__LOG_MAX ? log->count : MEND__LOG_MAX;
  for (uint64_t i = 1; i <= kept; i++)
    mend_detection_release(&(*place(log, log->count - i))->detection);
  mend__free(allocator, log->ring);
}

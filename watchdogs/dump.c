/* A run's watch as text: which watchdogs, what they know, what they found. */
#include "watchdogs/room.h"
#include "watchdogs/watchdogs_internal.h"

#include <inttypes.h>

static void write_head(mend__buffer *text, mend_watch *watch) {
  mend__buffer_str(text, MEND_STR("watch of run "));
  mend__buffer_quoted(text, mend_run_id(watch->run));
  mend__buffer_str(text, MEND_STR(": it is "));
  mend__buffer_time(text, mend_clock_now(watch->hub->clock).mono_ns);
  mend__buffer_str(text, MEND_STR(", the next deadline is "));
  mend__buffer_time(text, watch->next_ns);
  mend__buffer_str(text, MEND_STR(", looked for at "));
  mend__buffer_time(text, watch->armed_ns);
  mend__buffer_char(text, '\n');
}

/* ---- Watchdogs ---- */

static void write_claims(mend__buffer *text, const mend__watch_entry *entry) {
  if (entry->claims[MEND__CLAIM_BUS] > 0) mend__buffer_str(text, MEND_STR(" bus"));
  if (entry->claims[MEND__CLAIM_RUN] > 0) mend__buffer_str(text, MEND_STR(" run"));
  if (entry->claims[MEND__CLAIM_SCOPE] > 0) mend__buffer_printf(text, " scopes=%u", entry->claims[MEND__CLAIM_SCOPE]);
}

static void write_state(mend__buffer *text, const mend__watch_entry *entry) {
  enum { LINE_SIZE = 200 };
  char line[LINE_SIZE] = "";
  if (entry->watchdog->vtable.describe == NULL) return;
  entry->watchdog->vtable.describe(entry->state, line, sizeof line);
  mend__buffer_printf(text, ": %s", line);
}

static void write_deadline(mend__buffer *text, const mend__watch_entry *entry) {
  if (entry->watchdog->vtable.expire == NULL) return;
  mend__buffer_str(text, mend__watchdog_polls(entry->watchdog) ? MEND_STR(", polled at ") : MEND_STR(", deadline "));
  mend__buffer_time(text, entry->deadline_ns);
}

static void write_entry(mend__buffer *text, const mend__watch_entry *entry) {
  mend__buffer_printf(text, "  %s, for", entry->watchdog->name);
  write_claims(text, entry);
  if (!entry->is_open) {
    mend__buffer_str(text, MEND_STR(": not open, there was an error\n"));
    return;
  }
  write_deadline(text, entry);
  write_state(text, entry);
  mend__buffer_char(text, '\n');
}

static void write_entries(mend__buffer *text, const mend_watch *watch) {
  mend__buffer_printf(text, "watchdogs: %zu\n", watch->count);
  for (size_t i = 0; i < watch->count; i++)
    write_entry(text, &watch->entries[i]);
}

/* ---- Detections ---- */

static void write_detection(mend__buffer *text, const mend_detection *detection) {
  mend__buffer_printf(text, "  %" PRIu64 " %s %s at ", detection->id, detection->detector.ptr, detection->reason.ptr);
  mend__buffer_time(text, detection->detected_ns);
  if (detection->cause_seq != 0) mend__buffer_printf(text, ", event %" PRIu64, detection->cause_seq);
  if (!mend__detection_is_announced(detection)) mend__buffer_str(text, MEND_STR(", not announced yet"));
  mend__buffer_str(text, MEND_STR(": "));
  mend__buffer_quoted(text, detection->summary);
  mend__buffer_char(text, '\n');
}

static void write_log(mend__buffer *text, mend_watch *watch) {
  mend_detection_cursor cursor = MEND_DETECTION_CURSOR_INIT;
  const mend_detection *detection;
  mend__buffer_printf(text, "detections: %" PRIu64 ", announced %" PRIu64 "\n", watch->log.count,
                      atomic_load(&watch->announced));
  while (mend__log_next(&watch->log, &cursor, &detection) == MEND_OK) {
    write_detection(text, detection);
    mend_detection_release(detection);
  }
}

static void write_watch(mend__buffer *text, mend_watch *watch) {
  mend__run_lock(watch->run);
  write_head(text, watch);
  write_entries(text, watch);
  write_log(text, watch);
  mend__run_unlock(watch->run);
}

mend_status mend_run_watch_dump(mend_run *run, const mend_allocator *allocator, char **ret_text) {
  if (run == NULL) return MEND_EINVAL;
  mend_watch *watch = mend__run_slot(run, MEND__SLOT_WATCH);
  if (watch == NULL) return MEND_ENOENT;
  mend__buffer text;
  mend__buffer_init(&text, allocator);
  write_watch(&text, watch);
  return mend__buffer_take(&text, ret_text, NULL);
}

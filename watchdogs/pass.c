/* What a watch does for an event or a deadline: its watchdogs are called under the run's lock, and what they found is
 * announced without it. */
#include "core/seconds.h"
#include "watchdogs/room.h"
#include "watchdogs/watchdogs_internal.h"

/* MEND_NEVER is never due, not even when the clock has come to the end of time. */
static bool is_due(uint64_t deadline_ns, uint64_t now_ns) { return deadline_ns <= now_ns && deadline_ns != MEND_NEVER; }

/* ---- Which events ---- */

static bool is_interesting(mend_watch *watch, mend_event_kind kind) {
  return (atomic_load_explicit(&watch->interests[kind / 64], memory_order_relaxed) >> (kind % 64) & 1) != 0;
}

/* A custom topic is compared with the patterns when it is first seen; then its verdict is remembered for a while. */
static bool wants(mend__watch_entry *entry, mend_watch *watch, const mend_event *event) {
  const mend__wants *topics = &entry->watchdog->wants;
  if (!mend__wants_kind(topics, event->kind)) return false;
  if (event->kind != MEND_EVENT_CUSTOM) return true;
  uint32_t *verdict = &entry->verdicts[event->topic % (sizeof entry->verdicts / sizeof *entry->verdicts)];
  if (*verdict >> 1 != event->topic) {
    const mend_str name = mend_bus_topic_name(mend_run_bus(watch->run), event->topic);
    *verdict = event->topic << 1 | mend__wants_match(topics, name);
  }
  return (*verdict & 1) != 0;
}

/* ---- A pass: what is done for one event or one expiry, under the run's lock ---- */

typedef struct watch_pass {
  mend_watch *watch;
  mend__batch batch;
  uint64_t failures;
  mend_status first_failure;
  mend_watchdog *failed; /* the first one to fail, referenced */
} watch_pass;

static void note_status(watch_pass *pass, const mend__watch_entry *entry, mend_status status) {
  if (status == MEND_OK || pass->failures++ > 0) return;
  pass->first_failure = status;
  pass->failed = mend_watchdog_retain(entry->watchdog);
}

static void call_event(watch_pass *pass, mend__watch_entry *entry, const mend_event *event) {
  const mend_watchdog_vtable *vtable = &entry->watchdog->vtable;
  if (vtable->event == NULL) return;
  mend_emitter emitter = {
      pass->watch, entry->watchdog, event->seq, event->mono_ns, event->wall_ns, false, &pass->batch,
  };
  note_status(pass, entry, vtable->event(entry->state, event, &emitter));
  mend__entry_ask_deadline(entry);
}

static void call_expire(watch_pass *pass, mend__watch_entry *entry, mend_time now, uint64_t deadline_ns) {
  const uint64_t late_ns = now.mono_ns - deadline_ns;
  const uint64_t wall_ns = now.wall_ns > late_ns ? now.wall_ns - late_ns : 0;
  mend_emitter emitter = {pass->watch, entry->watchdog, 0, deadline_ns, wall_ns, false, &pass->batch};
  note_status(pass, entry, entry->watchdog->vtable.expire(entry->state, now.mono_ns, &emitter));
}

/* Deadline after deadline, so that each detection bears the time of its own. One that does not move on is a mistake of
 * the watchdog's: it is asked again a poll later. */
static void expire_entry(watch_pass *pass, mend__watch_entry *entry, mend_time now) {
  const uint64_t poll_ns = mend__watch_next_poll(pass->watch, now.mono_ns);
  if (mend__watchdog_polls(entry->watchdog)) {
    call_expire(pass, entry, now, now.mono_ns);
    entry->deadline_ns = poll_ns;
    return;
  }
  while (is_due(entry->deadline_ns, now.mono_ns)) {
    const uint64_t deadline_ns = entry->deadline_ns;
    call_expire(pass, entry, now, deadline_ns);
    mend__entry_ask_deadline(entry);
    if (entry->deadline_ns <= deadline_ns) entry->deadline_ns = poll_ns;
  }
}

static void expire_entries(watch_pass *pass, mend_time now) {
  for (size_t i = 0; i < pass->watch->count; i++) {
    mend__watch_entry *entry = &pass->watch->entries[i];
    if (is_due(entry->deadline_ns, now.mono_ns)) expire_entry(pass, entry, now);
  }
}

static void reset_entries(watch_pass *pass) {
  mend__ladder_reset(&pass->watch->ladder, pass->watch->allocator);
  for (size_t i = 0; i < pass->watch->count; i++) {
    mend__watch_entry *entry = &pass->watch->entries[i];
    note_status(pass, entry, mend__entry_reset(entry, pass->watch));
  }
}

/* ---- Time that stood still ---- */

/* A host that was suspended, a process that was stopped: whoever waits for the deadlines comes far too late, and what
 * was open had no chance to go on either. */
static bool was_suspended(mend_watch *watch, uint64_t now_ns) {
  enum { FAR_BEYOND = 10 };
  mend__hub *hub = watch->hub;
  if (!is_due(watch->next_ns, now_ns) || !atomic_load_explicit(&hub->is_awaited, memory_order_relaxed)) return false;
  const uint64_t poll_ns = atomic_load_explicit(&hub->poll_ns, memory_order_relaxed);
  return (now_ns - watch->next_ns) / FAR_BEYOND > poll_ns && is_interesting(watch, MEND_EVENT_CLOCK_REBASED);
}

static mend_clock_rebased_event make_rebased(const mend_watch *watch, mend_time now, uint64_t gap_ns) {
  mend_clock_rebased_event event = MEND_CLOCK_REBASED_EVENT_INIT;
  event.event.run = watch->run;
  event.event.mono_ns = now.mono_ns;
  event.event.wall_ns = now.wall_ns;
  event.gap_s = (double)gap_ns / (double)MEND_SECOND_NS;
  return event;
}

/* Tells those who want to know; returns the last of them, NULL when there are none. */
static const mend__watch_entry *tell_rebased(watch_pass *pass, const mend_event *rebased) {
  mend_watch *watch = pass->watch;
  const mend__watch_entry *told = NULL;
  for (size_t i = 0; i < watch->count; i++) {
    mend__watch_entry *entry = &watch->entries[i];
    if (!entry->is_open || !wants(entry, watch, rebased)) continue;
    call_event(pass, entry, rebased);
    told = entry;
  }
  return told;
}

/* When it began nobody knows: at the latest look at the run, for all that can be said. */
static void rebase(watch_pass *pass, mend_time now) {
  mend_watch *watch = pass->watch;
  const mend_clock_rebased_event event = make_rebased(watch, now, mend__ns_between(watch->seen_ns, now.mono_ns));
  const mend__watch_entry *told = tell_rebased(pass, &event.event);
  if (told == NULL) return;
  note_status(pass, told, mend__batch_add_notice(&pass->batch, &event.event, watch->allocator));
}

/* Tells for how long a recorded host stood still since the run was looked at last. */
static void catch_up(watch_pass *pass, mend_time now) {
  mend_watch *watch = pass->watch;
  const uint64_t stood_ns = atomic_load_explicit(&watch->hub->stood_ns, memory_order_relaxed);
  if (stood_ns == watch->stood_ns) return;
  const mend_clock_rebased_event event = make_rebased(watch, now, stood_ns - watch->stood_ns);
  watch->stood_ns = stood_ns;
  tell_rebased(pass, &event.event);
}

/* `now`, as it was before: at judged_ns. */
static mend_time time_at(uint64_t judged_ns, mend_time now) {
  const uint64_t ago_ns = now.mono_ns - judged_ns;
  return (mend_time){judged_ns, now.wall_ns > ago_ns ? now.wall_ns - ago_ns : 0};
}

/* Does what was due at judged_ns. Whether time stood still shows in how late it is now. */
static void look(watch_pass *pass, uint64_t judged_ns, mend_time now) {
  if (was_suspended(pass->watch, now.mono_ns)) rebase(pass, now);
  expire_entries(pass, time_at(judged_ns, now));
}

/* ---- The watch as a subscriber, and as one who waits ---- */

/* What the watch notices by itself, or is told of all runs, is no news when it is published. */
static bool is_own(const mend_watch *watch, const mend_event *event) {
  if (event->kind != MEND_EVENT_CLOCK_REBASED) return false;
  return atomic_load_explicit(&watch->hub->is_awaited, memory_order_relaxed) ||
         atomic_load_explicit(&watch->hub->stood_ns, memory_order_relaxed) > 0;
}

/* A deadline before the event has passed before it, whether or not anybody waited for it. */
mend_status mend__watch_event(void *ctx, const mend_event *event) {
  mend_watch *watch = ctx;
  if (!is_interesting(watch, event->kind) || is_own(watch, event)) return MEND_OK;
  watch_pass pass = {.watch = watch};
  const mend_time now = {event->mono_ns, event->wall_ns};
  mend__run_lock(watch->run);
  catch_up(&pass, now);
  if (is_due(watch->next_ns, now.mono_ns)) look(&pass, now.mono_ns, now);
  if (event->kind == MEND_EVENT_RUN_RESET) reset_entries(&pass);
  for (size_t i = 0; i < watch->count; i++) {
    mend__watch_entry *entry = &watch->entries[i];
    if (entry->is_open && wants(entry, watch, event)) call_event(&pass, entry, event);
  }
  watch->seen_ns = event->mono_ns;
  mend__watch_arm(watch);
  mend__run_unlock(watch->run);
  mend__batch_announce(&pass.batch, watch->run);
  if (pass.failed != NULL) mend__name_failure(mend_run_bus(watch->run), mend_str_from(mend_watchdog_name(pass.failed)));
  mend_watchdog_release(pass.failed);
  return pass.first_failure;
}

static void report_failure(const watch_pass *pass, mend_run *run) {
  mend_bus_handler_failed_event event = MEND_BUS_HANDLER_FAILED_EVENT_INIT;
  event.handler = mend_str_from(mend_watchdog_name(pass->failed));
  event.status = mend_str_from(mend_status_name(pass->first_failure));
  event.failures = pass->failures;
  mend_run_publish(run, &event.event);
}

static void make_polls_due(mend_watch *watch, mend_time now) {
  for (size_t i = 0; i < watch->count; i++) {
    mend__watch_entry *entry = &watch->entries[i];
    if (entry->is_open && mend__watchdog_polls(entry->watchdog)) entry->deadline_ns = now.mono_ns;
  }
}

static mend_status expire(mend_watch *watch, uint64_t judged_ns, mend_time now, bool polls_all) {
  watch_pass pass = {.watch = watch};
  mend_run *run = watch->run;
  mend__expiry expiry;
  mend__expiry_begin(&expiry, watch);
  mend__run_lock(run);
  watch->armed_ns = MEND_NEVER;
  catch_up(&pass, now);
  if (polls_all) make_polls_due(watch, now);
  look(&pass, judged_ns, now);
  watch->seen_ns = now.mono_ns;
  mend__watch_arm(watch);
  mend__run_unlock(run);
  mend__batch_announce(&pass.batch, run);
  if (pass.failures > 0) report_failure(&pass, run);
  mend__expiry_end(&expiry, watch);
  mend_watchdog_release(pass.failed);
  return pass.first_failure;
}

mend_status mend__watch_expire(mend_watch *watch, uint64_t judged_ns, mend_time now) {
  return expire(watch, judged_ns, now, false);
}

void mend__run_poll_watchdogs(mend_run *run) {
  mend_watch *watch = mend__run_slot(run, MEND__SLOT_WATCH);
  if (watch == NULL) return;
  mend__expiry_await(watch); /* what another thread has found it announces */
  const mend_time now = mend_clock_now(watch->hub->clock);
  expire(watch, now.mono_ns, now, true);
}

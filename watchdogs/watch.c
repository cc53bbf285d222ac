#include "watchdogs/room.h"
#include "watchdogs/watchdogs_internal.h"

#include <sched.h>

static uint64_t add_saturating(uint64_t a, uint64_t b) { return a > MEND_NEVER - b ? MEND_NEVER : a + b; }

/* MEND_NEVER is never due, not even when the clock has come to the end of time. */
static bool is_due(uint64_t deadline_ns, uint64_t now_ns) { return deadline_ns <= now_ns && deadline_ns != MEND_NEVER; }

/* ---- Emitting ---- */

mend_status mend_emit(mend_emitter *emitter, const mend_detection *given) {
  mend_watch *watch = emitter->watch;
  if (emitter->closing) return MEND_ECLOSED;
  mend__detection *detection;
  mend_status status = mend__detection_new(given, mend_str_from(emitter->watchdog->name), mend_run_id(watch->run),
                                           watch->allocator, &detection);
  if (status != MEND_OK) return status;
  detection->detection.cause_seq = emitter->cause_seq;
  detection->detection.detected_ns = emitter->detected_ns;
  detection->detection.wall_ns = emitter->wall_ns;
  status = mend__log_append(&watch->log, detection, watch->allocator);
  if (status != MEND_OK) {
    mend_detection_release(&detection->detection);
    return status;
  }
  mend_detection_retain(&detection->detection); /* the log's reference, and the batch's until it is announced */
  mend__batch *batch = emitter->batch;
  *(batch->last != NULL ? &batch->last->next : &batch->first) = detection;
  batch->last = detection;
  return MEND_OK;
}

/* ---- Which events ---- */

static void find_interests(mend_watch *watch) {
  uint64_t interests[MEND__KIND_WORDS] = {0};
  for (size_t i = 0; i < watch->count; i++) {
    for (size_t word = 0; word < MEND__KIND_WORDS; word++) {
      interests[word] |= watch->entries[i].watchdog->wants.kinds[word];
    }
  }
  if (watch->count > 0) interests[MEND_EVENT_RUN_RESET / 64] |= UINT64_C(1) << (MEND_EVENT_RUN_RESET % 64);
  for (size_t word = 0; word < MEND__KIND_WORDS; word++) {
    atomic_store_explicit(&watch->interests[word], interests[word], memory_order_relaxed);
  }
}

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

/* ---- Entries ---- */

static mend_status open_state(mend__watch_entry *entry, mend_run *run) {
  const mend_watchdog *watchdog = entry->watchdog;
  entry->state = watchdog->ctx;
  const mend_status status =
      watchdog->vtable.open != NULL ? watchdog->vtable.open(watchdog->ctx, run, &entry->state) : MEND_OK;
  entry->is_open = status == MEND_OK;
  return status;
}

static void close_state(mend__watch_entry *entry) {
  if (entry->is_open && entry->watchdog->vtable.close != NULL) entry->watchdog->vtable.close(entry->state);
  entry->is_open = false;
}

static uint64_t next_poll(const mend_watch *watch, uint64_t now_ns) {
  return add_saturating(now_ns, atomic_load_explicit(&watch->hub->poll_ns, memory_order_relaxed));
}

static void ask_deadline(mend__watch_entry *entry) {
  const mend_watchdog_vtable *vtable = &entry->watchdog->vtable;
  if (vtable->deadline != NULL && vtable->expire != NULL) entry->deadline_ns = vtable->deadline(entry->state);
}

/* The first deadline of a state just opened or reset. */
static void start_deadline(mend__watch_entry *entry, const mend_watch *watch) {
  entry->deadline_ns = MEND_NEVER;
  if (!entry->is_open) return;
  if (mend__watchdog_polls(entry->watchdog)) {
    entry->deadline_ns = next_poll(watch, mend_clock_now(watch->hub->clock).mono_ns);
  }
  ask_deadline(entry);
}

static mend__watch_entry *find_entry(mend_watch *watch, const mend_watchdog *watchdog) {
  for (size_t i = 0; i < watch->count; i++) {
    if (watch->entries[i].watchdog == watchdog) return &watch->entries[i];
  }
  return NULL;
}

static mend_status reserve_entry(mend_watch *watch) {
  if (watch->count < watch->capacity) return MEND_OK;
  const size_t capacity = watch->capacity == 0 ? 3 : watch->capacity * 2;
  mend__watch_entry *entries = mend__realloc(watch->allocator, watch->entries, capacity * sizeof *entries);
  if (entries == NULL) return MEND_ENOMEM;
  watch->entries = entries;
  watch->capacity = capacity;
  return MEND_OK;
}

/* Tells the hub when the earliest deadline is earlier than what it knows. */
static void arm(mend_watch *watch) {
  uint64_t next = MEND_NEVER;
  for (size_t i = 0; i < watch->count; i++) {
    if (watch->entries[i].deadline_ns < next) next = watch->entries[i].deadline_ns;
  }
  watch->next_ns = next;
  if (next >= watch->armed_ns) return;
  watch->armed_ns = next;
  mend__watches_arm(watch->hub, watch, next);
}

static void add_claim(mend__watch_entry *entry, mend__claim claim) {
  uint16_t *count = &entry->claims[claim];
  if (*count == 0 || (claim == MEND__CLAIM_SCOPE && *count < UINT16_MAX)) ++*count;
}

static mend_status add_entry(mend_watch *watch, mend_watchdog *watchdog, mend__claim claim) {
  mend_status status = reserve_entry(watch);
  if (status != MEND_OK) return status;
  mend__watch_entry *entry = &watch->entries[watch->count];
  *entry = (mend__watch_entry){.watchdog = watchdog};
  add_claim(entry, claim);
  status = open_state(entry, watch->run);
  if (status != MEND_OK) return status;
  mend_watchdog_retain(watchdog);
  watch->count++;
  start_deadline(entry, watch);
  find_interests(watch);
  arm(watch);
  return MEND_OK;
}

static mend_status keep_entry(mend__watch_entry *entry, mend_watch *watch, mend__claim claim) {
  add_claim(entry, claim);
  if (entry->is_open) return MEND_OK;
  const mend_status status = open_state(entry, watch->run);
  start_deadline(entry, watch);
  arm(watch);
  return status;
}

static void drop_entry(mend_watch *watch, mend__watch_entry *entry) {
  close_state(entry);
  const size_t index = (size_t)(entry - watch->entries);
  memmove(entry, entry + 1, (watch->count - index - 1) * sizeof *entry);
  watch->count--;
  find_interests(watch);
}

mend_status mend__watch_attach(mend_watch *watch, mend_watchdog *watchdog, mend__claim claim) {
  mend__run_lock(watch->run);
  mend__watch_entry *entry = find_entry(watch, watchdog);
  const mend_status status = entry != NULL ? keep_entry(entry, watch, claim) : add_entry(watch, watchdog, claim);
  mend__run_unlock(watch->run);
  return status;
}

static bool is_claimed(const mend__watch_entry *entry) {
  return entry->claims[MEND__CLAIM_RUN] + entry->claims[MEND__CLAIM_BUS] + entry->claims[MEND__CLAIM_SCOPE] > 0;
}

static void drop_claim(mend__watch_entry *entry, mend__claim claim) {
  if (entry->claims[claim] > 0) entry->claims[claim]--;
}

void mend__watch_detach(mend_watch *watch, mend_watchdog *watchdog, mend__claim claim) {
  mend__run_lock(watch->run);
  mend__watch_entry *entry = find_entry(watch, watchdog);
  if (entry != NULL) drop_claim(entry, claim);
  const bool drops = entry != NULL && !is_claimed(entry);
  if (drops) drop_entry(watch, entry);
  mend__run_unlock(watch->run);
  if (drops) mend_watchdog_release(watchdog);
}

void mend__watch_poll_anew(mend_watch *watch) {
  mend__run_lock(watch->run);
  for (size_t i = 0; i < watch->count; i++) {
    if (mend__watchdog_polls(watch->entries[i].watchdog)) start_deadline(&watch->entries[i], watch);
  }
  arm(watch);
  mend__run_unlock(watch->run);
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
  ask_deadline(entry);
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
  const uint64_t poll_ns = next_poll(pass->watch, now.mono_ns);
  if (mend__watchdog_polls(entry->watchdog)) {
    call_expire(pass, entry, now, now.mono_ns);
    entry->deadline_ns = poll_ns;
    return;
  }
  while (is_due(entry->deadline_ns, now.mono_ns)) {
    const uint64_t deadline_ns = entry->deadline_ns;
    call_expire(pass, entry, now, deadline_ns);
    ask_deadline(entry);
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
  for (size_t i = 0; i < pass->watch->count; i++) {
    mend__watch_entry *entry = &pass->watch->entries[i];
    if (entry->is_open && entry->watchdog->vtable.reset != NULL) {
      entry->watchdog->vtable.reset(entry->state);
    } else {
      close_state(entry);
      note_status(pass, entry, open_state(entry, pass->watch->run));
    }
    start_deadline(entry, pass->watch);
  }
}

/* ---- The watch as a subscriber, and as one who waits ---- */

/* A deadline before the event has passed before it, whether or not anybody waited for it. */
static mend_status watch_event(void *ctx, const mend_event *event) {
  mend_watch *watch = ctx;
  if (!is_interesting(watch, event->kind)) return MEND_OK;
  watch_pass pass = {.watch = watch};
  mend__run_lock(watch->run);
  if (is_due(watch->next_ns, event->mono_ns)) expire_entries(&pass, (mend_time){event->mono_ns, event->wall_ns});
  if (event->kind == MEND_EVENT_RUN_RESET) reset_entries(&pass);
  for (size_t i = 0; i < watch->count; i++) {
    mend__watch_entry *entry = &watch->entries[i];
    if (entry->is_open && wants(entry, watch, event)) call_event(&pass, entry, event);
  }
  arm(watch);
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

/* What another thread has found it announces; until then it is not over. */
static void await_expiry(mend_watch *watch) {
  mend__run_lock(watch->run);
  while (watch->expiries > 0 && !pthread_equal(watch->expirer, pthread_self())) {
    mend__run_unlock(watch->run);
    sched_yield();
    mend__run_lock(watch->run);
  }
  mend__run_unlock(watch->run);
}

static mend_status expire(mend_watch *watch, mend_time now, bool polls_all) {
  watch_pass pass = {.watch = watch};
  mend_run *run = watch->run;
  mend__run_lock(run);
  watch->expiries++;
  watch->expirer = pthread_self();
  watch->armed_ns = MEND_NEVER;
  if (polls_all) make_polls_due(watch, now);
  expire_entries(&pass, now);
  arm(watch);
  mend__run_unlock(run);
  mend__batch_announce(&pass.batch, run);
  if (pass.failures > 0) report_failure(&pass, run);
  mend__run_lock(run);
  watch->expiries--;
  mend__run_unlock(run);
  mend_watchdog_release(pass.failed);
  return pass.first_failure;
}

mend_status mend__watch_expire(mend_watch *watch, mend_time now) { return expire(watch, now, false); }

void mend__run_poll_watchdogs(mend_run *run) {
  mend_watch *watch = mend__run_slot(run, MEND__SLOT_WATCH);
  if (watch == NULL) return;
  await_expiry(watch);
  expire(watch, mend_clock_now(watch->hub->clock), true);
}

/* ---- Beginning and end ---- */

/* Two references, the slot's and the subscription's: which of them ends first is the bus's business. */
static mend_watch *watch_new(mend_run *run, mend__watches *hub) {
  mend_watch *watch = mend__alloc_zero(hub->allocator, sizeof *watch);
  if (watch == NULL) return NULL;
  watch->run = run;
  watch->hub = mend__watches_retain(hub);
  watch->allocator = hub->allocator;
  watch->next_ns = MEND_NEVER;
  watch->armed_ns = MEND_NEVER;
  atomic_init(&watch->references, 2);
  return watch;
}

static void watch_release(void *ctx) {
  mend_watch *watch = ctx;
  if (atomic_fetch_sub(&watch->references, 1) > 1) return;
  mend__watches_release(watch->hub);
  mend__free(watch->allocator, watch);
}

/* A watchdog that is polled is asked once more; there is no log any more for what it finds. */
static void end_entry(mend_watch *watch, mend__watch_entry *entry) {
  if (entry->is_open && mend__watchdog_polls(entry->watchdog)) {
    mend_emitter emitter = {.watch = watch, .watchdog = entry->watchdog, .closing = true};
    entry->watchdog->vtable.expire(entry->state, mend_clock_now(watch->hub->clock).mono_ns, &emitter);
  }
  close_state(entry);
  mend_watchdog_release(entry->watchdog);
}

/* The run is freed: no event of it is under way, and nobody but the hub knows the watch. */
static void watch_end(void *object) {
  mend_watch *watch = object;
  mend__watches_remove(watch->hub, watch);
  for (size_t i = 0; i < watch->count; i++)
    end_entry(watch, &watch->entries[i]);
  mend__free(watch->allocator, watch->entries);
  mend__log_free(&watch->log, watch->allocator);
  watch_release(watch);
}

static mend_status join_bus(mend_watch *watch) {
  mend_status status = MEND_OK;
  size_t position = 0;
  for (mend_watchdog *watchdog; (watchdog = mend__watches_watchdog(watch->hub, &position)) != NULL; position++) {
    const mend_status next = mend__watch_attach(watch, watchdog, MEND__CLAIM_BUS);
    if (status == MEND_OK) status = next;
    mend_watchdog_release(watchdog);
  }
  return status;
}

/* Of two threads that open one at the same time, one wins; the other's has no watchdogs yet and goes. */
static mend_status watch_open(mend_run *run, mend_watch **ret_watch) {
  mend__watches *hub;
  mend_status status = mend__watches_of(mend_run_bus(run), &hub);
  if (status != MEND_OK) return status;
  mend_watch *watch = watch_new(run, hub);
  if (watch == NULL) return MEND_ENOMEM;
  mend_subscription *subscription;
  status = mend_run_subscribe(run, "*", watch_event, watch, watch_release, &subscription);
  if (status != MEND_OK) {
    watch_release(watch);
    watch_release(watch);
    return status;
  }
  mend_watch *there = mend__run_slot_put(run, MEND__SLOT_WATCH, watch, watch_end);
  if (there == watch) {
    mend__watches_add(hub, watch);
    status = join_bus(watch);
  } else {
    watch_release(watch);
    mend_subscription_close(&subscription);
  }
  if (status == MEND_OK) *ret_watch = there;
  return status;
}

mend_status mend_run_watch(mend_run *run, mend_watch **ret_watch) {
  mend_watch *watch = mend__run_slot(run, MEND__SLOT_WATCH);
  if (watch == NULL) return watch_open(run, ret_watch);
  *ret_watch = watch;
  return MEND_OK;
}

mend_status mend_watchdog_watch_run(mend_watchdog *watchdog, mend_run *run) {
  mend_watch *watch;
  const mend_status status = mend_run_watch(run, &watch);
  return status == MEND_OK ? mend__watch_attach(watch, watchdog, MEND__CLAIM_RUN) : status;
}

/* Whoever else wanted it. */
mend_status mend_watchdog_unwatch_run(mend_watchdog *watchdog, mend_run *run) {
  mend_watch *watch = mend__run_slot(run, MEND__SLOT_WATCH);
  if (watch == NULL) return MEND_ENOENT;
  mend__run_lock(run);
  mend__watch_entry *entry = find_entry(watch, watchdog);
  if (entry != NULL) drop_entry(watch, entry);
  mend__run_unlock(run);
  if (entry == NULL) return MEND_ENOENT;
  mend_watchdog_release(watchdog);
  return MEND_OK;
}

mend_status mend__scope_watch(mend_watchdog *watchdog, mend_run *run) {
  mend_watch *watch;
  const mend_status status = mend_run_watch(run, &watch);
  return status == MEND_OK ? mend__watch_attach(watch, watchdog, MEND__CLAIM_SCOPE) : status;
}

void mend__scope_unwatch(mend_watchdog *watchdog, mend_run *run) {
  mend_watch *watch = mend__run_slot(run, MEND__SLOT_WATCH);
  if (watch != NULL) mend__watch_detach(watch, watchdog, MEND__CLAIM_SCOPE);
}

bool mend_watchdog_watches_run(mend_watchdog *watchdog, mend_run *run) {
  mend_watch *watch = mend__run_slot(run, MEND__SLOT_WATCH);
  if (watch == NULL) return false;
  mend__run_lock(run);
  const bool watches = find_entry(watch, watchdog) != NULL;
  mend__run_unlock(run);
  return watches;
}

/* ---- Reading the log ---- */

mend_status mend_watch_next(mend_watch *watch, mend_detection_cursor *cursor, const mend_detection **ret_detection) {
  mend__run_lock(watch->run);
  const mend_status status = mend__log_next(&watch->log, cursor, ret_detection);
  mend__run_unlock(watch->run);
  return status;
}

uint64_t mend_watch_count(mend_watch *watch) {
  mend__run_lock(watch->run);
  const uint64_t count = watch->log.count;
  mend__run_unlock(watch->run);
  return count;
}

/* A watch's entries: which watchdogs look at the run, for whom, with which state, and when each wants to be asked. */
#include "core/seconds.h"
#include "watchdogs/watchdogs_internal.h"

/* ---- States ---- */

static mend_status open_state(mend__watch_entry *entry, mend_run *run) {
  const mend_watchdog *watchdog = entry->watchdog;
  entry->state = watchdog->ctx;
  const mend_status status =
      watchdog->vtable.open != NULL ? watchdog->vtable.open(watchdog->ctx, run, &entry->state) : MEND_OK;
  entry->is_open = status == MEND_OK;
  return status;
}

void mend__entry_close(mend__watch_entry *entry) {
  if (entry->is_open && entry->watchdog->vtable.close != NULL) entry->watchdog->vtable.close(entry->state);
  entry->is_open = false;
}

uint64_t mend__watch_next_poll(const mend_watch *watch, uint64_t now_ns) {
  return mend__ns_later(now_ns, atomic_load_explicit(&watch->hub->poll_ns, memory_order_relaxed));
}

/* The first deadline of a state just opened or reset. */
static void start_deadline(mend__watch_entry *entry, const mend_watch *watch) {
  entry->deadline_ns = MEND_NEVER;
  if (!entry->is_open) return;
  if (mend__watchdog_polls(entry->watchdog)) {
    entry->deadline_ns = mend__watch_next_poll(watch, mend_clock_now(watch->hub->clock).mono_ns);
  }
  mend__entry_ask_deadline(entry);
}

/* A watchdog without a reset is closed and opened. */
mend_status mend__entry_reset(mend__watch_entry *entry, const mend_watch *watch) {
  mend_status status = MEND_OK;
  if (entry->is_open && entry->watchdog->vtable.reset != NULL) {
    entry->watchdog->vtable.reset(entry->state);
  } else {
    mend__entry_close(entry);
    status = open_state(entry, watch->run);
  }
  start_deadline(entry, watch);
  return status;
}

/* ---- Which there are ---- */

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

void mend__watch_arm(mend_watch *watch) {
  uint64_t next = MEND_NEVER;
  for (size_t i = 0; i < watch->count; i++) {
    if (watch->entries[i].deadline_ns < next) next = watch->entries[i].deadline_ns;
  }
  watch->next_ns = next;
  if (next >= watch->armed_ns) return;
  watch->armed_ns = next;
  mend__hub_arm(watch->hub, watch, next);
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
  mend__watch_arm(watch);
  return MEND_OK;
}

static mend_status keep_entry(mend__watch_entry *entry, mend_watch *watch, mend__claim claim) {
  if (!entry->is_open) {
    const mend_status status = open_state(entry, watch->run);
    start_deadline(entry, watch);
    mend__watch_arm(watch);
    if (status != MEND_OK) return status;
  }
  add_claim(entry, claim);
  return MEND_OK;
}

static void drop_entry(mend_watch *watch, mend__watch_entry *entry) {
  mend__entry_close(entry);
  const size_t index = (size_t)(entry - watch->entries);
  memmove(entry, entry + 1, (watch->count - index - 1) * sizeof *entry);
  watch->count--;
  find_interests(watch);
  mend__watch_arm(watch);
}

/* ---- For whom ---- */

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

mend_status mend__watch_remove(mend_watch *watch, mend_watchdog *watchdog) {
  mend__run_lock(watch->run);
  mend__watch_entry *entry = find_entry(watch, watchdog);
  if (entry != NULL) drop_entry(watch, entry);
  mend__run_unlock(watch->run);
  if (entry == NULL) return MEND_ENOENT;
  mend_watchdog_release(watchdog);
  return MEND_OK;
}

bool mend__watch_has(mend_watch *watch, const mend_watchdog *watchdog) {
  mend__run_lock(watch->run);
  const bool has = find_entry(watch, watchdog) != NULL;
  mend__run_unlock(watch->run);
  return has;
}

void mend__watch_poll_anew(mend_watch *watch) {
  mend__run_lock(watch->run);
  for (size_t i = 0; i < watch->count; i++) {
    if (mend__watchdog_polls(watch->entries[i].watchdog)) start_deadline(&watch->entries[i], watch);
  }
  mend__watch_arm(watch);
  mend__run_unlock(watch->run);
}

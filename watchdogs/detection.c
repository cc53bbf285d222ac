#include "core/options_size.h"
#include "mend/json.h"
#include "watchdogs/room.h"
#include "watchdogs/watchdogs_internal.h"

/* ---- Making one ---- */

enum { TEXT_COUNT = 11 };

static void list_texts(mend_detection *detection, mend_str *ret_texts[TEXT_COUNT]) {
  mend_str *texts[TEXT_COUNT] = {&detection->detector,  &detection->run_id,    &detection->reason,
                                 &detection->summary,   &detection->tool_name, &detection->first_call,
                                 &detection->last_call, &detection->evidence,  &detection->steer,
                                 &detection->payload,   &detection->kind};
  memcpy(ret_texts, texts, sizeof texts);
}

static bool is_json(mend_str text, mend_json_token kind) {
  mend_json json;
  mend_json_init(&json, text, MEND_JSON_DEPTH);
  if (mend_json_next(&json) != kind) return false;
  while (mend_json_next(&json) > MEND_JSON_END) {
  }
  return json.token == MEND_JSON_END;
}

/* Clamps to 0..1; NaN becomes 1, so that a detector's mistake is seen and not lost. */
static double clamp(double value) {
  if (value < 0) return 0;
  return value <= 1 ? value : 1;
}

static mend_status check(const mend_detection *detection) {
  if (detection->reason.len == 0) return MEND_EINVAL;
  if (detection->evidence.len > MEND_DETECTION_JSON_MAX) return MEND_ELIMIT;
  if (detection->payload.len > MEND_DETECTION_JSON_MAX) return MEND_ELIMIT;
  if (detection->evidence.ptr != NULL && !is_json(detection->evidence, MEND_JSON_ARRAY)) return MEND_EINVAL;
  if (detection->payload.ptr != NULL && !is_json(detection->payload, MEND_JSON_OBJECT)) return MEND_EINVAL;
  return MEND_OK;
}

static void copy_texts(mend__detection *block, mend_str *const texts[TEXT_COUNT]) {
  char *at = block->text;
  for (int i = 0; i < TEXT_COUNT; i++) {
    if (texts[i]->ptr == NULL) continue;
    const size_t len = texts[i]->len;
    memcpy(at, texts[i]->ptr, len);
    at[len] = '\0';
    texts[i]->ptr = at;
    at += len + 1;
  }
}

mend_status mend__detection_new(const mend_detection *given, mend_str detector, mend_str run_id,
                                const mend_allocator *allocator, mend__detection **ret_detection) {
  mend_detection taken = MEND_DETECTION_INIT;
  mend_status status = mend__options_take(&taken, given, "mend_detection", NULL);
  if (status == MEND_OK) status = check(&taken);
  if (status != MEND_OK) return status;
  taken.detector = detector;
  taken.run_id = run_id;
  taken.severity = clamp(taken.severity);
  taken.confidence = clamp(taken.confidence);
  if (taken.kind.len == 0) taken.kind = detector;
  if (taken.summary.len == 0) taken.summary = taken.reason;

  mend_str *texts[TEXT_COUNT];
  size_t size = TEXT_COUNT;
  list_texts(&taken, texts);
  for (int i = 0; i < TEXT_COUNT; i++) {
    const bool is_json = texts[i] == &taken.evidence || texts[i] == &taken.payload;
    if (!is_json) texts[i]->len = mend__utf8_cut(*texts[i], MEND_DETECTION_TEXT_MAX);
    size += texts[i]->len;
  }
  mend__detection *block = mend__alloc(allocator, sizeof *block + size);
  if (block == NULL) return MEND_ENOMEM;
  *block = (mend__detection){.detection = taken, .allocator = allocator};
  atomic_init(&block->references, 1);
  list_texts(&block->detection, texts);
  copy_texts(block, texts);
  *ret_detection = block;
  return MEND_OK;
}

/* ---- References ---- */

static mend__detection *block_of(const mend_detection *detection) {
  return MEND__CONTAINER(detection, mend__detection, detection);
}

const mend_detection *mend_detection_retain(const mend_detection *detection) {
  atomic_fetch_add_explicit(&block_of(detection)->references, 1, memory_order_relaxed);
  return detection;
}

void mend_detection_release(const mend_detection *detection) {
  if (detection == NULL) return;
  mend__detection *block = block_of(detection);
  if (atomic_fetch_sub(&block->references, 1) == 1) mend__free(block->allocator, block);
}

/* ---- Announcing ---- */

bool mend__detection_is_announced(const mend_detection *detection) {
  return atomic_load_explicit(&block_of(detection)->announced, memory_order_acquire);
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
  if (detection->id == id) count_announced(watch, block_of(detection));
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
}

/* ---- The log ---- */

static mend__detection **place(const mend__log *log, uint64_t index) { return &log->ring[index % log->capacity]; }

/* Until it is as long as it gets the ring has never gone round, so a longer one begins the same. */
static mend_status log_reserve(mend__log *log, const mend_allocator *allocator) {
  if (log->count < log->capacity || log->capacity == MEND__LOG_MAX) return MEND_OK;
  const size_t capacity = log->capacity == 0 ? 4 : log->capacity * 2;
  mend__detection **ring = mend__realloc(allocator, log->ring, capacity * sizeof *ring);
  if (ring == NULL) return MEND_ENOMEM;
  log->ring = ring;
  log->capacity = capacity;
  return MEND_OK;
}

mend_status mend__log_append(mend__log *log, mend__detection *detection, const mend_allocator *allocator) {
  const mend_status status = log_reserve(log, allocator);
  if (status != MEND_OK) return status;
  mend__detection **slot = place(log, log->count);
  if (log->count >= MEND__LOG_MAX) mend_detection_release(&(*slot)->detection);
  *slot = detection;
  detection->detection.id = ++log->count;
  return MEND_OK;
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

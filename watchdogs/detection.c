#include "core/options_size.h"
#include "mend/json.h"
#include "watchdogs/watchdogs_internal.h"

/* ---- Making one ---- */

enum { TEXT_COUNT = 12 };

static void list_texts(mend_detection *detection, mend_str *ret_texts[TEXT_COUNT]) {
  mend_str *texts[TEXT_COUNT] = {&detection->detector,  &detection->run_id,    &detection->reason,
                                 &detection->summary,   &detection->tool_name, &detection->first_call,
                                 &detection->last_call, &detection->evidence,  &detection->steer,
                                 &detection->payload,   &detection->kind,      &detection->incident};
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
  char *place = block->text;
  for (int i = 0; i < TEXT_COUNT; i++)
    *texts[i] = mend__keep_text(&place, *texts[i]);
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

const mend_detection *mend_detection_retain(const mend_detection *detection) {
  atomic_fetch_add_explicit(&mend__detection_of(detection)->references, 1, memory_order_relaxed);
  return detection;
}

void mend_detection_release(const mend_detection *detection) {
  if (detection == NULL) return;
  mend__detection *block = mend__detection_of(detection);
  if (atomic_fetch_sub(&block->references, 1) == 1) mend__free(block->allocator, block);
}

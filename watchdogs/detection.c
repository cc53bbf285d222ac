#include "core/options_size.h"
#include "core/redact.h"
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

/* Its beginning, as it may be told. */
static mend_status refuse_json(const char *member, mend_str value, const char *expected, mend_error *error) {
  char shown[81];
  const size_t len = mend__utf8_cut(value, sizeof shown - 1);
  memcpy(shown, value.ptr, len);
  return mend_error_set(error, MEND_EINVAL, "mend_detection.%s: %.*s, expected %s", member,
                        (int)mend__redact_text(shown, len), shown, expected);
}

static mend_status check_json(const char *member, mend_str value, mend_json_token kind, mend_error *error) {
  if (value.ptr == NULL) return MEND_OK;
  if (value.len > MEND_DETECTION_JSON_MAX) {
    return mend_error_set(error, MEND_ELIMIT, "mend_detection.%s: %zu bytes, expected at most %zu", member, value.len,
                          (size_t)MEND_DETECTION_JSON_MAX);
  }
  if (is_json(value, kind)) return MEND_OK;
  return refuse_json(member, value, kind == MEND_JSON_ARRAY ? "a JSON array" : "a JSON object", error);
}

static mend_status check(const mend_detection *detection, mend_error *error) {
  if (detection->reason.len == 0) return mend_error_set(error, MEND_EINVAL, "mend_detection.reason: expected one");
  const mend_status status = check_json("evidence", detection->evidence, MEND_JSON_ARRAY, error);
  return status == MEND_OK ? check_json("payload", detection->payload, MEND_JSON_OBJECT, error) : status;
}

static void copy_texts(mend__detection *block, mend_str *const texts[TEXT_COUNT]) {
  char *place = block->text;
  for (int i = 0; i < TEXT_COUNT; i++)
    *texts[i] = mend__keep_text(&place, *texts[i]);
}

static void redact(mend__detection *block, mend_str *text, size_t (*cover)(char *, size_t)) {
  if (text->ptr == NULL) return;
  char *written = block->text + (text->ptr - block->text);
  text->len = cover(written, text->len);
  written[text->len] = '\0';
}

/* What a detector quotes of calls and answers is shown to people and sent to others. */
static void redact_texts(mend__detection *block) {
  redact(block, &block->detection.summary, mend__redact_text);
  redact(block, &block->detection.steer, mend__redact_text);
  redact(block, &block->detection.evidence, mend__redact_json);
  redact(block, &block->detection.payload, mend__redact_json);
}

mend_status mend__detection_new(const mend_detection *given, mend_str detector, mend_str run_id,
                                const mend_allocator *allocator, mend__detection **ret_detection, mend_error *error) {
  mend_detection taken = MEND_DETECTION_INIT;
  mend_status status = mend__options_take(&taken, given, "mend_detection", error);
  if (status == MEND_OK) status = check(&taken, error);
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
  redact_texts(block);
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

#include "program/transcripts/seen_rows.h"

#include "core/memory.h"

enum { FIRST_CAPACITY = 1024, CAPACITY_MAX = 2 * SEEN_ROWS_MIN };

typedef struct seen_set seen_set;

/* Where it is or belongs; there is always a free slot. */
static uint64_t *slot_of(const seen_set *set, uint64_t fingerprint) {
  size_t at = (size_t)fingerprint & (set->capacity - 1);
  while (set->slots[at] != 0 && set->slots[at] != fingerprint)
    at = (at + 1) & (set->capacity - 1);
  return &set->slots[at];
}

static bool has(const seen_set *set, uint64_t fingerprint) {
  return set->count > 0 && *slot_of(set, fingerprint) == fingerprint;
}

static mend_status resize(seen_set *set, size_t capacity) {
  seen_set grown = {.slots = mend__alloc_zero(NULL, capacity * sizeof *grown.slots), .capacity = capacity};
  if (grown.slots == NULL) return MEND_ENOMEM;
  for (size_t i = 0; i < set->capacity; i++) {
    if (set->slots[i] != 0) *slot_of(&grown, set->slots[i]) = set->slots[i];
  }
  grown.count = set->count;
  mend__free(NULL, set->slots);
  *set = grown;
  return MEND_OK;
}

static mend_status make_room(seen_rows *of) {
  seen_set *newer = &of->newer;
  if (newer->capacity == 0) return resize(newer, FIRST_CAPACITY);
  if (newer->count < newer->capacity / 2) return MEND_OK;
  if (newer->capacity < CAPACITY_MAX) return resize(newer, 2 * newer->capacity);
  mend__free(NULL, of->older.slots);
  of->older = *newer;
  *newer = (seen_set){NULL, 0, 0};
  return resize(newer, FIRST_CAPACITY);
}

mend_status seen_rows_add(seen_rows *of, uint64_t fingerprint, bool *ret_seen) {
  if (fingerprint == 0) fingerprint = 1;
  const bool seen = has(&of->newer, fingerprint) || has(&of->older, fingerprint);
  if (!seen) {
    const mend_status status = make_room(of);
    if (status != MEND_OK) return status;
    *slot_of(&of->newer, fingerprint) = fingerprint;
    of->newer.count++;
  }
  *ret_seen = seen;
  return MEND_OK;
}

void seen_rows_free(seen_rows *of) {
  mend__free(NULL, of->newer.slots);
  mend__free(NULL, of->older.slots);
}

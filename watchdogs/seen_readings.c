#include "watchdogs/seen_readings.h"

#include "core/memory.h"
#include "mend/json.h"

enum { SEEN_MAX = 256 };

uint64_t mend__reading_key(const mend_confidence_event *reading) {
  if (reading->event.call == 0) return 0;
  const uint64_t attempt = reading->attempt != MEND_NONE ? reading->attempt : 1;
  const uint64_t parts[3] = {reading->event.call, attempt, mend_hash_bytes(reading->source).lo};
  return mend_hash_bytes((mend_str){(const char *)parts, sizeof parts}).lo;
}

uint64_t mend__reading_id_key(const mend_confidence_event *reading) {
  return reading->event_id.len > 0 ? mend_hash_bytes(reading->event_id).hi : 0;
}

bool mend__seen_readings_has(const mend__seen_readings *seen, uint64_t key) {
  if (key == 0) return false;
  const uint64_t kept = seen->count < SEEN_MAX ? seen->count : SEEN_MAX;
  for (uint64_t i = 0; i < kept; i++) {
    if (seen->keys[i] == key) return true;
  }
  return false;
}

mend_status mend__seen_readings_reserve(mend__seen_readings *seen, const mend_allocator *allocator) {
  if (seen->keys == NULL) seen->keys = mend__alloc(allocator, SEEN_MAX * sizeof *seen->keys);
  return seen->keys != NULL ? MEND_OK : MEND_ENOMEM;
}

void mend__seen_readings_add(mend__seen_readings *seen, uint64_t key) {
  if (key != 0) seen->keys[seen->count++ % SEEN_MAX] = key;
}

void mend__seen_readings_free(mend__seen_readings *seen, const mend_allocator *allocator) {
  mend__free(allocator, seen->keys);
  *seen = (mend__seen_readings){NULL, 0};
}

#include "bus/event_internal.h"

/* The memory behind a buffer's contents, aligned for hashing; NULL when out of memory. */
static char *scratch_behind(mend__buffer *buffer) {
  if (!mend__buffer_reserve(buffer, MEND__HASH_ROOM)) return NULL;
  const size_t alignment = _Alignof(max_align_t);
  size_t misplaced = (uintptr_t)(buffer->data + buffer->len) % alignment;
  return buffer->data + buffer->len + (misplaced != 0 ? alignment - misplaced : 0);
}

mend_hash mend__hash_beside(mend__buffer *buffer, mend_str json) {
  char *scratch = json.ptr != NULL ? scratch_behind(buffer) : NULL;
  return scratch != NULL ? mend_json_hash(json, scratch, MEND_HASH_SCRATCH).hash : (mend_hash){0, 0};
}

mend_hash mend__hash_loose_beside(mend__buffer *buffer, mend_str json) {
  char *scratch = json.ptr != NULL ? scratch_behind(buffer) : NULL;
  return scratch != NULL ? mend_json_hash_loose(json, NULL, scratch, MEND_HASH_SCRATCH).hash : (mend_hash){0, 0};
}

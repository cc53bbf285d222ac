#include "bus/event_internal.h"

mend_hash mend__hash_beside(mend__buffer *buffer, mend_str json) {
  if (json.ptr == NULL || !mend__buffer_reserve(buffer, MEND__HASH_ROOM)) return (mend_hash){0, 0};
  const size_t alignment = _Alignof(max_align_t);
  size_t misplaced = (uintptr_t)(buffer->data + buffer->len) % alignment;
  char *scratch = buffer->data + buffer->len + (misplaced != 0 ? alignment - misplaced : 0);
  return mend_json_hash(json, scratch, MEND_HASH_SCRATCH).hash;
}

#include "core/json_hash.h"

#include "core/memory.h"

mend_status mend__json_hash_alloc(mend_str text, const mend_allocator *allocator, mend_json_hash_result *ret_result) {
  uint64_t small[256];
  *ret_result = mend_json_hash(text, small, sizeof small);
  if (!ret_result->raw || text.len > MEND_HASH_TEXT_MAX) return MEND_OK;
  void *scratch = mend__alloc(allocator, MEND_HASH_SCRATCH);
  if (scratch == NULL) return MEND_ENOMEM;
  *ret_result = mend_json_hash(text, scratch, MEND_HASH_SCRATCH);
  mend__free(allocator, scratch);
  return MEND_OK;
}

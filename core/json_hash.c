#include "core/json_hash.h"

#include "core/memory.h"

typedef mend_json_hash_result hash_function(mend_str text, void *scratch, size_t scratch_size);

static mend_json_hash_result hash_loose(mend_str text, void *scratch, size_t scratch_size) {
  return mend_json_hash_loose(text, NULL, scratch, scratch_size);
}

static mend_status hash_anyhow(hash_function *hash, mend_str text, const mend_allocator *allocator,
                               mend_json_hash_result *ret_result) {
  uint64_t small[256];
  const mend_json_hash_result result = hash(text, small, sizeof small);
  if (!result.raw || text.len > MEND_HASH_TEXT_MAX) {
    *ret_result = result;
    return MEND_OK;
  }
  void *scratch = mend__alloc(allocator, MEND_HASH_SCRATCH);
  if (scratch == NULL) return MEND_ENOMEM;
  *ret_result = hash(text, scratch, MEND_HASH_SCRATCH);
  mend__free(allocator, scratch);
  return MEND_OK;
}

mend_status mend__json_hash_alloc(mend_str text, const mend_allocator *allocator, mend_json_hash_result *ret_result) {
  return hash_anyhow(mend_json_hash, text, allocator, ret_result);
}

mend_status mend__json_hash_loose_alloc(mend_str text, const mend_allocator *allocator,
                                        mend_json_hash_result *ret_result) {
  return hash_anyhow(hash_loose, text, allocator, ret_result);
}

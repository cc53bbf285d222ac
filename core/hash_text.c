#include "core/text.h"
#include "mend/json.h"

void mend_hash_format(mend_hash hash, char ret_text[MEND_HASH_TEXT_SIZE]) {
  for (unsigned i = 0; i < 32; i++) {
    uint64_t half = i < 16 ? hash.hi : hash.lo;
    ret_text[i] = mend__hex_digit(half >> (60 - i % 16 * 4));
  }
  ret_text[32] = '\0';
}

mend_status mend_hash_parse(mend_str text, mend_hash *ret_hash) {
  if (text.len != 32) return MEND_EINVAL;
  uint64_t halves[2] = {0, 0};
  for (size_t i = 0; i < 32; i++) {
    int digit = mend__hex_value(text.ptr[i]);
    if (digit < 0) return MEND_EINVAL;
    halves[i / 16] = halves[i / 16] << 4 | (uint64_t)digit;
  }
  *ret_hash = (mend_hash){halves[0], halves[1]};
  return MEND_OK;
}

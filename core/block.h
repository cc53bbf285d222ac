/* House header: sixteen bytes that are looked at together. */
#ifndef MEND_CORE_BLOCK_H
#define MEND_CORE_BLOCK_H

#include "mend/core.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Compilers make vector instructions of what is done with it, where there are any. */
typedef unsigned char mend__block __attribute__((vector_size(16)));
typedef signed char mend__signed_block __attribute__((vector_size(16)));
enum { MEND__BLOCK_SIZE = sizeof(mend__block) };

static inline mend__block mend__block_at(const char *bytes) {
  mend__block block;
  memcpy(&block, bytes, sizeof block);
  return block;
}

/* The following say yes with a byte that has all its bits, no with 0. */

static inline mend__block mend__block_is(mend__block block, unsigned char byte) { return (mend__block)(block == byte); }

static inline mend__block mend__block_is_between(mend__block block, unsigned char low, unsigned char high) {
  return (mend__block)(block - low <= (unsigned char)(high - low));
}

/* One bit a byte, the lowest for the first. */
static inline uint32_t mend__block_bits(mend__block yes) {
#ifdef __SSE2__
  return (uint32_t)_mm_movemask_epi8((__m128i)yes);
#else
  const mend__block bits = yes & (mend__block){1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  uint64_t halves[2];
  memcpy(halves, &bits, sizeof halves);
  /* The top byte of the product is the sum of all bytes. */
  const uint64_t low = halves[0] * UINT64_C(0x0101010101010101) >> 56;
  const uint64_t high = halves[1] * UINT64_C(0x0101010101010101) >> 56;
  return (uint32_t)(low | high << 8);
#endif
}

#endif

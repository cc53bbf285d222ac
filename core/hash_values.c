/* XXH3, and the hashes of what has no parts. */
#include "core/hash_internal.h"
#include "core/json_internal.h"

#include <math.h>
/* Inline: calls into the shared library would cost a fifth of the hash of 100 bytes. */
#define XXH_INLINE_ALL
#include <xxhash.h>

static mend_hash from_xxh(XXH128_hash_t hash) { return (mend_hash){hash.high64, hash.low64}; }

static inline mend_hash hash_with(mend__hash_domain domain, const void *bytes, size_t len) {
  return from_xxh(XXH3_128bits_withSeed(bytes, len, domain));
}

__attribute__((noinline)) mend_hash mend__hash_with(mend__hash_domain domain, const void *bytes, size_t len) {
  return hash_with(domain, bytes, len);
}

mend_hash mend_hash_bytes(mend_str bytes) {
  return mend__hash_never_none(mend__hash_with(MEND__HASH_RAW, bytes.ptr, bytes.len));
}

/* ---- Strings ----------------------------------------------------------------------------------------------- */

/* The escapes of long strings are undone piece by piece. */
#define UNESCAPED_PIECE 1024

static mend_hash hash_long_escaped(mend__hash_domain domain, mend_str slice) {
  char piece[UNESCAPED_PIECE];
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset_withSeed(&state, domain);
  while (slice.len > 0) {
    size_t len = mend__json_unescape_part(&slice, piece, sizeof piece);
    XXH3_128bits_update(&state, piece, len);
  }
  return from_xxh(XXH3_128bits_digest(&state));
}

__attribute__((noinline)) static mend_hash hash_escaped(mend__hash_domain domain, mend_str slice) {
  if (slice.len > UNESCAPED_PIECE) return hash_long_escaped(domain, slice);
  char text[UNESCAPED_PIECE];
  size_t len = mend_json_unescape(slice, text);
  return mend__hash_with(domain, text, len);
}

/* Most are short. Where domain and length bound are known (and all is inlined: flatten), XXH3 is a leaf of 40
 * instructions instead of one that saves six registers first. */
#define SHORT_MAX 16

static inline mend_hash hash_text(mend__hash_domain domain, mend_str slice, bool escaped) {
  if (escaped) return hash_escaped(domain, slice);
  if (slice.len > SHORT_MAX) return mend__hash_with(domain, slice.ptr, slice.len);
  return hash_with(domain, slice.ptr, slice.len);
}

__attribute__((flatten)) mend_hash mend__hash_key(mend_str slice, bool escaped) {
  return hash_text(MEND__HASH_KEY, slice, escaped);
}

__attribute__((flatten)) mend_hash mend__hash_string(mend_str slice, bool escaped) {
  return hash_text(MEND__HASH_STRING, slice, escaped);
}

mend_hash mend__hash_literal(mend_str slice) { return mend__hash_with(MEND__HASH_LITERAL, slice.ptr, slice.len); }

/* ---- Numbers ----------------------------------------------------------------------------------------------- */

mend_hash mend__hash_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits = mend__little_endian(bits);
  return hash_with(MEND__HASH_DOUBLE, &bits, sizeof bits);
}

static mend_hash hash_decimal(mend_str slice) {
  double value = mend_json_double(slice);
  if (isinf(value)) return mend__hash_with(MEND__HASH_BEYOND_DOUBLE, slice.ptr, slice.len);
  return mend__hash_double(value);
}

__attribute__((flatten)) static mend_hash hash_integer(mend_str slice) {
  return hash_text(MEND__HASH_INTEGER, slice, false);
}

mend_hash mend__hash_number(mend_str slice, bool integer) {
  return integer ? hash_integer(slice) : hash_decimal(slice);
}

/* ---- Arrays ------------------------------------------------------------------------------------------------ */

mend_hash mend__hash_fold(mend_hash before, uint64_t number, mend_hash element) {
  const uint64_t words[] = {mend__little_endian(before.hi), mend__little_endian(before.lo), mend__little_endian(number),
                            mend__little_endian(element.hi), mend__little_endian(element.lo)};
  return hash_with(MEND__HASH_ARRAY, words, sizeof words);
}

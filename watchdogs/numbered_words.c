#include "watchdogs/numbered_words.h"

/* Below -O3 gcc 12 does not unroll the loops over a block: a third more instructions. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#include "core/block.h"

/* A bit for each byte of a block. */
typedef struct word_bits {
  uint64_t digits;
  uint64_t others; /* that words are made of */
  uint64_t hex;    /* of them, those that are hexadecimal digits */
  uint64_t backslashes;
} word_bits;

static inline uint64_t digits_of(const char *text) {
  uint64_t digits = 0;
  for (unsigned i = 0; i < MEND__WORDS_BLOCK; i += MEND__BLOCK_SIZE)
    digits |= (uint64_t)mend__block_bits(mend__block_is_between(mend__block_at(text + i), '0', '9')) << i;
  return digits;
}

static inline word_bits bits_of(const char *text, uint64_t digits) {
  word_bits bits = {.digits = digits};
  for (unsigned i = 0; i < MEND__WORDS_BLOCK; i += MEND__BLOCK_SIZE) {
    const mend__block block = mend__block_at(text + i), lower = block | 0x20;
    const mend__block letters = mend__block_is_between(lower, 'a', 'z');
    bits.others |= (uint64_t)mend__block_bits(letters | mend__block_is(block, '_')) << i;
    bits.hex |= (uint64_t)mend__block_bits(mend__block_is_between(lower, 'a', 'f')) << i;
    bits.backslashes |= (uint64_t)mend__block_bits(mend__block_is(block, '\\')) << i;
  }
  return bits;
}

static uint64_t find(word_bits bits, char before, bool *may_go_on) {
  const uint64_t words = bits.digits | bits.others, goes_on = mend__is_word(before);
  uint64_t begins = words & ~(words << 1 | goes_on);
  begins &= bits.digits | bits.hex | bits.backslashes << 1 | (before == '\\');
  begins |= words & goes_on & *may_go_on;
  /* The carry runs through the letters from each beginning to the first digit, or what ends the word. */
  uint64_t carried;
  *may_go_on = __builtin_add_overflow(bits.others, begins & bits.others, &carried);
  return bits.digits & ((carried & ~bits.others) | begins);
}

uint64_t mend__numbered_words(mend_str text, size_t place, bool *may_go_on) {
  const size_t len = text.len - place;
  char copy[MEND__WORDS_BLOCK] = {0};
  if (len < MEND__WORDS_BLOCK) memcpy(copy, text.ptr + place, len);
  const char *block = len < MEND__WORDS_BLOCK ? copy : text.ptr + place;
  const uint64_t digits = digits_of(block);
  if (digits != 0) return find(bits_of(block, digits), place > 0 ? text.ptr[place - 1] : ' ', may_go_on);
  *may_go_on = true;
  return 0;
}

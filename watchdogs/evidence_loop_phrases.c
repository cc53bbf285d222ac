/* Words and phrases in texts. */
#include "watchdogs/evidence_loop_phrases.h"
#include "core/text.h"

bool mend__equals_lower(mend_str text, const char *lower) {
  for (size_t i = 0; i < text.len; i++) {
    if (lower[i] == '\0' || mend__lower(text.ptr[i]) != lower[i]) return false;
  }
  return lower[text.len] == '\0';
}

bool mend__is_one_of(mend_str word, const char *const *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (mend__equals_lower(word, list[i])) return true;
  }
  return false;
}

static bool begins(const char *text, size_t available, const char *lower, size_t len) {
  if (available < len) return false;
  for (size_t i = 0; i < len; i++) {
    if (mend__lower(text[i]) != lower[i]) return false;
  }
  return true;
}

bool mend__begins_lower(mend_str text, const char *lower) { return begins(text.ptr, text.len, lower, strlen(lower)); }

/* A bit, the lowest for the first, for each of the characters of a block that
 * the phrase may begin with: one more follows the block. */
static uint32_t may_begin(const char *text, const char *lower) {
  const mend__block first = mend__block_is(mend__block_at(text) | 0x20, (unsigned char)lower[0]);
  const mend__block second = mend__block_is(mend__block_at(text + 1) | 0x20, (unsigned char)(lower[1] | 0x20));
  return mend__block_bits(first & second);
}

const char *mend__find_phrase(mend_str text, const char *lower) {
  const size_t len = strlen(lower);
  size_t i = 0;
  for (; i + MEND__BLOCK_SIZE < text.len; i += MEND__BLOCK_SIZE) {
    for (uint32_t places = may_begin(text.ptr + i, lower); places != 0; places &= places - 1) {
      const size_t at = i + (size_t)__builtin_ctz(places);
      if (begins(text.ptr + at, text.len - at, lower, len)) return text.ptr + at;
    }
  }
  for (; i + len <= text.len; i++) {
    if ((text.ptr[i] | 0x20) == lower[0] && begins(text.ptr + i, text.len - i, lower, len)) return text.ptr + i;
  }
  return NULL;
}

bool mend__has_one_of(mend_str text, const char *const *phrases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (mend__find_phrase(text, phrases[i]) != NULL) return true;
  }
  return false;
}

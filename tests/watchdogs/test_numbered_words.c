/* Finding words with numbers 64 bytes at a time says what looking at every byte says. */
#include "support/mend_test.h"
#include "watchdogs/numbered_words.h"

enum { TEXT_MAX = 300 };

/* Places of the digits that are found, a bit each, as bytes. */
static void find_in_blocks(mend_str text, bool found[TEXT_MAX]) {
  bool may_go_on = false;
  for (size_t block = 0; block < text.len; block += MEND__WORDS_BLOCK) {
    const uint64_t bits = mend__numbered_words(text, block, &may_go_on);
    for (size_t i = 0; i < MEND__WORDS_BLOCK; i++) {
      if (bits >> i & 1) found[block + i] = true;
    }
  }
}

static bool is_candidate(mend_str text, size_t begin) {
  return mend__hex_value(text.ptr[begin]) >= 0 || (begin > 0 && text.ptr[begin - 1] == '\\');
}

/* More than must be are allowed where a word goes on from one block to the next: the first digit of its part there. */
static void check(mend_str text) {
  bool found[TEXT_MAX] = {false};
  find_in_blocks(text, found);
  for (size_t place = 0; place < text.len;) {
    const size_t begin = place;
    size_t first_digit = SIZE_MAX;
    for (; place < text.len && mend__is_word(text.ptr[place]); place++) {
      if (first_digit == SIZE_MAX && mend__is_digit(text.ptr[place])) first_digit = place;
      const bool may_be = begin / MEND__WORDS_BLOCK < place / MEND__WORDS_BLOCK || place == first_digit;
      cr_assert(!found[place] || (may_be && mend__is_digit(text.ptr[place])), "%.*s: %zu", MEND_STR_ARG(text), place);
    }
    const bool expected = first_digit != SIZE_MAX && is_candidate(text, begin);
    cr_assert(!expected || found[first_digit], "%.*s: %zu", MEND_STR_ARG(text), begin);
    if (place == begin) cr_assert(!found[place++], "%.*s", MEND_STR_ARG(text));
  }
}

Test(numbered_words, whatever_the_text) {
  static const char alphabet[] = "0123456789abcdefABCDEFGZgz__  ..--\\\\:\"\xC3\xA9";
  uint32_t state = 7;
  for (size_t round = 0; round < 20000; round++) {
    char text[TEXT_MAX];
    const size_t len = round % (TEXT_MAX + 1);
    /* Few kinds of characters make long words. */
    const size_t kinds = round % 3 == 0 ? 28 : sizeof alphabet - 1;
    for (size_t i = 0; i < len; i++) {
      state = state * 1664525u + 1013904223u;
      text[i] = alphabet[(state >> 16) % kinds];
    }
    check((mend_str){text, len});
  }
}

Test(numbered_words, which) {
  static const struct {
    const char *text;
    uint64_t found;
  } rows[] = {
      {"", 0},
      {"no number", 0},
      {"7", 1},
      {"a1b2 w3", 1 << 1}, /* w3 begins with no hexadecimal digit */
      {"\\n10:00 \\u00e9", 1 << 2 | 1 << 5 | 1 << 10},
      {"deadbeef12_3", 1 << 8},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bool may_go_on = false;
    cr_assert_eq(mend__numbered_words(mend_str_from(rows[i].text), 0, &may_go_on), rows[i].found, "%s", rows[i].text);
  }
}

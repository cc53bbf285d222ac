/* Rows that were there before: none is missed among the last many, memory stays bounded; and texts of a row stay where
 * they are. */
#include "program/stage/row_texts.h"
#include "program/transcripts/seen_rows.h"
#include "support/mend_test.h"

static bool add(seen_rows *of, uint64_t fingerprint) {
  bool seen = false;
  cr_assert_eq(seen_rows_add(of, fingerprint, &seen), MEND_OK);
  return seen;
}

/* Spread like hashes: a product with an odd number is another one for each. */
static uint64_t fingerprint(uint64_t number) { return number * UINT64_C(0x9E3779B97F4A7C15); }

Test(program_seen_rows, the_last_ones_are_known_and_memory_is_bounded) {
  static const uint64_t counts[] = {0, 1, 1000, SEEN_ROWS_MIN, 3 * (uint64_t)SEEN_ROWS_MIN + 17};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    seen_rows of = {0};
    uint64_t wrong = 0, missed = 0;
    for (uint64_t number = 0; number < counts[i]; number++) /* the first one is 0 */
      wrong += add(&of, fingerprint(number));
    for (uint64_t back = 1; back <= SEEN_ROWS_MIN && back <= counts[i]; back++)
      missed += !add(&of, fingerprint(counts[i] - back));
    cr_assert_eq(wrong, 0, "%llu of %llu were taken for others", (unsigned long long)wrong,
                 (unsigned long long)counts[i]);
    cr_assert_eq(missed, 0, "%llu were forgotten", (unsigned long long)missed);
    cr_assert(of.newer.capacity + of.older.capacity <= 4 * (size_t)SEEN_ROWS_MIN, "%zu slots", of.newer.capacity);
    seen_rows_free(&of);
  }
}

Test(program_seen_rows, texts_of_a_row_do_not_move) {
  static const size_t sizes[] = {5, 20, 1, 0, 300, 7};
  enum { COUNT = sizeof sizes / sizeof sizes[0] };
  row_texts of = {0};
  for (size_t expected = 0; expected < 64; expected += 8) {
    char *texts[COUNT];
    cr_assert_eq(row_texts_restart(&of, expected), MEND_OK);
    for (size_t i = 0; i < COUNT; i++) {
      texts[i] = row_texts_take(&of, sizes[i]);
      cr_assert(texts[i] != NULL || sizes[i] == 0);
      if (sizes[i] > 0) memset(texts[i], (int)('a' + i), sizes[i]);
    }
    for (size_t i = 0; i < COUNT; i++) {
      for (size_t at = 0; at < sizes[i]; at++)
        cr_assert_eq(texts[i][at], (char)('a' + i), "text %zu of %zu bytes expected", i, expected);
    }
  }
  row_texts_free(&of);
}

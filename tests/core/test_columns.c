#include "core/columns.h"
#include "support/mend_test.h"

Test(columns, of_texts) {
  static const struct {
    const char *text;
    size_t columns;
  } rows[] = {
      {"", 0},
      {"abc", 3},
      {"Stra\xC3\x9F"
       "e",
       6},
      {"e\xCC\x81", 1},                /* e and a combining acute */
      {"\xE6\xA4\x9C\xE7\xB4\xA2", 4}, /* two Han characters */
      {"\xEA\xB2\x80\xEC\x83\x89", 4}, /* two of Hangul */
      {"\xEF\xBC\xA1\xEF\xBC\xA2", 4}, /* A and B, full width */
      {"\xEF\xBD\xB1", 1},             /* a kana, half width */
      {"\xF0\x9F\x9A\x8B", 2},         /* a tram */
      {"\xE2\x9C\x88\xEF\xB8\x8F", 1}, /* an aeroplane and a variation selector */
      {"\xF0\xA0\x80\x80", 2},         /* U+20000 */
      {"a\xFF\xFE"
       "b",
       4},                     /* no UTF-8 */
      {"\xE6\xA4", 1},         /* cut off */
      {"\x1B[1m", 4},          /* no character that shows */
      {"\xD7\xA9\xD7\x9C", 2}, /* Hebrew */
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const size_t columns = mend__columns(mend_str_from(rows[i].text));
    cr_assert_eq(columns, rows[i].columns, "row %zu: %zu", i, columns);
  }
  cr_assert_eq(mend__columns((mend_str){NULL, 0}), 0u);
}

#include "program/reports/tally.h"
#include "support/mend_test.h"

#include <stdio.h>

static void expect(const tally *of, const char *expected) {
  mend__buffer buffer;
  mend__buffer_init(&buffer, NULL);
  tally_write(&buffer, of);
  mend__buffer_char(&buffer, '\0');
  cr_assert(!buffer.failed);
  cr_assert_str_eq(buffer.data, expected, "\"%s\"", buffer.data);
  mend__buffer_free(&buffer);
}

Test(program_tally, counts_names_in_bounded_memory) {
  tally names = {0};
  expect(&names, "");
  static const char *const some[] = {"stall", "loop", "stall", "a\x1b[31mb", "loop", "stall"};
  for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
    tally_add(&names, mend_str_from(some[i]));
  expect(&names, "stall 3, loop 2, a\\x1b[31mb 1");

  tally many = {0};
  for (int i = 0; i < TALLY_NAMES + 5; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%d", i);
    tally_add(&many, mend_str_from(name));
  }
  cr_assert_eq(many.len, TALLY_NAMES);
  cr_assert_eq(many.others, 5);

  /* Longer names are cut, between characters, and then are the same. */
  tally longer = {0};
  char name[80];
  memset(name, 'x', sizeof name);
  memcpy(name + 62, "\xC3\xBC", 2);
  tally_add(&longer, (mend_str){name, 70});
  tally_add(&longer, (mend_str){name, 80});
  cr_assert_eq(longer.len, 1);
  cr_assert_eq(longer.names[0].count, 2);
  cr_assert_eq(strlen(longer.names[0].name), 62);
}

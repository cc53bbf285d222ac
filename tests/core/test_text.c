#include "core/buffer.h"
#include "core/reason.h"
#include "core/text.h"
#include "mend/json.h"
#include "support/mend_test.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- mend_json_quote ---- */

#define TEXT(literal)                                                                                                  \
  { literal, sizeof(literal) - 1 }

static const struct {
  mend_str text;
  const char *quoted;
} quotes[] = {
    {{NULL, 0}, "\"\""},
    {TEXT(""), "\"\""},
    {TEXT("plain"), "\"plain\""},
    {TEXT("a\"b\\c/"), "\"a\\\"b\\\\c/\""},
    {TEXT("\b\f\n\r\t\x01\x1f\x7f"), "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\""},
    {TEXT("nul\0nul"), "\"nul\\u0000nul\""},
    {TEXT("\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80"), "\"\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\""},
    {TEXT("\xff\xc3(\xe2\x82"), "\"\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\""},
    {TEXT("twenty characters, \xc3\xbc, \n, more of them"), "\"twenty characters, \xc3\xbc, \\n, more of them\""},
};

/* What fits is JSON and the beginning of the whole, for every size; nothing is written beyond it. */
static void check_cut(mend_str text, const char *quoted, size_t size) {
  const size_t needed = strlen(quoted);
  char *buffer = malloc(size + 1);
  buffer[size] = '#';
  cr_assert_eq(mend_json_quote(text, size > 0 ? buffer : NULL, size), needed, "%s in %zu", quoted, size);
  cr_assert_eq(buffer[size], '#', "%s in %zu", quoted, size);
  if (size > needed) {
    cr_assert_str_eq(buffer, quoted);
  } else if (size >= 3) {
    const size_t len = strlen(buffer);
    cr_assert(len < size && len + 6 >= size, "%s in %zu: %s", quoted, size, buffer);
    cr_assert_eq(mend_json_check(mend_str_from(buffer), 1, NULL), MEND_OK, "%s in %zu: %s", quoted, size, buffer);
    cr_assert_eq(memcmp(buffer, quoted, len - 1), 0, "%s in %zu: %s", quoted, size, buffer);
  } else if (size > 0) {
    cr_assert_str_eq(buffer, "");
  }
  free(buffer);
}

/* The growing buffer's writer escapes alike. */
static void check_buffer(mend_str text, const char *quoted) {
  mend__buffer buffer;
  mend__buffer_init(&buffer, NULL);
  mend__buffer_json_string(&buffer, text);
  mend__buffer_char(&buffer, '\0');
  cr_assert(!buffer.failed);
  cr_assert_str_eq(buffer.data, quoted);
  mend__buffer_free(&buffer);
}

Test(text, quoting) {
  for (size_t i = 0; i < sizeof quotes / sizeof quotes[0]; i++) {
    for (size_t size = 0; size < strlen(quotes[i].quoted) + 4; size++)
      check_cut(quotes[i].text, quotes[i].quoted, size);
    check_buffer(quotes[i].text, quotes[i].quoted);
  }
}

/* ---- Lines and columns ---- */

Test(text, places) {
  static const struct {
    const char *text;
    unsigned line, column;
  } cases[] = {{"", 0, 0}, {"ab", 0, 2}, {"\n", 1, 0}, {"a\n\nbc", 2, 2}, {"a\r\n\xc3\xbc", 1, 2}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const size_t len = strlen(cases[i].text);
    for (size_t split = 0; split <= len; split++) {
      unsigned line = 0, column = 0;
      mend__count_lines((mend_str){cases[i].text, split}, &line, &column);
      mend__count_lines((mend_str){cases[i].text + split, len - split}, &line, &column);
      cr_assert(line == cases[i].line && column == cases[i].column, "case %zu: %u:%u", i, line, column);
    }
  }
}

/* ---- Reasons ---- */

Test(text, reasons_are_not_translated) {
  setlocale(LC_ALL, "");
  cr_assert_str_eq(mend__reason(ENOENT), "No such file or directory");
  cr_assert_str_eq(mend__reason(EISDIR), "Is a directory");
  cr_assert(strlen(mend__reason(-1)) > 0 && strlen(mend__reason(100000)) > 0);
  setlocale(LC_ALL, "C");
}

/* ---- What can be shown, and what is around it ---- */

Test(text, printable_and_trimmed) {
  static const struct {
    mend_str text;
    bool printable;
    const char *trimmed;
  } cases[] = {
      {{NULL, 0}, true, ""},
      {TEXT("a \xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80"), true, "a \xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80"},
      {TEXT(" \t\r\n a b\n"), false, "a b"},
      {TEXT("\x7f"), false, "\x7f"},
      {TEXT("\xc2\x80"), false, "\xc2\x80"}, /* C1 controls end here: */
      {TEXT("\xc2\x9f"), false, "\xc2\x9f"},
      {TEXT("\xc2\xa0"), true, "\xc2\xa0"},
      {TEXT("\xd8\x9c"), false, "\xd8\x9c"}, /* directions */
      {TEXT("\xe2\x80\x8a\xe2\x80\x90"), true, "\xe2\x80\x8a\xe2\x80\x90"},
      {TEXT("\xe2\x80\x8b"), false, "\xe2\x80\x8b"}, /* no width */
      {TEXT("\xe2\x80\x8e"), false, "\xe2\x80\x8e"},
      {TEXT("\xe2\x80\xae"), false, "\xe2\x80\xae"},
      {TEXT("\xe2\x81\x9f"), true, "\xe2\x81\x9f"},
      {TEXT("\xe2\x81\xa6"), false, "\xe2\x81\xa6"},
      {TEXT("\xe2\x81\xa9"), false, "\xe2\x81\xa9"},
      {TEXT("\xe2\x80\xa8"), false, "\xe2\x80\xa8"}, /* a line separator */
      {TEXT("\xef\xbb\xbf"), false, "\xef\xbb\xbf"}, /* a byte order mark */
      {TEXT("\xef\xbf\xbd"), true, "\xef\xbf\xbd"},  /* no characters behind it */
      {TEXT("\xef\xbf\xbe"), false, "\xef\xbf\xbe"},
      {TEXT("\xef\xbf\xbf"), false, "\xef\xbf\xbf"},
      {TEXT("\xf3\xa0\x81\x81"), false, "\xf3\xa0\x81\x81"}, /* a tag */
      {TEXT("\xf3\xa0\x84\x80"), true, "\xf3\xa0\x84\x80"},
      {TEXT("\xc3"), false, "\xc3"},
      {TEXT("a\xff"), false, "a\xff"},
      {TEXT("  "), true, ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cr_assert_eq(mend__is_printable(cases[i].text), cases[i].printable, "%zu", i);
    cr_assert(mend_str_equal(mend__trim(cases[i].text), mend_str_from(cases[i].trimmed)), "%zu", i);
  }
}

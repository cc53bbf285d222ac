/* Members of an object by name, and what their values say. */
#include "core/json_members.h"
#include "support/mend_test.h"

#include <stdio.h>

enum { A, B, MEMBERS };

static const struct {
  const char *text;
  mend_status status;
  const char *a, *b; /* NULL: not there */
  const char *sentence;
} rows[] = {
    {"{}", MEND_OK, NULL, NULL, ""},
    {"{\"a\":1,\"b\":2}", MEND_OK, "1", "2", ""},
    {" { \"b\" : [1, {\"a\":0}] , \"c\":{\"a\":3} } ", MEND_OK, NULL, "[1, {\"a\":0}]", ""},
    {"{\"a\":\"x\",\"a\":null}", MEND_OK, "null", NULL, ""},
    {"{\"\\u0061\":true,\"aa\":1,\"\":2}", MEND_OK, "true", NULL, ""},
    {"[{\"a\":1}]", MEND_ENOENT, NULL, NULL, "it is an array, expected an object"},
    {"\"a\"", MEND_ENOENT, NULL, NULL, "it is a string, expected an object"},
    {"null", MEND_ENOENT, NULL, NULL, "it is null, expected an object"},
    {"", MEND_ESYNTAX, NULL, NULL, "expected a value, found the end of the text"},
    {"{\"a\":1,\"b\":", MEND_ESYNTAX, "1", NULL, "expected a value, found the end of the text"},
    {"{\"a\":1} {", MEND_ESYNTAX, "1", NULL, "expected nothing after the value"},
    {"{\"c\":[1,}", MEND_ESYNTAX, NULL, NULL, "expected a value, found '}'"},
    {"[1", MEND_ESYNTAX, NULL, NULL, "found the end of the text"},
};

static void check_value(size_t row, mend_str value, const char *expected) {
  cr_assert_eq(value.ptr != NULL, expected != NULL, "row %zu", row);
  cr_assert(mend_str_equal(value, mend_str_from(expected)), "row %zu: %.*s", row, MEND_STR_ARG(value));
}

Test(json_members, are_read) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend__json_member members[MEMBERS] = {[A] = {.name = MEND_STR("a")}, [B] = {.name = MEND_STR("b")}};
    mend_error error = MEND_ERROR_INIT;
    const mend_status status = mend__json_members_read(mend_str_from(rows[i].text), members, MEMBERS, &error);
    cr_assert_eq(status, rows[i].status, "row %zu: %s", i, error.message);
    cr_assert_not_null(strstr(error.message, rows[i].sentence), "row %zu: %s", i, error.message);
    check_value(i, members[A].value, rows[i].a);
    check_value(i, members[B].value, rows[i].b);
  }
}

/* ---- Values ---- */

static const struct {
  const char *value; /* NULL: absent */
  const char *kinds; /* of string, object, array, true, number the first letters */
  double number;
  const char *says; /* NULL: it is no string */
  size_t items;
} values[] = {
    {NULL, "", (double)NAN, NULL, 0},
    {"\"a\\tb\"", "s", (double)NAN, "a\tb", 0},
    {"\"\"", "s", (double)NAN, "", 0},
    {"{\"a\":[1]}", "o", (double)NAN, NULL, 0},
    {"[]", "a", (double)NAN, NULL, 0},
    {"[1, [2], {\"a\":3}]", "a", (double)NAN, NULL, 3},
    {"true", "t", (double)NAN, NULL, 0},
    {"false", "", (double)NAN, NULL, 0},
    {"null", "", (double)NAN, NULL, 0},
    {"-1.5e1", "n", -15, NULL, 0},
    {"7", "n", 7, NULL, 0},
};

static void check_kinds(mend_str value, const char *expected) {
  const bool is[] = {mend__json_is_string(value), mend__json_is_object(value), mend__json_is_array(value),
                     mend__json_is_true(value), mend__json_is_number(value)};
  char kinds[8] = "";
  for (size_t i = 0; i < sizeof is / sizeof is[0]; i++) {
    if (is[i]) strncat(kinds, &"soatn"[i], 1);
  }
  cr_assert_str_eq(kinds, expected, "%.*s: %s", MEND_STR_ARG(value), kinds);
}

static size_t count_items(mend_str value) {
  mend__json_items items = mend__json_items_of(value);
  size_t count = 0;
  for (mend_str item; mend__json_items_next(&items, &item); count++)
    cr_assert(item.len > 0);
  return count;
}

Test(json_members, say) {
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    const mend_str value = mend_str_from(values[i].value);
    const double number = mend__json_number(value);
    mend__buffer text;
    mend__buffer_init(&text, NULL);
    check_kinds(value, values[i].kinds);
    cr_assert(number == values[i].number || (isnan(number) && isnan(values[i].number)), "row %zu: %g", i, number);
    mend__json_append(&text, value);
    cr_assert(mend_str_equal(mend__buffer_text(&text), mend_str_from(values[i].says != NULL ? values[i].says : "")),
              "row %zu", i);
    cr_assert_eq(mend__json_inside(value).ptr != NULL, values[i].says != NULL, "row %zu", i);
    cr_assert_eq(count_items(value), values[i].items, "row %zu", i);
    mend__buffer_free(&text);
  }
}

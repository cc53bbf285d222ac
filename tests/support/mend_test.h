/* The test macros of mend: Criterion's classic ones, or, with MEND_TEST_PLAIN, the same on a harness of our own,
 * because Criterion cannot start under ThreadSanitizer. Tests use only what both give:
 *
 *   Test(suite, name) { ... }
 *   cr_assert(expression), cr_assert_eq(a, b), cr_assert_neq(a, b), cr_assert_str_eq(a, b), cr_assert_null(p),
 *   cr_assert_not_null(p), cr_assert_float_eq(a, b, epsilon), cr_fail()
 *
 * each with an optional printf-like message behind. A failed assertion ends its test; assert on its own thread. */
#ifndef MEND_TEST_H
#define MEND_TEST_H

#ifndef MEND_TEST_PLAIN
#include <criterion/criterion.h>
#undef cr_fail /* the classic header has an internal macro of that name */
#else

#include <stdnoreturn.h>
#include <string.h>

typedef struct mend_test {
  const char *suite;
  const char *name;
  void (*run)(void);
  struct mend_test *next;
} mend_test;

void mend_test_register(mend_test *test);
/* Without a printf attribute on purpose: the macros pass one argument too many, and Criterion checks the formats. */
noreturn void mend_test_fail(const char *file, int line, const char *claim, const char *format, ...);

#define Test(suite, name)                                                                                              \
  static void suite##_##name##_run(void);                                                                              \
  static mend_test suite##_##name##_test = {#suite, #name, suite##_##name##_run, NULL};                                \
  __attribute__((constructor)) static void suite##_##name##_register(void) {                                           \
    mend_test_register(&suite##_##name##_test);                                                                        \
  }                                                                                                                    \
  static void suite##_##name##_run(void)

/* What follows the values is the message; the empty string behind it stands in when there is none. */
#define MEND_TEST_CLAIM(holds, claim, ...) ((holds) ? (void)0 : mend_test_fail(__FILE__, __LINE__, claim, __VA_ARGS__))
#define MEND_TEST_TRUE(a, ...) MEND_TEST_CLAIM(a, #a, __VA_ARGS__)
#define MEND_TEST_EQ(a, b, ...) MEND_TEST_CLAIM((a) == (b), #a " == " #b, __VA_ARGS__)
#define MEND_TEST_NEQ(a, b, ...) MEND_TEST_CLAIM((a) != (b), #a " != " #b, __VA_ARGS__)
#define MEND_TEST_STR_EQ(a, b, ...) MEND_TEST_CLAIM(strcmp((a), (b)) == 0, #a " equals " #b, __VA_ARGS__)
#define MEND_TEST_NULL(a, ...) MEND_TEST_CLAIM((a) == NULL, #a " is NULL", __VA_ARGS__)
#define MEND_TEST_NOT_NULL(a, ...) MEND_TEST_CLAIM((a) != NULL, #a " is not NULL", __VA_ARGS__)
#define MEND_TEST_FLOAT_EQ(a, b, epsilon, ...)                                                                         \
  MEND_TEST_CLAIM((a) - (b) <= (epsilon) && (b) - (a) <= (epsilon), #a " == " #b, __VA_ARGS__)

#define cr_assert(...) MEND_TEST_TRUE(__VA_ARGS__, "")
#define cr_assert_eq(...) MEND_TEST_EQ(__VA_ARGS__, "")
#define cr_assert_neq(...) MEND_TEST_NEQ(__VA_ARGS__, "")
#define cr_assert_str_eq(...) MEND_TEST_STR_EQ(__VA_ARGS__, "")
#define cr_assert_null(...) MEND_TEST_NULL(__VA_ARGS__, "")
#define cr_assert_not_null(...) MEND_TEST_NOT_NULL(__VA_ARGS__, "")
#define cr_assert_float_eq(...) MEND_TEST_FLOAT_EQ(__VA_ARGS__, "")

#endif

#define cr_fail(...) cr_assert(0, "this must not be reached. " __VA_ARGS__)

#endif

#include "core/options_size.h"
#include "support/mend_test.h"

#include <math.h>
#include <stddef.h>

/* A struct in three versions of its header. */
typedef struct v1 {
  size_t size;
  uint64_t a;
} v1;
typedef struct v2 {
  size_t size;
  uint64_t a, b;
} v2;
typedef struct v3 {
  size_t size;
  uint64_t a, b, c;
} v3;

Test(options_size, any_version_into_any_other) {
  mend_error error;
  v2 target = {sizeof target, 10, 20};
  cr_assert_eq(mend__options_take(&target, NULL, "v2", &error), MEND_OK);
  cr_assert_eq(target.a, 10u);

  const v1 older = {sizeof older, 1};
  cr_assert_eq(mend__options_take(&target, &older, "v2", &error), MEND_OK);
  cr_assert_eq(target.size, sizeof target, "the target keeps its size");
  cr_assert_eq(target.a, 1u);
  cr_assert_eq(target.b, 20u, "the default of what the caller does not know");

  const v2 same = {sizeof same, 2, 3};
  cr_assert_eq(mend__options_take(&target, &same, "v2", &error), MEND_OK);
  cr_assert_eq(target.a, 2u);
  cr_assert_eq(target.b, 3u);

  v3 newer = {sizeof newer, 4, 5, 0};
  cr_assert_eq(mend__options_take(&target, &newer, "v2", &error), MEND_OK);
  cr_assert_eq(target.size, sizeof target);
  cr_assert_eq(target.b, 5u);

  newer = (v3){sizeof newer, 6, 7, 8};
  cr_assert_eq(mend__options_take(&target, &newer, "v2", &error), MEND_EINVAL);
  cr_assert_str_eq(error.message, "v2: members beyond those of mend " MEND_VERSION
                                  " are set, the program was built against a newer header");
  cr_assert_eq(target.a, 4u, "unchanged");

  cr_assert_eq(mend__options_require(&target, NULL, "v2", &error), MEND_EINVAL);
  cr_assert_str_eq(error.message, "v2: NULL, expected one");
  cr_assert_eq(mend__options_require(&target, &target, "v2", &error), MEND_OK);

  newer.size = 0;
  cr_assert_eq(mend__options_require(&target, &newer, "v2", &error), MEND_EINVAL);
  cr_assert_eq(mend__options_take(&target, &newer, "v2", &error), MEND_EINVAL);
  cr_assert_str_eq(error.message, "v2: size is 0, start from the type's _INIT or set size to sizeof(v2)");
  newer.size = sizeof(size_t) - 1;
  cr_assert_eq(mend__options_take(&target, &newer, "v2", &error), MEND_EINVAL);
  cr_assert_str_eq(error.message, "v2: size is 7, expected sizeof(v2)");
  cr_assert_eq(mend__options_take(&target, &newer, "v2", NULL), MEND_EINVAL);
  newer.size = SIZE_MAX;
  cr_assert_eq(mend__options_take(&target, &newer, "v2", &error), MEND_EINVAL, "nothing is read so far behind it");
  cr_assert(strstr(error.message, "v2: size is 18446744073709551615, expected sizeof(v2)") != NULL);
  newer.size = sizeof(size_t);
  cr_assert_eq(mend__options_take(&target, &newer, "v2", &error), MEND_OK, "nothing known, nothing taken");
  cr_assert_eq(target.a, 4u);
}

/* Elements of an older and of a newer version, which are as far apart as the first one says. */
Test(options_size, lists_of_any_version) {
  const v2 defaults = {sizeof defaults, 10, 20};
  const v1 older[] = {{sizeof older[0], 1}, {sizeof older[0], 2}};
  const v3 newer[] = {{sizeof newer[0], 1, 2, 0}, {sizeof newer[0], 3, 4, 0}, {sizeof newer[0], 5, 6, 7}};
  v2 taken[3];
  mend_error error;
  cr_assert_eq(mend__options_take_list(NULL, &defaults, NULL, 0, "v2", &error), MEND_OK);
  cr_assert_eq(mend__options_take_list(taken, &defaults, older, 2, "v2", &error), MEND_OK);
  cr_assert(taken[0].a == 1 && taken[1].a == 2 && taken[1].b == 20 && taken[1].size == sizeof(v2));
  cr_assert_eq(mend__options_take_list(taken, &defaults, newer, 2, "v2", &error), MEND_OK);
  cr_assert(taken[1].a == 3 && taken[1].b == 4);
  cr_assert_eq(mend__options_take_list(taken, &defaults, newer, 3, "v2", &error), MEND_EINVAL);
}

/* ---- The whole tree: the layout of a program whose stall group has `stall_extra` members more or fewer ---- */

typedef struct foreign_tree {
  _Alignas(max_align_t) char bytes[2 * sizeof(mend_options)];
  size_t len;
} foreign_tree;

static void append(foreign_tree *tree, const void *bytes, size_t len) {
  memcpy(tree->bytes + tree->len, bytes, len);
  tree->len += len;
}

static void append_group(foreign_tree *tree, const void *group, size_t known, int extra, uint64_t extra_value) {
  const size_t size = (size_t)((int)known + extra * (int)sizeof(uint64_t));
  append(tree, &size, sizeof size);
  append(tree, (const char *)group + sizeof size, (size < known ? size : known) - sizeof size);
  for (int i = 0; i < extra; i++)
    append(tree, &extra_value, sizeof extra_value);
}

static const mend_options *lay_out(foreign_tree *tree, const mend_options *options, int stall_extra, uint64_t value) {
  tree->len = 0;
  append(tree, &options->size, sizeof options->size);
  append_group(tree, &options->loop, sizeof options->loop, 0, 0);
  append_group(tree, &options->stall, sizeof options->stall, stall_extra, value);
  append_group(tree, &options->regression, sizeof options->regression, 0, 0);
  append_group(tree, &options->budget, sizeof options->budget, 0, 0);
  append_group(tree, &options->fallback, sizeof options->fallback, 0, 0);
  append(tree, &options->poll_interval_s, sizeof *options - offsetof(mend_options, poll_interval_s));
  memcpy(tree->bytes, &tree->len, sizeof tree->len);
  return (const mend_options *)(const void *)tree->bytes;
}

Test(options_size, trees_of_any_version) {
  mend_error error;
  foreign_tree foreign;
  mend_options given = MEND_OPTIONS_INIT;
  given.loop.k = 4;
  given.stall.timeout_s = 7;
  given.stall.run_idle_s = 8;
  given.fallback.models = MEND_STR("[\"a\"]");
  given.poll_interval_s = 9;
  given.mode = MEND_WATCH_MODE_EVIDENCE;
  for (int extra = -2; extra <= 2; extra++) {
    mend_options taken = MEND_OPTIONS_INIT;
    const mend_options *laid_out = lay_out(&foreign, &given, extra, 0);
    cr_assert_eq(mend__options_take_tree(&taken, laid_out, &error), MEND_OK, "%d: %s", extra, error.message);
    cr_assert_eq(taken.size, sizeof taken);
    cr_assert_eq(taken.stall.size, sizeof taken.stall);
    cr_assert_eq(taken.loop.k, 4u);
    cr_assert_eq(taken.stall.timeout_s, 7.0);
    cr_assert_eq(taken.stall.run_idle_s, extra < 0 ? 300.0 : 8.0, "%d", extra);
    cr_assert(mend_str_equal(taken.fallback.models, given.fallback.models));
    cr_assert_eq(taken.poll_interval_s, 9.0);
    cr_assert_eq(taken.mode, MEND_WATCH_MODE_EVIDENCE);
    cr_assert_eq(mend_options_check(laid_out, &error), MEND_OK, "%s", error.message);
  }
  const mend_options *laid_out = lay_out(&foreign, &given, 1, 1);
  cr_assert_eq(mend_options_check(laid_out, &error), MEND_EINVAL);
  cr_assert_str_eq(error.message, "mend_stall_watchdog_options: members beyond those of mend " MEND_VERSION
                                  " are set, the program was built against a newer header");
}

static void check_size_refused(const mend_options *options, const char *start) {
  mend_error error = {.message = ""};
  cr_assert_eq(mend_options_check(options, &error), MEND_EINVAL, "%s", start);
  cr_assert(strncmp(error.message, start, strlen(start)) == 0, "%s", error.message);
}

Test(options_size, sizes_that_cannot_be) {
  const mend_options defaults = MEND_OPTIONS_INIT;
  mend_options options = defaults;
  options.size = 0;
  check_size_refused(&options, "mend_options: size is 0, start from");
  options.size = 16;
  check_size_refused(&options, "mend_options: the size of its mend_loop_watchdog_options is");
  options = defaults;
  options.loop.size = 0;
  check_size_refused(&options, "mend_loop_watchdog_options: size is 0, start from");
  options = defaults;
  options.budget.size = 13;
  check_size_refused(&options, "mend_options: the size of its mend_budget_watchdog_options is 13, expected ");
  options = defaults;
  options.fallback.size = sizeof options;
  check_size_refused(&options, "mend_options: the size of its mend_fallback_chain_options is ");
  memset(&options, 0, sizeof options);
  check_size_refused(&options, "mend_options: size is 0, start from");
}

/* ---- The other way ---- */

Test(options_size, given_to_any_version) {
  const v2 own = {sizeof own, 1, 2};
  v3 newer = {sizeof newer, 7, 7, 7};
  mend__options_give(&newer, &own);
  cr_assert_eq(newer.size, sizeof own, "what was filled in");
  cr_assert_eq(newer.b, 2u);
  cr_assert_eq(newer.c, 7u, "untouched");
  v2 older = {sizeof(v1), 7, 7};
  mend__options_give(&older, &own);
  cr_assert_eq(older.size, sizeof(v1));
  cr_assert_eq(older.a, 1u);
  cr_assert_eq(older.b, 7u, "untouched");
  v1 nothing = {0, 7};
  mend__options_give(&nothing, &own);
  cr_assert_eq(nothing.a, 7u);
}

Test(options_size, ranges) {
  static const struct {
    uint64_t value, min, max;
    const char *sentence; /* NULL: it is in range */
  } cases[] = {
      {0, 0, 0, NULL},
      {1, 1, 3, NULL},
      {3, 1, 3, NULL},
      {0, 1, 3, "a.b: 0 is out of range, expected 1 to 3"},
      {UINT64_MAX, 1, UINT64_MAX - 1, "a.b: 18446744073709551615 is out of range, expected 1 to 18446744073709551614"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    mend_error error = MEND_ERROR_INIT;
    const mend_status status = mend__options_check_range("a.b", cases[i].value, cases[i].min, cases[i].max, &error);
    cr_assert_eq(status, cases[i].sentence == NULL ? MEND_OK : MEND_EINVAL, "%zu", i);
    cr_assert_str_eq(error.message, cases[i].sentence != NULL ? cases[i].sentence : "");
  }
}

Test(options_size, numbers_that_are_refused) {
  static const struct {
    double value;
    const char *sentence;
  } cases[] = {
      {-0.5, "a.b: -0.5 is out of range, expected seconds > 0"},
      {0.1, "a.b: 0.1 is out of range, expected seconds > 0"},
      {-1.0 / 3, "a.b: -0.3333333333333333 is out of range, expected seconds > 0"},
      {-2.5e-300, "a.b: -2.5e-300 is out of range, expected seconds > 0"},
      {NAN, "a.b: NaN is out of range, expected seconds > 0"},
      {-INFINITY, "a.b: -infinity is out of range, expected seconds > 0"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    mend_error error = MEND_ERROR_INIT;
    cr_assert_eq(mend__options_refuse_number("a.b", cases[i].value, "seconds > 0", &error), MEND_EINVAL);
    cr_assert_str_eq(error.message, cases[i].sentence);
    cr_assert_eq(mend__options_refuse_number("a.b", cases[i].value, "seconds > 0", NULL), MEND_EINVAL);
  }
}

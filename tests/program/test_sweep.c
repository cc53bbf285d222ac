/* What --sweep is given, and what it tells. */
#include "program/reports/sweep.h"
#include "support/mend_test.h"

#include <stdio.h>

static const struct {
  const char *text;
  size_t settings;
  const char *last; /* the last setting */
} accepted[] = {
    {"loop.k=2..6", 5, "loop.k=6"},
    {"loop.k=2..6:2", 3, "loop.k=6"},
    {"loop.k=2..7:2", 3, "loop.k=6"},
    {"loop.k=2", 1, "loop.k=2"},
    {"loop.k=2..6,loop.n=6..20", 75, "loop.k=6 loop.n=20"},
    {" loop.k = 2..3 , loop_window_n=8/10/12", 6, "loop.k=3 loop_window_n=12"},
    {"mode=seed/evidence,stall.timeout_s=0.5..1.5:0.25", 10, "mode=evidence stall.timeout_s=1.5"},
    {"regression.drop=0.1..0.3:0.1", 3, "regression.drop=0.3"},
    {"loop.enable=true/false,stall.enable=true/false,loop.k=1/2,loop.n=9/10", 16,
     "loop.enable=false stall.enable=false loop.k=2 loop.n=10"},
};

static void name_setting(const sweep *of, size_t setting, char *text, size_t size) {
  size_t len = 0;
  for (size_t i = 0; i < of->axis_count; i++) {
    const sweep_axis *axis = &of->axes[i];
    len += (size_t)snprintf(text + len, size - len, "%s%.*s=%.*s", i > 0 ? " " : "", MEND_STR_ARG(axis->name),
                            MEND_STR_ARG(axis->values[sweep_index(of, setting, i)]));
  }
}

Test(sweep, what_is_understood) {
  for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
    sweep of;
    mend_error error = MEND_ERROR_INIT;
    cr_assert_eq(sweep_parse(&of, accepted[i].text, &error), MEND_OK, "%s: %s", accepted[i].text, error.message);
    cr_assert_eq(of.cell_count, accepted[i].settings, "%s: %zu", accepted[i].text, of.cell_count);
    char last[256];
    name_setting(&of, of.cell_count - 1, last, sizeof last);
    cr_assert_str_eq(last, accepted[i].last);
    sweep_free(&of);
  }
}

#define EXPECTED "expected NAME=LOW..HIGH, NAME=LOW..HIGH:STEP or NAME=VALUE/VALUE, such as loop.k=2..6"

static const struct {
  const char *text, *sentence;
} refused[] = {
    {"", "\"\": nothing is given; " EXPECTED},
    {"loop.k", "loop.k: no values are given; " EXPECTED},
    {"loop.k=", "loop.k=: no values are given; " EXPECTED},
    {"=3", "=3: no option is given; " EXPECTED},
    {"loop.k=6..2", "loop.k=6..2: the range runs backwards; " EXPECTED},
    {"loop.k=2..x", "loop.k=2..x: a bound is no number; " EXPECTED},
    {"loop.k=2..6:0", "loop.k=2..6:0: the step is no number above 0; " EXPECTED},
    {"loop.k=2..6:", "loop.k=2..6:: the step is no number above 0; " EXPECTED},
    {"loop.k=2//3", "loop.k=2//3: a value is empty; " EXPECTED},
    {"loop.k=2..6,", ": no values are given; " EXPECTED},
    {"loop.k=2..3,loop.k=4", "loop.k: it is given twice; " EXPECTED},
    {"loop.kk=2..3", "unknown option \"loop.kk\"; did you mean loop.k?"},
    {"loop.k=0..3", "loop.k: 0 is out of range, expected an integer from 1 to 65535"},
    {"loop.k=1..1e9", "loop.k=1..1e9: too many values; " EXPECTED},
    {"loop.k=1..200,loop.n=1000..1200", "more than 10000 settings; a larger step makes fewer"},
    {"loop.k=1,loop.n=9,stall.timeout_s=1,regression.drop=1,mode=seed", "mode=seed: more than four options; " EXPECTED},
};

Test(sweep, what_is_refused) {
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    sweep of;
    mend_error error = MEND_ERROR_INIT;
    cr_assert_neq(sweep_parse(&of, refused[i].text, &error), MEND_OK, "%s", refused[i].text);
    cr_assert_str_eq(error.message, refused[i].sentence, "%s", refused[i].text);
    sweep_free(&of);
  }
}

/* ---- Settings ---- */

Test(sweep, the_options_of_a_setting) {
  sweep of;
  mend_options base = MEND_OPTIONS_INIT;
  base.stall.timeout_s = 30;
  cr_assert_eq(sweep_parse(&of, "loop.k=2..4,loop.n=3..4", NULL), MEND_OK);
  for (size_t i = 0; i < of.cell_count; i++) {
    mend_option_tree *tree = NULL;
    const uint32_t k = 2 + (uint32_t)i / 2, n = 3 + (uint32_t)i % 2;
    const mend_status status = sweep_options(&of, i, &base, &tree, NULL);
    cr_assert_eq(status, n > k ? MEND_OK : MEND_EINVAL, "setting %zu", i);
    if (status != MEND_OK) continue;
    const mend_options *options = mend_option_tree_get(tree);
    cr_assert(options->loop.k == k && options->loop.n == n && options->stall.timeout_s == 30);
    mend_option_tree_free(tree);
  }
  sweep_free(&of);
}

/* ---- Tables and JSON ---- */

static const struct {
  const char *text, *table, *json;
} told[] = {
    {"loop.k=2..3,loop.n=3..4",
     "Incidents by setting (-: the options contradict each other)\n"
     "\n"
     "loop.k \\ loop.n   3   4\n"
     "2                 0  10\n"
     "3                 -  30\n"
     "\n"
     "The setting in use is none of these.\n",
     "{\"set\":{\"loop.k\":2,\"loop.n\":3},\"incidents\":0,\"files\":0,\"reasons\":{}}\n"
     "{\"set\":{\"loop.k\":2,\"loop.n\":4},\"incidents\":10,\"files\":1,\"reasons\":{\"repeat\":10}}\n"
     "{\"set\":{\"loop.k\":3,\"loop.n\":3},\"incidents\":null}\n"
     "{\"set\":{\"loop.k\":3,\"loop.n\":4},\"incidents\":30,\"files\":3,\"reasons\":{\"repeat\":30}}\n"},
    {"mode=seed/evidence",
     "Incidents by setting (-: the options contradict each other; *: in use)\n"
     "\n"
     "mode      incidents\n"
     "seed             *0\n"
     "evidence         10\n"
     "\n"
     "The setting in use: mode=seed (0 incidents in 0 files)\n",
     "{\"set\":{\"mode\":\"seed\"},\"incidents\":0,\"files\":0,\"reasons\":{}}\n"
     "{\"set\":{\"mode\":\"evidence\"},\"incidents\":10,\"files\":1,\"reasons\":{\"repeat\":10}}\n"},
    {"loop.enable=true/false,loop.k=2,loop.n=4",
     "Incidents by setting (-: the options contradict each other)\n"
     "\n"
     "loop.enable=true\n"
     "loop.k \\ loop.n   4\n"
     "2                 0\n"
     "\n"
     "loop.enable=false\n"
     "loop.k \\ loop.n   4\n"
     "2                10\n"
     "\n"
     "The setting in use is none of these.\n",
     NULL},
};

static void find(sweep *of) {
  for (size_t i = 0; i < of->cell_count; i++) {
    mend_option_tree *tree;
    const mend_options base = MEND_OPTIONS_INIT;
    if (sweep_options(of, i, &base, &tree, NULL) != MEND_OK) {
      of->cells[i].left_out = true;
      continue;
    }
    mend_option_tree_free(tree);
    of->cells[i].incidents = 10 * i;
    of->cells[i].files = i;
    for (size_t j = 0; j < 10 * i; j++)
      tally_add(&of->cells[i].reasons, MEND_STR("repeat"));
  }
}

Test(sweep, what_is_told) {
  for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
    sweep of;
    mend__buffer page;
    mend__buffer_init(&page, NULL);
    cr_assert_eq(sweep_parse(&of, told[i].text, NULL), MEND_OK);
    find(&of);
    const mend_options in_use = MEND_OPTIONS_INIT;
    sweep_write_tables(&of, &in_use, &page);
    mend__buffer_char(&page, '\0');
    cr_assert_str_eq(page.data, told[i].table, "%s:\n%s", told[i].text, page.data);
    mend__buffer_clear(&page);
    sweep_write_json(&of, &page);
    mend__buffer_char(&page, '\0');
    if (told[i].json != NULL) cr_assert_str_eq(page.data, told[i].json, "%s:\n%s", told[i].text, page.data);
    mend__buffer_free(&page);
    sweep_free(&of);
  }
}

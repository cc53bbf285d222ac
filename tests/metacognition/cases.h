/* Files of cases: a title ("# ..."), then two lines, what is given and what is expected. */
#ifndef MEND_TESTS_METACOGNITION_CASES_H
#define MEND_TESTS_METACOGNITION_CASES_H

#include "mend/json.h"
#include "mend/metacognition.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>

typedef void (*case_function)(void *ctx, const char *title, mend_str given, mend_str expected);

static inline mend_str next_line(char **place) {
  char *line = *place, *end = strchr(line, '\n');
  cr_assert_not_null(end, "a case ends too early: %s", line);
  *end = '\0';
  *place = end + 1;
  return mend_str_from(line);
}

static inline void each_case(const char *file, case_function run, void *ctx) {
  char *text = mend_test_read(file, NULL), *place = text;
  size_t count = 0;
  while (*place != '\0') {
    const mend_str title = next_line(&place);
    if (title.len == 0) continue;
    cr_assert_eq(title.ptr[0], '#', "%s: %s", file, title.ptr);
    const mend_str given = next_line(&place), expected = next_line(&place);
    run(ctx, title.ptr + 2, given, expected);
    count++;
  }
  free(text);
  cr_assert(count > 5, "%s: %zu cases", file, count);
}

/* The enriched text must be this, and mean the same when it is read and written again. */
static inline void expect_enriched(const char *title, const mend_enriched *enriched, mend_str expected) {
  char *json = NULL, *again = NULL;
  size_t len = 0;
  mend_enriched read = MEND_ENRICHED_INIT;
  cr_assert_eq(mend_enriched_write(enriched, NULL, &json, &len), MEND_OK, "%s", title);
  cr_assert_eq(strlen(json), len, "%s", title);
  cr_assert_str_eq(json, expected.ptr, "%s: %s", title, json);
  cr_assert_eq(mend_enriched_read((mend_str){json, len}, NULL, &read), MEND_OK, "%s", title);
  cr_assert_eq(mend_enriched_write(&read, NULL, &again, NULL), MEND_OK, "%s", title);
  cr_assert_str_eq(again, json, "%s", title);
  mend_enriched_clear(&read);
  mend_free(NULL, again);
  mend_free(NULL, json);
}

/* Has the protocol enrich and expects this. */
static inline void expect_measured(const char *title, mend_protocol *protocol, const mend_protocol_input *input,
                                   mend_str expected) {
  mend_enriched enriched = MEND_ENRICHED_INIT;
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_protocol_enrich(protocol, input, NULL, &enriched, &error), MEND_OK, "%s: %s", title, error.message);
  expect_enriched(title, &enriched, expected);
  mend_enriched_clear(&enriched);
}

#endif

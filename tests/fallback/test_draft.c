/* A reply as it comes together: calls in any order of their indices, and very many of them. */
#include "fallback/fallback_internal.h"
#include "support/mend_test.h"

#include <stdio.h>

static void add(mend__draft *draft, mend_part_kind kind, uint32_t index, const char *text) {
  mend_delta delta = MEND_DELTA_INIT;
  bool is_content;
  delta.kind = kind;
  delta.index = index;
  delta.call_id = MEND_STR("id");
  delta.text = mend_str_from(text);
  cr_assert_eq(mend__draft_add(draft, &delta, &is_content), MEND_OK);
}

/* A letter is a piece of the call of that index, which it is also the text of; - is text. */
static void check_order(const char *order, const char *expected) {
  char got[256] = "";
  mend_reply reply = MEND_REPLY_INIT;
  mend__draft *draft = mend__draft_new(NULL, NULL);
  cr_assert_not_null(draft);
  for (const char *at = order; *at != '\0'; at++) {
    const char text[] = {*at, '\0'};
    add(draft, *at == '-' ? MEND_PART_TEXT : MEND_PART_CALL, (uint32_t)(*at - 'a') & 31, text);
  }
  cr_assert_eq(mend__draft_finish(draft, &reply), MEND_OK);
  for (size_t i = 0; i < reply.part_count; i++) {
    const mend_part *part = &reply.parts[i];
    const mend_str text = part->kind == MEND_PART_CALL ? part->args : part->text;
    snprintf(got + strlen(got), sizeof got - strlen(got), "%.*s ", MEND_STR_ARG(text));
  }
  cr_assert_str_eq(got, expected, "%s: %s", order, got);
  mend_reply_clear(&reply);
}

Test(draft, calls_in_any_order) {
  static const char *const orders[][2] = {
      {"aaa", "aaa "},
      {"abc", "a b c "},
      {"aabbaab", "aaaa bbb "},
      {"abcabcabc", "aaa bbb ccc "},
      {"--ab--a", "-- aa b -- "},
      {"cba", "c b a "},
      {"cbacba", "cc bb aa "},
      {"b-d-b-d", "bb - dd -- "},
      {"zbz-b", "zz bb - "},
      {"-c-a-c-b-a", "- cc - aa -- b - "},
  };
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
    check_order(orders[i][0], orders[i][1]);
}

/* A search from one end for each of them would take minutes. */
Test(draft, very_many_calls) {
  enum { CALLS = 400000 };
  mend__draft *draft = mend__draft_new(NULL, NULL);
  mend_reply reply = MEND_REPLY_INIT;
  cr_assert_not_null(draft);
  add(draft, MEND_PART_TEXT, 0, "x");
  for (int twice = 0; twice < 2; twice++) {
    for (uint32_t i = 0; i < CALLS; i++)
      add(draft, MEND_PART_CALL, i, "1");
  }
  cr_assert_eq(mend__draft_finish(draft, &reply), MEND_OK);
  cr_assert_eq(reply.part_count, CALLS + 1u);
  cr_assert(mend_str_equal(reply.parts[CALLS].args, MEND_STR("11")));
  mend_reply_clear(&reply);
}

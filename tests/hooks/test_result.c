#include "hook_world.h"

Test(result, outcome_names) {
  static const struct {
    mend_outcome outcome;
    const char *name;
  } names[] = {
      {MEND_OUTCOME_OK, "ok"},
      {MEND_OUTCOME_SKIPPED, "skipped"},
      {MEND_OUTCOME_ESCALATED, "escalated"},
      {MEND_OUTCOME_REDIRECTED, "redirected"},
      {MEND_OUTCOME_FAILED, "failed"},
      {MEND_OUTCOME_ABORTED, "aborted"},
      {MEND_OUTCOME_CANCELLED, "cancelled"},
      {(mend_outcome)77, "unknown"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    cr_assert_str_eq(mend_outcome_name(names[i].outcome), names[i].name);
}

static void check_clear(const mend_result *result) {
  const mend_str *texts[] = {&result->value,  &result->error_type, &result->error_message,
                             &result->reason, &result->question,   &result->hook};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    cr_assert(text_is(*texts[i], NULL), "text %zu", i);
  cr_assert_eq(result->outcome, MEND_OUTCOME_OK);
  cr_assert_eq(result->call, 0u);
  cr_assert_eq(result->attempts, 0u);
  cr_assert_eq(result->duration_ms, 0);
  cr_assert_null(result->memory);
}

Test(result, holds_its_texts) {
  mend_test_allocator memory[2];
  mend_test_allocator_init(&memory[0]);
  mend_test_allocator_init(&memory[1]);
  mend_result result = MEND_RESULT_INIT;
  check_clear(&result);
  mend_str *const fields[] = {&result.value,  &result.error_type, &result.error_message,
                              &result.reason, &result.question,   &result.hook};
  enum { FIELDS = sizeof fields / sizeof *fields };
  char text[] = "text 0";
  for (size_t i = 0; i < FIELDS; i++) {
    text[5] = (char)('0' + i);
    cr_assert_eq(mend__result_set(&result, &memory[i % 2].base, fields[i], mend_str_from(text)), MEND_OK);
  }
  for (size_t i = 0; i < FIELDS; i++) {
    text[5] = (char)('0' + i);
    cr_assert(text_is(*fields[i], text), "field %zu", i);
    cr_assert_eq(fields[i]->ptr[fields[i]->len], '\0');
  }

  /* set anew, a thousand times, by its own text too: nothing piles up */
  for (int i = 0; i < 1000; i++) {
    cr_assert_eq(mend__result_set(&result, &memory[i % 2].base, &result.reason, result.reason), MEND_OK);
    cr_assert_eq(mend__result_set(&result, &memory[0].base, &result.value, MEND_STR("")), MEND_OK);
  }
  cr_assert(text_is(result.reason, "text 3"));
  cr_assert(text_is(result.value, ""));
  cr_assert_eq(atomic_load(&memory[0].blocks) + atomic_load(&memory[1].blocks), (size_t)FIELDS);
  cr_assert_eq(mend__result_set(&result, &memory[0].base, &result.value, (mend_str)MEND_ABSENT), MEND_OK);
  cr_assert(text_is(result.value, NULL));
  cr_assert_eq(atomic_load(&memory[0].blocks) + atomic_load(&memory[1].blocks), (size_t)FIELDS - 1);

  /* out of memory leaves the field as it was, and what was a text of the caller's is not freed */
  mend_test_allocator_arm(&memory[0], 1, false);
  cr_assert_eq(mend__result_set(&result, &memory[0].base, &result.reason, MEND_STR("new")), MEND_ENOMEM);
  cr_assert(text_is(result.reason, "text 3"));
  result.hook = MEND_STR("borrowed");
  cr_assert_eq(mend__result_set(&result, &memory[0].base, &result.hook, MEND_STR("kept")), MEND_OK);
  cr_assert(text_is(result.hook, "kept"));

  result.outcome = MEND_OUTCOME_FAILED;
  result.call = 3;
  result.attempts = 2;
  result.duration_ms = 1.5;
  result.size = sizeof result + 8; /* of a newer header */
  mend_result_clear(&result);
  check_clear(&result);
  cr_assert_eq(result.size, sizeof result + 8);
  mend_result_clear(&result);
  mend_result_clear(NULL);
  for (int i = 0; i < 2; i++)
    cr_assert_eq(atomic_load(&memory[i].blocks), 0u);
}

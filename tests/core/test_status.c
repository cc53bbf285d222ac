#include "core/memory.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdint.h>
#include <stdio.h>

/* Numbers are part of the ABI, so they are written out once more. */
static const struct {
  mend_status status;
  int number;
  const char *name;
} statuses[] = {
    {MEND_OK, 0, "MEND_OK"},           {MEND_EINVAL, 1, "MEND_EINVAL"},    {MEND_ENOMEM, 2, "MEND_ENOMEM"},
    {MEND_ENOENT, 3, "MEND_ENOENT"},   {MEND_EEXIST, 4, "MEND_EEXIST"},    {MEND_ELIMIT, 5, "MEND_ELIMIT"},
    {MEND_EDEADLK, 6, "MEND_EDEADLK"}, {MEND_ESYNTAX, 7, "MEND_ESYNTAX"},  {MEND_EIO, 8, "MEND_EIO"},
    {MEND_ENOTSUP, 9, "MEND_ENOTSUP"}, {MEND_ECLOSED, 10, "MEND_ECLOSED"}, {MEND_ABORTED, 11, "MEND_ABORTED"},
};

Test(status, names_numbers_and_sentences) {
  for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
    const mend_status status = statuses[i].status;
    const char *message = mend_status_message(status);
    cr_assert_eq((int)status, statuses[i].number);
    cr_assert_str_eq(mend_status_name(status), statuses[i].name);
    cr_assert(strlen(message) > 0 && message[strlen(message) - 1] != '.', "%s: %s", statuses[i].name, message);
    for (size_t j = 0; j < i; j++)
      cr_assert(strcmp(message, mend_status_message(statuses[j].status)) != 0);
  }
  cr_assert_str_eq(mend_status_name((mend_status)4711), "MEND_UNKNOWN");
  cr_assert(strlen(mend_status_message((mend_status)4711)) > 0);
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", MEND_VERSION_MAJOR, MEND_VERSION_MINOR, MEND_VERSION_PATCH);
  cr_assert_str_eq(mend_version(), version);
}

/* A message of `before` bytes and then `character` over and over: what is kept ends between two of them. */
static void check_cut(size_t before, const char *character) {
  char text[600] = "";
  memset(text, 'x', before);
  size_t len = before;
  while (len + strlen(character) < sizeof text) {
    memcpy(text + len, character, strlen(character));
    len += strlen(character);
  }
  text[len] = '\0';
  mend_error error;
  mend_error_set(&error, MEND_EINVAL, "%s", text);
  const size_t kept = strlen(error.message);
  cr_assert_eq((kept - before) % strlen(character), 0u, "cut inside a character of %zu bytes", strlen(character));
  cr_assert(kept < sizeof error.message && kept + strlen(character) >= sizeof error.message, "kept only %zu", kept);
  cr_assert(memcmp(error.message, text, kept) == 0);
}

Test(error, sentences_and_their_cut) {
  mend_error error = {.line = 7, .column = 7};
  cr_assert_eq(mend_error_set(&error, MEND_EINVAL, "%s: %d", "loop.k", 0), MEND_EINVAL);
  cr_assert_eq(error.status, MEND_EINVAL);
  cr_assert_eq(error.line, 0u);
  cr_assert_eq(error.column, 0u);
  cr_assert_str_eq(error.message, "loop.k: 0");

  cr_assert_eq(mend_error_set_at(&error, MEND_ESYNTAX, 3, 14, "expected a comma"), MEND_ESYNTAX);
  cr_assert_eq(error.status, MEND_ESYNTAX);
  cr_assert_eq(error.line, 3u);
  cr_assert_eq(error.column, 14u);

  mend_error_set(&error, MEND_EIO, "config: %s", error.message);
  cr_assert_str_eq(error.message, "config: expected a comma", "a sentence may quote the one before");

  cr_assert_eq(mend_error_set(NULL, MEND_ENOMEM, "nobody asked"), MEND_ENOMEM);
  cr_assert_eq(mend_error_set_at(NULL, MEND_ENOENT, 1, 1, "nobody asked"), MEND_ENOENT);

  static const char *const characters[] = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
  for (size_t before = 0; before < 5; before++) {
    for (size_t i = 0; i < sizeof characters / sizeof characters[0]; i++)
      check_cut(before, characters[i]);
  }
}

static const struct {
  const char *text;
  size_t limit, kept;
} cuts[] = {
    {"", 0, 0},
    {"abc", 5, 3},
    {"abc", 3, 3},
    {"abc", 2, 2},
    {"a\xC3\xA9", 2, 1},
    {"a\xC3\xA9", 3, 3},
    {"a\xE2\x82\xAC", 2, 1},
    {"a\xE2\x82\xAC", 3, 1},
    {"\xF0\x9F\x98\x80", 3, 0},
    {"\xF0\x9F\x98\x80z", 4, 4},
    {"\x80\x80\x80\x80\x80\x80", 4, 4}, /* no UTF-8: cut anywhere */
};

Test(error, the_sentence_for_a_person) {
  mend_error about = MEND_ERROR_INIT;
  mend_error_set(&about, MEND_EINVAL, "loop.k: 0 is too small");
  const mend_error empty = MEND_ERROR_INIT;
  const struct {
    const mend_error *error;
    mend_status status;
    const char *want;
  } rows[] = {
      {&about, MEND_EINVAL, "loop.k: 0 is too small"},
      {&about, MEND_ENOMEM, "out of memory"}, /* it is about another failure */
      {&empty, MEND_ENOMEM, "out of memory"},
      {&empty, MEND_OK, "success"},
      {NULL, MEND_EEXIST, "already there"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    cr_assert_str_eq(mend_error_sentence(rows[i].error, rows[i].status), rows[i].want, "row %zu", i);
}

Test(memory, allocators_copies_and_cuts) {
  for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
    cr_assert_eq(mend__utf8_cut(mend_str_from(cuts[i].text), cuts[i].limit), cuts[i].kept, "case %zu", i);
  }
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  const mend_allocator *const choices[] = {NULL, mend_allocator_default(), &allocator.base};
  for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
    char *copy = mend__str_copy(choices[i], (mend_str){"a\0b", 3});
    cr_assert_not_null(copy);
    cr_assert(memcmp(copy, "a\0b", 4) == 0);
    copy = mend__realloc(choices[i], copy, 4096);
    cr_assert_not_null(copy);
    cr_assert(memcmp(copy, "a\0b", 4) == 0);
    mend_free(choices[i], copy);
    mend_free(choices[i], NULL);
    unsigned char *zeros = mend__alloc_zero(choices[i], 100);
    cr_assert_not_null(zeros);
    for (size_t j = 0; j < 100; j++)
      cr_assert_eq(zeros[j], 0);
    mend__free(choices[i], zeros);
    void *nothing = mend__alloc(choices[i], 0);
    cr_assert_not_null(nothing, "size 0 is no failure");
    mend__free(choices[i], nothing);
  }
  cr_assert_eq(allocator.blocks, 0u);
  mend_test_allocator_arm(&allocator, 1, true);
  cr_assert_null(mend__str_copy(&allocator.base, MEND_STR("x")));
  cr_assert_null(mend__alloc_zero(&allocator.base, 8));
  cr_assert_null(mend__str_copy(NULL, (mend_str){"", SIZE_MAX}));
}

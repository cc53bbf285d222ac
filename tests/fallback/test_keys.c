/* Keys in turn. */
#include "fallback/keys.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const secrets[] = {"sk-a", "sk-b", "sk-c"};

/* A step: '0'..'2': that key was refused; "+n": it worked. Behind each: the current one, or '-' when none is left. */
static const struct {
  size_t count;
  const char *steps;
} turns[] = {
    {1, "0-"},
    {3, "01" "12" "2-"}, /* refused one after the other; the last: none is left */
    {3, "01"
        "01"
        "12"}, /* a late refusal moves nothing back */
    {3, "01"
        "12"
        "2-"
        "+0"
        "20"}, /* one that works again is used again */
    {2, "10"
        "0-"}, /* one that is not the current one */
};

static void take_step(mend__keys *keys, const char *step, size_t turn) {
  const size_t refused = (size_t)(step[0] - '0');
  const bool any = mend__keys_advance(keys, refused);
  cr_assert_eq(any, step[1] != '-', "turn %zu at %s", turn, step);
  if (any) cr_assert_eq(mend__keys_current(keys), (size_t)(step[1] - '0'), "turn %zu at %s", turn, step);
}

Test(keys, turns) {
  for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
    mend__keys *keys;
    cr_assert_eq(mend__keys_new(secrets, turns[i].count, NULL, &keys), MEND_OK);
    for (const char *step = turns[i].steps; *step != '\0'; step += 2) {
      if (*step == '+') {
        mend__keys_worked(keys, (size_t)(step[1] - '0'));
      } else {
        take_step(keys, step, i);
      }
    }
    mend__keys_release(keys);
  }
  cr_assert_null(mend__keys_secret(NULL, 0));
  cr_assert(!mend__keys_advance(NULL, 0));
  mend__keys_release(mend__keys_retain(NULL));
}

static const struct {
  const char *text, *covered;
} covers[] = {{"Incorrect API key provided: sk-b.", "Incorrect API key provided: ****."},
              {"sk-ask-bsk-csk-", "************sk-"},
              {"nothing", "nothing"},
              {"", ""}};

Test(keys, covered) {
  mend__keys *keys;
  cr_assert_eq(mend__keys_new(secrets, 3, NULL, &keys), MEND_OK);
  for (size_t i = 0; i < sizeof covers / sizeof *covers; i++) {
    mend__buffer text;
    mend__buffer_init(&text, NULL);
    mend__buffer_str(&text, mend_str_from(covers[i].text));
    mend__keys_cover(keys, &text);
    cr_assert(mend_str_equal((mend_str){text.data, text.len}, mend_str_from(covers[i].covered)), "%s", covers[i].text);
    mend__buffer_free(&text);
  }
  mend__keys_release(keys);
}

/* What was freed is looked at before it is given back: no secret may be in it. */
static bool secret_seen;

static void *allocate(void *ctx, size_t size) {
  (void)ctx;
  return malloc(size);
}

static void *reallocate(void *ctx, void *pointer, size_t size) {
  (void)ctx;
  return realloc(pointer, size);
}

static void release_looking(void *ctx, void *pointer) {
  (void)ctx;
  secret_seen = secret_seen || memcmp(pointer, "sk-", 3) == 0;
  free(pointer);
}

Test(keys, wiped) {
  const mend_allocator allocator = {sizeof allocator, NULL, allocate, reallocate, release_looking};
  mend__keys *keys;
  cr_assert_eq(mend__keys_new(secrets, 3, &allocator, &keys), MEND_OK);
  mend__keys *again = mend__keys_retain(keys);
  mend__keys_release(keys);
  cr_assert_str_eq(mend__keys_secret(again, 1), "sk-b");
  mend__keys_release(again);
  cr_assert(!secret_seen);
}

Test(keys, torture) {
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  bool failed = true;
  for (size_t n = 1; failed; n++) {
    mend__keys *keys = NULL;
    mend_test_allocator_arm(&allocator, n, false);
    const mend_status status = mend__keys_new(secrets, 3, &allocator.base, &keys);
    failed = mend_test_allocator_failed(&allocator);
    cr_assert_eq(status, failed ? MEND_ENOMEM : MEND_OK);
    mend__keys_release(keys);
    cr_assert_eq(allocator.blocks, 0u, "allocation %zu leaves blocks", n);
  }
}

/* Three tests that must fail, each in a program of its own: they show that the harness and the sanitizers notice. */
#include "support/mend_test.h"

#if defined(MUST_FAIL_BY_ASSERTION)

Test(must_fail, assertion) { cr_assert_eq(1 + 1, 3); }

#elif defined(MUST_FAIL_BY_LEAK)

#include <stdlib.h>

Test(must_fail, leak) {
  void *volatile lost = malloc(1);
  cr_assert_not_null(lost);
  lost = NULL;
}

#elif defined(MUST_FAIL_BY_RACE)

#include <pthread.h>

static int raced;

static void *race(void *unused) {
  raced++;
  return unused;
}

Test(must_fail, race) {
  pthread_t other;
  cr_assert_eq(pthread_create(&other, NULL, race, NULL), 0);
  raced++;
  pthread_join(other, NULL);
}

#endif

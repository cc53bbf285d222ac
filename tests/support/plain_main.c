/* The harness behind mend_test.h when MEND_TEST_PLAIN is defined: runs the registered tests one after the other in one
 * process. Arguments, if any, are parts of suite/name to run only those. */
#include "support/mend_test.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static mend_test *first_test;
static mend_test **last_link = &first_test;

static const mend_test *current;
static pthread_t runner;
static jmp_buf failed;

void mend_test_register(mend_test *test) {
  *last_link = test;
  last_link = &test->next;
}

void mend_test_fail(const char *file, int line, const char *claim, const char *format, ...) {
  fprintf(stderr, "%s/%s failed at %s:%d: %s", current->suite, current->name, file, line, claim);
  if (format[0] != '\0') {
    va_list arguments;
    va_start(arguments, format);
    fputs(": ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
  }
  fputc('\n', stderr);
  if (!pthread_equal(pthread_self(), runner)) abort(); /* no way back to the runner's stack from here */
  longjmp(failed, 1);
}

static bool is_wanted(const mend_test *test, int count, char **parts) {
  char name[256];
  snprintf(name, sizeof name, "%s/%s", test->suite, test->name);
  for (int i = 0; i < count; i++) {
    if (strstr(name, parts[i]) != NULL) return true;
  }
  return count == 0;
}

static bool passes(const mend_test *test) {
  current = test;
  if (setjmp(failed) != 0) return false;
  test->run();
  return true;
}

int main(int argc, char **argv) {
  unsigned passed = 0, lost = 0;
  runner = pthread_self();
  for (const mend_test *test = first_test; test != NULL; test = test->next) {
    if (!is_wanted(test, argc - 1, argv + 1)) continue;
    if (passes(test)) {
      passed++;
    } else {
      lost++;
    }
  }
  printf("%u passed, %u failed\n", passed, lost);
  return lost == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Runs the program as people do: in a shell, where it is called mend. A header, because each test is one source. */
#ifndef MEND_TEST_SHELL_H
#define MEND_TEST_SHELL_H

#include "support/mend_test.h"
#include "support/test_support.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a command did; free it with shell_free. */
typedef struct shell_result {
  char *out, *err; /* ended by NUL */
  int status;      /* 128 + n for signal n */
} shell_result;

static inline void shell_free(shell_result *result) {
  free(result->out);
  free(result->err);
}

/* Before anything is run: the folder of the program comes first in PATH, its examples are $EXAMPLES, and nothing of the
 * surroundings shows in what it prints. */
static inline void shell_prepare(const char *folder) {
  char program[4096], path[8192];
  snprintf(program, sizeof program, "%s", MEND_PROGRAM);
  const char *bin = dirname(program);
  snprintf(path, sizeof path, "%s/examples", bin);
  setenv("EXAMPLES", path, 1);
  const char *before = getenv("PATH");
  snprintf(path, sizeof path, "%s:%s", bin, before != NULL ? before : "/usr/bin:/bin");
  setenv("PATH", path, 1);
  unsetenv("NO_COLOR");
  cr_assert_eq(chdir(folder), 0, "cannot go to %s", folder);
}

static inline char *shell_read_all(FILE *file) {
  rewind(file);
  size_t len = 0, capacity = 1 << 16, got;
  char *text = malloc(capacity);
  cr_assert_not_null(text);
  while ((got = fread(text + len, 1, capacity - len - 1, file)) > 0) {
    len += got;
    if (len + 1 < capacity) continue;
    capacity *= 2;
    char *larger = realloc(text, capacity);
    cr_assert_not_null(larger);
    text = larger;
  }
  text[len] = '\0';
  fclose(file);
  return text;
}

static inline shell_result shell_run(const char *command) {
  FILE *out = tmpfile(), *err = tmpfile();
  cr_assert(out != NULL && err != NULL);
  fflush(NULL);
  const pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    if (dup2(fileno(out), STDOUT_FILENO) >= 0 && dup2(fileno(err), STDERR_FILENO) >= 0) {
      execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    }
    _exit(127);
  }
  int status;
  cr_assert_eq(waitpid(child, &status, 0), child);
  shell_result result = {.out = shell_read_all(out), .err = shell_read_all(err)};
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

#endif

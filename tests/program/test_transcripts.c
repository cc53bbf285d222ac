/* What the program prints, as transcripts: tests/data/replay/NAME.case. A line is
 *
 *   # a comment, or nothing
 *   $ a command, run by sh in tests/data/replay
 *   > a line of its standard output
 *   ! a line of its standard error
 *   = its exit status, which ends the expectation
 *
 * "[...]" at the end of an expected line stands for the rest of it, and alone for any number of lines. */
#include "shell.h"

#include <stdbool.h>

static const char ANYTHING[] = "[...]";

typedef struct lines {
  char *text[512];
  size_t count;
} lines;

static void add_line(lines *to, char *line) {
  cr_assert(to->count < sizeof to->text / sizeof to->text[0], "too many lines");
  to->text[to->count++] = line;
}

/* Cuts the text into its lines, in place. */
static lines split(char *text) {
  lines all = {.count = 0};
  while (*text != '\0') {
    char *feed = strchr(text, '\n');
    add_line(&all, text);
    if (feed == NULL) break;
    *feed = '\0';
    text = feed + 1;
  }
  return all;
}

static bool line_fits(const char *expected, const char *line) {
  const size_t len = strlen(expected), tail = sizeof ANYTHING - 1;
  if (len >= tail && strcmp(expected + len - tail, ANYTHING) == 0) return strncmp(expected, line, len - tail) == 0;
  return strcmp(expected, line) == 0;
}

/* Whether the lines from `at` on fit what is expected from `next` on. */
static bool fits(const lines *expected, size_t next, const lines *got, size_t at) {
  for (; next < expected->count; next++, at++) {
    if (strcmp(expected->text[next], ANYTHING) == 0) {
      for (; at <= got->count; at++) {
        if (fits(expected, next + 1, got, at)) return true;
      }
      return false;
    }
    if (at == got->count || !line_fits(expected->text[next], got->text[at])) return false;
  }
  return at == got->count;
}

typedef struct transcript {
  const char *name;
  const char *command;
  lines out, err;
  size_t commands, failures;
} transcript;

static void show(char mark, const lines *all) {
  for (size_t i = 0; i < all->count; i++)
    fprintf(stderr, "%c %s\n", mark, all->text[i]);
}

static void check(transcript *of, int status) {
  cr_assert_not_null(of->command, "%s: an expectation without a command", of->name);
  shell_result result = shell_run(of->command);
  const lines out = split(result.out), err = split(result.err);
  of->commands++;
  if (result.status != status || !fits(&of->out, 0, &out, 0) || !fits(&of->err, 0, &err, 0)) {
    of->failures++;
    fprintf(stderr, "%s: expected something else (status %d) than this:\n$ %s\n", of->name, status, of->command);
    show('>', &out);
    show('!', &err);
    fprintf(stderr, "= %d\n", result.status);
  }
  shell_free(&result);
}

static void take_line(transcript *of, char *line) {
  char *rest = line[0] != '\0' && line[1] == ' ' ? line + 2 : line + strlen(line);
  switch (line[0]) {
  case '\0':
  case '#': break;
  case '$':
    of->command = rest;
    of->out.count = of->err.count = 0;
    break;
  case '>': add_line(&of->out, rest); break;
  case '!': add_line(&of->err, rest); break;
  case '=':
    check(of, atoi(rest));
    of->command = NULL;
    break;
  default: cr_assert(false, "%s: what is \"%s\"?", of->name, line);
  }
}

static void run_file(void *ctx, const char *name) {
  size_t *failures = ctx;
  transcript of = {.name = name};
  char *text = mend_test_read(name, NULL);
  lines all = split(text);
  for (size_t i = 0; i < all.count; i++)
    take_line(&of, all.text[i]);
  cr_assert_null(of.command, "%s: a command without an exit status", name);
  cr_assert(of.commands > 0, "%s: no commands", name);
  *failures += of.failures;
  free(text);
}

Test(program, transcripts) {
  size_t failures = 0;
  shell_prepare(MEND_TEST_DATA "/replay");
  const size_t files = mend_test_each("replay", ".case", run_file, &failures);
  cr_assert(files > 0);
  cr_assert_eq(failures, 0, "%zu commands did something else", failures);
}

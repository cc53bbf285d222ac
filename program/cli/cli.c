#include "program/cli/cli.h"

#include "core/buffer.h"
#include "program/replay/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

int cli_fail(const char *format, ...) {
  char sentence[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  /* Line feeds are ours: they separate sentences. */
  for (char *line = strtok(sentence, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    mend__buffer_str(&text, text.len == 0 ? MEND_STR("mend: ") : MEND_STR("\n"));
    plain_text(&text, mend_str_from(line), sizeof sentence);
  }
  fprintf(stderr, "%.*s\n", text.failed ? 0 : (int)text.len, text.data != NULL ? text.data : "");
  mend__buffer_free(&text);
  return CLI_FAILED;
}

/* Levenshtein's distance; words longer than the row are as far as can be. */
static size_t distance(const char *a, const char *b) {
  enum { LONGEST = 63 };
  const size_t a_len = strlen(a), b_len = strlen(b);
  if (a_len > LONGEST || b_len > LONGEST) return SIZE_MAX;
  size_t row[LONGEST + 1];
  for (size_t j = 0; j <= b_len; j++)
    row[j] = j;
  for (size_t i = 1; i <= a_len; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_len; j++) {
      const size_t change = diagonal + (a[i - 1] != b[j - 1]);
      const size_t shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      diagonal = row[j];
      row[j] = change < shift ? change : shift;
    }
  }
  return row[b_len];
}

const char *cli_nearest(const char *word, const char *const *candidates) {
  const char *best = NULL;
  size_t least = strlen(word) / 3 + 2;
  for (; *candidates != NULL; candidates++) {
    const size_t far = distance(word, *candidates);
    if (far >= least) continue;
    least = far;
    best = *candidates;
  }
  return best;
}

bool cli_wants_colour(FILE *out) {
  const char *no_color = getenv("NO_COLOR");
  const char *term = getenv("TERM");
  if (no_color != NULL && no_color[0] != '\0') return false;
  return term != NULL && strcmp(term, "dumb") != 0 && isatty(fileno(out)) == 1;
}

void cli_prepare_streams(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    /* Opened the wrong way round: using it still fails. */
    const int opened = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened >= 0 && opened != fd) close(opened);
  }
  signal(SIGPIPE, SIG_IGN);
}

int cli_finish(int status) {
  const bool lost = ferror(stdout) != 0;
  const int before = errno;
  if (fflush(stdout) == 0 && !lost) return status;
  return cli_fail("standard output: %s", strerror(lost ? before : errno));
}

#include "program/cli/cli.h"

#include "core/buffer.h"
#include "core/nearest.h"
#include "core/reason.h"
#include "program/base/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *cli_program = "mend";

/* Line feeds are ours: they separate sentences. */
static void say(const char *format, va_list arguments) {
  char sentences[2048], before[64];
  vsnprintf(sentences, sizeof sentences, format, arguments);
  snprintf(before, sizeof before, "%s: ", cli_program);
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  plain_sentences(&text, before, mend_str_from(sentences));
  if (!text.failed) fwrite(text.data, 1, text.len, stderr);
  mend__buffer_free(&text);
}

int cli_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  return CLI_FAILED;
}

void cli_remark(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
}

int cli_out_of_memory(void) { return cli_fail("%s", mend_status_message(MEND_ENOMEM)); }

static const char *without_dashes(const char *word) { return word + strspn(word, "-"); }

const char *cli_nearest(const char *word, const char *const *candidates) {
  const char *wanted = without_dashes(word);
  const size_t len = strlen(wanted);
  for (const char *const *each = candidates; *each != NULL && len > 0; each++) {
    if (strncmp(without_dashes(*each), wanted, len) == 0) return *each;
  }
  mend__nearest search = mend__nearest_to(mend_str_from(wanted));
  for (const char *const *each = candidates; *each != NULL; each++)
    mend__nearest_consider(&search, mend_str_from(without_dashes(*each)), *each);
  return search.answer;
}

int cli_unknown(const char *what, const char *word, const char *const *candidates, const char *help) {
  const char *near = cli_nearest(word, candidates);
  if (near == NULL) return cli_fail("unknown %s \"%s\"; `%s` lists them", what, word, help);
  return cli_fail("unknown %s \"%s\"; did you mean %s?", what, word, near);
}

bool cli_wants_colour(FILE *out) {
  const char *no_color = getenv("NO_COLOR");
  const char *term = getenv("TERM");
  if (no_color != NULL && no_color[0] != '\0') return false;
  return term != NULL && strcmp(term, "dumb") != 0 && isatty(fileno(out)) == 1;
}

size_t cli_width(FILE *out) {
  enum { NARROWEST = 60, WIDEST = 120 };
  if (isatty(fileno(out)) != 1) return PLAIN_WIDTH;
  const char *columns = getenv("COLUMNS");
  struct winsize size = {0};
  unsigned long width = columns != NULL ? strtoul(columns, NULL, 10) : 0;
  if (width == 0 && ioctl(fileno(out), TIOCGWINSZ, &size) == 0) width = size.ws_col;
  if (width == 0) return PLAIN_WIDTH;
  return width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width;
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

int cli_show_version(void) {
  printf("%s %s\n", cli_program, mend_version());
  return CLI_FINE;
}

int cli_finish(int status) {
  const bool lost = ferror(stdout) != 0;
  const int before = errno;
  if (fflush(stdout) == 0 && !lost) return status;
  const int reason = lost ? before : errno;
  return reason == EPIPE ? CLI_FAILED : cli_fail("standard output: %s", mend__reason(reason));
}

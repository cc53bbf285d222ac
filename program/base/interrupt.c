#include "program/base/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

/* The handler writes to a pipe, so that a signal that comes just before the wait ends it, too. */
static int pipe_fds[2] = {-1, -1};
static volatile sig_atomic_t came;

static void on_interrupt(int number) {
  (void)number;
  const int before = errno;
  came = 1;
  const ssize_t written = write(pipe_fds[1], "", 1);
  (void)written; /* a full pipe can be read, which is all that matters */
  errno = before;
}

mend_status interrupt_catch(void) {
  struct sigaction before;
  if (sigaction(SIGINT, NULL, &before) != 0) return MEND_EIO;
  if (before.sa_handler == SIG_IGN) return MEND_OK;
  if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) != 0) return MEND_EIO;
  struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  return sigaction(SIGINT, &action, NULL) == 0 ? MEND_OK : MEND_EIO;
}

bool interrupt_came(void) { return came != 0; }

bool interrupt_wait(int fd) {
  if (pipe_fds[0] < 0) return true;
  struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = pipe_fds[0], .events = POLLIN}};
  while (!interrupt_came() && poll(fds, 2, -1) < 0 && errno == EINTR) {
  }
  return !interrupt_came();
}

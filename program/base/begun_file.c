#include "program/base/begun_file.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
enum { END_COUNT = sizeof ends / sizeof ends[0] };

static _Atomic(const char *) begun;

/* The signal is held back until this returns, and is no longer caught then. */
static void on_end(int number) {
  const char *path = atomic_load(&begun);
  if (path != NULL) unlink(path);
  raise(number);
}

static void catch_signal(int number) {
  struct sigaction before, action = {.sa_handler = on_end, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(number, &action, NULL);
}

FILE *begun_file_open(const char *path) {
  sigset_t held, before;
  sigemptyset(&held);
  for (int i = 0; i < END_COUNT; i++)
    sigaddset(&held, ends[i]);
  sigprocmask(SIG_BLOCK, &held, &before); /* or one could come between the file and its name */
  signal(SIGXFSZ, SIG_IGN);
  FILE *file = fopen(path, "wxe");
  const int reason = errno;
  atomic_store(&begun, file != NULL ? path : NULL);
  for (int i = 0; i < END_COUNT && file != NULL; i++)
    catch_signal(ends[i]);
  sigprocmask(SIG_SETMASK, &before, NULL);
  errno = reason;
  return file;
}

void begun_file_release(void) { atomic_store(&begun, NULL); }

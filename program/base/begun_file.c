#include "program/base/begun_file.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static _Atomic(const char *) begun;

/* The signal is held back until this returns, and is no longer caught then. */
static void on_end(int number) {
  const char *path = atomic_load(&begun);
  if (path != NULL) unlink(path);
  raise(number);
}

static mend_status catch_signal(int number) {
  struct sigaction before;
  if (sigaction(number, NULL, &before) != 0) return MEND_EIO;
  if (before.sa_handler == SIG_IGN) return MEND_OK;
  struct sigaction action = {.sa_handler = on_end, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  return sigaction(number, &action, NULL) == 0 ? MEND_OK : MEND_EIO;
}

mend_status begun_file_guard(const char *path) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  atomic_store(&begun, path);
  mend_status status = signal(SIGXFSZ, SIG_IGN) != SIG_ERR ? MEND_OK : MEND_EIO;
  for (size_t i = 0; i < sizeof ends / sizeof ends[0] && status == MEND_OK; i++)
    status = catch_signal(ends[i]);
  return status;
}

void begun_file_release(void) { atomic_store(&begun, NULL); }

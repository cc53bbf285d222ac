#include "core/thread.h"

#include <signal.h>
#include <stddef.h>

/* The new thread inherits the mask, so no signal can come to it first. What its own mistakes raise cannot be blocked,
 * only be hidden from whoever reports crashes. */
int mend__thread_create(pthread_t *ret_thread, void *(*function)(void *ctx), void *ctx) {
  static const int own_mistakes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof own_mistakes / sizeof own_mistakes[0]; i++)
    sigdelset(&blocked, own_mistakes[i]);
  int failure = pthread_sigmask(SIG_SETMASK, &blocked, &before);
  if (failure != 0) return failure;
  failure = pthread_create(ret_thread, NULL, function, ctx);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failure;
}

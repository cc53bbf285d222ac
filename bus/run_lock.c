/* The run's lock. A debug build ends, instead of waiting for itself, where what takes the lock is called by somebody
 * who has it: a watchdog that publishes. */
#include "bus/bus_internal.h"

#include <assert.h>

bool mend__run_lock_init(mend_run *run) {
#ifdef NDEBUG
  return pthread_mutex_init(&run->mutex, NULL) == 0;
#else
  pthread_mutexattr_t checked;
  if (pthread_mutexattr_init(&checked) != 0) return false;
  pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
  const bool is_made = pthread_mutex_init(&run->mutex, &checked) == 0;
  pthread_mutexattr_destroy(&checked);
  return is_made;
#endif
}

void mend__run_lock(mend_run *run) {
  const int reason = pthread_mutex_lock(&run->mutex);
  assert(reason == 0 && "docs/threading.md tells what a watchdog may call");
  (void)reason;
}

void mend__run_unlock(mend_run *run) { pthread_mutex_unlock(&run->mutex); }

/* Expiries of a watch that are under way: what one has found it has announced when it ends, and not before. */
#include "watchdogs/watchdogs_internal.h"

void mend__expiry_begin(mend__expiry *expiry, mend_watch *watch) {
  expiry->thread = pthread_self();
  pthread_mutex_lock(&watch->hub->lock);
  expiry->earlier = watch->expiries;
  watch->expiries = expiry;
  pthread_mutex_unlock(&watch->hub->lock);
}

void mend__expiry_end(mend__expiry *expiry, mend_watch *watch) {
  pthread_mutex_lock(&watch->hub->lock);
  mend__expiry **link = &watch->expiries;
  while (*link != expiry)
    link = &(*link)->earlier;
  *link = expiry->earlier;
  pthread_cond_broadcast(&watch->hub->expiry_ended);
  pthread_mutex_unlock(&watch->hub->lock);
}

/* Under the hub's lock: an expiry on this thread is above us, and waits for us. */
static bool is_expiring_here(const mend_watch *watch) {
  const mend__expiry *expiry = watch->expiries;
  while (expiry != NULL && !pthread_equal(expiry->thread, pthread_self()))
    expiry = expiry->earlier;
  return expiry != NULL;
}

void mend__expiry_await(mend_watch *watch) {
  pthread_mutex_lock(&watch->hub->lock);
  while (watch->expiries != NULL && !is_expiring_here(watch))
    pthread_cond_wait(&watch->hub->expiry_ended, &watch->hub->lock);
  pthread_mutex_unlock(&watch->hub->lock);
}

#include "hooks/tools_internal.h"

void mend__bell_ring(mend__bell *bell) {
  pthread_mutex_lock(&bell->lock);
  bell->rung++;
  pthread_cond_signal(&bell->changed);
  pthread_mutex_unlock(&bell->lock);
}

void mend__bell_call(mend__bell *bell) {
  pthread_mutex_lock(&bell->lock);
  bell->called = true;
  pthread_cond_signal(&bell->changed);
  pthread_mutex_unlock(&bell->lock);
}

/* False when it was only called. */
static bool await_any(mend__bell *bell, size_t times) {
  pthread_mutex_lock(&bell->lock);
  while (bell->rung < times && !bell->called)
    pthread_cond_wait(&bell->changed, &bell->lock);
  const bool is_rung = bell->rung >= times;
  if (is_rung) bell->rung -= times;
  bell->called = false;
  pthread_mutex_unlock(&bell->lock);
  return is_rung;
}

void mend__bell_await(mend__bell *bell, size_t times, mend_tools *tools) {
  while (!await_any(bell, times)) {
    mend__pool *pool = mend__tools_pool_find(tools);
    while (mend__pool_run_own(pool, bell)) {
    }
  }
}

void mend__bell_end(mend__bell *bell) {
  pthread_cond_destroy(&bell->changed);
  pthread_mutex_destroy(&bell->lock);
}

#include "hooks/passage_internal.h"

void mend__bell_ring(mend__bell *bell) {
  pthread_mutex_lock(&bell->lock);
  bell->rung++;
  pthread_cond_signal(&bell->changed);
  pthread_mutex_unlock(&bell->lock);
}

void mend__bell_await(mend__bell *bell, size_t times) {
  pthread_mutex_lock(&bell->lock);
  while (bell->rung < times)
    pthread_cond_wait(&bell->changed, &bell->lock);
  bell->rung -= times;
  pthread_mutex_unlock(&bell->lock);
}

void mend__bell_end(mend__bell *bell) {
  pthread_cond_destroy(&bell->changed);
  pthread_mutex_destroy(&bell->lock);
}

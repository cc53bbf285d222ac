/* A flag to wait for, that counts. */
#ifndef MEND_TESTS_HOOKS_GATE_H
#define MEND_TESTS_HOOKS_GATE_H

#include <pthread.h>

typedef struct gate {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  unsigned count;
} gate;
#define GATE_INIT                                                                                                      \
  { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 }

static inline void gate_add(gate *self) {
  pthread_mutex_lock(&self->lock);
  self->count++;
  pthread_cond_broadcast(&self->changed);
  pthread_mutex_unlock(&self->lock);
}

static inline void gate_await(gate *self, unsigned count) {
  pthread_mutex_lock(&self->lock);
  while (self->count < count)
    pthread_cond_wait(&self->changed, &self->lock);
  pthread_mutex_unlock(&self->lock);
}

#endif

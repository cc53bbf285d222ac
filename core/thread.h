/* House header: the library's own threads. */
#ifndef MEND_CORE_THREAD_H
#define MEND_CORE_THREAD_H

#include <pthread.h>

/* pthread_create for a thread that signals never come to. Returns 0 or an errno. */
int mend__thread_create(pthread_t *ret_thread, void *(*function)(void *ctx), void *ctx);

#endif

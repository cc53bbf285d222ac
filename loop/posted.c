#include "core/memory.h"
#include "loop/loop_internal.h"

static mend_status append(mend_loop *loop, mend__posted *posted) {
  if (loop->ending) return MEND_ECLOSED;
  posted->number = ++loop->last_posted_number;
  *(loop->first_posted != NULL ? &loop->last_posted->next : &loop->first_posted) = posted;
  loop->last_posted = posted;
  return MEND_OK;
}

mend_status mend_loop_post(mend_loop *loop, void (*function)(void *ctx), void *ctx) {
  mend__posted *posted = mend__alloc(loop->allocator, sizeof *posted);
  if (posted == NULL) return MEND_ENOMEM;
  *posted = (mend__posted){.function = function, .ctx = ctx};
  pthread_mutex_lock(&loop->lock);
  const mend_status status = append(loop, posted);
  if (status == MEND_OK) mend__loop_signal(loop);
  pthread_mutex_unlock(&loop->lock);
  if (status != MEND_OK) mend__free(loop->allocator, posted);
  return status;
}

static void run_first_posted(mend_loop *loop) {
  mend__posted *first = loop->first_posted;
  const mend__posted posted = *first;
  loop->first_posted = first->next;
  pthread_mutex_unlock(&loop->lock);
  mend__free(loop->allocator, first);
  posted.function(posted.ctx);
  pthread_mutex_lock(&loop->lock);
}

/* Those posted meanwhile wait for the next turn, so that nothing else waits for ever; at the end there is no next turn,
 * and posting is over. */
void mend__loop_run_posted(mend_loop *loop) {
  const uint64_t last = loop->last_posted_number;
  while (loop->first_posted != NULL && (loop->first_posted->number <= last || loop->ending))
    run_first_posted(loop);
}

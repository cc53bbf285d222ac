#include "core/memory.h"
#include "loop/loop_internal.h"

static mend_status append(mend_loop *loop, mend__posted *posted) {
  if (loop->ending) return MEND_ECLOSED;
  posted->number = ++loop->last_posted_number;
  *(loop->first_posted != NULL ? &loop->last_posted->next : &loop->first_posted) = posted;
  loop->last_posted = posted;
  return MEND_OK;
}

static mend_status post(mend_loop *loop, mend__posted *posted) {
  pthread_mutex_lock(&loop->lock);
  const mend_status status = append(loop, posted);
  if (status == MEND_OK) mend__loop_signal(loop);
  pthread_mutex_unlock(&loop->lock);
  return status;
}

mend_status mend_loop_post(mend_loop *loop, void (*function)(void *ctx), void *ctx) {
  if (loop == NULL || function == NULL) return MEND_EINVAL;
  mend__posted *posted = mend__alloc(loop->allocator, sizeof *posted);
  if (posted == NULL) return MEND_ENOMEM;
  *posted = (mend__posted){.function = function, .ctx = ctx, .is_loops = true};
  const mend_status status = post(loop, posted);
  if (status != MEND_OK) mend__free(loop->allocator, posted);
  return status;
}

void mend__loop_post_own(mend_loop *loop, mend__posted *posted) {
  posted->is_loops = false;
  posted->next = NULL;
  post(loop, posted);
}

static void run_first_posted(mend_loop *loop) {
  mend__posted *first = loop->first_posted;
  const mend__posted posted = *first;
  loop->first_posted = first->next;
  pthread_mutex_unlock(&loop->lock);
  if (posted.is_loops) mend__free(loop->allocator, first);
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

/* ---- Calls that are waited for ---- */

typedef struct awaited {
  mend__posted posted;
  mend_loop *loop;
  void (*function)(void *ctx);
  void *ctx;
  bool is_done;
} awaited;

static void run_awaited(void *ctx) {
  awaited *call = ctx;
  mend_loop *loop = call->loop;
  call->function(call->ctx);
  pthread_mutex_lock(&loop->lock);
  call->is_done = true;
  pthread_cond_broadcast(&loop->changed);
  pthread_mutex_unlock(&loop->lock);
}

static void await(mend_loop *loop, const awaited *call) {
  pthread_mutex_lock(&loop->lock);
  while (!call->is_done)
    pthread_cond_wait(&loop->changed, &loop->lock);
  pthread_mutex_unlock(&loop->lock);
}

void mend__loop_call(mend_loop *loop, void (*function)(void *ctx), void *ctx) {
  pthread_mutex_lock(&loop->lock);
  const mend__loop_place place = mend__loop_place_of_caller(loop);
  pthread_mutex_unlock(&loop->lock);
  if (place != MEND__PLACE_ELSEWHERE) {
    function(ctx);
    return;
  }
  awaited call = {.posted = {.function = run_awaited, .ctx = &call}, .loop = loop, .function = function, .ctx = ctx};
  mend__loop_post_own(loop, &call.posted);
  await(loop, &call);
}

#include "core/memory.h"
#include "loop/loop_internal.h"

static mend_status arm(mend_loop *loop, mend_timer *timer, uint64_t delay_ns) {
  if (loop->ending) return MEND_ECLOSED;
  mend_deadlines_arm(loop->deadlines, &timer->deadline, mend_clock_now(loop->clock).mono_ns, delay_ns);
  if (loop->is_virtual || timer->deadline.due_ns >= loop->wake_at_ns) return MEND_OK;
  loop->wake_at_ns = timer->deadline.due_ns;
  if (!mend__loop_is_in_turn(loop)) mend__loop_signal(loop);
  return MEND_OK;
}

mend_status mend__timer_new(mend_loop *loop, void (*function)(void *ctx), void *ctx, mend_timer **ret_timer) {
  mend_timer *timer = mend__alloc(loop->allocator, sizeof *timer);
  if (timer == NULL) return MEND_ENOMEM;
  *timer = (mend_timer){.loop = loop, .function = function, .ctx = ctx};
  mend__loop_hold(loop);
  *ret_timer = timer;
  return MEND_OK;
}

mend_status mend_loop_after(mend_loop *loop, uint64_t delay_ns, void (*function)(void *ctx), void *ctx,
                            mend_timer **ret_timer) {
  if (loop == NULL || function == NULL) return MEND_EINVAL;
  mend_timer *timer;
  mend_status status = mend__timer_new(loop, function, ctx, &timer);
  if (status != MEND_OK) return status;
  pthread_mutex_lock(&loop->lock);
  status = arm(loop, timer, delay_ns);
  if (status == MEND_OK) *ret_timer = timer; /* before anybody can call it */
  pthread_mutex_unlock(&loop->lock);
  if (status != MEND_OK) mend_timer_cancel(&timer);
  return status;
}

void mend__timer_set(mend_timer *timer, uint64_t delay_ns) {
  mend_loop *loop = timer->loop;
  pthread_mutex_lock(&loop->lock);
  arm(loop, timer, delay_ns);
  pthread_mutex_unlock(&loop->lock);
}

void mend__timer_clear(mend_timer *timer) {
  mend_loop *loop = timer->loop;
  pthread_mutex_lock(&loop->lock);
  mend_deadlines_disarm(loop->deadlines, &timer->deadline);
  pthread_mutex_unlock(&loop->lock);
}

void mend_timer_cancel(mend_timer **given) {
  if (given == NULL || *given == NULL) return;
  mend_timer *timer = *given;
  *given = NULL;
  mend_loop *loop = timer->loop;
  pthread_mutex_lock(&loop->lock);
  mend_deadlines_disarm(loop->deadlines, &timer->deadline);
  mend__loop_await_call(loop, timer);
  pthread_mutex_unlock(&loop->lock);
  mend__free(loop->allocator, timer);
  mend__loop_unhold(loop);
}

/* Takes out one timer that is due; NULL when none is, or when the function of the one before has let go of the loop. */
static mend_timer *take_due(mend_loop *loop, uint64_t now_ns) {
  return loop->ending ? NULL : (mend_timer *)(void *)mend_deadlines_expire(loop->deadlines, now_ns);
}

void mend__loop_run_timers(mend_loop *loop, uint64_t now_ns) {
  for (mend_timer *due; (due = take_due(loop, now_ns)) != NULL;) {
    const mend_timer timer = *due; /* its function may cancel it */
    mend__loop_begin_call(loop, due);
    timer.function(timer.ctx);
    mend__loop_end_call(loop);
  }
}

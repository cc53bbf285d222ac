#include "core/memory.h"
#include "core/options_size.h"
#include "core/reason.h"
#include "core/thread.h"
#include "loop/loop_internal.h"

#include <errno.h>
#include <event2/event.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- Memory ---- */

static mend_loop *loop_alloc(const mend_loop_options *options) {
  mend_loop *loop = mend__alloc_zero(options->allocator, sizeof *loop);
  if (loop == NULL) return NULL;
  if (mend_deadlines_new(options->allocator, (mend_waker){NULL, NULL}, &loop->deadlines) != MEND_OK) goto no_deadlines;
  if (pthread_mutex_init(&loop->lock, NULL) != 0) goto no_lock;
  if (pthread_cond_init(&loop->changed, NULL) != 0) goto no_condition;
  loop->allocator = options->allocator;
  loop->clock = mend_clock_retain(options->clock != NULL ? options->clock : mend_clock_real());
  loop->is_virtual = mend_clock_is_virtual(loop->clock);
  loop->owns_thread = options->base == NULL;
  loop->base = options->base;
  loop->wake_fd = -1;
  loop->armed_ns = MEND_NEVER;
  loop->wake_at_ns = MEND_NEVER;
  atomic_init(&loop->references, 1);
  atomic_init(&loop->holders, 1);
  return loop;

no_condition:
  pthread_mutex_destroy(&loop->lock);
no_lock:
  mend_deadlines_free(loop->deadlines);
no_deadlines:
  mend__free(options->allocator, loop);
  return NULL;
}

void mend__loop_hold(mend_loop *loop) { atomic_fetch_add_explicit(&loop->holders, 1, memory_order_relaxed); }

void mend__loop_unhold(mend_loop *loop) {
  if (atomic_fetch_sub_explicit(&loop->holders, 1, memory_order_acq_rel) != 1) return;
  pthread_cond_destroy(&loop->changed);
  pthread_mutex_destroy(&loop->lock);
  mend__free(loop->allocator, loop->drivers);
  mend__free(loop->allocator, loop);
}

/* ---- libevent ---- */

/* What is signalled after the flag was cleared is written again; what was before is seen by this turn. */
static void on_wake(evutil_socket_t fd, short events, void *ctx) {
  (void)events;
  mend_loop *loop = ctx;
  uint64_t count;
  while (read(fd, &count, sizeof count) < 0 && errno == EINTR) {
  }
  atomic_exchange(&loop->signalled, false);
  mend__loop_turn_here(loop, NULL, NULL);
}

static void on_timer(evutil_socket_t fd, short events, void *ctx) {
  (void)fd, (void)events;
  mend_loop *loop = ctx;
  const uint64_t now_ns = mend_clock_now(loop->clock).mono_ns;
  loop->judged_ns = loop->armed_ns < now_ns ? loop->armed_ns : now_ns; /* a base that remembers the time is early */
  loop->armed_ns = MEND_NEVER;
  mend__loop_turn_here(loop, NULL, NULL);
}

static mend_status open_wake_fd(mend_loop *loop, mend_error *error) {
  loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return loop->wake_fd >= 0 ? MEND_OK : mend_error_set(error, MEND_EIO, "eventfd: %s", mend__reason(errno));
}

/* libevent ends the process when it cannot open the descriptors of a base (epoll, a timer, a pair for signals). */
static bool can_open_four(void) {
  int fds[4];
  size_t count = 0;
  while (count < 4 && (fds[count] = eventfd(0, EFD_CLOEXEC)) >= 0)
    count++;
  for (size_t i = 0; i < count; i++)
    close(fds[i]);
  return count == 4;
}

/* Without locks, for nobody else uses it, and without what the environment says about it. */
static mend_status open_base(mend_loop *loop, mend_error *error) {
  if (!can_open_four()) return mend_error_set(error, MEND_EIO, "an event_base: %s", mend__reason(EMFILE));
  struct event_config *config = event_config_new();
  if (config == NULL) return mend_error_set(error, MEND_ENOMEM, "libevent: out of memory");
  const int flags = EVENT_BASE_FLAG_PRECISE_TIMER | EVENT_BASE_FLAG_NO_CACHE_TIME | EVENT_BASE_FLAG_NOLOCK |
                    EVENT_BASE_FLAG_IGNORE_ENV;
  if (event_config_set_flag(config, flags) == 0) loop->base = event_base_new_with_config(config);
  event_config_free(config);
  return loop->base != NULL ? MEND_OK : mend_error_set(error, MEND_EIO, "libevent cannot make an event_base");
}

static mend_status open_events(mend_loop *loop, mend_error *error) {
  loop->wake_event = event_new(loop->base, loop->wake_fd, EV_READ | EV_PERSIST, on_wake, loop);
  if (!loop->is_virtual) loop->timer_event = event_new(loop->base, -1, 0, on_timer, loop);
  if (loop->wake_event == NULL || (!loop->is_virtual && loop->timer_event == NULL)) {
    return mend_error_set(error, MEND_ENOMEM, "libevent: out of memory");
  }
  if (event_add(loop->wake_event, NULL) == 0) return MEND_OK;
  return mend_error_set(error, MEND_EIO, "libevent cannot wait for the loop's eventfd");
}

static void close_events(mend_loop *loop) {
  if (loop->timer_event != NULL) event_free(loop->timer_event);
  if (loop->wake_event != NULL) event_free(loop->wake_event);
  if (loop->owns_thread && loop->base != NULL) event_base_free(loop->base);
}

/* ---- A thread of its own ---- */

static void *thread_main(void *ctx) {
  mend_loop *loop = ctx;
  pthread_setname_np(pthread_self(), "mend-loop");
  event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY);
  mend__loop_end(loop);
  if (!loop->ends_here) return NULL;
  pthread_detach(pthread_self());
  mend__loop_let_go(loop);
  return NULL;
}

static mend_status start_thread(mend_loop *loop, mend_error *error) {
  pthread_mutex_lock(&loop->lock);
  const int failure = mend__thread_create(&loop->thread, thread_main, loop);
  loop->thread_known = failure == 0;
  pthread_mutex_unlock(&loop->lock);
  return failure == 0 ? MEND_OK : mend_error_set(error, MEND_EIO, "a thread: %s", mend__reason(failure));
}

/* ---- Life ---- */

static mend_status join_clock(mend_loop *loop, mend_error *error) {
  if (!loop->is_virtual) return MEND_OK;
  const mend_clock_driver driver = {sizeof driver, mend__loop_clock_next, mend__loop_clock_run, loop};
  const mend_status status = mend_clock_add_driver(loop->clock, &driver);
  return status == MEND_OK ? MEND_OK : mend_error_set(error, status, "a loop: %s", mend_status_message(status));
}

static mend_status open_parts(mend_loop *loop, mend_error *error) {
  mend_status status = open_wake_fd(loop, error);
  if (status == MEND_OK && loop->owns_thread) status = open_base(loop, error);
  if (status == MEND_OK) status = open_events(loop, error);
  if (status == MEND_OK) status = join_clock(loop, error);
  if (status == MEND_OK && loop->owns_thread) status = start_thread(loop, error);
  return status;
}

mend_status mend_loop_new(const mend_loop_options *options, mend_loop **ret_loop, mend_error *error) {
  mend_loop_options taken = MEND_LOOP_OPTIONS_INIT;
  mend_status status = mend__options_take(&taken, options, "mend_loop_options", error);
  if (status != MEND_OK) return status;
  mend_loop *loop = loop_alloc(&taken);
  if (loop == NULL) return mend_error_set(error, MEND_ENOMEM, "a loop: out of memory");
  status = open_parts(loop, error);
  if (status != MEND_OK) {
    mend__loop_end(loop);
    mend__loop_let_go(loop);
    return status;
  }
  if (!loop->owns_thread) mend__loop_signal(loop); /* to be told which thread dispatches */
  *ret_loop = loop;
  return MEND_OK;
}

mend_loop *mend_loop_retain(mend_loop *loop) {
  atomic_fetch_add_explicit(&loop->references, 1, memory_order_relaxed);
  return loop;
}

static void end_thread(mend_loop *loop) {
  mend__loop_signal(loop);
  pthread_join(loop->thread, NULL);
  mend__loop_let_go(loop);
}

void mend_loop_release(mend_loop *loop) {
  if (loop == NULL || atomic_fetch_sub(&loop->references, 1) != 1) return;
  pthread_mutex_lock(&loop->lock);
  const bool already = loop->ending; /* a function that ran at the end took a reference and dropped it */
  const bool is_in_turn = mend__loop_is_in_turn(loop);
  if (!already) loop->ends_here = is_in_turn;
  loop->ending = true;
  pthread_mutex_unlock(&loop->lock);
  if (already || is_in_turn) return; /* the turn sees it */
  if (loop->owns_thread) {
    end_thread(loop);
  } else {
    mend__loop_turn(loop, NULL, NULL);
  }
}

/* A clock's call that waits for the loop's thread is let go first, because removing the loop waits for it. */
void mend__loop_end(mend_loop *loop) {
  pthread_mutex_lock(&loop->lock);
  loop->ended = true;
  loop->driver_count = 0;
  mend_deadlines_free(loop->deadlines);
  loop->deadlines = NULL;
  pthread_cond_broadcast(&loop->changed);
  pthread_mutex_unlock(&loop->lock);
  if (loop->is_virtual) mend_clock_remove_driver(loop->clock, loop);
  close_events(loop);
}

void mend__loop_let_go(mend_loop *loop) {
  if (loop->wake_fd >= 0) close(loop->wake_fd);
  mend_clock_release(loop->clock);
  mend__loop_unhold(loop);
}

mend_clock *mend_loop_clock(const mend_loop *loop) { return loop->clock; }

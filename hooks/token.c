#include "core/seconds.h"
#include "hooks/tools_internal.h"
#include "mend/options.h"

#include <sys/eventfd.h>
#include <unistd.h>

enum { REASON_MAX = 255 };

typedef struct callback {
  struct callback *next;
  uint64_t id;
  void (*call)(void *ctx);
  void *ctx;
} callback;

/* A callback that is being called, on the stack of who calls it. */
typedef struct calling {
  struct calling *next;
  uint64_t id;
  pthread_t thread;
} calling;

struct mend_token {
  const mend_allocator *allocator;
  mend_clock *clock;
  atomic_size_t references;
  atomic_bool cancelled; /* set last, so that who sees it sees the reason */

  pthread_mutex_t lock; /* covers all below; not held while a callback runs */
  pthread_cond_t changed;
  int fd;                          /* -1: nobody asked for it */
  callback *callbacks, **last_end; /* in the order they were added */
  uint64_t last_id;
  calling *running; /* the canceller's, and those of whoever came when it was cancelled already */
  size_t reason_len;
  char reason[REASON_MAX];
};

/* ---- Life ---- */

mend_status mend__token_new_with(const mend_allocator *allocator, mend_clock *clock, size_t more,
                                 mend_token **ret_token) {
  mend_token *token = mend__alloc(allocator, sizeof *token + more);
  if (token == NULL) return MEND_ENOMEM;
  if (pthread_mutex_init(&token->lock, NULL) != 0) goto no_lock;
  if (pthread_cond_init(&token->changed, NULL) != 0) goto no_condition;
  token->allocator = allocator;
  token->clock = mend_clock_retain(clock != NULL ? clock : mend_clock_real());
  token->fd = -1;
  token->callbacks = NULL;
  token->last_end = &token->callbacks;
  token->last_id = 0;
  token->running = NULL;
  token->reason_len = 0;
  atomic_init(&token->references, 1);
  atomic_init(&token->cancelled, false);
  *ret_token = token;
  return MEND_OK;

no_condition:
  pthread_mutex_destroy(&token->lock);
no_lock:
  mend__free(allocator, token);
  return MEND_ENOMEM;
}

void *mend__token_more(mend_token *token) { return token + 1; }

mend_status mend_token_new(const mend_allocator *allocator, mend_clock *clock, mend_token **ret_token) {
  return mend__token_new_with(allocator, clock, 0, ret_token);
}

mend_token *mend_token_retain(mend_token *token) {
  atomic_fetch_add_explicit(&token->references, 1, memory_order_relaxed);
  return token;
}

void mend_token_release(mend_token *token) {
  if (token == NULL || atomic_fetch_sub_explicit(&token->references, 1, memory_order_acq_rel) > 1) return;
  for (callback *each = token->callbacks, *next; each != NULL; each = next) {
    next = each->next;
    mend__free(token->allocator, each);
  }
  if (token->fd >= 0) close(token->fd);
  mend_clock_release(token->clock);
  pthread_cond_destroy(&token->changed);
  pthread_mutex_destroy(&token->lock);
  mend__free(token->allocator, token);
}

/* ---- Cancelling ---- */

bool mend_token_is_cancelled(const mend_token *token) {
  return atomic_load_explicit(&token->cancelled, memory_order_acquire);
}

mend_str mend_token_reason(const mend_token *token) {
  if (!mend_token_is_cancelled(token)) return (mend_str)MEND_ABSENT;
  return (mend_str){token->reason, token->reason_len};
}

static void mark_cancelled(mend_token *token, mend_str reason) {
  token->reason_len = mend__utf8_cut(reason, REASON_MAX);
  if (token->reason_len > 0) memcpy(token->reason, reason.ptr, token->reason_len);
  atomic_store_explicit(&token->cancelled, true, memory_order_release);
  if (token->fd >= 0) eventfd_write(token->fd, 1); /* cannot fail: nothing else is ever written */
  pthread_cond_broadcast(&token->changed);
}

/* Takes a callback out of the list; NULL when it is not there. */
static callback *take_callback(mend_token *token, uint64_t id) {
  callback **place = &token->callbacks;
  while (*place != NULL && (*place)->id != id)
    place = &(*place)->next;
  callback *found = *place;
  if (found == NULL) return NULL;
  *place = found->next;
  if (found->next == NULL) token->last_end = place;
  return found;
}

/* Lets go of the lock meanwhile: it may forget others. */
static void run_callback(mend_token *token, callback *taken) {
  calling here = {token->running, taken->id, pthread_self()};
  token->running = &here;
  pthread_mutex_unlock(&token->lock);
  taken->call(taken->ctx);
  mend__free(token->allocator, taken);
  pthread_mutex_lock(&token->lock);
  calling **place = &token->running;
  while (*place != &here)
    place = &(*place)->next;
  *place = here.next;
  pthread_cond_broadcast(&token->changed);
}

static void run_callbacks(mend_token *token) {
  while (token->callbacks != NULL)
    run_callback(token, take_callback(token, token->callbacks->id));
}

void mend_token_cancel(mend_token *token, mend_str reason) {
  pthread_mutex_lock(&token->lock);
  if (mend_token_is_cancelled(token)) {
    pthread_mutex_unlock(&token->lock);
    return;
  }
  mend_token_retain(token); /* a callback may drop what was the last reference */
  mark_cancelled(token, reason);
  run_callbacks(token);
  pthread_mutex_unlock(&token->lock);
  mend_token_release(token);
}

/* ---- Being told ---- */

mend_status mend_token_on_cancel(mend_token *token, void (*cancelled)(void *ctx), void *ctx, uint64_t *ret_id) {
  if (token == NULL || cancelled == NULL) return MEND_EINVAL;
  callback *added = mend__alloc(token->allocator, sizeof *added);
  if (added == NULL) return MEND_ENOMEM;
  pthread_mutex_lock(&token->lock);
  *added = (callback){.id = ++token->last_id, .call = cancelled, .ctx = ctx};
  if (ret_id != NULL) *ret_id = added->id; /* before anybody can call it: it may forget itself */
  const bool at_once = mend_token_is_cancelled(token);
  if (at_once) {
    mend_token_retain(token);
    run_callback(token, added);
  } else {
    *token->last_end = added;
    token->last_end = &added->next;
  }
  pthread_mutex_unlock(&token->lock);
  if (at_once) mend_token_release(token);
  return MEND_OK;
}

/* Under the lock: whether it is being called on another thread. */
static bool runs_elsewhere(const mend_token *token, uint64_t id) {
  const calling *each = token->running;
  while (each != NULL && each->id != id)
    each = each->next;
  return each != NULL && !pthread_equal(each->thread, pthread_self());
}

void mend_token_forget(mend_token *token, uint64_t id) {
  pthread_mutex_lock(&token->lock);
  callback *forgotten = take_callback(token, id);
  while (runs_elsewhere(token, id))
    pthread_cond_wait(&token->changed, &token->lock);
  pthread_mutex_unlock(&token->lock);
  mend__free(token->allocator, forgotten);
}

mend_status mend_token_fd(mend_token *token, int *ret_fd) {
  if (token == NULL) return MEND_EINVAL;
  pthread_mutex_lock(&token->lock);
  if (token->fd < 0) token->fd = eventfd(mend_token_is_cancelled(token), EFD_CLOEXEC | EFD_NONBLOCK);
  const int fd = token->fd;
  pthread_mutex_unlock(&token->lock);
  if (fd < 0) return MEND_EIO;
  *ret_fd = fd;
  return MEND_OK;
}

/* ---- Waiting ---- */

static void wait_for_cancel(mend_token *token) {
  pthread_mutex_lock(&token->lock);
  while (!mend_token_is_cancelled(token))
    pthread_cond_wait(&token->changed, &token->lock);
  pthread_mutex_unlock(&token->lock);
}

static void wait_in_real_time(mend_token *token, uint64_t due_ns) {
  const struct timespec due = mend__timespec(due_ns);
  int error = 0;
  pthread_mutex_lock(&token->lock);
  while (!mend_token_is_cancelled(token) && error == 0)
    error = pthread_cond_clockwait(&token->changed, &token->lock, CLOCK_MONOTONIC, &due);
  pthread_mutex_unlock(&token->lock);
}

/* A waiter under a virtual clock: the clock's driver, which advancing calls when its time has passed. */
typedef struct waiter {
  mend_token *token;
  uint64_t due_ns;
  bool passed; /* covered by the token's lock */
} waiter;

static uint64_t waiter_next(void *ctx) { return ((const waiter *)ctx)->due_ns; }

static void waiter_run(void *ctx, uint64_t now_ns) {
  (void)now_ns;
  waiter *self = ctx;
  self->due_ns = MEND_NEVER;
  pthread_mutex_lock(&self->token->lock);
  self->passed = true;
  pthread_cond_broadcast(&self->token->changed);
  pthread_mutex_unlock(&self->token->lock);
}

static mend_status wait_in_virtual_time(mend_token *token, uint64_t due_ns) {
  waiter self = {.token = token, .due_ns = due_ns};
  const mend_clock_driver driver = {sizeof driver, waiter_next, waiter_run, &self};
  const mend_status status = mend_clock_add_driver(token->clock, &driver);
  if (status != MEND_OK) return status;
  pthread_mutex_lock(&token->lock);
  /* Had the clock passed it before the driver was there, nobody would call before it is advanced again. */
  if (mend_clock_now(token->clock).mono_ns >= due_ns) self.passed = true;
  while (!self.passed && !mend_token_is_cancelled(token))
    pthread_cond_wait(&token->changed, &token->lock);
  pthread_mutex_unlock(&token->lock);
  mend_clock_remove_driver(token->clock, &self);
  return MEND_OK;
}

mend_status mend_token_wait(mend_token *token, uint64_t ns) {
  if (token == NULL) return MEND_EINVAL;
  const uint64_t now_ns = mend_clock_now(token->clock).mono_ns;
  mend_status status = MEND_OK;
  if (ns == 0) return mend_token_is_cancelled(token) ? MEND_ECANCELLED : MEND_OK;
  if (ns >= MEND_NEVER - now_ns) {
    wait_for_cancel(token);
  } else if (mend_clock_is_virtual(token->clock)) {
    status = wait_in_virtual_time(token, now_ns + ns);
  } else {
    wait_in_real_time(token, now_ns + ns);
  }
  return mend_token_is_cancelled(token) ? MEND_ECANCELLED : status;
}

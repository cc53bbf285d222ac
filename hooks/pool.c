/* Threads for pooled tools. One belongs to a registry of tools; a thread is made when a job comes and none is idle, up
 * to the limit, and then stays. */
#include "core/thread.h"
#include "hooks/tools_internal.h"

typedef struct worker {
  struct worker *previous, *next;
  mend__pool *pool;
  pthread_t thread;
  bool busy;
} worker;

struct mend__pool {
  const mend_allocator *allocator;
  uint32_t thread_limit, waiting_limit;

  pthread_mutex_t lock; /* covers all below; not held while a job runs */
  pthread_cond_t changed;
  mend__job *first, *last;
  uint32_t waiting;
  worker *workers;
  uint32_t threads, busy;
  bool ending;
};

/* ---- Jobs ---- */

static void append(mend__pool *pool, mend__job *job) {
  job->state = MEND__JOB_QUEUED;
  job->previous = pool->last;
  job->next = NULL;
  *(pool->last != NULL ? &pool->last->next : &pool->first) = job;
  pool->last = job;
  pool->waiting++;
}

static void take_out(mend__pool *pool, mend__job *job) {
  *(job->previous != NULL ? &job->previous->next : &pool->first) = job->next;
  *(job->next != NULL ? &job->next->previous : &pool->last) = job->previous;
  pool->waiting--;
}

bool mend__pool_withdraw(mend__pool *pool, mend__job *job) {
  pthread_mutex_lock(&pool->lock);
  const bool was_waiting = job->state == MEND__JOB_QUEUED;
  if (was_waiting) take_out(pool, job);
  if (job->state != MEND__JOB_TAKEN) job->state = MEND__JOB_WITHDRAWN;
  pthread_mutex_unlock(&pool->lock);
  return was_waiting;
}

/* ---- Threads ---- */

static void unlink_worker(mend__pool *pool, worker *gone) {
  *(gone->previous != NULL ? &gone->previous->next : &pool->workers) = gone->next;
  if (gone->next != NULL) gone->next->previous = gone->previous;
}

static void free_pool(mend__pool *pool) {
  pthread_cond_destroy(&pool->changed);
  pthread_mutex_destroy(&pool->lock);
  mend__free(pool->allocator, pool);
}

/* Under the lock: waits for a job; NULL when there will be none. */
static mend__job *next_job(mend__pool *pool) {
  while (pool->first == NULL && !pool->ending)
    pthread_cond_wait(&pool->changed, &pool->lock);
  mend__job *job = pool->first;
  if (job == NULL) return NULL;
  take_out(pool, job);
  job->state = MEND__JOB_TAKEN;
  return job;
}

static void run_job(worker *self, mend__job *job) {
  mend__pool *pool = self->pool;
  self->busy = true;
  pool->busy++;
  pthread_mutex_unlock(&pool->lock);
  job->run(job);
  pthread_mutex_lock(&pool->lock);
  self->busy = false;
  pool->busy--;
}

/* Under the lock, which it lets go of: so many threads are gone, the last of which frees the pool. */
static void count_gone(mend__pool *pool, uint32_t gone) {
  pool->threads -= gone;
  const bool is_last = pool->threads == 0;
  pthread_mutex_unlock(&pool->lock);
  if (is_last) free_pool(pool);
}

/* One that was busy when the pool ended is on its own. */
static void leave(worker *self) {
  mend__pool *pool = self->pool;
  unlink_worker(pool, self);
  mend__free(pool->allocator, self);
  count_gone(pool, 1);
}

static void *work(void *ctx) {
  worker *self = ctx;
  mend__pool *pool = self->pool;
  pthread_setname_np(pthread_self(), "mend-pool");
  pthread_mutex_lock(&pool->lock);
  for (mend__job *job; (job = next_job(pool)) != NULL;) {
    run_job(self, job);
    if (pool->ending) {
      leave(self);
      return NULL;
    }
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

static bool add_worker(mend__pool *pool) {
  worker *added = mend__alloc(pool->allocator, sizeof *added);
  if (added == NULL) return false;
  *added = (worker){.next = pool->workers, .pool = pool};
  if (mend__thread_create(&added->thread, work, added) != 0) {
    mend__free(pool->allocator, added);
    return false;
  }
  if (pool->workers != NULL) pool->workers->previous = added;
  pool->workers = added;
  pool->threads++;
  return true;
}

static bool has_thread_for_one_more(mend__pool *pool) {
  const bool is_idle = pool->threads - pool->busy > pool->waiting;
  if (!is_idle && pool->threads < pool->thread_limit && add_worker(pool)) return true;
  return pool->threads > 0;
}

mend_status mend__pool_submit(mend__pool *pool, mend__job *job) {
  mend_status status = MEND_OK;
  pthread_mutex_lock(&pool->lock);
  if (job->state == MEND__JOB_WITHDRAWN) {
    status = MEND_ECANCELLED;
  } else if (pool->waiting >= pool->waiting_limit + (pool->thread_limit - pool->busy)) {
    status = MEND_ELIMIT;
  } else if (!has_thread_for_one_more(pool)) {
    status = MEND_ENOMEM;
  } else {
    append(pool, job);
    pthread_cond_signal(&pool->changed);
  }
  pthread_mutex_unlock(&pool->lock);
  return status;
}

/* ---- Life ---- */

mend__pool *mend__pool_new(const mend_allocator *allocator, uint32_t threads, uint32_t waiting) {
  mend__pool *pool = mend__alloc_zero(allocator, sizeof *pool);
  if (pool == NULL) return NULL;
  if (pthread_mutex_init(&pool->lock, NULL) != 0) goto no_lock;
  if (pthread_cond_init(&pool->changed, NULL) != 0) goto no_condition;
  pool->allocator = allocator;
  pool->thread_limit = threads;
  pool->waiting_limit = waiting;
  return pool;

no_condition:
  pthread_mutex_destroy(&pool->lock);
no_lock:
  mend__free(allocator, pool);
  return NULL;
}

/* Under the lock: the idle ones, taken out of the list; busy ones are nobody's to join from here on. */
static worker *part_workers(mend__pool *pool) {
  worker *idle = NULL;
  for (worker *each = pool->workers, *next; each != NULL; each = next) {
    next = each->next;
    if (each->busy) {
      pthread_detach(each->thread);
    } else {
      unlink_worker(pool, each);
      each->next = idle;
      idle = each;
    }
  }
  return idle;
}

void mend__pool_end(mend__pool *pool) {
  if (pool == NULL) return;
  pthread_mutex_lock(&pool->lock);
  pool->ending = true;
  pthread_cond_broadcast(&pool->changed);
  worker *idle = part_workers(pool);
  pthread_mutex_unlock(&pool->lock);
  uint32_t ended = 0;
  for (worker *each = idle, *next; each != NULL; each = next, ended++) {
    next = each->next;
    pthread_join(each->thread, NULL);
    mend__free(pool->allocator, each);
  }
  pthread_mutex_lock(&pool->lock);
  count_gone(pool, ended);
}

/* ---- Looking ---- */

bool mend__pool_is_here(mend__pool *pool) {
  pthread_mutex_lock(&pool->lock);
  const worker *each = pool->workers;
  while (each != NULL && !pthread_equal(each->thread, pthread_self()))
    each = each->next;
  pthread_mutex_unlock(&pool->lock);
  return each != NULL;
}

mend__pool_counts mend__pool_count(mend__pool *pool) {
  pthread_mutex_lock(&pool->lock);
  const mend__pool_counts counts = {.threads = pool->threads, .busy = pool->busy, .waiting = pool->waiting};
  pthread_mutex_unlock(&pool->lock);
  return counts;
}

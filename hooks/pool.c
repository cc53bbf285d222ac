/* Threads for pooled tools. One belongs to a registry of tools; a thread is made when a job comes and none is idle, up
 * to the limit, and then stays. A thread of a pool that waits for jobs runs those itself that no thread is free for:
 * otherwise all of them could wait for one another. */
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
  mend__jobs queue;
  uint32_t waiting, with_waiter; /* in the queue; of these, jobs that have a waiter */
  worker *workers;
  uint32_t threads, busy;
  bool ending;
};

/* ---- Jobs ---- */

typedef mend__job_link *link_of(mend__job *job);

static mend__job_link *in_queue(mend__job *job) { return &job->in_queue; }
static mend__job_link *of_waiter(mend__job *job) { return &job->of_waiter; }

static void append(mend__jobs *jobs, mend__job *job, link_of *link) {
  *link(job) = (mend__job_link){.previous = jobs->last};
  *(jobs->last != NULL ? &link(jobs->last)->next : &jobs->first) = job;
  jobs->last = job;
}

static void take_out(mend__jobs *jobs, mend__job *job, link_of *link) {
  mend__job *previous = link(job)->previous, *next = link(job)->next;
  *(previous != NULL ? &link(previous)->next : &jobs->first) = next;
  *(next != NULL ? &link(next)->previous : &jobs->last) = previous;
}

static void enqueue(mend__pool *pool, mend__job *job) {
  job->state = MEND__JOB_QUEUED;
  append(&pool->queue, job, in_queue);
  pool->waiting++;
  if (job->waiter == NULL) return;
  append(&job->waiter->own, job, of_waiter);
  pool->with_waiter++;
}

static void dequeue(mend__pool *pool, mend__job *job, mend__job_state state) {
  job->state = state;
  take_out(&pool->queue, job, in_queue);
  pool->waiting--;
  if (job->waiter == NULL) return;
  take_out(&job->waiter->own, job, of_waiter);
  pool->with_waiter--;
}

bool mend__pool_withdraw(mend__pool *pool, mend__job *job) {
  pthread_mutex_lock(&pool->lock);
  const bool was_waiting = job->state == MEND__JOB_QUEUED;
  if (was_waiting) dequeue(pool, job, MEND__JOB_WITHDRAWN);
  if (job->state == MEND__JOB_NEW) job->state = MEND__JOB_WITHDRAWN;
  pthread_mutex_unlock(&pool->lock);
  return was_waiting;
}

/* ---- Threads ---- */

static _Thread_local bool is_worker;

bool mend__pool_is_worker(void) { return is_worker; }

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
  while (pool->queue.first == NULL && !pool->ending)
    pthread_cond_wait(&pool->changed, &pool->lock);
  mend__job *job = pool->queue.first;
  if (job != NULL) dequeue(pool, job, MEND__JOB_TAKEN);
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
  is_worker = true;
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

/* Whether each job that waits is about to be taken by a thread that is idle. */
static bool has_threads_for_all(const mend__pool *pool) { return pool->threads - pool->busy >= pool->waiting; }

/* Jobs that have a waiter take no room. */
static bool has_room(const mend__pool *pool) {
  return pool->waiting - pool->with_waiter < pool->waiting_limit + (pool->thread_limit - pool->busy);
}

static mend_status admit(mend__pool *pool, const mend__job *job) {
  if (job->state == MEND__JOB_WITHDRAWN) return MEND_ECANCELLED;
  if (job->waiter == NULL && !has_room(pool)) return MEND_ELIMIT;
  return has_thread_for_one_more(pool) || job->waiter != NULL ? MEND_OK : MEND_ENOMEM;
}

/* The waiter, for whom the job is there until the lock is let go of, is called under it. */
mend_status mend__pool_submit(mend__pool *pool, mend__job *job) {
  pthread_mutex_lock(&pool->lock);
  const mend_status status = admit(pool, job);
  if (status == MEND_OK) {
    enqueue(pool, job);
    pthread_cond_signal(&pool->changed);
    if (job->waiter != NULL && !has_threads_for_all(pool)) mend__bell_call(job->waiter);
  }
  pthread_mutex_unlock(&pool->lock);
  return status;
}

/* ---- Helping ---- */

bool mend__pool_run_own(mend__pool *pool, mend__bell *waiter) {
  pthread_mutex_lock(&pool->lock);
  mend__job *job = has_threads_for_all(pool) ? NULL : waiter->own.first;
  if (job != NULL) dequeue(pool, job, MEND__JOB_TAKEN);
  pthread_mutex_unlock(&pool->lock);
  if (job != NULL) job->run(job);
  return job != NULL;
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

mend__pool_counts mend__pool_count(mend__pool *pool) {
  pthread_mutex_lock(&pool->lock);
  const mend__pool_counts counts = {.threads = pool->threads, .busy = pool->busy, .waiting = pool->waiting};
  pthread_mutex_unlock(&pool->lock);
  return counts;
}

/* Private to hooks/: tokens, tools, and the threads of those that are pooled. */
#ifndef MEND_HOOKS_TOOLS_INTERNAL_H
#define MEND_HOOKS_TOOLS_INTERNAL_H

#include "core/buffer.h"
#include "core/memory.h"
#include "mend/tools.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- token.c ---- */

/* A token with so many bytes of its caller's behind it, aligned as it is, which live as long as the token. */
mend_status mend__token_new_with(const mend_allocator *allocator, mend_clock *clock, size_t more,
                                 mend_token **ret_token);
void *mend__token_more(mend_token *token);

/* ---- bell.c ---- */

typedef struct mend__job mend__job;
typedef struct mend__jobs {
  mend__job *first, *last;
} mend__jobs;

/* What a thread waits on for what others do. It may be freed as soon as it was rung often enough. */
typedef struct mend__bell {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  size_t rung;
  bool called;    /* to look after jobs of its own */
  mend__jobs own; /* that are queued and that it waits for on a thread of a pool; under the pool's lock */
} mend__bell;
#define MEND__BELL_INIT                                                                                                \
  {                                                                                                                    \
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false, { NULL, NULL }                                      \
  }
void mend__bell_ring(mend__bell *bell);
/* A job of its own may have to be run by who waits. */
void mend__bell_call(mend__bell *bell);
/* Waits until it was rung so many times, which then do not count any more. Jobs of its own that no thread of the tools'
 * pool is free for are run meanwhile. */
void mend__bell_await(mend__bell *bell, size_t times, mend_tools *tools);
void mend__bell_end(mend__bell *bell);

/* ---- pool.c ---- */

typedef enum mend__job_state {
  MEND__JOB_NEW = 0,
  MEND__JOB_QUEUED,
  MEND__JOB_TAKEN,
  MEND__JOB_WITHDRAWN
} mend__job_state;

typedef struct mend__job_link {
  mend__job *previous, *next;
} mend__job_link;

/* Something to be run on a thread of a pool. Its own; it lives until `run` has been called or it is withdrawn. */
struct mend__job {
  mend__job_link in_queue, of_waiter;
  mend__job_state state; /* under the pool's lock */
  void (*run)(mend__job *job);
  mend__bell *waiter; /* of who waits for it on a thread of a pool; NULL: nobody does */
};

typedef struct mend__pool mend__pool;

typedef struct mend__pool_counts {
  uint32_t threads, busy;
  size_t waiting;
} mend__pool_counts;

/* Threads are made when they are needed. */
mend__pool *mend__pool_new(const mend_allocator *allocator, uint32_t threads, uint32_t waiting);
/* From here on there are no jobs. Threads that are idle have ended when this returns; one that is not, which may be the
 * calling one, ends when its job has, and the last of them frees the pool. */
void mend__pool_end(mend__pool *pool);
/* One that has a waiter is run by it when no thread is free, so it is only refused when it is withdrawn:
 * MEND_ECANCELLED. Others also with MEND_ELIMIT: too many are waiting; MEND_ENOMEM: there is no thread and none can be
 * made. */
mend_status mend__pool_submit(mend__pool *pool, mend__job *job);
/* Unless a thread has taken it, it is never run. True when it was waiting, and so is the caller's again. */
bool mend__pool_withdraw(mend__pool *pool, mend__job *job);
/* Runs a job of the waiter's here, if no thread is free for it. False when there is none. */
bool mend__pool_run_own(mend__pool *pool, mend__bell *waiter);
/* Whether this thread is one of a pool's. */
bool mend__pool_is_worker(void);
mend__pool_counts mend__pool_count(mend__pool *pool);

/* ---- tools.c ---- */

typedef struct mend__tool_entry {
  atomic_size_t references;
  const mend_allocator *allocator;
  mend_tool tool; /* its texts are copies that live as long as the entry */
  void *ctx;
  struct mend__tool_entry *previous, *next; /* in the registry's list, under its lock */
} mend__tool_entry;

/* With a reference; MEND_ENOENT. */
mend_status mend__tools_find(mend_tools *tools, mend_str name, mend__tool_entry **ret_entry);
/* Appends which tool was probably meant; nothing when there is none like that. */
void mend__tools_suggest(mend_tools *tools, mend_str name, mend__buffer *sentence);
bool mend__is_tool_kind(mend_tool_kind kind);
/* Calls `visit` for each tool with a description, in the order they were added, until it returns an error, which is
 * returned. Under the registry's lock. */
mend_status mend__tools_each_described(mend_tools *tools, mend_status (*visit)(void *ctx, const mend_tool *tool),
                                       void *ctx);
/* One that is in no registry. The tool's texts are copied. MEND_ENOMEM: NULL. */
mend__tool_entry *mend__tool_entry_new(const mend_tool *tool, void *ctx, const mend_allocator *allocator);
mend__tool_entry *mend__tool_entry_retain(mend__tool_entry *entry);
/* destroy runs with the last reference. NULL is allowed. */
void mend__tool_entry_release(mend__tool_entry *entry);
/* The registry's pool, made if need be; NULL when there is no memory for it. It lives as long as the registry. */
mend__pool *mend__tools_pool(mend_tools *tools);
/* The same, NULL when no pooled tool has been called. */
mend__pool *mend__tools_pool_find(mend_tools *tools);

#endif

/* Private to hooks/: how its parts fit together. Calls are in call_internal.h.
 *
 * A run's hook state (frames, open calls, deciders) hangs in the run's slot MEND__SLOT_HOOKS and is covered by the
 * run's lock. Nothing is published, no hook, tool, policy or on_cancel function is called under that lock. */
#ifndef MEND_HOOKS_INTERNAL_H
#define MEND_HOOKS_INTERNAL_H

#include "bus/room.h"
#include "core/buffer.h"
#include "core/memory.h"
#include "mend/flows.h"
#include "mend/json.h"

#include <pthread.h>
#include <stdatomic.h>

/* How deep arguments and results may nest: one less than a reader of journals takes, where an object is around them. */
enum { MEND__VALUE_DEPTH = MEND_JSON_DEPTH_MAX - 1 };

/* ---- decision.c ---- */

struct mend_decision {
  const mend_allocator *allocator;
  mend_decision_kind kind;
  mend_str reason, stub, tool, args; /* NUL-terminated pieces of `memory` */
  mend_str question;                 /* likewise; of a Skip that is an escalation, whose stub holds it too */
  char *memory;
};

void mend__decision_init(mend_decision *decision, const mend_allocator *allocator);
void mend__decision_clear(mend_decision *decision); /* frees what it holds; Continue again */
/* What an escalation says beside its question: why, and what stands for the result. */
#define MEND__ESCALATION_REASON MEND_STR("escalation requested")
void mend__escalation_write_stub(mend__buffer *json, mend_str question);
/* Where there was no memory for the question. */
#define MEND__QUESTION_LOST "an answer is needed, out of memory for the question"
/* Abort, also when there is no memory for the reason, which then is one of the library's own. */
void mend__decision_force_abort(mend_decision *decision, mend_str reason);
/* Moves: `to` is cleared first, `from` says Continue afterwards. Both have the same allocator. */
void mend__decision_move(mend_decision *to, mend_decision *from);

/* ---- runner.c: the hooks in order ---- */

typedef enum mend__phase { MEND__PHASE_BEFORE, MEND__PHASE_AFTER, MEND__PHASE_ON_ERROR } mend__phase;

/* How they are asked: flags. An ignored Redirect counts as Continue and is published like a Skip after the fact, so
 * that a later hook's decision counts. */
enum { MEND__ASK_ALL = 0, MEND__ASK_FAIL_CLOSED_ONLY = 1, MEND__ASK_IGNORE_REDIRECTS = 2 };

/* Asks the hooks. `decision` may hold an earlier decision that counts (a watchdog hook's, made by *ret_hook): it then
 * is the active one. *ret_hook is not NULL and lives as long as the hooks. Publishes hook.shadowed and hook.failed on
 * call->run. MEND_OK, or MEND_ABORTED for an Abort: there is no other way to fail. */
mend_status mend__hooks_ask(mend_hooks *hooks, mend__phase phase, const mend_hook_call *call, unsigned how,
                            mend_decision *decision, mend_str *ret_hook);
/* Whether mend_hooks_add_publishing was used. */
bool mend__hooks_publish(mend_hooks *hooks);
/* For a boundary, which publishes by itself: false when they do, and from here on they cannot be made to. */
bool mend__hooks_use(mend_hooks *hooks);
/* Tells those that want to know of the run; the first that refuses it undoes it. *ret_count: how many there were to
 * tell. */
mend_status mend__hooks_attach(mend_hooks *hooks, mend_run *run, size_t *ret_count, mend_error *error);
/* The first `count`. */
void mend__hooks_detach(mend_hooks *hooks, mend_run *run, size_t count);

/* ---- publishing.c ---- */

extern const mend_hook mend__publishing_hook; /* by its functions mend__hooks_publish knows it */

/* ---- token.c ---- */

/* A token with so many bytes of its caller's behind it, aligned as it is, which live as long as the token. */
mend_status mend__token_new_with(const mend_allocator *allocator, mend_clock *clock, size_t more,
                                 mend_token **ret_token);
void *mend__token_more(mend_token *token);

/* ---- pool.c: threads for pooled tools ---- */

typedef enum mend__job_state {
  MEND__JOB_NEW = 0,
  MEND__JOB_QUEUED,
  MEND__JOB_TAKEN,
  MEND__JOB_WITHDRAWN
} mend__job_state;

/* Something to be run on a thread of a pool. Its own; it lives until `run` has been called or it is withdrawn. */
typedef struct mend__job {
  struct mend__job *previous, *next;
  mend__job_state state; /* under the pool's lock */
  void (*run)(struct mend__job *job);
} mend__job;

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
/* MEND_ELIMIT: too many are waiting; MEND_ENOMEM: there is no thread and none can be made; MEND_ECANCELLED:
 * withdrawn. */
mend_status mend__pool_submit(mend__pool *pool, mend__job *job);
/* Unless a thread has taken it, it is never run. True when it was waiting, and so is the caller's again. */
bool mend__pool_withdraw(mend__pool *pool, mend__job *job);
/* Whether this thread is one of the pool's. */
bool mend__pool_is_here(mend__pool *pool);
mend__pool_counts mend__pool_count(mend__pool *pool);

/* ---- tools.c ---- */

typedef struct mend__tool_entry {
  atomic_size_t references;
  const mend_allocator *allocator;
  mend_tool tool; /* its name is a copy that lives as long as the entry */
  void *ctx;
} mend__tool_entry;

/* With a reference; MEND_ENOENT. */
mend_status mend__tools_find(mend_tools *tools, mend_str name, mend__tool_entry **ret_entry);
/* Appends which tool was probably meant; nothing when there is none like that. */
void mend__tools_suggest(mend_tools *tools, mend_str name, mend__buffer *sentence);
bool mend__is_tool_kind(mend_tool_kind kind);
/* One that is in no registry. tool->name is copied, NULL is none. MEND_ENOMEM: NULL. */
mend__tool_entry *mend__tool_entry_new(const mend_tool *tool, void *ctx, const mend_allocator *allocator);
mend__tool_entry *mend__tool_entry_retain(mend__tool_entry *entry);
/* destroy runs with the last reference. NULL is allowed. */
void mend__tool_entry_release(mend__tool_entry *entry);
/* The registry's pool, made if need be; NULL when there is no memory for it. It lives as long as the registry. */
mend__pool *mend__tools_pool(mend_tools *tools);
/* The same, NULL when no pooled tool has been called. */
mend__pool *mend__tools_pool_find(mend_tools *tools);

/* ---- result.c ---- */

/* Fills in a result for what went no further, and returns the status. sentence: NULL for the status's own. */
mend_status mend__result_refuse(mend_result *result, const mend_allocator *allocator, mend_status status,
                                const char *sentence);
/* What every flow begins with: a result of its own, moved to the caller's at the end. What the caller's holds may be
 * the call's input, and a tool may clear it. MEND_EINVAL, told by `result` where it can be. */
mend_status mend__flow_begin(const mend_boundary *boundary, mend_result *result, mend_result *ret_own);
/* Copies `text` into the result and lets *field, one of its members, point to the copy; absent stays absent. Frees what
 * the field held. MEND_ENOMEM leaves the field as it was. */
mend_status mend__result_set(mend_result *result, const mend_allocator *allocator, mend_str *field, mend_str text);
/* What `to` held is freed; `from` is empty afterwards. */
void mend__result_move(mend_result *to, mend_result *from);

/* ---- abort.c: why a run was aborted ---- */

typedef struct mend__abort {
  atomic_size_t references;
  const mend_allocator *allocator;
  mend_str reason, source; /* NUL-terminated pieces of `text` */
  char text[];
} mend__abort;

mend__abort *mend__abort_retain(mend__abort *abort); /* NULL is allowed, here and below: there was no memory for it */
void mend__abort_release(mend__abort *abort);
mend_str mend__abort_reason(const mend__abort *abort);
mend_str mend__abort_source(const mend__abort *abort); /* absent when it is not known */

/* ---- run_state.c: what hangs in the run's slot ---- */

/* A step whose abort ends with it (confine_abort), or the run itself, the outermost. Belongs to who opens it. */
typedef struct mend__abort_frame {
  struct mend__abort_frame *outer;
  uint32_t depth; /* of the run's own: 0 */
  bool marked;
  mend__abort *abort;
} mend__abort_frame;

typedef struct mend__decider mend__decider;
typedef struct mend__passage mend__passage;

/* ---- open_calls.c: the passages of a run that are open, in the order they were opened; under its lock ---- */

enum { MEND__OPEN_MAX = 65536, MEND__OPEN_FEW = 8 };

/* A place in the order: a passage's, or a bookmark of somebody who goes through them. */
typedef struct mend__open_link {
  struct mend__open_link *previous, *next;
  bool is_bookmark;
} mend__open_link;

typedef struct mend__open_calls {
  const mend_allocator *allocator;
  mend__open_link ends; /* of the ring of links */
  size_t count;
  mend__passage **by_hash; /* so many lists, a power of two, more when there is memory for more */
  size_t hash_size;
  mend__passage *few[MEND__OPEN_FEW];
} mend__open_calls;

void mend__open_calls_init(mend__open_calls *calls, const mend_allocator *allocator);
void mend__open_calls_free(mend__open_calls *calls);
void mend__open_calls_add(mend__open_calls *calls, mend__passage *passage);
void mend__open_calls_remove(mend__open_calls *calls, mend__passage *passage);
/* NULL: none is open by this number. */
mend__passage *mend__open_calls_find(const mend__open_calls *calls, uint64_t number);
/* The one behind it; NULL at the end. Begins with &calls->ends. */
mend__passage *mend__open_calls_next(const mend__open_calls *calls, const mend__open_link *link);

typedef struct mend__run_state {
  mend_run *run; /* not referenced: the state ends with it */
  const mend_allocator *allocator;
  atomic_size_t references; /* the slot's and the subscription's: its memory must outlast both */

  /* Under the run's lock. */
  mend__abort_frame of_run, *innermost;
  mend__open_calls open;
  struct mend__abort_watch *watches;

  /* decider.c */
  _Atomic uint64_t decided;      /* announcements that have been looked at */
  atomic_uint questions;         /* that wait for the next before */
  pthread_mutex_t deciding_lock; /* covers what follows; nobody is called under it */
  pthread_cond_t changed;
  bool deciding, again;
  pthread_t decider;       /* the thread that decides, while `deciding` */
  mend_watch *watch;       /* NULL until there is a watchdog hook */
  mend__decider *deciders; /* changed only by who decides */
} mend__run_state;

/* The run's, made if need be; valid as long as the run. MEND_ENOMEM. */
mend_status mend__run_state_get(mend_run *run, mend__run_state **ret_state);
/* Drops a reference. */
void mend__run_state_release(void *state);
static inline mend__run_state *mend__run_state_find(mend_run *run) { return mend__run_slot(run, MEND__SLOT_HOOKS); }

void mend__frame_open(mend__run_state *state, mend__abort_frame *frame);
/* Returns whether it was marked. */
bool mend__frame_close(mend__run_state *state, mend__abort_frame *frame);
/* Marks the frame that the passage is under (NULL: the innermost) and cancels the open calls under it. Nothing happens
 * when it is aborted already. */
void mend__run_state_abort(mend__run_state *state, const mend__passage *passage, mend_str reason, mend_str source);
/* Under the run's lock: the mark that covers the frame, NULL for none. */
const mend__abort_frame *mend__frame_marked(const mend__abort_frame *frame);
/* Without the lock: cancels the tokens of open calls, the first first. on_cancel functions run here, and calls that
 * were waited for by nobody go on here. */
void mend__run_state_cancel(mend__run_state *state, bool (*picks)(const void *ctx, const mend__passage *passage),
                            const void *ctx, mend_str reason);

/* ---- abort_watch.c: who waits for something that is no call (hooks/abort_watch.h) ---- */

/* Under the run's lock: the frame is being marked, and it is closed. */
void mend__abort_watches_doom(mend__run_state *state, const mend__abort_frame *frame);
void mend__abort_watches_hand_out(mend__run_state *state, const mend__abort_frame *frame);
/* Without the lock: cancels the tokens of those that are doomed. */
void mend__abort_watches_tell(mend__run_state *state, mend_str reason);

/* ---- boundary.c ---- */

struct mend_boundary {
  atomic_size_t references;
  const mend_allocator *allocator;
  mend_run *run;
  mend__run_state *run_state;
  mend_tools *tools;
  mend_hooks *hooks;
  void *state;

  size_t attached; /* of the hooks, those that know of the run */

  /* Under the run's lock. */
  bool closed;
  size_t open;        /* passages */
  mend_call *running; /* whose tools run apart from their passages: asynchronous and pooled ones */
  size_t running_count;
  mend__passage *told; /* closed ones whose `done` is being called */
  size_t told_count;
  mend_token *drain; /* cancelled when none of these is left but those of the thread that waits; NULL: none does */
  size_t own_open, own_running, own_told;
};

/* ---- drain.c ---- */

/* Under the run's lock, when a passage was closed or a tool has come to its end: what is to be cancelled afterwards
 * with mend__boundary_tell_drained, or NULL. */
mend_token *mend__boundary_drained(const mend_boundary *boundary);
void mend__boundary_tell_drained(mend_token *drain);
/* A call whose tool is about to run apart from its passage, and one whose tool has come to its end. */
void mend__boundary_enlist(mend_call *call, mend_tool_kind kind);
void mend__boundary_delist(mend_call *call);
/* That tool runs on this thread now; and an asynchronous one, which has begun there, does not any more. */
void mend__boundary_step_in(mend_call *call);
void mend__boundary_step_out(mend__passage *passage);

/* ---- merge.c ---- */

/* Writes the object `args` with the members of the object `more` put over its own: shallow, like Python's {**args,
 * **more}. Both are valid JSON. Errors: MEND_EINVAL with a sentence for what is no object, MEND_ENOMEM. */
mend_status mend__merge_args(mend_str args, mend_str more, mend__buffer *merged, mend_error *error);

/* ---- flow_retry.c ---- */

/* The pause after so many failures; *random is where the jitter is drawn from. */
uint64_t mend__backoff_ns(const mend_retry_options *options, uint32_t failures, uint64_t *random);

/* ---- decider.c: watchdog hooks ---- */

/* Errors: MEND_ENOMEM. */
mend_status mend__decider_add(mend__run_state *state, const mend_boundary *owner, const char *name, mend_policy policy,
                              void *ctx);
/* Never waits: a policy of the owner's that another thread asks now is asked to its end. */
void mend__deciders_remove(mend__run_state *state, const mend_boundary *owner);
/* The same, but when it returns no policy of the owner's is being asked, unless by this thread. */
void mend__deciders_end(mend__run_state *state, const mend_boundary *owner);
/* Has what is pending decided about, here or by the thread that does so already, which is waited for. An abort takes
 * effect at once. */
void mend__decide(mend__run_state *state);
enum { MEND__HOOK_NAME_SIZE = 64 };
typedef struct mend__question {
  char *text;       /* of the run's allocator; NULL: there was no memory for it */
  unsigned dropped; /* later questions of the same hook */
  char hook[MEND__HOOK_NAME_SIZE];
} mend__question;
mend_str mend__question_text(const mend__question *question);
/* Forgets what is pending. */
void mend__deciders_forget(mend__run_state *state);
/* A line each. */
void mend__deciders_dump(mend__run_state *state, mend__buffer *text);

/* For healing_runner/: hooks/scope.h (house header) declares mend__boundary_close, _drain and _settle; drain.c
 * implements them. */

#endif

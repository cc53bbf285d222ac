/* Private to hooks/: how its parts fit together.
 *
 * A run's hook state (frames, open calls, deciders) hangs in the run's slot MEND__SLOT_HOOKS and is covered by the run's lock.
 * Nothing is published, no hook, tool, policy or on_cancel function is called under that lock. */
#ifndef MEND_HOOKS_INTERNAL_H
#define MEND_HOOKS_INTERNAL_H

#include "bus/room.h"
#include "core/buffer.h"
#include "core/memory.h"
#include "mend/hooks.h"
#include "mend/json.h"

#include <pthread.h>
#include <stdatomic.h>

/* How deep arguments and results may nest: one less than a reader of journals takes, where an object is around them. */
enum { MEND__VALUE_DEPTH = MEND_JSON_DEPTH_MAX - 1 };

/* ---- decision.c ---- */

struct mend_decision {
  const mend_allocator *allocator;
  mend_decision_kind kind;
  bool escalates;                    /* a Skip that is a policy's question: `stub` holds it */
  mend_str reason, stub, tool, args; /* NUL-terminated pieces of `memory` */
  char *memory;
};

void mend__decision_init(mend_decision *decision, const mend_allocator *allocator);
void mend__decision_clear(mend_decision *decision); /* frees what it holds; Continue again */
/* Skip with reason "escalation requested" and stub {"escalation_question": question}. */
mend_status mend__decision_escalate(mend_decision *decision, mend_str question);
/* Abort, also when there is no memory for the reason, which then is one of the library's own. */
void mend__decision_force_abort(mend_decision *decision, mend_str reason);
/* Moves: `to` is cleared first, `from` says Continue afterwards. Both have the same allocator. */
void mend__decision_move(mend_decision *to, mend_decision *from);

/* ---- runner.c: the hooks in order ---- */

typedef enum mend__phase { MEND__PHASE_BEFORE, MEND__PHASE_AFTER, MEND__PHASE_ON_ERROR } mend__phase;

/* How they are asked: flags. An ignored Redirect counts as Continue and is published like a Skip after the fact, so that a
 * later hook's decision counts. */
enum { MEND__ASK_ALL = 0, MEND__ASK_FAIL_CLOSED_ONLY = 1, MEND__ASK_IGNORE_REDIRECTS = 2 };

/* Asks the hooks. `decision` may hold an earlier decision that counts (a watchdog hook's, made by *ret_hook): it then is the
 * active one. *ret_hook is not NULL and lives as long as the hooks. Publishes hook.shadowed and hook.failed on call->run.
 * MEND_OK, or MEND_ABORTED for an Abort: there is no other way to fail. */
mend_status mend__hooks_ask(mend_hooks *hooks, mend__phase phase, const mend_hook_call *call, unsigned how,
                            mend_decision *decision, mend_str *ret_hook);
/* Whether mend_hooks_add_publishing was used. */
bool mend__hooks_publish(mend_hooks *hooks);
/* For a boundary, which publishes by itself: false when they do, and from here on they cannot be made to. */
bool mend__hooks_use(mend_hooks *hooks);

/* ---- publishing.c ---- */

extern const mend_hook mend__publishing_hook; /* by its functions mend__hooks_publish knows it */

/* ---- tools.c ---- */

typedef struct mend__tool_entry {
  atomic_size_t references;
  const mend_allocator *allocator;
  mend_tool tool; /* its name is a copy that lives as long as the entry */
  void *ctx;
} mend__tool_entry;

/* With a reference; MEND_ENOENT. */
mend_status mend__tools_find(mend_tools *tools, mend_str name, mend__tool_entry **ret_entry);
/* destroy runs with the last reference. NULL is allowed. */
void mend__tool_entry_release(mend__tool_entry *entry);

/* ---- result.c ---- */

/* Copies `text` into the result and lets *field, one of its members, point to the copy; absent stays absent. Frees what the
 * field held. MEND_ENOMEM leaves the field as it was. */
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

/* Open calls a run may have. */
enum { MEND__OPEN_MAX = 65536 };

typedef struct mend__run_state {
  mend_run *run; /* not referenced: the state ends with it */
  const mend_allocator *allocator;
  atomic_size_t references; /* the slot's and the subscription's: its memory must outlast both */

  /* Under the run's lock. */
  mend__abort_frame of_run, *innermost;
  mend_call *first, *last; /* open calls */
  size_t open, open_named;

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
/* The innermost one is closed; returns whether it was marked. */
bool mend__frame_close(mend__run_state *state, mend__abort_frame *frame);
/* Marks the frame (NULL: the innermost) and cancels the open calls under it. Nothing happens when it is aborted already. */
void mend__run_state_abort(mend__run_state *state, mend__abort_frame *frame, mend_str reason, mend_str source);
/* Under the run's lock: the mark that covers the frame, NULL for none. */
const mend__abort_frame *mend__frame_marked(const mend__abort_frame *frame);

/* ---- call.c: one open call ---- */

/* What is to be called: as an agent asks for it, or as a hook wants it. All borrowed. */
typedef struct mend__target {
  mend_str tool;
  mend_str args;
  mend_hash args_hash;
  const mend_tool *own; /* a tool that is in no registry; NULL: by name */
  void *own_ctx;
} mend__target;

typedef enum mend__answer { MEND__ANSWER_NONE, MEND__ANSWER_VALUE, MEND__ANSWER_FAILURE } mend__answer;

struct mend_call {
  mend_boundary *boundary;
  mend_token *token;
  uint64_t number;
  mend_str name;
  mend_result *result; /* the flow's own: the answer is written there at once */

  /* Under the run's lock, until `aborted` is set, which is read without it. */
  mend_call *previous, *next;
  mend__abort_frame *frame;
  uint32_t frame_depth;
  pthread_t thread;
  mend__abort *abort;
  atomic_bool aborted;

  uint32_t attempt;
  const mend__target *asked, *effective; /* of this attempt */
  mend_str note;
  mend__answer answer;
  mend_hash value_hash;
  bool lost;         /* there was no memory for the answer */
  bool incomplete;   /* there was no memory for all of the result's texts */
  mend_status error; /* why it could not be published */
};

/* Opens a call of `given` on the boundary. Sets *ret_target, whose args are checked. Errors are told by the result as well;
 * then the call is not open and mend__call_end is not called. */
mend_status mend__call_begin(mend_call *call, mend_boundary *boundary, const mend__target *given, mend_str call_name,
                             mend_result *result, mend__target *ret_target);
/* Closes it, and returns what the flow returns. */
mend_status mend__call_end(mend_call *call);
/* What every flow begins with: a result of its own, moved to the caller's at the end. What the caller's holds may be the call's
 * input, and a tool may clear it. MEND_EINVAL, told by `result` where it can be. */
mend_status mend__flow_begin(const mend_boundary *boundary, mend_result *result, mend_result *ret_own);
/* Fills in a result for what went no further, and returns the status. sentence: NULL for the status's own. */
mend_status mend__result_refuse(mend_result *result, const mend_allocator *allocator, mend_status status,
                                const char *sentence);
static inline bool mend__call_is_aborted(const mend_call *call) {
  return atomic_load_explicit(&((mend_call *)call)->aborted, memory_order_acquire);
}
static inline bool mend__call_is_cancelled(const mend_call *call) {
  return mend__call_is_aborted(call) || mend_token_is_cancelled(call->token);
}
/* Begins the answer anew. */
void mend__call_forget_answer(mend_call *call);
/* Ends a call that was cancelled between two attempts. */
void mend__call_give_up(mend_call *call);
/* Copies a text into the result, or remembers that there was no memory for it. */
void mend__call_tell(mend_call *call, mend_str *field, mend_str text);
/* The exact hash of what must be JSON. Errors: MEND_ESYNTAX, MEND_ENOMEM. */
mend_status mend__json_read(mend_str text, const mend_allocator *allocator, mend_hash *ret_hash, mend_error *error);

/* ---- boundary.c ---- */

struct mend_boundary {
  atomic_size_t references;
  const mend_allocator *allocator;
  mend_run *run;
  mend__run_state *run_state;
  mend_tools *tools;
  mend_hooks *hooks;
  void *state;

  /* Under the run's lock. */
  bool closed;
  size_t open;
  mend_token *drain; /* cancelled when no other thread than `drainer` has a call open; NULL: nobody waits for that */
  pthread_t drainer;
};

/* Under the run's lock: whether only the drainer still has calls open here. */
bool mend__boundary_is_drained(const mend_boundary *boundary);

/* ---- attempt.c: the boundary every attempt of every flow passes ---- */

/* One try: an attempt, and another one when an after or on_error hook redirects it. What became of it is in the result. */
void mend__boundary_try(mend_call *call, const mend__target *target);

/* ---- attempt_events.c ---- */

/* Where an attempt is. */
typedef struct mend__attempt {
  mend_call *call;
  const mend__target *asked;
  mend__target effective;
  bool redirected; /* `effective` is another one */
  mend_str redirected_by, redirect_reason;
  uint64_t started_ns;
  double duration_ms; /* 0 for what did not run */
} mend__attempt;

/* On success started_ns is set. */
mend_status mend__publish_before(mend__attempt *attempt);
void mend__publish_after(const mend__attempt *attempt);
void mend__publish_error(const mend__attempt *attempt);
void mend__publish_skipped(const mend__attempt *attempt, mend_str reason, mend_str hook, mend_str stub);
void mend__publish_aborted(const mend__attempt *attempt);
void mend__publish_cancelled(const mend__attempt *attempt, bool late_result);
void mend__publish_refused(mend_run *run, uint64_t call, mend_str call_name, mend_str tool, mend_str reason);

/* ---- merge.c ---- */

/* Writes the object `args` with the members of the object `more` put over its own: shallow, like Python's {**args, **more}.
 * Both are valid JSON. Errors: MEND_EINVAL with a sentence for what is no object, MEND_ENOMEM. */
mend_status mend__merge_args(mend_str args, mend_str more, mend__buffer *merged, mend_error *error);

/* ---- flow_retry.c ---- */

/* The pause after so many failures; *random is where the jitter is drawn from. */
uint64_t mend__backoff_ns(const mend_retry_options *options, uint32_t failures, uint64_t *random);

/* ---- decider.c: watchdog hooks ---- */

/* Errors: MEND_ENOMEM. */
mend_status mend__decider_add(mend__run_state *state, const mend_boundary *owner, const char *name, mend_policy policy,
                              void *ctx);
void mend__deciders_remove(mend__run_state *state, const mend_boundary *owner);
/* Has what is pending decided about, here or by the thread that does so already, which is waited for. An abort takes effect
 * at once. */
void mend__decide(mend__run_state *state);
enum { MEND__HOOK_NAME_SIZE = 64 };
typedef struct mend__question {
  char *text;       /* of the run's allocator; NULL: there was no memory for it */
  unsigned dropped; /* later questions of the same hook */
  char hook[MEND__HOOK_NAME_SIZE];
} mend__question;
mend_str mend__question_text(const mend__question *question);
/* Takes the questions that wait: the first becomes `decision` and *ret_question, whose text is then the caller's; the others
 * are published as shadowed. Without one nothing is written. MEND_ENOMEM leaves them waiting. */
mend_status mend__take_question(mend_call *call, mend_decision *decision, mend__question *ret_question);
/* Forgets what is pending. */
void mend__deciders_forget(mend__run_state *state);

/* For healing_runner/: hooks/scope.h (house header) declares mend__boundary_close, _drain and _settle; boundary.c, call.c and
 * decider.c implement them. */

#endif

/* Private to hooks/: calls, from both sides (docs/internals/boundary.md).
 *
 * A passage is a call's way through the boundary, as its flow sees it: from the first before to the last after hook. A
 * mend_call is what one run of a tool sees of it. A passage has one at a time, and a new one for every attempt, so
 * whoever keeps an old one cannot answer a later attempt. */
#ifndef MEND_HOOKS_CALL_INTERNAL_H
#define MEND_HOOKS_CALL_INTERNAL_H

#include "core/texts.h"
#include "hooks/answer.h"
#include "hooks/hooks_internal.h"

typedef struct mend__passage mend__passage;

/* What is to be called: as an agent asks for it, or as a hook wants it. All borrowed. */
typedef struct mend__target {
  mend_str tool;
  mend_str args;
  mend_hash args_hash;
  const mend_tool *own;        /* a tool that is in no registry; NULL: by name */
  mend__tool_entry *own_entry; /* holds it, if it is not blocking */
  void *own_ctx;
} mend__target;

/* ---- answer.c: what a tool answers ---- */

/* Its texts are blocks of the result that they are told to. */
typedef enum mend__answer_kind { MEND__ANSWER_VALUE, MEND__ANSWER_FAILURE, MEND__ANSWER_QUESTION } mend__answer_kind;

typedef struct mend__answer {
  mend__answer_kind kind;
  bool is_lasting; /* belongs to nobody */
  mend_hash value_hash;
  mend_str text, message; /* the value, the failure's type and message, or the question */
  mend__text_block block; /* the answer itself */
  mend__text_block *message_block;
} mend__answer;

/* The answer is taken out of the call, which takes no other one afterwards; NULL when it ended without. */
mend__answer *mend__call_take_answer(mend_call *call);
/* Its texts become the result's. */
void mend__answer_tell(mend__answer *answer, mend_result *result);
/* NULL is allowed. */
void mend__answer_free(mend__answer *answer);
/* No answer is taken from here on, unless there is one. */
void mend__call_close(mend_call *call);
/* mend__call_answer_status for a tool that is gone. */
void mend__call_answer_absence(mend_call *call);
/* The exact hash of what must be JSON. Errors: MEND_ESYNTAX, MEND_ENOMEM. */
mend_status mend__json_read(mend_str text, const mend_allocator *allocator, mend_hash *ret_hash, mend_error *error);

/* ---- call.c: what a tool sees ---- */

typedef struct mend__call_texts {
  mend_str name;
  mend_str asked; /* the tool as asked for in this attempt, which events name */
  mend_str tool, args, note;
} mend__call_texts;

struct mend_call {
  atomic_size_t references; /* the passage's, a pool's, and, when its tool has returned, one for all holders */
  atomic_size_t holders;    /* execute while it runs, and whoever retained the call */
  mend_boundary *boundary;
  mend_token *token; /* the passage's; a first call lies behind it in its block */
  bool is_first;
  uint64_t number;
  uint32_t attempt;
  _Atomic(const mend__call_texts *) texts; /* `borrowed`, or a copy of it */
  mend__call_texts borrowed;               /* valid until execute has returned */

  _Atomic(mend__answer *) answer;
  atomic_bool lost;    /* there was no memory for an answer */
  atomic_bool aborted; /* set under the run's lock */
  atomic_bool landed;  /* it is over: what is still to be done about it is the passage's */

  bool ran;                /* its tool, unless it is pooled */
  mend__tool_entry *entry; /* until the last holder has gone; NULL for a blocking tool in no registry */

  /* Of one that is not blocking, which is in its boundary's list of running ones until the last holder has gone. */
  mend_tool_kind kind;    /* set under the run's lock */
  mend__passage *passage; /* until it lands */
  uint64_t cancel_id;
  mend__job job;
  /* Under the run's lock. */
  bool is_running;
  mend_call *previous, *next;
  bool has_thread; /* its tool's code runs, on this thread */
  pthread_t thread;
};

/* The first call of a passage, and its token. MEND_ENOMEM. */
mend_status mend__call_new(mend_boundary *boundary, mend_call **ret_call);
/* That of the passage's next attempt, with the same token. */
mend_status mend__call_new_again(const mend_call *previous, mend_call **ret_call);
/* One reference less. */
void mend__call_drop(mend_call *call);
/* Its tool is about to run: the first holder. Takes over the entry, which may be NULL. */
void mend__call_begin_run(mend_call *call, mend__tool_entry *entry);
/* It has returned, or will not run after all. The caller has a reference. */
void mend__call_end_run(mend_call *call);
/* Copies the texts, once. Without memory they are absent from here on. */
mend_status mend__call_keep_texts(mend_call *call);

static inline bool mend__call_is_aborted(const mend_call *call) {
  return atomic_load_explicit(&((mend_call *)call)->aborted, memory_order_acquire);
}
static inline bool mend__call_is_cancelled(const mend_call *call) {
  return mend__call_is_aborted(call) || mend_token_is_cancelled(call->token);
}
static inline bool mend__call_has_landed(const mend_call *call) {
  return atomic_load_explicit(&((mend_call *)call)->landed, memory_order_acquire);
}

/* ---- launch.c: running a tool, and how a call lands that its caller does not run ---- */

typedef enum mend__launching {
  MEND__LAUNCH_UNKNOWN, /* there is no such tool */
  MEND__LAUNCH_LANDED,  /* it has landed */
  MEND__LAUNCH_AWAITED  /* it will land; the passage belongs to whoever it lands on */
} mend__launching;

/* Runs the tool of the passage's call, or begins to. */
mend__launching mend__launch(mend__passage *passage, const mend__target *target);
/* Whether its tool was run, once it has landed. */
static inline bool mend__call_has_run(const mend_call *call) {
  return call->kind == MEND_TOOL_POOLED ? call->job.state == MEND__JOB_TAKEN : call->ran;
}
/* An answer, or its absence, is final. Once; later times are nothing. The passage may go on in here. */
void mend__call_land(mend_call *call);
/* Once the call has landed: nothing of the library looks at its token any more. */
void mend__call_settle(mend_call *call);

/* What a thread waits on for what others do. It may be freed as soon as it was rung often enough. */
typedef struct mend__bell {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  size_t rung;
} mend__bell;
#define MEND__BELL_INIT                                                                                                \
  { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 }
void mend__bell_ring(mend__bell *bell);
/* Waits until it was rung so many times, which then do not count any more. */
void mend__bell_await(mend__bell *bell, size_t times);
void mend__bell_end(mend__bell *bell);

/* ---- passage.c: a call, from its opening to its end ---- */

struct mend__passage {
  mend__open_link open; /* must be first */
  mend__passage *next_of_hash;
  mend__abort_frame *frame;
  uint32_t frame_depth;
  mend__abort *abort; /* why its calls are marked as aborted */
  bool has_thread;    /* false: nobody is in it, its tool is awaited and somebody else will come */
  pthread_t thread;
  mend_call *call; /* of this attempt; replaced under the run's lock */

  mend_boundary *boundary; /* its calls hold it */
  uint64_t number;
  mend_str name;
  mend_str tool;   /* as asked for at first */
  uint64_t within; /* the call whose tool makes it, or MEND_NONE */
  mend_str note;
  mend_result *result;             /* the flow's own */
  bool has_begun;                  /* its first attempt */
  atomic_uint_fast64_t started_ns; /* of this attempt */
  bool incomplete;                 /* there was no memory for all of the result's texts */
  mend_status error;               /* why it could not be published */

  atomic_uint holds; /* until launching has returned, and until the call has landed: who lifts the last one goes on */
  mend__bell *bell;  /* its caller waits for it; NULL: it goes on where its call lands */
  void (*go_on)(mend__passage *passage);
  mend__passage *next_told;
};

/* Errors: MEND_EINVAL when it names no tool. */
mend_status mend__target_check(const mend__target *target, mend_error *error);
/* Opens a passage for `given` on the boundary. Sets *ret_target, whose args are checked. Errors are told by the result
 * as well; then it is not open and mend__passage_end is not called. */
mend_status mend__passage_begin(mend__passage *passage, mend_boundary *boundary, const mend__target *given,
                                const mend_call_options *options, mend_result *result, mend__target *ret_target);
/* A call of its own for a further attempt. MEND_ENOMEM. */
mend_status mend__passage_renew(mend__passage *passage);
/* Closes it, and returns what the flow returns. */
mend_status mend__passage_end(mend__passage *passage);
/* The same in two steps, between which somebody is told, on this thread: the call is closed, but no scope is left. */
mend_status mend__passage_close(mend__passage *passage);
void mend__passage_told(mend__passage *passage);
/* Whether this thread is in it: who drains a boundary does not wait for what only the draining thread can end. */
void mend__passage_leave(mend__passage *passage);
void mend__passage_enter(mend__passage *passage);
/* Ends one that was cancelled while its tool did not run. */
void mend__passage_give_up(mend__passage *passage);
/* Begins the result anew. */
void mend__passage_clear_result(mend__passage *passage);
/* Copies a text into the result, or remembers that there was no memory for it. */
void mend__passage_tell(mend__passage *passage, mend_str *field, mend_str text);

/* ---- attempt.c: the boundary every attempt of every flow passes ---- */

/* What a hook wants instead: the decision it came from and the arguments merged for it hold what `target` points to. */
typedef struct mend__redirection {
  mend_decision decision;
  mend__buffer merged;
  mend__target target;
  mend_str hook;
  bool wanted;
} mend__redirection;

/* Where an attempt is. */
typedef struct mend__attempt {
  mend__passage *passage;
  const mend__target *asked, *running; /* running: what hooks are shown and the tool is given */
  mend__target effective;
  bool redirected; /* `effective` is another one */
  mend_str redirected_by, redirect_reason;
  bool is_last;  /* redirects are ignored */
  bool failed;   /* before there was a tool to run; the result says of what */
  bool launched; /* its call has landed, or will */
  uint64_t started_ns;
  double duration_ms;     /* 0 for what did not run */
  mend_hash value_hash;   /* of the result */
  mend_decision decision; /* by the hook of this name */
  mend_str hook;
  char asker[MEND__HOOK_NAME_SIZE]; /* that name, of a watchdog hook, which may be gone */
} mend__attempt;

/* A try: an attempt, and another one when an after or on_error hook redirects it. The result says how it ended. */
typedef struct mend__try {
  mend__attempt attempt;
  mend__redirection instead; /* decided before the tool ran */
  mend__redirection again;   /* decided afterwards; it may be what ran instead, so both are kept until the end */
} mend__try;

/* Each goes on until the try is over, or returns false when its tool is awaited: then the try belongs to whoever the
 * call lands on. The target lives as long as the try. */
bool mend__try_begin(mend__try *self, mend__passage *passage, const mend__target *target);
bool mend__try_resume(mend__try *self);
void mend__try_end(mend__try *self);
/* A whole one; waits here. */
void mend__boundary_try(mend__passage *passage, const mend__target *target);

/* ---- attempt_events.c ---- */

/* On success started_ns is set. */
mend_status mend__publish_before(mend__attempt *attempt);
void mend__publish_after(const mend__attempt *attempt);
void mend__publish_error(const mend__attempt *attempt);
void mend__publish_skipped(const mend__attempt *attempt, mend_str reason, mend_str hook, mend_str stub);
void mend__publish_aborted(const mend__attempt *attempt);
void mend__publish_cancelled(const mend__attempt *attempt, bool late_result);
void mend__publish_refused(mend_run *run, uint64_t call, mend_str call_name, mend_str tool, mend_str reason);

/* ---- decider.c ---- */

/* Takes the questions that wait: the first becomes the attempt's decision, by its hook, the others are published as
 * shadowed. Without one nothing is changed. MEND_ENOMEM leaves them waiting. */
mend_status mend__take_question(mend__attempt *attempt);

/* ---- flow_call.c ---- */

/* What mend_call_options say, checked. A tool of its own that is not blocking is held by an entry from here on. */
typedef struct mend__call_request {
  mend_call_options options;
  mend_tool own;
  mend__target target;
} mend__call_request;
mend_status mend__call_request_take(mend__call_request *request, const mend_boundary *boundary, mend_str tool,
                                    mend_str args, const mend_call_options *given, mend_error *error);
void mend__call_request_end(mend__call_request *request);

#endif

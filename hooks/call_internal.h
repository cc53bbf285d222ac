/* Private to hooks/: a call as its tool sees it: what it tells, what it is answered, how it lands
 * (docs/internals/boundary.md). A flow sees a passage (passage_internal.h), which has one of these for each attempt. */
#ifndef MEND_HOOKS_CALL_INTERNAL_H
#define MEND_HOOKS_CALL_INTERNAL_H

#include "core/texts.h"
#include "hooks/answer.h"
#include "hooks/boundary_internal.h"

/* ---- answer.c: what a tool answers ---- */

/* Its texts are blocks of the result that they are told to. */
typedef enum mend__answer_kind { MEND__ANSWER_VALUE, MEND__ANSWER_FAILURE, MEND__ANSWER_QUESTION } mend__answer_kind;

typedef struct mend__answer {
  mend__answer_kind kind;
  bool is_lasting; /* belongs to nobody */
  mend_hash value_hash;
  mend_str text, more;    /* the value; the failure's type and message; the question and the hook that asks */
  mend__text_block block; /* the answer itself */
  mend__text_block *more_block;
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

/* Runs the tool that the passage's attempt is to run, or begins to. */
mend__launching mend__launch(mend__passage *passage);
/* Whether its tool was run, once it has landed. */
static inline bool mend__call_has_run(const mend_call *call) {
  return call->kind == MEND_TOOL_POOLED ? call->job.state == MEND__JOB_TAKEN : call->ran;
}
/* An answer, or its absence, is final. Once; later times are nothing. The passage may go on in here. */
void mend__call_land(mend_call *call);
/* Once the call has landed: nothing of the library looks at its token any more. */
void mend__call_settle(mend_call *call);

#endif

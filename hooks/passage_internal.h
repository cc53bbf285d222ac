/* Private to hooks/: a call as its flow sees it: a passage through the boundary, from the first before to the last
 * after hook (docs/internals/boundary.md). It has a mend_call (call_internal.h) for each attempt, so whoever keeps an
 * old one cannot answer a later attempt. */
#ifndef MEND_HOOKS_PASSAGE_INTERNAL_H
#define MEND_HOOKS_PASSAGE_INTERNAL_H

#include "hooks/call_internal.h"

/* ---- passage.c: from its opening to its end ---- */

/* What is to be called: as an agent asks for it, or as a hook wants it. All borrowed. */
typedef struct mend__target {
  mend_str tool;
  mend_str args;
  mend_hash args_hash;
  const mend_tool *own;        /* a tool that is in no registry; NULL: by name */
  mend__tool_entry *own_entry; /* holds it, if it is not blocking */
  void *own_ctx;
} mend__target;

/* What a hook wants instead: the decision it came from and the arguments merged for it hold what `target` points to. */
typedef struct mend__redirection {
  mend_decision decision;
  mend__buffer merged;
  mend__target target;
  mend_str hook;
  bool wanted;
} mend__redirection;

/* Where a passage's attempt is. */
typedef struct mend__attempt {
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
  uint64_t within; /* the call whose tool makes it, or MEND_NONE */
  mend_str note;
  mend__target asked;              /* at first */
  mend_result *result;             /* the flow's own */
  bool has_begun;                  /* its first attempt */
  atomic_uint_fast64_t started_ns; /* of this attempt */
  bool incomplete;                 /* there was no memory for all of the result's texts */
  mend_status error;               /* why it could not be published */

  /* One try. */
  mend__attempt attempt;
  mend__redirection instead; /* decided before the tool ran */
  mend__redirection again; /* decided afterwards; it may be what ran instead, so both are kept until the try is over */

  atomic_uint holds;  /* until launching has returned, and until the call has landed: who lifts the last one goes on */
  mend__bell *bell;   /* its caller waits for it; NULL: it goes on where its call lands */
  mend__bell *helper; /* of who waits for its end on a thread of a pool, and runs its tool if it must; NULL: nobody */
  void (*over)(mend__passage *passage);
  mend__passage *next_told;
};

/* Errors: MEND_EINVAL when it names no tool. */
mend_status mend__target_check(const mend__target *target, mend_error *error);
/* Opens a passage for `given` on the boundary. Errors are told by the result as well; then it is not open and
 * mend__passage_end is not called. */
mend_status mend__passage_begin(mend__passage *passage, mend_boundary *boundary, const mend__target *given,
                                const mend_call_options *options, mend_result *result);
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

/* ---- try.c: an attempt, and another one when an after or on_error hook redirects it ---- */

/* The result says how it ended. Waits for it here. */
void mend__try_here(mend__passage *passage);
/* `over` is called when it has ended: in here, or where its call lands. */
void mend__try_apart(mend__passage *passage, void (*over)(mend__passage *passage));
/* The call of one that nobody waits for has landed. */
void mend__try_go_on(mend__passage *passage);

/* ---- attempt.c: the boundary that every attempt of every flow passes ---- */

/* Publishes the before, asks, has the tool run. again: the wish of a hook that it follows, and then it is the last one;
 * NULL for a first attempt. False when its call has still to land: then the passage belongs to whoever it lands on. */
bool mend__attempt_begin(mend__passage *passage, const mend__redirection *again);
/* Ends it, and asks the hooks afterwards. */
void mend__attempt_finish(mend__passage *passage);

/* ---- attempt_end.c ---- */

/* Publishes the terminal event, and tells the result what it says. */
void mend__attempt_end(mend__passage *passage);

/* ---- attempt_events.c ---- */

/* On success the attempt's started_ns is set. */
mend_status mend__publish_before(mend__passage *passage);
void mend__publish_after(const mend__passage *passage);
void mend__publish_error(const mend__passage *passage);
void mend__publish_skipped(const mend__passage *passage, mend_str reason, mend_str hook, mend_str stub);
void mend__publish_aborted(const mend__passage *passage);
void mend__publish_cancelled(const mend__passage *passage, bool late_result);
void mend__publish_refused(mend_run *run, uint64_t call, mend_str call_name, mend_str tool, mend_str reason);

/* ---- question.c ---- */

/* Takes the questions of watchdog hooks that wait: the first becomes the attempt's decision, by its hook, the others
 * are published as shadowed. Without one nothing is changed. MEND_ENOMEM leaves them waiting. */
mend_status mend__question_take(mend__passage *passage);

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

/**
 * mend/tools.h: tools of every kind, the calls they are given, and tokens, by which a call is cancelled.
 *
 *   static mend_status search(void *ctx, mend_call *call) {
 *     return mend_call_succeed(call, look_up(ctx, mend_call_args(call)));
 *   }
 *   static const mend_tool search_tool = {.size = sizeof(mend_tool), .name = "search", .execute = search};
 *
 *   mend_tools *tools;
 *   mend_tools_new(NULL, &tools);
 *   mend_tools_add(tools, &search_tool, my_index, &error);
 *
 * A tool may block on its caller's thread, run on a worker thread (MEND_TOOL_POOLED), or begin and answer later
 * (MEND_TOOL_ASYNC); who calls it (mend/boundary.h) need not know which.
 *
 * Threads: tokens, registries and the functions of a call may be used from any thread. Several calls of one tool may
 * run at once.
 *
 * A function of yours that the library calls (a tool, a hook, a policy, an on_cancel function, a subscriber, a
 * watchdog) returns to it: no C++ exception, longjmp or pthread_exit may leave it, because the library's own state
 * would stay behind half changed. In C++ catch in the function and answer with mend_call_fail or an error.
 */
#ifndef MEND_TOOLS_H
#define MEND_TOOLS_H

#include "mend/bus.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tokens: a call that can be cancelled ------------------------------------------------------------------ */

/** Every call has one. Reference-counted; the one a tool is given is borrowed for the call. A blocking tool that never
 * looks at its token cannot be stopped. */
typedef struct mend_token mend_token;

/** A token of one's own, not cancelled. \param clock  what mend_token_wait waits on; NULL: the real one. Errors:
 * MEND_ENOMEM. */
MEND_API mend_status mend_token_new(const mend_allocator *allocator, mend_clock *clock, mend_token **ret_token);
MEND_API mend_token *mend_token_retain(mend_token *token);
/** NULL is allowed. */
MEND_API void mend_token_release(mend_token *token);
/** Cancels it, once: later calls change nothing. The on_cancel functions run here. \param reason  copied, cut to 255
 * bytes */
MEND_API void mend_token_cancel(mend_token *token, mend_str reason);
MEND_API bool mend_token_is_cancelled(const mend_token *token);
/** Why; absent while it is not cancelled; valid as long as the token. */
MEND_API mend_str mend_token_reason(const mend_token *token);
/** Waits until it is cancelled (MEND_ECANCELLED) or `ns` have passed on its clock (MEND_OK; MEND_NEVER: only
 * cancelling). Under a virtual clock also MEND_ENOMEM, and not to be called by the thread that advances it. */
MEND_API mend_status mend_token_wait(mend_token *token, uint64_t ns);
/** A descriptor that becomes readable when it is cancelled, for poll and event loops; made when first asked for; the
 * token's, never to be read or closed. Errors: MEND_EIO. */
MEND_API mend_status mend_token_fd(mend_token *token, int *ret_fd);
/** Calls `cancelled(ctx)` once when it is cancelled, on the cancelling thread, or at once if it is; in the order they
 * were added. It may do anything with the token. *ret_id is for mend_token_forget and set before the first call; ret_id
 * may be NULL. Errors: MEND_ENOMEM; it is then not called. */
MEND_API mend_status mend_token_on_cancel(mend_token *token, void (*cancelled)(void *ctx), void *ctx, uint64_t *ret_id);
/** The function is not called after this returns; waits for it if it is running on another thread, not if it is this
 * one that it runs on. An id that is not there any more is allowed. */
MEND_API void mend_token_forget(mend_token *token, uint64_t id);

/* ---- Tools ------------------------------------------------------------------------------------------------- */

/** What running a tool twice would do to the world. Today it is a declaration: mend_tools_effect tells it to hooks and
 * policies that ask, and no flow looks at it (mend_boundary_retry repeats an irreversible tool as any other). The
 * router and the orchestrator are to use it. */
typedef enum mend_effect {
  MEND_EFFECT_IRREVERSIBLE = 0, /**< also when nothing was declared */
  MEND_EFFECT_IDEMPOTENT,
  MEND_EFFECT_READ_ONLY
} mend_effect;

/** One call as its tool sees it; borrowed for the call. */
typedef struct mend_call mend_call;
MEND_API mend_run *mend_call_run(const mend_call *call);
MEND_API uint64_t mend_call_number(const mend_call *call);
MEND_API mend_str mend_call_tool(const mend_call *call);    /**< the tool that runs, after redirection */
MEND_API mend_str mend_call_args(const mend_call *call);    /**< its arguments: JSON */
MEND_API mend_str mend_call_note(const mend_call *call);    /**< of the retry flow: what earlier attempts failed of */
MEND_API uint32_t mend_call_attempt(const mend_call *call); /**< from 1 */
MEND_API mend_token *mend_call_token(const mend_call *call);
MEND_API void *mend_call_state(const mend_call *call); /**< the boundary's `state` */
/** The result: JSON, copied. Once; a second one, or one after an error, is MEND_EEXIST. Not JSON: MEND_ESYNTAX, and
 * the call fails with error_type "bad_result". MEND_ECANCELLED when the call has been cancelled meanwhile and ended
 * without it; one that is cancelled between its answer (MEND_OK) and its end is cancelled too, and `tool.cancelled`
 * says late_result. From an asynchronous tool the call may go on in here (hooks, events, what mend_boundary_start was
 * given): hold no lock. */
MEND_API mend_status mend_call_succeed(mend_call *call, mend_str result);
/** The same for plain text, which becomes a JSON string. */
MEND_API mend_status mend_call_succeed_text(mend_call *call, mend_str text);
/** The call failed. \param type  a short fixed word, "timeout"; both are copied. */
MEND_API mend_status mend_call_fail(mend_call *call, mend_str type, mend_str message);
/** A person must be asked. The call ends as MEND_OUTCOME_ESCALATED, which no flow takes for a success or tries again,
 * with `tool.skipped`, reason "escalation requested". MEND_EINVAL when the question is absent. */
MEND_API mend_status mend_call_escalate(mend_call *call, mend_str question);
/** A sign of life: publishes `tool.progress`. MEND_ECLOSED, and nothing is published, when the call has ended; one that
 * is being published at that moment may come after the end. \param bytes  new output, 0 for a heartbeat */
MEND_API mend_status mend_call_progress(mend_call *call, uint64_t bytes, mend_str note);

/**
 * Keeps the call for later; for asynchronous tools, which retain it before they return and release it after they have
 * answered. Everything a retained call tells (mend_call_*) stays valid until it is released, also when the call has
 * long ended and its boundary, run and bus have been let go of: an answer is then refused with MEND_ECANCELLED. When
 * the last of an asynchronous tool's references goes without an answer, the call fails with error_type "no_answer". The
 * boundary's `state` is the user's: look at the token before touching it. (Of a tool that is not asynchronous, whose
 * texts are its caller's, they are copied here, and absent afterwards when there is no memory for it.)
 */
MEND_API mend_call *mend_call_retain(mend_call *call);
/** NULL is allowed. */
MEND_API void mend_call_release(mend_call *call);

/** Where a tool runs. Callers of a tool need not know. A call of one that is not blocking ends at once when it is
 * cancelled, whatever its tool does (one exception: MEND_TOOL_POOLED); the tool is told by its token, and may run
 * on. */
typedef enum mend_tool_kind {
  MEND_TOOL_BLOCKING = 0, /**< on the caller's thread */
  /** On a worker thread of the registry's pool, where all signals are blocked. The call goes on when execute has
   * returned. A worker that waits for pooled calls (mend_boundary_call, mend_boundary_call_all, a flow) runs those
   * itself that no worker is free for, so that pools cannot wait for themselves: such a call, when it is cancelled,
   * ends for who waits when its tool has returned. A tool that waits by other means for what takes a pooled call,
   * such as a `done`, needs a worker that is free. */
  MEND_TOOL_POOLED,
  /** Begins on the caller's thread and answers later, from any thread, or at once. The call goes on when it is answered
   * and execute has returned, which it should do soon. */
  MEND_TOOL_ASYNC
} mend_tool_kind;

/** A tool. Copied at mend_tools_add. */
typedef struct mend_tool {
  size_t size;
  const char *name; /**< 1..128 bytes of UTF-8, no control characters */
  mend_effect effect;
  /** Runs the call and answers with mend_call_succeed, _fail or _escalate. An error returned without either fails the
   * call with the status's name as error_type. MEND_OK without either is the result null, of an asynchronous tool that
   * it will answer later. */
  mend_status (*execute)(void *ctx, mend_call *call);
  void (*destroy)(void *ctx); /**< called once, when the tool is removed and no call of it runs; may be NULL */
  mend_tool_kind kind;
  /** For models: what it does. An agent without a list of its own is told of all tools that have one
   * (mend_agent_options). NULL: none. */
  const char *description;
  const char *schema; /**< for models: JSON Schema of its arguments, an object; NULL: {"type":"object"} */
  bool strict;        /**< for models: the provider is to keep to the schema, where it can */
} mend_tool;

#define MEND_TOOL_INIT                                                                                                 \
  { sizeof(mend_tool), NULL, MEND_EFFECT_IRREVERSIBLE, NULL, NULL, MEND_TOOL_BLOCKING, NULL, NULL, false }

/** A registry of tools, by name. Reference-counted; may be shared by boundaries and changed while calls run. With its
 * last reference, which a call that runs has too, the threads of its pool end; on one of them that is a moment later.
 * */
typedef struct mend_tools mend_tools;
/** Errors: MEND_ENOMEM. */
MEND_API mend_status mend_tools_new(const mend_allocator *allocator, mend_tools **ret_tools);
MEND_API mend_tools *mend_tools_retain(mend_tools *tools);
MEND_API void mend_tools_release(mend_tools *tools);
/** Errors: MEND_EINVAL (the sentence names the member; a schema that is no JSON object, with line and column, or that
 * has no description beside it), MEND_EEXIST when there is one of this name, MEND_ENOMEM; destroy is then not called.
 */
MEND_API mend_status mend_tools_add(mend_tools *tools, const mend_tool *tool, void *ctx, mend_error *error);
/** MEND_ENOENT when there is none. A tool may remove itself while it runs. */
MEND_API mend_status mend_tools_remove(mend_tools *tools, mend_str name);
/** The declared effect; MEND_ENOENT when there is no such tool. */
MEND_API mend_status mend_tools_effect(mend_tools *tools, mend_str name, mend_effect *ret_effect);
/** The registry's pool for pooled tools: how many threads at most, made when they are needed, and how many calls may
 * wait for one (a call beyond fails with error_type "pool_full", one for which no thread can be made with
 * "MEND_ENOMEM"; those that a worker waits for are not counted). Default 8 threads, 65,536 calls. A registry that has
 * threads does not survive fork: the child must not call its pooled tools, nor release it. \param threads  1..256.
 * \param waiting  1..2^20. Errors: MEND_EINVAL; MEND_EEXIST when a pooled tool has been called already. */
MEND_API mend_status mend_tools_set_pool(mend_tools *tools, uint32_t threads, uint32_t waiting, mend_error *error);

#ifdef __cplusplus
}
#endif
#endif

/**
 * mend/hooks.h: hooks, which are asked before and after every call, and what they may decide.
 *
 *   static mend_status no_shell(void *ctx, const mend_hook_call *call, mend_decision *decision) {
 *     if (!mend_str_equal(call->tool_name, MEND_STR("shell"))) return MEND_OK;
 *     return mend_decision_skip_text(decision, MEND_STR("no shell here"), MEND_STR("the shell is not to be used"));
 *   }
 *   static const mend_hook guard = {.size = sizeof(mend_hook), .name = "guard", .before = no_shell};
 *   mend_hook_options options = MEND_HOOK_OPTIONS_INIT;
 *   options.fail_closed = true; // what a guard wants: without it a call goes on when its hook fails
 *   mend_hooks_add(hooks, &guard, NULL, &options, &error);
 *
 * Threads: where calls run at once, hooks do too. A decision belongs to the hook call it is given to.
 */
#ifndef MEND_HOOKS_H
#define MEND_HOOKS_H

#include "mend/tools.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Decisions --------------------------------------------------------------------------------------------- */

typedef enum mend_decision_kind {
  MEND_DECISION_CONTINUE = 0,
  MEND_DECISION_SKIP,
  MEND_DECISION_REDIRECT,
  MEND_DECISION_ABORT
} mend_decision_kind;
/** "continue", "skip", "redirect" or "abort". Static. */
MEND_API const char *mend_decision_kind_name(mend_decision_kind kind);

/** What a hook decides. It is given one that says Continue and sets it with one of the functions below, which copy; the
 * last one set counts. After an error, which of all of them may be MEND_ENOMEM, it says what it said before, and
 * remembers in a sentence what was refused, for `hook.failed`. A hook returns that error or sets something else: one
 * that does neither has failed all the same (mend_hook). MEND_EINVAL when the decision is NULL. */
typedef struct mend_decision mend_decision;
MEND_API mend_status mend_decision_new(const mend_allocator *allocator, mend_decision **ret_decision);
/** NULL is allowed. */
MEND_API void mend_decision_free(mend_decision *decision);
MEND_API void mend_decision_continue(mend_decision *decision);
/** The tool does not run, `stub` is its result. \param stub  JSON; absent: "" (an empty string). MEND_ESYNTAX when it
 * is none: plain text goes to mend_decision_skip_text. */
MEND_API mend_status mend_decision_skip(mend_decision *decision, mend_str reason, mend_str stub);
/** The same for plain text, which becomes a JSON string. */
MEND_API mend_status mend_decision_skip_text(mend_decision *decision, mend_str reason, mend_str text);
/** Another tool (absent: the same), other arguments (a JSON object merged over the call's; absent: the same; {} counts
 * as given). MEND_EINVAL when both are absent or the tool is empty; MEND_ESYNTAX when args is no JSON object. */
MEND_API mend_status mend_decision_redirect(mend_decision *decision, mend_str reason, mend_str tool, mend_str args);
/** A person must be asked: a Skip whose call is escalated (MEND_OUTCOME_ESCALATED), with the reason "escalation
 * requested" and the stub {"escalation_question": question}. MEND_EINVAL when the question is absent. */
MEND_API mend_status mend_decision_escalate(mend_decision *decision, mend_str question);
MEND_API mend_status mend_decision_abort(mend_decision *decision, mend_str reason);
MEND_API mend_decision_kind mend_decision_get_kind(const mend_decision *decision);
MEND_API mend_str mend_decision_reason(const mend_decision *decision);
MEND_API mend_str mend_decision_stub(const mend_decision *decision);     /**< of Skip */
MEND_API mend_str mend_decision_question(const mend_decision *decision); /**< absent: it is no escalation */
MEND_API mend_str mend_decision_tool(const mend_decision *decision);     /**< of Redirect; absent: the same */
MEND_API mend_str mend_decision_args(const mend_decision *decision);     /**< of Redirect; absent: the same */

/* ---- Hooks ------------------------------------------------------------------------------------------------- */

/** What a hook is asked about; borrowed. */
typedef struct mend_hook_call {
  size_t size;
  mend_run *run;
  uint64_t call;
  mend_str call_name;
  uint32_t attempt;
  mend_str tool_name;
  mend_str args; /**< JSON */
  void *state;   /**< the boundary's */
  /* after and on_error */
  mend_str result; /**< JSON */
  mend_str error_type;
  mend_str error_message;
  double duration_ms; /**< 0 when the tool did not run */
  uint64_t within;    /**< the call in whose execution this one is made (mend_call_options); MEND_NONE: none */
} mend_hook_call;

/** A hook. Copied when added; absent members mean Continue. An error returned, MEND_OK although the decision refused
 * what it was told last, or a return after the time limit, is a failure of the hook: `hook.failed` is published, the
 * bus's log is told, and it counts as Continue, or as Abort for one added fail_closed. */
typedef struct mend_hook {
  size_t size;
  const char *name; /**< 1..63 bytes of UTF-8, no control characters; in events and results, which tell hooks by it */
  mend_status (*before)(void *ctx, const mend_hook_call *call, mend_decision *decision);
  mend_status (*after)(void *ctx, const mend_hook_call *call, mend_decision *decision);
  mend_status (*on_error)(void *ctx, const mend_hook_call *call, mend_decision *decision);
  void (*destroy)(void *ctx); /**< may be NULL */
  /** Asked when a boundary of this run is made with these hooks, in their order; an error refuses the boundary, and
   * those asked before are told with detach. Not asked for boundaries that were made before it was added. NULL: fine
   * with any run. */
  mend_status (*attach)(void *ctx, mend_run *run, mend_error *error);
  void (*detach)(void *ctx, mend_run *run); /**< that boundary is gone; NULL: nothing */
} mend_hook;

#define MEND_HOOK_INIT                                                                                                 \
  { sizeof(mend_hook), NULL, NULL, NULL, NULL, NULL, NULL, NULL }

typedef struct mend_hook_options {
  size_t size;
  bool fail_closed;    /**< its failure aborts; before a redirected call runs it is asked again about that call */
  double time_limit_s; /**< > 0, or 0 for none (the default); one that never returns cannot be stopped */
} mend_hook_options;
#define MEND_HOOK_OPTIONS_INIT                                                                                         \
  { sizeof(mend_hook_options), false, 0.0 }

/**
 * The hook runner: hooks in the order they were added. An Abort returns at once, also after an earlier Skip; else all
 * hooks run, and the first escalation counts, or without one the first decision that is not Continue. What does not
 * count is published as `hook.shadowed`. From after and on_error a Skip, and so an escalation, counts as Continue and
 * is published likewise.
 */
typedef struct mend_hooks mend_hooks;
/** Errors: MEND_ENOMEM. */
MEND_API mend_status mend_hooks_new(const mend_allocator *allocator, mend_hooks **ret_hooks);
MEND_API mend_hooks *mend_hooks_retain(mend_hooks *hooks);
MEND_API void mend_hooks_release(mend_hooks *hooks);
/** \param options  NULL for the defaults. Errors: MEND_EINVAL, MEND_EEXIST when there is one of this name, MEND_ENOMEM;
 * destroy is then not called. */
MEND_API mend_status mend_hooks_add(mend_hooks *hooks, const mend_hook *hook, void *ctx,
                                    const mend_hook_options *options, mend_error *error);
/** For foreign runners; a boundary does this by itself. The events go to call->run, unless that is NULL. Hooks see a
 * call that has only a name under the number of that name, and attempt 0 as 1.
 * \param decision  set to what counts, Continue at first. \param ret_hook  name of the hook that decided, absent when
 * none did; valid as long as the hooks; may be NULL.
 * Returns MEND_OK; MEND_ABORTED for an Abort; MEND_EINVAL for a call of size 0, and for hooks, a call or a decision
 * that is NULL. */
MEND_API mend_status mend_hooks_before(mend_hooks *hooks, const mend_hook_call *call, mend_decision *decision,
                                       mend_str *ret_hook);
MEND_API mend_status mend_hooks_after(mend_hooks *hooks, const mend_hook_call *call, mend_decision *decision,
                                      mend_str *ret_hook);
MEND_API mend_status mend_hooks_on_error(mend_hooks *hooks, const mend_hook_call *call, mend_decision *decision,
                                         mend_str *ret_hook);
/** A hook that publishes tool.before, .after and .error, for foreign runners that have no boundary (Orqest's
 * EventBusPublishHook), called "publishing". A boundary publishes by itself: it refuses hooks that contain it, and
 * hooks that a boundary was ever made with refuse it.
 * Errors: MEND_EEXIST when it is there already, MEND_EINVAL when a boundary uses them, MEND_ENOMEM. */
MEND_API mend_status mend_hooks_add_publishing(mend_hooks *hooks, mend_error *error);

#ifdef __cplusplus
}
#endif
#endif

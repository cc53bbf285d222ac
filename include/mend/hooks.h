/**
 * mend/hooks.h: tools, and the one boundary every call passes.
 *
 *   mend_tools *tools;
 *   mend_tools_new(NULL, &tools);
 *   mend_tools_add(tools, &search_tool, my_index, &error);
 *   mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
 *   options.run = run;
 *   options.tools = tools;
 *   mend_boundary *boundary;
 *   mend_boundary_new(&options, &boundary, &error);
 *   mend_boundary_add_watchdog_hook(boundary, NULL, NULL, &error);   // the default policy acts on what watchdogs find
 *
 *   mend_result result = MEND_RESULT_INIT;
 *   mend_status status = mend_boundary_call(boundary, MEND_STR("search"), MEND_STR("{\"q\":\"rain\"}"), NULL, &result);
 *   ... result.outcome, result.value ...
 *   mend_result_clear(&result);
 *
 * One attempt of a call is: `tool.before`; the watchdog hooks and then the others in the order they were added; the tool, or
 * what a hook decided instead; exactly one terminal event (tool.after, .error, .skipped, .aborted, .cancelled); the after or
 * on_error hooks, whose decisions change the outcome and not the event. A retry, and a Redirect from after or on_error, is
 * another attempt of the same call.
 *
 * An abort is an abort: it marks the run (the innermost frame), open calls are cancelled, and every later call is refused
 * with MEND_ABORTED and only a `tool.refused`, until mend_run_reset.
 *
 * Threads: a boundary may be called from several threads at once; hooks and tools then run at once too. A decision belongs
 * to the hook call it is given to. Tokens and mend_run_* may be used from any thread.
 *
 * A function of yours that the library calls (a tool, a hook, a policy, an on_cancel function, a subscriber, a watchdog)
 * returns to it: no C++ exception, longjmp or pthread_exit may leave it, because the library's own state would stay behind
 * half changed. In C++ catch in the function and answer with mend_call_fail or an error.
 */
#ifndef MEND_HOOKS_H
#define MEND_HOOKS_H

#include "mend/watchdogs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tokens: a call that can be cancelled ------------------------------------------------------------------ */

/** Every call has one. Reference-counted; the one a tool is given is borrowed for the call. A blocking tool that never looks
 * at its token cannot be stopped. */
typedef struct mend_token mend_token;

/** A token of one's own, not cancelled. \param clock  what mend_token_wait waits on; NULL: the real one. */
MEND_API mend_status mend_token_new(const mend_allocator *allocator, mend_clock *clock, mend_token **ret_token);
MEND_API mend_token *mend_token_retain(mend_token *token);
/** NULL is allowed. */
MEND_API void mend_token_release(mend_token *token);
/** Cancels it, once: later calls change nothing. The on_cancel functions run here. \param reason  copied, cut to 255 bytes */
MEND_API void mend_token_cancel(mend_token *token, mend_str reason);
MEND_API bool mend_token_is_cancelled(const mend_token *token);
/** Why; absent while it is not cancelled; valid as long as the token. */
MEND_API mend_str mend_token_reason(const mend_token *token);
/** Waits until it is cancelled (MEND_ECANCELLED) or `ns` have passed on its clock (MEND_OK; MEND_NEVER: only cancelling).
 * Under a virtual clock also MEND_ENOMEM, and not to be called by the thread that advances it. */
MEND_API mend_status mend_token_wait(mend_token *token, uint64_t ns);
/** A descriptor that becomes readable when it is cancelled, for poll and event loops; made when first asked for; the
 * token's, never to be read or closed. Errors: MEND_EIO. */
MEND_API mend_status mend_token_fd(mend_token *token, int *ret_fd);
/** Calls `cancelled(ctx)` once when it is cancelled, on the cancelling thread, or at once if it is; in the order they were
 * added. It may do anything with the token. *ret_id is for mend_token_forget and set before the first call; ret_id may be
 * NULL. Errors: MEND_ENOMEM; it is then not called. */
MEND_API mend_status mend_token_on_cancel(mend_token *token, void (*cancelled)(void *ctx), void *ctx, uint64_t *ret_id);
/** The function is not called after this returns; waits for it if it is running on another thread, not if it is this one
 * that it runs on. An id that is not there any more is allowed. */
MEND_API void mend_token_forget(mend_token *token, uint64_t id);

/* ---- Tools ------------------------------------------------------------------------------------------------- */

/** What running a tool twice would do to the world. Today it is a declaration: mend_tools_effect tells it to hooks and
 * policies that ask, and no flow looks at it (mend_boundary_retry repeats an irreversible tool as any other). The router and
 * the orchestrator are to use it. */
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
/** The result: JSON, copied. Once; a second one, or one after an error, is MEND_EEXIST. Not JSON: MEND_ESYNTAX, and the call
 * fails with error_type "bad_result". */
MEND_API mend_status mend_call_succeed(mend_call *call, mend_str result);
/** The same for plain text, which becomes a JSON string. */
MEND_API mend_status mend_call_succeed_text(mend_call *call, mend_str text);
/** The call failed. \param type  a short fixed word, "timeout"; both are copied. */
MEND_API mend_status mend_call_fail(mend_call *call, mend_str type, mend_str message);
/** A sign of life: publishes `tool.progress`. \param bytes  new output, 0 for a heartbeat */
MEND_API mend_status mend_call_progress(mend_call *call, uint64_t bytes, mend_str note);

/** A tool. Copied at mend_tools_add. */
typedef struct mend_tool {
  size_t size;
  const char *name; /**< 1..128 bytes of UTF-8, no control characters */
  mend_effect effect;
  /** Runs the call on the caller's thread and answers with mend_call_succeed or mend_call_fail. An error returned without
   * either fails the call with the status's name as error_type; MEND_OK without either is the result null. */
  mend_status (*execute)(void *ctx, mend_call *call);
  void (*destroy)(void *ctx); /**< called once, when the tool is removed and no call of it runs; may be NULL */
} mend_tool;

/** A registry of tools, by name. Reference-counted; may be shared by boundaries and changed while calls run. */
typedef struct mend_tools mend_tools;
MEND_API mend_status mend_tools_new(const mend_allocator *allocator, mend_tools **ret_tools);
MEND_API mend_tools *mend_tools_retain(mend_tools *tools);
MEND_API void mend_tools_release(mend_tools *tools);
/** Errors: MEND_EINVAL, MEND_EEXIST when there is one of this name, MEND_ENOMEM; destroy is then not called. */
MEND_API mend_status mend_tools_add(mend_tools *tools, const mend_tool *tool, void *ctx, mend_error *error);
/** MEND_ENOENT when there is none. A tool may remove itself while it runs. */
MEND_API mend_status mend_tools_remove(mend_tools *tools, mend_str name);
/** The declared effect; MEND_ENOENT when there is no such tool. */
MEND_API mend_status mend_tools_effect(mend_tools *tools, mend_str name, mend_effect *ret_effect);

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
 * last one set counts. After an error it says what it said before. */
typedef struct mend_decision mend_decision;
MEND_API mend_status mend_decision_new(const mend_allocator *allocator, mend_decision **ret_decision);
/** NULL is allowed. */
MEND_API void mend_decision_free(mend_decision *decision);
MEND_API void mend_decision_continue(mend_decision *decision);
/** The tool does not run, `stub` is its result. \param stub  JSON; absent: "" (an empty string). Errors: MEND_ESYNTAX. */
MEND_API mend_status mend_decision_skip(mend_decision *decision, mend_str reason, mend_str stub);
/** Another tool (absent: the same), other arguments (a JSON object merged over the call's; absent: the same; {} counts as
 * given). MEND_EINVAL when both are absent or the tool is empty; MEND_ESYNTAX when args is no JSON object. */
MEND_API mend_status mend_decision_redirect(mend_decision *decision, mend_str tool, mend_str args, mend_str reason);
MEND_API mend_status mend_decision_abort(mend_decision *decision, mend_str reason);
MEND_API mend_decision_kind mend_decision_get_kind(const mend_decision *decision);
MEND_API mend_str mend_decision_reason(const mend_decision *decision);
MEND_API mend_str mend_decision_stub(const mend_decision *decision); /**< of Skip */
MEND_API mend_str mend_decision_tool(const mend_decision *decision); /**< of Redirect; absent: the same */
MEND_API mend_str mend_decision_args(const mend_decision *decision); /**< of Redirect; absent: the same */

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
} mend_hook_call;

/** A hook. Copied when added; absent members mean Continue. An error returned, or a return after the time limit, is a
 * failure of the hook: `hook.failed` is published and it counts as Continue, or as Abort for one added fail_closed. */
typedef struct mend_hook {
  size_t size;
  const char *name; /**< 1..63 bytes; in events and in the result of an abort */
  mend_status (*before)(void *ctx, const mend_hook_call *call, mend_decision *decision);
  mend_status (*after)(void *ctx, const mend_hook_call *call, mend_decision *decision);
  mend_status (*on_error)(void *ctx, const mend_hook_call *call, mend_decision *decision);
  void (*destroy)(void *ctx); /**< may be NULL */
} mend_hook;

typedef struct mend_hook_options {
  size_t size;
  bool fail_closed;    /**< its failure aborts; before a redirected call runs it is asked again about that call */
  double time_limit_s; /**< > 0, or 0 for none (the default); one that never returns cannot be stopped */
} mend_hook_options;
#define MEND_HOOK_OPTIONS_INIT                                                                                         \
  { sizeof(mend_hook_options), false, 0.0 }

/**
 * The hook runner: hooks in the order they were added. An Abort returns at once, also after an earlier Skip; else the first
 * decision that is not Continue counts, later hooks still run, and what they decide is published as `hook.shadowed`. From
 * after and on_error a Skip counts as Continue, and is published likewise.
 */
typedef struct mend_hooks mend_hooks;
MEND_API mend_status mend_hooks_new(const mend_allocator *allocator, mend_hooks **ret_hooks);
MEND_API mend_hooks *mend_hooks_retain(mend_hooks *hooks);
MEND_API void mend_hooks_release(mend_hooks *hooks);
/** \param options  NULL for the defaults. Errors: MEND_EINVAL, MEND_ENOMEM; destroy is then not called. */
MEND_API mend_status mend_hooks_add(mend_hooks *hooks, const mend_hook *hook, void *ctx,
                                    const mend_hook_options *options, mend_error *error);
/** For foreign runners; a boundary does this by itself. The events go to call->run, unless that is NULL. Hooks see a call
 * that has only a name under the number of that name, and attempt 0 as 1.
 * \param decision  set to what counts, Continue at first. \param ret_hook  name of the hook that decided, absent when none
 * did; valid as long as the hooks; may be NULL.
 * Returns MEND_OK; MEND_ABORTED for an Abort; MEND_EINVAL for a call of size 0. */
MEND_API mend_status mend_hooks_before(mend_hooks *hooks, const mend_hook_call *call, mend_decision *decision,
                                       mend_str *ret_hook);
MEND_API mend_status mend_hooks_after(mend_hooks *hooks, const mend_hook_call *call, mend_decision *decision,
                                      mend_str *ret_hook);
MEND_API mend_status mend_hooks_on_error(mend_hooks *hooks, const mend_hook_call *call, mend_decision *decision,
                                         mend_str *ret_hook);
/** A hook that publishes tool.before, .after and .error, for foreign runners that have no boundary (Orqest's
 * EventBusPublishHook), called "publishing". A boundary publishes by itself: it refuses hooks that contain it, and hooks that
 * a boundary was ever made with refuse it.
 * Errors: MEND_EEXIST when it is there already, MEND_EINVAL when a boundary uses them, MEND_ENOMEM. */
MEND_API mend_status mend_hooks_add_publishing(mend_hooks *hooks, mend_error *error);

/* ---- The boundary ------------------------------------------------------------------------------------------ */

typedef enum mend_outcome {
  MEND_OUTCOME_OK = 0,
  MEND_OUTCOME_SKIPPED,    /**< value is the stub */
  MEND_OUTCOME_ESCALATED,  /**< a person is asked `question`; never a success */
  MEND_OUTCOME_REDIRECTED, /**< another call ran and succeeded; value is its result; hook, reason */
  MEND_OUTCOME_FAILED,     /**< error_type, error_message; hook and reason when it was redirected */
  MEND_OUTCOME_ABORTED,    /**< reason, hook */
  MEND_OUTCOME_CANCELLED   /**< reason; the tool was running */
} mend_outcome;
/** "ok", "skipped", ... Static. */
MEND_API const char *mend_outcome_name(mend_outcome outcome);

/** What became of a call. Start from MEND_RESULT_INIT; strings are its own, freed by mend_result_clear. A call replaces them
 * when it ends, so until then they may be its input: a value may be passed on with the same result. */
typedef struct mend_result {
  size_t size;
  mend_outcome outcome;
  mend_str value; /**< JSON */
  mend_str error_type;
  mend_str error_message;
  mend_str reason;
  mend_str question;
  mend_str hook; /**< who decided, when a hook did */
  uint64_t call;
  uint32_t attempts;
  double duration_ms; /**< of the last attempt; 0 when its tool did not run */
  void *memory;       /**< private */
} mend_result;
#define MEND_RESULT_INIT                                                                                               \
  {                                                                                                                    \
    sizeof(mend_result), MEND_OUTCOME_OK, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT,             \
        MEND_ABSENT, 0, 0, 0, NULL                                                                                     \
  }
/** NULL is allowed. */
MEND_API void mend_result_clear(mend_result *result);

typedef struct mend_boundary mend_boundary;

typedef struct mend_boundary_options {
  size_t size;
  mend_run *run;     /**< NULL: a silent run of its own, so that hooks decide without a bus */
  mend_tools *tools; /**< NULL: none; every call then names an unknown tool */
  mend_hooks *hooks; /**< NULL: none */
  void *state;       /**< handed to hooks and tools */
} mend_boundary_options;
#define MEND_BOUNDARY_OPTIONS_INIT                                                                                     \
  { sizeof(mend_boundary_options), NULL, NULL, NULL, NULL }

/** Reference-counted; keeps references to run, tools and hooks. Errors: MEND_EINVAL, MEND_ENOMEM. */
MEND_API mend_status mend_boundary_new(const mend_boundary_options *options, mend_boundary **ret_boundary,
                                       mend_error *error);
MEND_API mend_boundary *mend_boundary_retain(mend_boundary *boundary);
MEND_API void mend_boundary_release(mend_boundary *boundary);
MEND_API mend_run *mend_boundary_run(const mend_boundary *boundary); /**< borrowed */

/**
 * Makes the policy act on what the run's watchdogs find: at before, when the current call counts already, and, for a
 * deadline that passes while a call is open, at once on the thread that notices. Each detection is published once a watchdog
 * hook as `healing.action`. Several have a cursor each: all act. The strongest of what is pending wins: abort, then
 * escalation. It watches nothing by itself, has no business with what was found before it came, and acts at every boundary
 * of the run as long as this one lives. Of several questions at one before the first counts, the others (up to 16 a hook) are
 * published as `hook.shadowed`.
 *
 * An escalation waits for the next call: after a stall that is only when the hung call has ended. A policy that knows better
 * ends that call with mend_run_cancel_call. It must not block, and may call the boundary for tools that do not block either:
 * they run on its thread.
 * \param policy  NULL: mend_default_policy. \param name  1..63 bytes, NULL: "watchdog"
 */
MEND_API mend_status mend_boundary_add_watchdog_hook(mend_boundary *boundary, const char *name, mend_policy policy,
                                                     void *ctx, mend_error *error);

/** More to say about a call. */
typedef struct mend_call_options {
  size_t size;
  mend_str call_name;    /**< its foreign id, such as toolu_01, which gives its number; absent: the run's next number */
  const mend_tool *tool; /**< a tool that is in no registry, borrowed for the call; NULL: by name */
  void *tool_ctx;
} mend_call_options;
#define MEND_CALL_OPTIONS_INIT                                                                                         \
  { sizeof(mend_call_options), MEND_ABSENT, NULL, NULL }

/**
 * The flow `call`: one tool. A tool that is not known is a failure (error_type "unknown_tool") that on_error may redirect.
 *
 * A Redirect from before stays in its attempt: hooks added fail_closed are asked about the call that is to run instead, then
 * that tool runs, and after hooks are shown it. A Redirect from after or on_error is one more attempt, whose own Redirects
 * are ignored; arguments that cannot be merged (they are no object) fail the call with error_type "bad_redirect". After an
 * escalation it is ignored: the question must reach its person.
 * \param args  JSON (an object where hooks shall merge into it); absent: {}. \param options  NULL for the defaults
 * Returns MEND_OK for ok, skipped, escalated and redirected; MEND_EFAILED for failed; MEND_ABORTED for aborted, and for
 * cancelled by an abort; MEND_ECANCELLED for cancelled otherwise; MEND_ENOMEM when there was no memory for all texts of a
 * result, whose outcome stands. Nothing was published, and the outcome is failed, with MEND_ESYNTAX (args are not JSON),
 * MEND_EINVAL (also when the boundary is NULL), MEND_EEXIST (a call of this name is open), MEND_ELIMIT (65,536 calls are
 * open, or publishes nest too deeply), MEND_ECLOSED (its healing scope was left), MEND_ENOMEM.
 */
MEND_API mend_status mend_boundary_call(mend_boundary *boundary, mend_str tool, mend_str args,
                                        const mend_call_options *options, mend_result *ret_result);

/* ---- Flows ------------------------------------------------------------------------------------------------- */

/** Tries again. Source: Orqest's run_with_retry. */
typedef struct mend_retry_options {
  size_t size;
  uint32_t max_attempts; /**< 1..1000, default 2 */
  mend_str note;         /**< what is being attempted; each failure is added to it (mend_call_note) */
  double backoff_s;      /**< pause before the second attempt, doubled for each later one; >= 0, default 0: none */
  double backoff_max_s;  /**< default 30 */
  bool jitter;           /**< each pause is drawn from 0 to its length; default false */
  uint64_t jitter_seed;  /**< for tests; 0: from the clock */
  bool (*is_retryable)(void *ctx, const mend_result *failure); /**< NULL: every failure is */
  mend_status (*enrich)(void *ctx, mend_str note, const mend_result *failure, char **ret_note); /**< the next note, from
                                                            malloc; NULL: "<note>\n\nAttempt <n> failed: <type>: <message>" */
  void *ctx;
} mend_retry_options;
#define MEND_RETRY_OPTIONS_INIT                                                                                        \
  { sizeof(mend_retry_options), 2, MEND_ABSENT, 0.0, 30.0, false, 0, NULL, NULL, NULL }

/** Calls a tool up to max_attempts times under one call id, pausing on the bus's clock. Only a failure is tried again; an
 * abort or a cancelled token ends it at once, in a pause too. When the last attempt failed, value is
 * {"success":false,"error":...,"attempts":n}. An attempt that a hook added counts in `attempts`, not in max_attempts. Returns
 * as mend_boundary_call. */
MEND_API mend_status mend_boundary_retry(mend_boundary *boundary, mend_str tool, mend_str args,
                                         const mend_retry_options *options, mend_result *ret_result);

/** Agent, then executor, then state. */
typedef struct mend_compound_tool {
  size_t size;
  const char *name;
  void *ctx;
  /** Adds the prompt to the state as a user message. NULL: nothing is added. */
  mend_status (*add_prompt)(void *ctx, void *state, mend_str prompt);
  /** Gives structured output (mend_call_succeed). */
  mend_status (*agent)(void *ctx, mend_call *call, mend_str prompt);
  /** Carries it out. \param output  the agent's, JSON. NULL: the output is the result. */
  mend_status (*executor)(void *ctx, mend_call *call, mend_str output);
  /** Takes the result into the state. NULL: nothing. */
  mend_status (*update_state)(void *ctx, void *state, mend_str output, mend_str result);
} mend_compound_tool;
/** Passes the boundary once, as `name` with args {"prompt": ...}, which a hook may redirect; the steps are its execution, so
 * none of them runs when it is skipped. A step that fails, or an abort in it, ends it. Returns as mend_boundary_call. */
MEND_API mend_status mend_boundary_compound(mend_boundary *boundary, const mend_compound_tool *tool, mend_str prompt,
                                            mend_result *ret_result);

/* ---- Aborting ---------------------------------------------------------------------------------------------- */

/** Aborts the run: marks it and cancels the tokens of its open calls. Once aborted, later reasons change nothing. Errors:
 * MEND_ENOMEM, only for a run that no boundary was made for. */
MEND_API mend_status mend_run_abort(mend_run *run, mend_str reason, mend_str source);
MEND_API bool mend_run_is_aborted(mend_run *run);
/** Why and by whom; copied, NUL-terminated, cut at a character boundary. MEND_ENOENT when it is not aborted. */
MEND_API mend_status mend_run_abort_reason(mend_run *run, char *ret_reason, size_t reason_size, char *ret_source,
                                           size_t source_size);
/** Cancels the token of one open call (mend_call_number; of what a detection says, mend_call_from_name), and nothing else: the
 * run goes on. The call ends with `tool.cancelled`, MEND_OUTCOME_CANCELLED and MEND_ECANCELLED when its tool has returned,
 * which one that never looks at its token does in its own time; one that had returned already keeps its result. For policies
 * and loops that want to end a hung call. The on_cancel functions run here. MEND_ENOENT when it is not open. */
MEND_API mend_status mend_run_cancel_call(mend_run *run, uint64_t call, mend_str reason);
/** Lets an aborted run go on: publishes `run.reset`, on which every detector forgets the run, and drops decisions that were
 * pending. MEND_OK also when it was not aborted. */
MEND_API mend_status mend_run_reset(mend_run *run, mend_str reason);

#ifdef __cplusplus
}
#endif
#endif

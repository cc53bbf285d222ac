/**
 * mend/boundary.h: the one boundary that every call passes.
 *
 *   mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
 *   options.run = run;
 *   options.tools = tools;
 *   mend_boundary *boundary;
 *   mend_boundary_new(&options, &boundary, &error);
 *   mend_boundary_add_watchdog_hook(boundary, NULL, NULL, NULL, &error);   // the default policy: abort
 *
 *   mend_result result = MEND_RESULT_INIT;
 *   mend_boundary_call(boundary, MEND_STR("search"), MEND_STR("{\"q\":\"rain\"}"), NULL, &result);
 *   printf("%s: %.*s\n", mend_outcome_name(result.outcome), MEND_STR_ARG(result.value));
 *   mend_result_clear(&result);
 *
 * One attempt of a call is: `tool.before`; the watchdog hooks and then the others in the order they were added; the
 * tool, or what a hook decided instead; exactly one terminal event (tool.after, .error, .skipped, .aborted,
 * .cancelled); the after or on_error hooks, whose decisions change the outcome and not the event. A retry, and a
 * Redirect from after or on_error, is another attempt of the same call.
 *
 * An abort is an abort: it marks the run (the innermost frame), open calls are cancelled, and every later call is
 * refused with MEND_ABORTED and only a `tool.refused`, until mend_run_reset.
 *
 * Threads: a boundary may be called from several threads at once; hooks and tools then run at once too. mend_run_* may
 * be used from any thread.
 */
#ifndef MEND_BOUNDARY_H
#define MEND_BOUNDARY_H

#include "mend/hooks.h"
#include "mend/watchdogs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The boundary ------------------------------------------------------------------------------------------ */

typedef enum mend_outcome {
  MEND_OUTCOME_OK = 0,
  MEND_OUTCOME_SKIPPED,    /**< value is the stub */
  MEND_OUTCOME_ESCALATED,  /**< a person is asked `question`, by a hook or the tool itself; never a success */
  MEND_OUTCOME_REDIRECTED, /**< another call ran and succeeded; value is its result; hook, reason */
  MEND_OUTCOME_FAILED,     /**< error_type, error_message; hook and reason when it was redirected */
  MEND_OUTCOME_ABORTED,    /**< reason, hook */
  MEND_OUTCOME_CANCELLED   /**< reason; while its tool ran, or in a retry's pause */
} mend_outcome;
/** "ok", "skipped", ... Static. */
MEND_API const char *mend_outcome_name(mend_outcome outcome);

/** What became of a call. Start from MEND_RESULT_INIT: one of size 0 is MEND_EINVAL, and the bus's log says so. Strings
 * are its own, freed by mend_result_clear. A call replaces them when it ends, so until then they may be its input: a
 * value may be passed on with the same result. */
typedef struct mend_result {
  size_t size;
  mend_outcome outcome;
  mend_str value; /**< JSON. This and the texts below end in a NUL, unless they are absent */
  mend_str error_type;
  mend_str error_message;
  mend_str reason;
  mend_str question;
  mend_str hook; /**< who decided: the name of a hook, or the source given to mend_run_abort */
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

/** Reference-counted; keeps references to run, tools and hooks. Errors: MEND_EINVAL, MEND_ENOMEM, and what a hook's
 * attach refuses the run with. */
MEND_API mend_status mend_boundary_new(const mend_boundary_options *options, mend_boundary **ret_boundary,
                                       mend_error *error);
MEND_API mend_boundary *mend_boundary_retain(mend_boundary *boundary);
MEND_API void mend_boundary_release(mend_boundary *boundary);
MEND_API mend_run *mend_boundary_run(const mend_boundary *boundary); /**< borrowed */

/**
 * Makes the policy act on what the run's watchdogs find: at before, when the current call counts already, and, for a
 * deadline that passes while a call is open, at once on the thread that notices. Each detection is published once a
 * watchdog hook as `healing.action`. Several have a cursor each: all act. The strongest of what is pending wins: abort,
 * then escalation. It watches nothing by itself, has no business with what was found before it came, and acts at every
 * boundary of the run as long as this one lives. Of several questions at one before the first counts, the others (up to
 * 16 a hook) are published as `hook.shadowed`. Calls that a policy makes are not asked them.
 *
 * An escalation waits for the next call: after a stall that is only when the hung call has ended. A policy that knows
 * better ends that call with mend_run_cancel_call. It must not block, and may call the boundary for tools that do not
 * block either: they run on its thread.
 *
 * Releasing the boundary takes the watchdog hook away without waiting for it: a policy that another thread is in at
 * that moment goes on until it returns, and what it decides takes effect. So ctx must not be freed with the boundary;
 * keep it until the run is over. (Leaving a healing scope does wait for its policy.) A policy that fails does nothing
 * about its detection: the event says so (policy_error) and the bus's log is told.
 * \param policy  NULL: mend_default_policy. \param name  1..63 bytes of UTF-8, no control
 * characters; NULL: "watchdog". Errors: MEND_EINVAL, MEND_ENOMEM.
 */
MEND_API mend_status mend_boundary_add_watchdog_hook(mend_boundary *boundary, const char *name, mend_policy policy,
                                                     void *ctx, mend_error *error);

/** More to say about a call. */
typedef struct mend_call_options {
  size_t size;
  mend_str call_name; /**< its foreign id, such as toolu_01, which gives its number; absent: the run's next number */
  /** A tool that is in no registry, borrowed for the call; NULL: by name. One that is not blocking is copied, and its
   * destroy is called once, when its last run is over or the call has ended without: tool_ctx must live until then.
   * (Not after MEND_EINVAL.) */
  const mend_tool *tool;
  void *tool_ctx;
  /** The call in whose execution this one is made, for `tool.before`, hooks and traces; NULL: none. One of another run
   * is ignored. */
  const mend_call *within;
} mend_call_options;
#define MEND_CALL_OPTIONS_INIT                                                                                         \
  { sizeof(mend_call_options), MEND_ABSENT, NULL, NULL, NULL }

/**
 * The flow `call`: one tool. A tool that is not known is a failure (error_type "unknown_tool") that on_error may
 * redirect.
 *
 * A Redirect from before stays in its attempt: hooks added fail_closed are asked about the call that is to run instead,
 * then that tool runs, and after hooks are shown it. A Redirect from after or on_error is one more attempt, whose own
 * Redirects are ignored; arguments that cannot be merged (they are no object) fail the call with error_type
 * "bad_redirect". After an escalation it is ignored: the question must reach its person.
 * \param args  JSON (an object where hooks shall merge into it); absent: {}. \param options  NULL for the defaults
 * Waits for a tool that is asynchronous or pooled, but not longer than until the call is cancelled: it then ends at
 * once, while its tool may still run (one exception: MEND_TOOL_POOLED). Hooks run and events are published on this
 * thread. The thread that an asynchronous tool answers on (a loop's, mostly) must not wait here; it uses
 * mend_boundary_start.
 * Returns MEND_OK for ok, skipped, escalated and redirected; MEND_EFAILED for failed; MEND_ABORTED for aborted, and for
 * cancelled by an abort; MEND_ECANCELLED for cancelled otherwise; MEND_ENOMEM when there was no memory for all texts of
 * a result, whose outcome stands. Nothing was published, and the outcome is failed, with MEND_ESYNTAX (args are not
 * JSON), MEND_EINVAL (also when the boundary is NULL), MEND_EEXIST (a call of this name is open), MEND_ELIMIT (65,536
 * calls are open, or publishes nest too deeply), MEND_ECLOSED (its healing scope was left), MEND_ENOMEM.
 */
MEND_API mend_status mend_boundary_call(mend_boundary *boundary, mend_str tool, mend_str args,
                                        const mend_call_options *options, mend_result *ret_result);

/** Of a call that was started: how it ended. The result is borrowed. */
typedef void (*mend_call_done)(void *ctx, mend_status status, const mend_result *result);

/**
 * Begins a call and returns: `done(ctx, status, result)` is called once, with what mend_boundary_call would have
 * returned. That is in here when the call ends at once, as one of a blocking tool always does, and so does one that is
 * refused; else on the thread that ends it, by answering or by cancelling, where the terminal event is published and
 * the after hooks run too, and a blocking tool that they redirect it to.
 * \param ret_call  the call's number, set before anything runs, 0 for a call that was refused without one; may be NULL.
 * \param options  NULL for the defaults
 * Returns MEND_OK, or MEND_EINVAL when there is no boundary or no done; only then it is not called.
 */
MEND_API mend_status mend_boundary_start(mend_boundary *boundary, mend_str tool, mend_str args,
                                         const mend_call_options *options, mend_call_done done, void *ctx,
                                         uint64_t *ret_call);

/** One call of several. Start from MEND_BATCH_CALL_INIT; status and result are filled in, the result is the caller's to
 * clear. */
typedef struct mend_batch_call {
  size_t size; /**< the same for all of an array */
  mend_str tool;
  mend_str args;                    /**< JSON; absent: {} */
  const mend_call_options *options; /**< as of mend_boundary_call; NULL for the defaults */
  mend_status status;
  mend_result result;
} mend_batch_call;
#define MEND_BATCH_CALL_INIT                                                                                           \
  { sizeof(mend_batch_call), MEND_ABSENT, MEND_ABSENT, NULL, MEND_OK, MEND_RESULT_INIT }

/**
 * Fan-out: several calls at once, and waits until all of them are over, their after hooks too. Asynchronous and pooled
 * ones begin first, in the order given; each ends where it is answered or cancelled, as with mend_boundary_start,
 * whatever this thread is doing. Then the blocking ones run here, one after the other; then it waits. An abort ends
 * those under way and refuses the rest. One of them is cancelled by its number, which mend_call_from_name makes of its
 * call_name. Status and result of all are replaced when all are over: what a result held may be the input of any of
 * them. \param count  0: nothing
 * Returns MEND_OK when all of them did, else MEND_ABORTED when one was aborted, else the status of the first that
 * failed. MEND_EINVAL for calls that are NULL or of a wrong size, before any of them runs; MEND_ENOMEM when there is no
 * memory to begin, and none has run.
 */
MEND_API mend_status mend_boundary_call_all(mend_boundary *boundary, mend_batch_call *calls, size_t count);

/** The boundary's run as text, for people who debug: whether it is aborted and why, open calls with their age, tools
 * that run on after their calls, watchdog hooks, the pool. The caller's; free it with mend_free(allocator, ...).
 * Errors: MEND_ENOMEM. */
MEND_API mend_status mend_boundary_dump(mend_boundary *boundary, const mend_allocator *allocator, char **ret_text);

/* ---- Aborting ---------------------------------------------------------------------------------------------- */

/** Aborts the run: marks it and cancels the tokens of its open calls, as mend_run_cancel_call does. A call whose tool
 * has returned but whose hooks are still asked is aborted too, whatever its terminal event said. Once aborted, later
 * reasons change nothing. Errors: MEND_ENOMEM, only for a run that no boundary was made for. */
MEND_API mend_status mend_run_abort(mend_run *run, mend_str reason, mend_str source);
MEND_API bool mend_run_is_aborted(mend_run *run);
/** Why and by whom; copied, NUL-terminated, cut at a character boundary. MEND_ENOENT when it is not aborted. */
MEND_API mend_status mend_run_abort_reason(mend_run *run, char *ret_reason, size_t reason_size, char *ret_source,
                                           size_t source_size);
/** Cancels the token of one open call (mend_call_number; of what a detection says, mend_call_from_name), and nothing
 * else: the run goes on. The call ends with `tool.cancelled`, MEND_OUTCOME_CANCELLED and MEND_ECANCELLED: at once if
 * its tool is asynchronous or pooled (one exception: MEND_TOOL_POOLED), else when its tool has returned, which one that
 * never looks at its token does in its own time; one that had returned already keeps its result. Between two attempts,
 * as in a retry's pause, it ends without an event: the attempt before has had its own. For policies and loops that want
 * to end a hung call.
 * The on_cancel functions run here, and a call that nobody waits for (mend_boundary_start) goes on here. MEND_ENOENT
 * when it is not open. */
MEND_API mend_status mend_run_cancel_call(mend_run *run, uint64_t call, mend_str reason);
/** Lets an aborted run go on: publishes `run.reset`, on which every detector forgets the run, and drops decisions that
 * were pending. MEND_OK also when it was not aborted. */
MEND_API mend_status mend_run_reset(mend_run *run, mend_str reason);

#ifdef __cplusplus
}
#endif
#endif

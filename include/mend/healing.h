/**
 * mend/healing.h: one run, protected: bus, watchdogs, policy, loop and boundary wired together for as long as a scope
 * lasts.
 *
 *   mend_healing_runner *runner;
 *   mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
 *   options.bus = bus;
 *   options.tools = tools;
 *   mend_healing_runner_new(&options, &runner, &error);
 *
 *   mend_healing_report report = MEND_HEALING_REPORT_INIT;
 *   mend_scope_options scope = MEND_SCOPE_OPTIONS_INIT;
 *   scope.run = run;
 *   scope.ret_report = &report;
 *   MEND_HEALING_SCOPE(runner, &scope) {
 *     mend_boundary *boundary = mend_healing_boundary(runner);
 *     const mend_str name = MEND_STR("search");
 *     while (mend_boundary_call(boundary, name, args, NULL, &result) == MEND_OK) puts(result.value.ptr);
 *   }
 *   puts(report.abort_reason);
 *
 * Source of names, defaults and rules: Orqest's HealingRunner and HealingConfig; docs/porting-from-orqest.md shows
 * both side by side, docs/guide/healing.md what to do and what not.
 *
 * Threads: a runner may be used from any thread; entering and leaving is serialised. The policy runs on the agent's
 * thread or the loop's, never two at once for one run.
 */
#ifndef MEND_HEALING_H
#define MEND_HEALING_H

#include "mend/fallback.h"
#include "mend/flows.h"
#include "mend/loop.h"
#include "mend/options.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mend_healing_runner mend_healing_runner;

typedef struct mend_healing_options {
  size_t size;
  mend_bus *bus;              /**< NULL: one of its own */
  const mend_options *config; /**< HealingConfig; copied; NULL: the defaults. Its fallback.models is made a chain */
  mend_tools *tools;          /**< NULL: none */
  mend_hooks *hooks;          /**< the user's, after the watchdog hook; NULL: none */
  void *state;                /**< for hooks and tools */
  mend_watchdog *const *watchdogs; /**< further ones, beside those that config enables; referenced */
  size_t watchdog_count;
  mend_policy policy; /**< NULL: mend_default_policy */
  void *policy_ctx;
  mend_loop *loop;     /**< referenced; on the bus's clock; NULL: one of its own, made at enter and ended at exit.
                                   Scopes of one bus share the loop of whoever entered first: one in the caller's
                                   event_base is to be dispatched until the last of them is left */
  double exit_grace_s; /**< how long leaving waits for calls and tools that were cancelled, >= 0; default 5 */
  /** Keys, endpoints, profile of that chain. Its loop may be NULL: the one above, or one of the runner's own, which
   * serves scopes as well. NULL: the defaults, without a key. */
  const mend_fallback_options *models;
  bool allow_no_model; /**< when the chain cannot be made the runner has no model, and healing.started says why;
                            default false: that is an error */
} mend_healing_options;
#define MEND_HEALING_OPTIONS_INIT                                                                                      \
  { sizeof(mend_healing_options), NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, 5.0, NULL, false }

/** Makes a runner; nothing is subscribed before enter. Errors: MEND_EINVAL (the sentence names field, value and limit),
 * MEND_EEXIST (two watchdogs of one name), MEND_ENOMEM, those of mend_fallback_new. Reference-counted. */
MEND_API mend_status mend_healing_runner_new(const mend_healing_options *options, mend_healing_runner **ret_runner,
                                             mend_error *error);
MEND_API mend_healing_runner *mend_healing_runner_retain(mend_healing_runner *runner);
MEND_API void mend_healing_runner_release(mend_healing_runner *runner);

/** What happened in a scope. */
typedef struct mend_healing_report {
  size_t size;
  mend_status status; /**< MEND_OK; MEND_ABORTED when the run was aborted; else why entering failed: no body ran */
  mend_error error;   /**< a sentence for that: "aborted by <source>: <reason>" of an aborted run; cut at 255 bytes */
  uint64_t detections;
  uint64_t actions;
  uint64_t abandoned;      /**< calls, and tools of calls that have ended, that still ran when exit_grace_s was over */
  char abort_reason[1024]; /**< "" when not aborted */
  char abort_source[64];   /**< the hook, or who called mend_run_abort */
} mend_healing_report;
#define MEND_HEALING_REPORT_INIT                                                                                       \
  {                                                                                                                    \
    sizeof(mend_healing_report), MEND_EINVAL, {MEND_EINVAL, 0, 0, "the healing scope was not entered"}, 0, 0, 0, {0},  \
    {                                                                                                                  \
      0                                                                                                                \
    }                                                                                                                  \
  }

typedef struct mend_scope_options {
  size_t size;
  /** NULL: the runner's own, made when it is entered first and the same one later, aborted or not. Its beginning and
   * end are told by the scope: `run.started` with the source "healing" before healing.started, and `run.finished` with
   * the status "ok" or "aborted" after healing.stopped. A run of the caller's is the caller's to tell. */
  mend_run *run;
  /** Filled in when the scope is left or could not be entered (that of a nested scope with what happened so far); start
   * from MEND_HEALING_REPORT_INIT; NULL: nobody asks. */
  mend_healing_report *ret_report;
} mend_scope_options;
#define MEND_SCOPE_OPTIONS_INIT                                                                                        \
  { sizeof(mend_scope_options), NULL, NULL }

/**
 * Enter: watches the run, arms the loop, publishes `healing.started` (with a notice for each thing worth a look). A
 * failure half-way is rolled back. A runner belongs to one run: entering it again for the same run only counts; for
 * another run, also after leaving, it is MEND_EINVAL with a sentence; so is a NULL runner. A run has one runner at a
 * time: while another one's scope is not left, entering is MEND_EEXIST with a sentence. While it is entered the
 * runner keeps a reference to itself. Where the bus is watched already (mend_bus_watch), its watchdogs serve and the
 * runner's of the same name rest. \param options  NULL for the defaults; ret_report is only for a failure here.
 * Errors also: MEND_ECLOSED while the scope is being left; MEND_EDEADLK in a subscriber of what entering publishes;
 * those of mend_boundary_new (MEND_EEXIST for a second metacognition hook on the run), mend_loop_new and
 * mend_run_publish.
 */
MEND_API mend_status mend_healing_enter(mend_healing_runner *runner, const mend_scope_options *options,
                                        mend_error *error);
/**
 * Exit; of as many enters, the last: takes no more calls, cancels open tokens, waits up to exit_grace_s for calls on
 * other threads and for pooled and asynchronous tools that run on although their call has ended (on a virtual clock
 * until the grace has passed there or in real time), then lets go of them: an answer that comes later is refused and
 * publishes nothing; polls the watchdogs a last time; delivers what is pending; publishes `healing.stopped`; stops
 * watching. \param ret_report  filled in as far as its size goes; may be NULL. MEND_EINVAL when it was not entered, or
 * is NULL; MEND_EDEADLK in a subscriber of what entering publishes.
 */
MEND_API mend_status mend_healing_exit(mend_healing_runner *runner, mend_healing_report *ret_report);

/** Inside: the boundary that calls pass, and the run. Borrowed; NULL outside. */
MEND_API mend_boundary *mend_healing_boundary(mend_healing_runner *runner);
MEND_API mend_run *mend_healing_current_run(mend_healing_runner *runner);
/** The chain of config's fallback.models, for mend_agent_new or mend_model_ask. Borrowed, also outside; NULL when none
 * is configured, or allow_no_model and none could be made. */
MEND_API mend_model *mend_healing_model(mend_healing_runner *runner);

/** The plain form: enter, body, exit. Returns what body returned, or why entering failed; MEND_ABORTED when the run was
 * aborted in it. */
MEND_API mend_status mend_healing_run(mend_healing_runner *runner, const mend_scope_options *options,
                                      mend_status (*body)(void *ctx, mend_boundary *boundary), void *ctx);

/** Private to the macro. */
typedef struct mend__scope {
  mend_healing_runner *runner;
  mend_healing_report *ret_report;
  mend_status status;
  bool entered;
} mend__scope;
MEND_API mend__scope mend__scope_open(mend_healing_runner *runner, const mend_scope_options *options);
MEND_API void mend__scope_close(mend__scope *scope);

#define MEND__JOIN2(a, b) a##b
#define MEND__JOIN(a, b) MEND__JOIN2(a, b)
/**
 * MEND_HEALING_SCOPE(runner, &options) { ... }: the body runs inside, and the scope is left however the body is: at
 * its end, by break, continue, return or goto; not by longjmp or pthread_exit. The body is skipped when entering
 * fails, which options.ret_report tells. GCC and Clang, C and C++.
 */
#define MEND_HEALING_SCOPE(runner, options) MEND__HEALING_SCOPE(runner, options, MEND__JOIN(mend__scope_, __COUNTER__))
#define MEND__HEALING_SCOPE(runner, options, scope)                                                                    \
  for (mend__scope scope __attribute__((cleanup(mend__scope_close))) = mend__scope_open(runner, options);              \
       scope.entered; mend__scope_close(&scope))

#ifdef __cplusplus
}
#endif
#endif

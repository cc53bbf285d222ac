/**
 * mend/flows.h: what is more than one call: try again, agent and executor, refine until it passes, carry out a plan.
 *
 *   mend_retry_options retry = MEND_RETRY_OPTIONS_INIT;
 *   retry.max_attempts = 3;
 *   mend_boundary_retry(boundary, MEND_STR("fetch"), args, &retry, &result);
 *
 * Everything a flow does passes the boundary (mend/boundary.h), so an abort anywhere in it ends it.
 *
 * Threads: as mend_boundary_call; a flow's functions run on the thread that called it.
 */
#ifndef MEND_FLOWS_H
#define MEND_FLOWS_H

#include "mend/boundary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Try again --------------------------------------------------------------------------------------------- */

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
  /** The next note, from malloc. NULL: "<note>\n\nAttempt <n> failed: <type>: <message>" */
  mend_status (*enrich)(void *ctx, mend_str note, const mend_result *failure, char **ret_note);
  void *ctx;
  const mend_call *within; /**< the call in whose execution this one is made (mend_call_options); NULL: none */
} mend_retry_options;
#define MEND_RETRY_OPTIONS_INIT                                                                                        \
  { sizeof(mend_retry_options), 2, MEND_ABSENT, 0.0, 30.0, false, 0, NULL, NULL, NULL, NULL }

/** Calls a tool up to max_attempts times under one call id, pausing on the bus's clock. Only a failure is tried again,
 * an escalation never; an abort or a cancelled token ends it at once, in a pause too (without an event: the attempt
 * before has had its own). When the last attempt failed,
 * value is {"success":false,"error":...,"attempts":n}. An attempt that a hook added counts in `attempts`, not in
 * max_attempts. Returns as mend_boundary_call. */
MEND_API mend_status mend_boundary_retry(mend_boundary *boundary, mend_str tool, mend_str args,
                                         const mend_retry_options *options, mend_result *ret_result);

/* ---- Agent and executor ------------------------------------------------------------------------------------ */

/** Agent, then executor, then state. A step that answers nothing has the result null; an answer that is no JSON fails
 * it. */
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
  const mend_call *within; /**< as in mend_retry_options */
} mend_compound_tool;
#define MEND_COMPOUND_TOOL_INIT                                                                                        \
  { sizeof(mend_compound_tool), NULL, NULL, NULL, NULL, NULL, NULL, NULL }
/** Passes the boundary once, as `name` with args {"prompt": ...}, which a hook may redirect to another text (one to
 * what is no text fails it, "bad_redirect"); the steps are its execution, so none of them runs when it is skipped. A
 * step that fails, or an abort in it, ends it. Returns as
 * mend_boundary_call. */
MEND_API mend_status mend_boundary_compound(mend_boundary *boundary, const mend_compound_tool *tool, mend_str prompt,
                                            mend_result *ret_result);

/* ---- Refine until it passes -------------------------------------------------------------------------------- */

/** Why a sub-agent tool ended. Names and rules: Orqest's sub-agent tool. */
typedef enum mend_refinement_exit {
  MEND_REFINEMENT_PASSED = 0,    /**< accepted by the evaluator; also when there is none */
  MEND_REFINEMENT_MAX,           /**< still rejected after max_refinements; the last result is kept */
  MEND_REFINEMENT_KEPT_ORIGINAL, /**< a refinement failed: its prompt, a step or its evaluation; the result before it is
                                    kept. Or the first evaluation did: there is only that result */
  MEND_REFINEMENT_ENDED          /**< it gave no result: failed at first, skipped, escalated, aborted, cancelled */
} mend_refinement_exit;
/** "passed", "max_refinements", "refinement_failed_keep_original", "ended". Static. */
MEND_API const char *mend_refinement_exit_name(mend_refinement_exit exit);

/** Agent, executor, commit, evaluator; while the evaluator rejects, up to max_refinements times, again with a new
 * prompt. Steps as in mend_compound_tool. */
typedef struct mend_subagent_tool {
  size_t size;
  const char *name;
  void *ctx;
  uint32_t max_refinements; /**< 0..1000; above 0 needs evaluate and build_prompt */
  /** Gives structured output (mend_call_succeed). */
  mend_status (*agent)(void *ctx, mend_call *call, mend_str prompt);
  /** Carries it out. NULL: the output is the result. */
  mend_status (*executor)(void *ctx, mend_call *call, mend_str output);
  /** Takes the result into the state, before it is evaluated; each round's, also of one whose result is not kept in the
   * end. NULL: nothing. */
  mend_status (*commit)(void *ctx, void *state, mend_str output, mend_str result);
  /** Judges it, with `call` for its token and for calls within it; the answer is given already. \param prompt  what
   * the agent was to do in this round. \param ret_passed  false until it is set. \param ret_feedback  what is wrong,
   * from malloc, for build_prompt; NULL: nothing to say. NULL: all pass */
  mend_status (*evaluate)(void *ctx, mend_call *call, mend_str prompt, mend_str output, mend_str result,
                          bool *ret_passed, char **ret_feedback);
  /** The prompt of the next round, from malloc; NULL is a failure. \param prompt  the one before */
  mend_status (*build_prompt)(void *ctx, mend_str prompt, mend_str result, mend_str feedback, char **ret_prompt);
  const mend_call *within; /**< as in mend_retry_options */
} mend_subagent_tool;

#define MEND_SUBAGENT_TOOL_INIT                                                                                        \
  { sizeof(mend_subagent_tool), NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL }

typedef struct mend_refinement_report {
  size_t size;
  mend_refinement_exit exit;
  uint32_t refinements; /**< rounds after the first that were begun */
} mend_refinement_report;
#define MEND_REFINEMENT_REPORT_INIT                                                                                    \
  { sizeof(mend_refinement_report), MEND_REFINEMENT_ENDED, 0 }

/** Passes the boundary once, as mend_boundary_compound; the rounds are its execution. Each rejection is published as
 * `tool.progress` with the note "refinement 1: rejected: <feedback>" (0 is the first round), and a result with the note
 * "exit: <reason>". An abort or a cancelled token ends it at once, in any step; nothing is kept then.
 * \param ret_report  may be NULL; not written when this returns MEND_EINVAL
 * Returns as mend_boundary_call; MEND_EINVAL also when max_refinements is above 0 and evaluate or build_prompt are
 * missing. */
MEND_API mend_status mend_boundary_subagent(mend_boundary *boundary, const mend_subagent_tool *tool, mend_str prompt,
                                            mend_result *ret_result, mend_refinement_report *ret_report);

/* ---- Carry out a plan -------------------------------------------------------------------------------------- */

/** One step of a plan. */
typedef struct mend_subtask {
  size_t size;
  mend_str name; /**< unique in the plan, 1..120 bytes of UTF-8 without control characters; the step passes the boundary
                      as `meta:<name>` */
  mend_str tool; /**< the tool that does it, for plans without an `execute` of their own */
  mend_str args; /**< that tool's arguments, a JSON object; absent: {} */
  mend_str prompt; /**< what is to be done, in words; absent: nothing said */
} mend_subtask;
#define MEND_SUBTASK_INIT                                                                                              \
  { sizeof(mend_subtask), MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT }

/** What a planner fills in; borrowed for its call. */
typedef struct mend_plan_draft mend_plan_draft;
/** Adds a step behind the others; copied. Errors: MEND_EINVAL (name, args), MEND_EEXIST (a step of this name is there
 * or has been carried out), MEND_ELIMIT (max_subtasks), MEND_ENOMEM. A planner that returns the error fails with its
 * sentence. */
MEND_API mend_status mend_plan_add(mend_plan_draft *draft, const mend_subtask *subtask, mend_error *error);

/** What a planner is asked; borrowed. */
typedef struct mend_plan_request {
  size_t size;
  mend_str goal;
  mend_str context;          /**< JSON object: the outputs so far, by step; {} at first */
  mend_str done;             /**< JSON array: what became of the steps so far, as `subtasks` of the plan's value */
  mend_str remaining;        /**< JSON array: names of the steps that are to be replaced; absent the first time */
  double confidence;         /**< the one that was too low; NaN the first time */
  uint32_t redecompositions; /**< how many there were, this one included; 0 the first time */
} mend_plan_request;

/** A plan: a planner gives steps, which are carried out in order. Source: Orqest's meta-orchestration. In `subtask`
 * execute is shown what is to be done after hooks had their say; name and order stay the planner's. */
typedef struct mend_plan {
  size_t size;
  void *ctx;
  mend_status (*planner)(void *ctx, const mend_plan_request *request, mend_plan_draft *draft);
  /** Carries out a step and answers the call; mend_call_escalate makes it an escalated one. \param context  as of the
   * request. NULL: calls the step's tool by its name through the boundary, so that hooks see it under that name as
   * well */
  mend_status (*execute)(void *ctx, mend_call *call, const mend_subtask *subtask, mend_str context);
  /** How sure the step is of its result, 0..1 (others are clamped), NaN: not said. Asked about steps that were ok,
   * redirected or skipped. NULL: never said. mend_enriched_confidence reads it from enriched results. */
  double (*confidence)(void *ctx, const mend_subtask *subtask, const mend_result *result);
  double redecompose_threshold;  /**< below it the rest is planned anew; 0..1, default 0.5 */
  uint32_t max_redecompositions; /**< 0..1000, default 2 */
  uint32_t max_subtasks;         /**< of one draft, 1..10,000, default 100 */
  /** An abort in a step ends that step only, which has then failed; default false. While the step lasts that is every
   * abort of the run, whoever asks for it, so plans of one run that do this go one after the other. */
  bool confine_abort;
  /** The call in whose execution the steps are called (mend_call_options); when it is cancelled the plan ends after the
   * step that runs. NULL: none. */
  const mend_call *within;
} mend_plan;
#define MEND_PLAN_INIT                                                                                                 \
  { sizeof(mend_plan), NULL, NULL, NULL, NULL, 0.5, 2, 100, false, NULL }

/**
 * Plans and carries out. Each step passes the boundary as `meta:<name>` with args {"prompt":..., "tool":...,
 * "args":..., "context":...}, which a hook may redirect (prompt and tool to a string or null, the others to an object,
 * else the step fails, "bad_redirect"). A failed or cancelled step does not stop the others; an abort
 * does, unless it is confined, and so do a scope that was left and running out of memory. A step whose tool's call was
 * escalated is escalated too, and so is the plan: by the hook that asked, if it was not the tool.
 *
 * After a step whose confidence is below the threshold, while steps remain and max_redecompositions is not reached,
 * `metacognition.redecomposition_triggered` is published and the planner is asked for others in their place. When it
 * fails or gives none, the old ones stay, and it counts as a redecomposition all the same. New steps may have the names
 * of those they replace, not of those carried out.
 *
 * *ret_result: ok when every step was ok, redirected or skipped; failed ("plan_failed") when one failed; else
 * escalated, with the first question, when one was. A planner that fails at first, or gives no step, fails the plan
 * ("planner_failed", "empty_plan"). call and attempts are 0, duration_ms is from the first question to the planner to
 * the end. value, also of a plan that did not come to its end:
 *   {"success":true|false, "outputs":{<step>:<value>}, "subtasks":[{"name", "tool", "outcome", "call_id",
 *    "duration_ms", "confidence", "question", "error_type", "error_message"}], "redecompositions":n,
 *    "planner_error":null|"..."}
 * with the steps that were carried out, null for what does not apply, and what was wrong when the planner was asked
 * last.
 * Returns as mend_boundary_call.
 */
MEND_API mend_status mend_boundary_plan(mend_boundary *boundary, const mend_plan *plan, mend_str goal,
                                        mend_result *ret_result);
#ifdef __cplusplus
}
#endif
#endif

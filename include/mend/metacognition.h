/**
 * mend/metacognition.h: how sure an agent is of what it says, how that is found out, and how the bus gets to know.
 *
 *   mend_protocol *protocol;
 *   mend_protocol_new_structured(NULL, &protocol, &error);
 *   mend_hooks_add_metacognition(hooks, NULL, &error);                   // publishes metacognition.confidence
 *   mend_boundary_compound_enriched(boundary, &tool, protocol, prompt, &result);
 *
 * A protocol makes an output an enriched one: the output and how sure the agent is of it. That is JSON text,
 *   {"output":..., "confidence":0.8, "uncertainty_targets":["the year"], "capability_boundary":"...",
 *    "protocol_name":"structured", "metadata":{}}
 * recognised by its protocol_name (a string, not "") beside an output; that is what the hook looks for, whoever made
 * it. Of a member that is there twice the last counts; one of another type than above is absent; what is absent is
 * written as null, [] and {}.
 *
 * The regression watchdog listens to what the hook publishes. Without a protocol nothing is published. Source of names
 * and rules: Orqest's metacognition.
 *
 * A confidence is a number from 0 to 1. A number outside is clamped; what is no number (a text, true, null) is none.
 *
 * Threads: a protocol may be used from several threads at once if its functions may.
 */
#ifndef MEND_METACOGNITION_H
#define MEND_METACOGNITION_H

#include "mend/flows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Enriched output --------------------------------------------------------------------------------------- */

/** An output and how sure its agent is. Start from MEND_ENRICHED_INIT. Texts are set with mend_enriched_set and
 * freed by mend_enriched_clear; for mend_enriched_write they may also be borrowed ones, put there by hand. */
typedef struct mend_enriched {
  size_t size;
  mend_str output;                 /**< JSON; absent: null */
  double confidence;               /**< 0..1; NaN: none */
  mend_str uncertainty_targets;    /**< JSON array of strings: what it is unsure of; absent: none */
  mend_str capability_boundary;    /**< text: what it cannot do; absent: none */
  mend_str protocol_name;          /**< how that was found out */
  mend_str metadata;               /**< JSON object; absent: {} */
  const mend_allocator *allocator; /**< of the texts that are set; NULL: malloc */
  void *memory;                    /**< private */
} mend_enriched;
#define MEND_ENRICHED_INIT                                                                                             \
  { sizeof(mend_enriched), MEND_ABSENT, MEND_NAN, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, NULL, NULL }
/** NULL is allowed. */
MEND_API void mend_enriched_clear(mend_enriched *enriched);
/** Copies `text` into a member of `enriched` (&enriched->metadata, say); absent empties it. `text` may be a piece
 * of what is there. Errors: MEND_ENOMEM, the member stays. */
MEND_API mend_status mend_enriched_set(mend_enriched *enriched, mend_str *member, mend_str text);
/** Reads an enriched result; what *ret_enriched held before is freed. MEND_ENOENT when `result` is something else,
 * MEND_ESYNTAX when it is no JSON, MEND_EINVAL (ret_enriched's size), MEND_ENOMEM. */
MEND_API mend_status mend_enriched_read(mend_str result, const mend_allocator *allocator, mend_enriched *ret_enriched);
/** Its JSON text with a NUL behind: the caller's, to be freed with mend_free(allocator, ...). \param ret_len  may
 * be NULL. MEND_ESYNTAX when output, uncertainty_targets or metadata are not the JSON they should be (or nest
 * deeper than 1,022 levels), MEND_EINVAL without a protocol_name, MEND_ENOMEM. */
MEND_API mend_status mend_enriched_write(const mend_enriched *enriched, const mend_allocator *allocator,
                                         char **ret_json, size_t *ret_len);
/** For mend_plan.confidence: what an enriched result says, NaN when it says nothing or is not enriched. ctx and
 * subtask are not looked at. */
MEND_API double mend_enriched_confidence(void *ctx, const mend_subtask *subtask, const mend_result *result);

/* ---- Protocols --------------------------------------------------------------------------------------------- */

/** What a protocol is given; borrowed. */
typedef struct mend_protocol_input {
  size_t size;
  mend_str prompt;
  mend_str output;         /**< the agent's, JSON; absent: null */
  mend_str result;         /**< what its executor made of it, JSON: the enriched output; absent: the agent's */
  const double *log_probs; /**< natural logarithms of the probabilities of the reply's tokens; NULL: not known */
  size_t log_prob_count;
  /** Runs the agent once more with the same prompt: its output, JSON from malloc. MEND_ABORTED and MEND_ECANCELLED
   * say that another try is of no use. NULL: it cannot be. */
  mend_status (*again)(void *again_ctx, char **ret_output);
  void *again_ctx;
} mend_protocol_input;
#define MEND_PROTOCOL_INPUT_INIT                                                                                       \
  { sizeof(mend_protocol_input), MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, NULL, 0, NULL, NULL }

/** A protocol: a vtable, copied by mend_protocol_new. */
typedef struct mend_protocol_vtable {
  size_t size;
  const char *name; /**< 1..63 bytes: protocol_name */
  /** Fills in confidence and what else it knows (output and protocol_name are there). Texts are set with
   * mend_enriched_set. An error, or a text that is not the JSON it should be: no confidence, and
   * metadata.protocol_error is the sentence of `error` (mend_error_set), or the status's; never an error of the
   * run. */
  mend_status (*measure)(void *ctx, const mend_protocol_input *input, mend_enriched *enriched, mend_error *error);
  void (*destroy)(void *ctx); /**< may be NULL */
} mend_protocol_vtable;

#define MEND_PROTOCOL_VTABLE_INIT                                                                                      \
  { sizeof(mend_protocol_vtable), NULL, NULL, NULL }

/** Reference-counted. Errors: MEND_EINVAL (name, measure), MEND_ENOMEM; destroy is then not called. */
typedef struct mend_protocol mend_protocol;
MEND_API mend_status mend_protocol_new(const mend_protocol_vtable *vtable, void *ctx, const mend_allocator *allocator,
                                       mend_protocol **ret_protocol, mend_error *error);
MEND_API mend_protocol *mend_protocol_retain(mend_protocol *protocol);
/** NULL is allowed. */
MEND_API void mend_protocol_release(mend_protocol *protocol);
MEND_API const char *mend_protocol_name(const mend_protocol *protocol);
/** Makes an output an enriched one; what *ret_enriched held before is freed. A protocol that fails gives one without
 * confidence. Errors: MEND_ENOMEM, MEND_ESYNTAX (what is to be enriched is no JSON), MEND_EINVAL. */
MEND_API mend_status mend_protocol_enrich(mend_protocol *protocol, const mend_protocol_input *input,
                                          const mend_allocator *allocator, mend_enriched *ret_enriched,
                                          mend_error *error);

/** Reads what the agent itself says in its structured output. A member that is missing, or of another type, says
 * nothing; an output that is no object is a failure of the protocol. */
typedef struct mend_structured_options {
  size_t size;
  const mend_allocator *allocator;
  const char *confidence_field;  /**< default "self_confidence" */
  const char *uncertainty_field; /**< default "uncertain_about": an array of strings, or a string */
  const char *boundary_field;    /**< default "outside_my_capability": a string; true becomes one that says so */
} mend_structured_options;
#define MEND_STRUCTURED_OPTIONS_INIT                                                                                   \
  { sizeof(mend_structured_options), NULL, "self_confidence", "uncertain_about", "outside_my_capability" }
/** Called "structured". \param options  NULL for the defaults; names are copied. Errors: MEND_EINVAL, MEND_ENOMEM. */
MEND_API mend_status mend_protocol_new_structured(const mend_structured_options *options, mend_protocol **ret_protocol,
                                                  mend_error *error);

/** Asks a model: one reply to one prompt, from malloc. */
typedef mend_status (*mend_ask_model)(void *ctx, mend_str prompt, char **ret_reply);

/** One more model call: how sure are you? */
typedef struct mend_self_rating_options {
  size_t size;
  const mend_allocator *allocator;
  mend_ask_model ask; /**< required */
  void *ask_ctx;
  /** NULL: one of the library's own; copied. It asks for JSON {"confidence":0..1, "uncertain_about":[...],
   * "outside_my_capability":"..."}; prompt and output are put behind it. */
  const char *instruction;
} mend_self_rating_options;
#define MEND_SELF_RATING_OPTIONS_INIT                                                                                  \
  { sizeof(mend_self_rating_options), NULL, NULL, NULL, NULL }
/** Called "self_rating". Of a reply with a code block (``` with or without a language) what stands in the first
 * one is read, on lines of its own or between fences on one line, closed or not; a sentence before and after it is
 * left out. A reply that is no JSON object then is a failure of the protocol. Errors: MEND_EINVAL, MEND_ENOMEM. */
MEND_API mend_status mend_protocol_new_self_rating(const mend_self_rating_options *options,
                                                   mend_protocol **ret_protocol, mend_error *error);

/** Runs the agent k times: the confidence is the share of equal pairs of outputs, by canonical JSON
 * (mend_json_hash, exact), among all pairs. */
typedef struct mend_ensemble_options {
  size_t size;
  const mend_allocator *allocator;
  uint32_t k; /**< runs, the first included, 2..100; default 3 */
} mend_ensemble_options;
#define MEND_ENSEMBLE_OPTIONS_INIT                                                                                     \
  { sizeof(mend_ensemble_options), NULL, 3 }
/** Called "ensemble". A run that fails or asks a person is left out; fewer than two are a failure of the protocol.
 * metadata has runs and failed. \param options  NULL for the defaults. Errors: MEND_EINVAL, MEND_ENOMEM. */
MEND_API mend_status mend_protocol_new_ensemble(const mend_ensemble_options *options, mend_protocol **ret_protocol,
                                                mend_error *error);

/** Called "log_probabilities": the mean probability of the reply's tokens, each at most 1. None of them, a NaN or
 * an infinite one (but minus infinity, which is 0) are a failure of the protocol. metadata has tokens. Errors:
 * MEND_ENOMEM. */
MEND_API mend_status mend_protocol_new_log_probabilities(const mend_allocator *allocator, mend_protocol **ret_protocol,
                                                         mend_error *error);

/* ---- Where enriched results come from ---------------------------------------------------------------------- */

/** The compound tool (mend_boundary_compound) whose result is an enriched one: {"output": <result>, ...}. The
 * protocol is asked after the executor and before update_state, which is given the enriched result. It may run the
 * agent again, in the same call. Returns as mend_boundary_compound; MEND_EINVAL also when the protocol is NULL. */
MEND_API mend_status mend_boundary_compound_enriched(mend_boundary *boundary, const mend_compound_tool *tool,
                                                     mend_protocol *protocol, mend_str prompt, mend_result *ret_result);
/** For a tool that has done its work and calls this instead of mend_call_succeed: answers the call with what the
 * protocol makes of `input`. Errors: those of mend_protocol_enrich and mend_call_succeed. */
MEND_API mend_status mend_call_succeed_enriched(mend_call *call, mend_protocol *protocol,
                                                const mend_protocol_input *input);

/* ---- The hook ---------------------------------------------------------------------------------------------- */

typedef struct mend_metacognition_hook_options {
  size_t size;
  const char *source; /**< who says so, in the events; default "metacognition" */
} mend_metacognition_hook_options;
#define MEND_METACOGNITION_HOOK_OPTIONS_INIT                                                                           \
  { sizeof(mend_metacognition_hook_options), "metacognition" }

/**
 * Adds the hook "metacognition": after a call whose result is enriched and has a confidence it publishes
 * `metacognition.confidence`, with the call's duration; other results it ignores, and so what a call passes on, byte
 * for byte, of a call within it (a plan's step, of its tool). It decides nothing.
 *
 * Only one for a run: a second one would count every reading twice. In the same hooks that is MEND_EEXIST here;
 * mend_boundary_new refuses hooks with a second one with MEND_EEXIST and a sentence; and in a foreign runner's hooks
 * a second one fails with MEND_EEXIST (`hook.failed`). The same hooks may serve several boundaries. A run is free
 * again when the last of these is gone; one that a foreign runner's hooks publish for, when those hooks are: their
 * allocator must outlive the run. \param options  NULL for the defaults; source is copied. Errors: also MEND_EINVAL,
 * MEND_ENOMEM.
 */
MEND_API mend_status mend_hooks_add_metacognition(mend_hooks *hooks, const mend_metacognition_hook_options *options,
                                                  mend_error *error);

#ifdef __cplusplus
}
#endif
#endif

/**
 * mend/fallback.h: providers of models, and chains that fail over between them.
 *
 *   const mend_key keys[] = {{"openai", my_openai_key}, {"anthropic", my_anthropic_key}};
 *   mend_fallback_options options = MEND_FALLBACK_OPTIONS_INIT;
 *   options.loop = loop;
 *   options.keys = keys;
 *   options.key_count = 2;
 *   const char *const models[] = {"openai:gpt-4.1", "anthropic:claude-sonnet-4-6"};
 *   mend_model *model;
 *   mend_fallback_new(models, 2, &options, &model, &error);
 *
 * A model is named provider:model_id, split at the first colon. Providers: openai (Chat Completions), openai-responses,
 * anthropic, google, compatible (any server that speaks Chat Completions; needs its base URL), scripted (replies from a
 * file, for tests and demonstrations: scripted:FILE).
 *
 * Source of the chain's rules: Orqest's fallback model; docs/api/fallback.md has both profiles.
 *
 * What a provider repeats of the keys that it was opened with is covered before anybody is told, in escapes and in
 * several pieces of a stream, too.
 *
 * Threads: as mend/model.h.
 */
#ifndef MEND_FALLBACK_H
#define MEND_FALLBACK_H

#include "mend/loop.h"
#include "mend/model.h"
#include "mend/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A secret for a provider. Of several for one provider the first is used; a chain in the resilient profile goes on
 * with the next when one is refused. */
typedef struct mend_key {
  const char
      *provider;      /**< "openai", ..., or one model, "compatible:llama-4", which has keys of its own then; NULL: any
                             that has none */
  const char *secret; /**< copied, wiped when it is let go of */
} mend_key;

/** Where a provider, or one of its models, is reached. Of several for one the URLs must be equal. */
typedef struct mend_endpoint {
  const char *provider; /**< "compatible", or "compatible:llama-4", which goes before that */
  const char *base_url; /**< "http://127.0.0.1:8080/v1"; without credentials, query and fragment */
} mend_endpoint;

typedef enum mend_fallback_profile {
  MEND_FALLBACK_SEED = 0, /**< Orqest's contract: sticky, advances on what is transient, never retries a target */
  MEND_FALLBACK_RESILIENT /**< breakers, probes, the way back to the first, retries and parking by the table */
} mend_fallback_profile;

struct mend_failure_signal;
struct mend_failure_class;

typedef struct mend_fallback_options {
  size_t size;
  mend_loop *loop;                 /**< required; referenced */
  const mend_allocator *allocator; /**< NULL: malloc */
  const mend_key *keys;            /**< may be NULL */
  size_t key_count;
  bool keys_from_environment;     /**< look for OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, GOOGLE_API_KEY, too;
                                   default false */
  const mend_endpoint *endpoints; /**< other base URLs than the providers' own; may be NULL */
  size_t endpoint_count;
  mend_fallback_profile profile;
  const char *classification; /**< JSON rows put before the built-in table (docs/api/fallback.md); NULL: none */
  const char *proxy;          /**< URL; NULL: none */
  const char *ca_file;        /**< PEM; NULL: the system's */
  bool allow_http;            /**< plain http beyond loopback; default false */
  /** Bytes of a reply, default 64 MiB. An event of a stream, or a reply that is none, is read in one go: some
   * milliseconds for each MiB, in which the loop does nothing else. */
  uint64_t reply_limit;
  uint64_t seed;   /**< of the jitter in cool-downs, for tests; 0: from the clock */
  mend_log_fn log; /**< told what is worth a person's look (a refused key, a missing model); NULL: nobody */
  void *log_ctx;
  /** Of a chain: sees every failure with the row the table has for it, and may change what is done about it, but not
   * the name. On the loop's thread; NULL: nobody does. */
  void (*judge)(void *ctx, const struct mend_failure_signal *signal, struct mend_failure_class *row);
  void *judge_ctx;
  const char *models; /**< JSON: what is known of models (mend_model_table_new): prices, for `max_cost_usd` and
                           model.usage, and context windows, before the built-in ones; NULL: nothing */
} mend_fallback_options;
#define MEND_FALLBACK_OPTIONS_INIT                                                                                     \
  {                                                                                                                    \
    sizeof(mend_fallback_options), NULL, NULL, NULL, 0, false, NULL, 0, MEND_FALLBACK_SEED, NULL, NULL, NULL, false,   \
        UINT64_C(67108864), 0, NULL, NULL, NULL, NULL, NULL                                                            \
  }

/**
 * A chain of models, which is a model too: its name is "fallback(a,b,c)". A model without a key shortens the chain;
 * mend_fallback_left_out tells which and why. Publishes `healing.model_fallback`, `.model_chain_exhausted`,
 * `.model_recovered` and model.* on the request's run.
 * Errors: MEND_EINVAL (an unknown provider, of a key or an endpoint too, no colon, an empty id, a base URL with
 * credentials; no model left: the sentence lists the reasons), MEND_ESYNTAX (a scripted file, a classification or
 * models, with line and column), MEND_ENOENT and MEND_EIO (a file), MEND_ENOMEM.
 */
MEND_API mend_status mend_fallback_new(const char *const *models, size_t count, const mend_fallback_options *options,
                                       mend_model **ret_model, mend_error *error);
/** One model of a provider. Errors as above. */
MEND_API mend_status mend_model_open(const char *name, const mend_fallback_options *options, mend_model **ret_model,
                                     mend_error *error);
/** A chain of models that are there already, on the same loop; referenced. Each counts as having a key of its own.
 * \param options  loop, allocator, profile, classification, models, seed, log and judge. Errors: MEND_EINVAL,
 * MEND_ESYNTAX, MEND_ENOMEM. */
MEND_API mend_status mend_fallback_of(mend_model *const *models, size_t count, const mend_fallback_options *options,
                                      mend_model **ret_model, mend_error *error);
/** JSON array of what was left out of a chain: {"model", "reason"}. Valid as long as the model. "[]" of any other
 * model. */
MEND_API mend_str mend_fallback_left_out(const mend_model *model);

typedef enum mend_breaker { MEND_BREAKER_CLOSED = 0, MEND_BREAKER_OPEN, MEND_BREAKER_HALF_OPEN } mend_breaker;
/** How a target stands. */
typedef struct mend_target_state {
  size_t size;
  mend_str model; /**< provider:model_id; valid as long as the chain */
  mend_breaker breaker;
  double cool_down_s; /**< that is left; 0: none */
  bool parked;        /**< until its key or the model is seen to work again */
  bool current;       /**< new requests begin here */
  uint64_t requests, failures;
} mend_target_state;
/** MEND_ENOENT beyond the last, and of a model that is no chain. Set size before the call. */
MEND_API mend_status mend_fallback_state(mend_model *model, size_t index, mend_target_state *ret_state);

/* ---- Classification ---------------------------------------------------------------------------------------- */

/** What is known of a failure. */
typedef struct mend_failure_signal {
  size_t size;
  mend_str provider;
  const char *transport; /**< what happened other than an error told by the provider, NULL: that. "dns", "refused",
                              "connect_timeout", "certificate", "reset", "closed", "first_content_timeout",
                              "idle_timeout", "total_timeout", "cancelled"; "cut": the reply ended without saying that
                              it does; "malformed": it is none of this provider's; "too_long": beyond reply_limit;
                              "empty_reply": nothing in it; "not_supported": this target cannot be sent what is asked;
                              "cost_limit": it may cost more than is left; "no_memory"; "no_descriptors":
                              too many files are open here */
  bool reused;           /**< on a connection that was used before */
  bool any_byte;         /**< something of the reply had come */
  uint32_t http_status;
  mend_str content_type;
  mend_str body; /**< or the stream's error event; its first 64 KiB count */
  bool streaming, after_content;
} mend_failure_signal;
#define MEND_FAILURE_SIGNAL_INIT                                                                                       \
  { sizeof(mend_failure_signal), MEND_ABSENT, NULL, false, false, 0, MEND_ABSENT, MEND_ABSENT, false, false }

typedef enum mend_failure_action {
  MEND_ACTION_PROPAGATE = 0, /**< P: the caller's to see */
  MEND_ACTION_RETRY,         /**< R: the same target once, then as FAIL_OVER */
  MEND_ACTION_FAIL_OVER,     /**< F */
  MEND_ACTION_CANCEL         /**< the caller is gone: nobody's failure */
} mend_failure_action;
/** "propagate", "retry", "fail_over", "cancel". Static. */
MEND_API const char *mend_failure_action_name(mend_failure_action action);

/** What may help before, or decides whether, another target is tried (resilient profile). */
typedef enum mend_failure_remedy {
  MEND_REMEDY_NONE = 0,
  MEND_REMEDY_NEXT_KEY,       /**< the same target with the provider's next key */
  MEND_REMEDY_DROP_PARAMETER, /**< the same target once more without the parameter the body names */
  MEND_REMEDY_LARGER_WINDOW   /**< only targets with a larger context window, where both are known; else propagate */
} mend_failure_remedy;

/** What is to be done about it. */
typedef struct mend_failure_class {
  size_t size;
  const char *name; /**< the row's; valid as long as the table */
  mend_failure_action action;
  mend_failure_action seed_action; /**< in the seed profile */
  mend_failure_remedy remedy;
  bool counts;            /**< against the target */
  bool parks;             /**< D: not used until its slow probe succeeds */
  bool alerts;            /**< worth a person's look: it does not go away by itself */
  bool hides_body;        /**< what the provider said never reaches the caller */
  double cool_down_s;     /**< the first; 0: none. A Retry-After takes its place */
  double cool_down_max_s; /**< it doubles up to this */
  double wait_s;          /**< with no other target, a Retry-After up to this is waited for, once */
  const char *scope;      /**< of cool-down and parking: "provider", "model", "key", "key+model"; static */
  uint32_t report_status; /**< HTTP status the caller is told; 0: the provider's own */
} mend_failure_class;
#define MEND_FAILURE_CLASS_INIT                                                                                        \
  {                                                                                                                    \
    sizeof(mend_failure_class), NULL, MEND_ACTION_PROPAGATE, MEND_ACTION_PROPAGATE, MEND_REMEDY_NONE, false, false,    \
        false, false, 0, 0, 0, NULL, 0                                                                                 \
  }

/** The table: rows of conditions and what to do, the first that fits counts. Reference-counted. */
typedef struct mend_classification mend_classification;
/** \param rows  JSON array of rows put before the built-in ones (docs/classification.md has the members); NULL: none.
 * Errors, with line and column: MEND_ESYNTAX, MEND_EINVAL; MEND_ENOMEM. */
MEND_API mend_status mend_classification_new(const char *rows, const mend_allocator *allocator,
                                             mend_classification **ret_table, mend_error *error);
/** NULL is allowed. */
MEND_API void mend_classification_release(mend_classification *table);
/** Finds the row of a failure; there always is one ("unknown" propagates). Set size of both before the call. The case
 * of ASCII letters does not matter. */
MEND_API void mend_classify(const mend_classification *table, const mend_failure_signal *signal,
                            mend_failure_class *ret_class);
/** The built-in rows as JSON, in the same form. Static. */
MEND_API mend_str mend_classification_builtin(void);

#ifdef __cplusplus
}
#endif
#endif

/**
 * mend/model.h: the model interface: what is asked, what comes back, and who can be asked.
 *
 *   mend_messages *messages;
 *   mend_messages_new(NULL, &messages);
 *   mend_messages_add_system(messages, MEND_STR("Be brief."));
 *   mend_messages_add_user(messages, MEND_STR("What is the capital of France?"));
 *
 *   mend_model_request request = MEND_MODEL_REQUEST_INIT;
 *   request.messages = messages;
 *   mend_reply reply = MEND_REPLY_INIT;
 *   if (mend_model_ask(model, &request, &reply, &error) == MEND_OK) puts(reply.text.ptr);
 *   mend_reply_clear(&reply);
 *
 * A model is asked without blocking (mend_model_send: deltas and the end arrive on the loop's thread) or with
 * (mend_model_ask). Models come from mend/fallback.h (providers and chains of them); anyone can implement one
 * (mend_model_new).
 *
 * Threads: models and exchanges may be used from any thread, what a model answers with only on the loop's. A
 * conversation belongs to one thread at a time and is copied when a request is sent, so it may be changed or freed
 * right after.
 */
#ifndef MEND_MODEL_H
#define MEND_MODEL_H

#include "mend/bus.h"
#include "mend/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Conversations ----------------------------------------------------------------------------------------- */

typedef enum mend_role { MEND_ROLE_SYSTEM = 0, MEND_ROLE_USER, MEND_ROLE_ASSISTANT, MEND_ROLE_TOOL } mend_role;

typedef enum mend_part_kind {
  MEND_PART_TEXT = 0,
  MEND_PART_IMAGE,    /**< of a user */
  MEND_PART_THINKING, /**< of an assistant; with what the provider signs it with */
  MEND_PART_CALL,     /**< of an assistant: a tool call */
  MEND_PART_RESULT    /**< of a tool */
} mend_part_kind;

/** One part of a message; which members hold something depends on the kind. Texts are borrowed where one is added. */
typedef struct mend_part {
  size_t size;
  mend_part_kind kind;
  mend_str text;       /**< TEXT, THINKING; of RESULT its content */
  mend_str url;        /**< IMAGE: an address the provider fetches; or absent and `data` */
  mend_str media_type; /**< IMAGE: "image/png" */
  mend_str data;       /**< IMAGE: its bytes */
  mend_str call_id;    /**< CALL, RESULT */
  mend_str name;       /**< CALL: the tool; RESULT: the same, where it is known */
  mend_str args;       /**< CALL: JSON object */
  bool is_error;       /**< RESULT */
  mend_str
      provider; /**< TEXT, THINKING, CALL of an assistant: whose signature it is; other providers are not sent it */
  mend_str signature; /**< TEXT, THINKING, CALL of an assistant: opaque; goes back as it came */
} mend_part;
#define MEND_PART_INIT                                                                                                 \
  {                                                                                                                    \
    sizeof(mend_part), MEND_PART_TEXT, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT,   \
        MEND_ABSENT, false, MEND_ABSENT, MEND_ABSENT                                                                   \
  }

/** A conversation: messages of parts, in order. */
typedef struct mend_messages mend_messages;
MEND_API mend_status mend_messages_new(const mend_allocator *allocator, mend_messages **ret_messages);
/** NULL is allowed. */
MEND_API void mend_messages_free(mend_messages *messages);
MEND_API mend_status mend_messages_copy(const mend_messages *messages, const mend_allocator *allocator,
                                        mend_messages **ret_copy);
/* Each adds a message of one part; everything is copied. Errors: MEND_ENOMEM. */
MEND_API mend_status mend_messages_add_system(mend_messages *messages, mend_str text);
MEND_API mend_status mend_messages_add_user(mend_messages *messages, mend_str text);
MEND_API mend_status mend_messages_add_assistant(mend_messages *messages, mend_str text);
/** The answer to a tool call. \param content  text; JSON is sent as its text. MEND_EINVAL without a call_id, too. */
MEND_API mend_status mend_messages_add_result(mend_messages *messages, mend_str call_id, mend_str content,
                                              bool is_error);
/** A message of any role with any parts, which may be some of this conversation. A result without a name gets that
 * of the call it answers. Errors: MEND_EINVAL (a part that role cannot have, or without what it needs), MEND_ENOMEM. */
MEND_API mend_status mend_messages_add(mend_messages *messages, mend_role role, const mend_part *parts, size_t count,
                                       mend_error *error);
typedef struct mend_reply mend_reply;
/** The assistant's turn, as it came: text, thinking, calls, signatures. A call's arguments that are no JSON object
 * become {"invalid": "<what came>"}, for no provider takes them; a reply without parts adds nothing. Errors:
 * MEND_ENOMEM. */
MEND_API mend_status mend_messages_add_reply(mend_messages *messages, const mend_reply *reply);
MEND_API size_t mend_messages_count(const mend_messages *messages);
/** A message's role and parts; borrowed, valid until the conversation is changed. MEND_ENOENT. */
MEND_API mend_status mend_messages_get(const mend_messages *messages, size_t index, mend_role *ret_role,
                                       const mend_part **ret_parts, size_t *ret_count);

/* ---- Requests ---------------------------------------------------------------------------------------------- */

/** A tool a model may ask for. */
typedef struct mend_tool_spec {
  size_t size;
  mend_str name;
  mend_str description;
  mend_str schema; /**< JSON Schema of its arguments, an object; absent: {"type":"object"} */
  bool strict;     /**< the provider is to keep to the schema, where it can */
} mend_tool_spec;
#define MEND_TOOL_SPEC_INIT                                                                                            \
  { sizeof(mend_tool_spec), MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, false }

/** Four clocks, in seconds; 0: none. */
typedef struct mend_model_clocks {
  double connect_s;       /**< default 10 */
  double first_content_s; /**< from the request to the first content; default 120 */
  double idle_s;          /**< between contents; pings do not count; default 60 */
  double total_s;         /**< default 900 */
} mend_model_clocks;
#define MEND_MODEL_CLOCKS_INIT                                                                                         \
  { 10, 120, 60, 900 }

typedef struct mend_model_request {
  size_t size;
  const mend_messages *messages; /**< required */
  const mend_tool_spec *tools;
  size_t tool_count;
  mend_str tool_choice;      /**< "auto", "none", "required", or a tool's name; absent: the provider's own default */
  bool stream;               /**< deltas as they come; default true */
  uint32_t max_tokens;       /**< 0: the provider's default (Anthropic, which wants one: 4096) */
  double temperature, top_p; /**< NaN: not sent */
  mend_str stop;             /**< JSON array of strings; absent: none */
  bool log_probs;            /**< ask for the probabilities of the reply's tokens, where the provider has them */
  mend_str extra;            /**< JSON object put over the body that is sent; absent: nothing */
  mend_run *run;             /**< whose events it is; NULL: none are published */
  mend_str call_name;        /**< name of the model call, in events; absent: the run's next number */
  mend_model_clocks clocks;
  uint32_t max_attempts; /**< of a chain, those of chains in it among them; 0: as many as it wants */
  double max_cost_usd;   /**< where prices are known (mend_fallback_options.models); 0: any */
  /** Number of the call of `run` in whose execution it is asked (mend_call_number), for `model.request` and traces;
   * 0: none. */
  uint64_t within;
} mend_model_request;
#define MEND_MODEL_REQUEST_INIT                                                                                        \
  {                                                                                                                    \
    sizeof(mend_model_request), NULL, NULL, 0, MEND_ABSENT, true, 0, MEND_NAN, MEND_NAN, MEND_ABSENT, false,           \
        MEND_ABSENT, NULL, MEND_ABSENT, MEND_MODEL_CLOCKS_INIT, 0, 0, 0                                                \
  }

/* ---- Replies ----------------------------------------------------------------------------------------------- */

typedef enum mend_finish {
  MEND_FINISH_UNKNOWN = 0,
  MEND_FINISH_STOP,
  MEND_FINISH_LENGTH,
  MEND_FINISH_CALLS,  /**< it wants tools */
  MEND_FINISH_FILTER, /**< refused: content filter, safety, refusal */
} mend_finish;
/** "stop", "length", "tool_calls", "content_filter", "unknown". Static. */
MEND_API const char *mend_finish_name(mend_finish finish);

/** Tokens; MEND_NONE: not told. */
typedef struct mend_usage {
  uint64_t input, output, cached_input, reasoning;
} mend_usage;

/** What came back. Start from MEND_REPLY_INIT; texts are its own, freed by mend_reply_clear. Those that are not absent
 * end in a NUL, but for the texts of its parts. */
struct mend_reply {
  size_t size;
  mend_str text;          /**< all text parts together; "" when there is none */
  mend_str thinking;      /**< absent: none */
  const mend_part *parts; /**< the turn as it came, calls among them */
  size_t part_count;
  mend_finish finish;
  mend_str finish_reason; /**< the provider's own word */
  mend_usage usage;
  mend_str model;          /**< that answered, as the provider calls it */
  mend_str target;         /**< "provider:model" of the chain's target that answered */
  mend_str raw;            /**< the provider's reply: a JSON document, or of a stream a JSON array of its events */
  const double *log_probs; /**< of the tokens, natural logarithms; NULL: not told */
  size_t log_prob_count;
  mend_str attempts; /**< JSON array, one object an attempt: target, class, action, http_status, error, ms */
  double duration_ms;
  double first_content_ms;            /**< NaN: there was none */
  void *memory;                       /**< private */
  const struct mend_failure *failure; /**< after mend_model_ask has failed: why there is no reply; NULL: there is one */
};
#define MEND_REPLY_INIT                                                                                                \
  {                                                                                                                    \
    sizeof(mend_reply), MEND_ABSENT, MEND_ABSENT, NULL, 0, MEND_FINISH_UNKNOWN, MEND_ABSENT,                           \
        {MEND_NONE, MEND_NONE, MEND_NONE, MEND_NONE}, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, NULL, 0, MEND_ABSENT, 0,  \
        MEND_NAN, NULL, NULL                                                                                           \
  }
/** NULL is allowed. */
MEND_API void mend_reply_clear(mend_reply *reply);

/** Why there is no reply. Borrowed where it is given. */
typedef struct mend_failure {
  size_t size;
  mend_str type;        /**< the row of the classification table: "rate_limit", "overloaded", "auth", ... */
  mend_str message;     /**< a sentence; keys are covered in it */
  uint32_t http_status; /**< 0: none */
  mend_str body;        /**< what the provider said, cut to 64 KiB; absent: nothing */
  double retry_after_s; /**< NaN: not told */
  bool after_content;   /**< content had come already: a part of the reply was given out */
  mend_usage usage;     /**< of what did come */
  mend_str attempts;    /**< as of a reply */
} mend_failure;
#define MEND_FAILURE_INIT                                                                                              \
  {                                                                                                                    \
    sizeof(mend_failure), MEND_ABSENT, MEND_ABSENT, 0, MEND_ABSENT, MEND_NAN, false,                                   \
        {MEND_NONE, MEND_NONE, MEND_NONE, MEND_NONE}, MEND_ABSENT                                                      \
  }

/* ---- Asking ------------------------------------------------------------------------------------------------ */

/** A piece of a reply. Borrowed. */
typedef struct mend_delta {
  size_t size;
  mend_part_kind kind; /**< TEXT, THINKING, CALL */
  uint32_t index;      /**< of CALL: which one of the reply, from 0 */
  mend_str call_id;    /**< of CALL: with its first piece */
  mend_str name;       /**< of CALL: with its first piece */
  mend_str text;       /**< the piece; of CALL of its arguments; absent: only what else is here */
  mend_str provider;   /**< of THINKING and with `signature`: whose it is; absent: nobody's */
  /** Whole, of the part that the pieces of this kind (CALL: of this index) make: it ends that part, or is a part by
   * itself when there is none open. */
  mend_str signature;
} mend_delta;
#define MEND_DELTA_INIT                                                                                                \
  { sizeof(mend_delta), MEND_PART_TEXT, 0, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT }

/** How a request tells what happens: on the loop's thread, one after the other. Absent members are not told. */
typedef struct mend_model_listener {
  size_t size;
  void (*delta)(void *ctx, const mend_delta *delta);
  /** Once, the last, whatever happens: either reply or failure is not NULL. Borrowed; mend_reply_move takes a reply.
   * status: MEND_OK; MEND_EFAILED; MEND_ECANCELLED; MEND_ENOMEM. */
  void (*done)(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure);
  void *ctx;
} mend_model_listener;
/** Clears `to` and gives it what `from` has, which is empty then. */
MEND_API void mend_reply_move(mend_reply *to, mend_reply *from);

typedef struct mend_model mend_model;
/** A request under way. Reference-counted. */
typedef struct mend_exchange mend_exchange;

/** Begins a request. \param listener  copied; NULL: nobody is told
 * \param ret_exchange  to cancel it with, the caller's to release, there before anything is told; NULL: it is never
 * cancelled. Errors, after which the listener is not told anything: MEND_EINVAL with a sentence, MEND_ENOMEM. */
MEND_API mend_status mend_model_send(mend_model *model, const mend_model_request *request,
                                     const mend_model_listener *listener, mend_exchange **ret_exchange,
                                     mend_error *error);
/** Ends it at once: the connection is closed, `done` is told MEND_ECANCELLED unless it was told already: on the
 * loop's thread before this returns, from any other one soon after. It may have been answered meanwhile. */
MEND_API void mend_exchange_cancel(mend_exchange *exchange);
MEND_API mend_exchange *mend_exchange_retain(mend_exchange *exchange);
/** NULL is allowed. It goes on without. May be the last one of its model, and waits then as mend_model_release. */
MEND_API void mend_exchange_release(mend_exchange *exchange);
/** Asks and waits, in a caller's base for whoever dispatches it. \param ret_reply  starts from MEND_REPLY_INIT,
 * cleared by the caller in any case. Errors: those of mend_model_send; MEND_EDEADLK on the loop's own thread;
 * MEND_EFAILED, MEND_ENOMEM with a sentence, type, status, wait and attempts in ret_reply->failure. */
MEND_API mend_status mend_model_ask(mend_model *model, const mend_model_request *request, mend_reply *ret_reply,
                                    mend_error *error);

MEND_API mend_model *mend_model_retain(mend_model *model);
/** NULL is allowed. Requests under way go on. The last one waits, on other threads than the loop's, until the loop's
 * thread has destroyed the model: do not hold a lock that a listener may take. */
MEND_API void mend_model_release(mend_model *model);
MEND_API mend_str mend_model_name(const mend_model *model);     /**< "gpt-4.1", "fallback(a,b)" */
MEND_API mend_str mend_model_provider(const mend_model *model); /**< "openai", "fallback" */

/* ---- What is known of models ------------------------------------------------------------------------------- */

/** What the caller knows of a model. Prices change, so mend has none of its own. */
typedef struct mend_model_facts {
  size_t size;
  uint64_t context_tokens;          /**< its context window; 0: not known */
  double input_usd_per_mtok;        /**< US dollars for a million tokens; NaN: not known */
  double output_usd_per_mtok;       /**< reasoning is among them */
  double cached_input_usd_per_mtok; /**< of input that was read from a cache; NaN: as other input */
} mend_model_facts;
#define MEND_MODEL_FACTS_INIT                                                                                          \
  { sizeof(mend_model_facts), 0, MEND_NAN, MEND_NAN, MEND_NAN }

/** Facts by model. It does not change, so any threads may ask it at once. */
typedef struct mend_model_table mend_model_table;
/**
 * \param json  an object of facts, each by the name of its model, with the members of mend_model_facts:
 *   {"gpt-4.1*": {"input_usd_per_mtok": 2, "output_usd_per_mtok": 8, "cached_input_usd_per_mtok": 0.5},
 *    "compatible:llama-4": {"context_tokens": 131072}}
 * A name is "provider:id" or only the id, with or without the vendor that routers put before it ("vendor/id"); a star
 * stands for any characters. Errors, with line and column: MEND_ESYNTAX, MEND_EINVAL; MEND_ENOMEM.
 */
MEND_API mend_status mend_model_table_new(mend_str json, const mend_allocator *allocator, mend_model_table **ret_table,
                                          mend_error *error);
/** NULL is allowed. */
MEND_API void mend_model_table_release(mend_model_table *table);
/** Of the names that fit the longest counts. \param model  "provider:id" or an id \param ret_facts  set size before the
 * call. MEND_ENOENT when none fits. */
MEND_API mend_status mend_model_table_find(const mend_model_table *table, mend_str model, mend_model_facts *ret_facts);
/** What tokens cost, in US dollars. NaN when they are not told, or there is no price for some of them. */
MEND_API double mend_model_cost_usd(const mend_model_facts *facts, const mend_usage *usage);

/* ---- Implementing one -------------------------------------------------------------------------------------- */

/* All on the loop's thread. An exchange is the model's to use until it has answered, or `cancel` was called. */

/** What is asked; valid as long as the exchange. */
MEND_API const mend_model_request *mend_exchange_request(const mend_exchange *exchange);
/** What the model keeps for it, found again in `cancel`; NULL at first. */
MEND_API void mend_exchange_keep(mend_exchange *exchange, void *own);
MEND_API void *mend_exchange_kept(const mend_exchange *exchange);
/** The connection stands: the connect clock stops. */
MEND_API void mend_exchange_connected(mend_exchange *exchange);
/** A piece. One that says nothing (no text, no call, no signature) is left out. Ignored once it was answered or
 * cancelled. */
MEND_API void mend_exchange_delta(mend_exchange *exchange, const mend_delta *delta);
/** Something is known of the reply that is no piece of it. Collected into the reply: a model, target, finish,
 * finish_reason, count of tokens and attempts take the place of those told before; raw and log_probs are added to
 * them. Absent members say nothing. Errors: MEND_ENOMEM (the exchange then fails). */
MEND_API mend_status mend_exchange_note(mend_exchange *exchange, const mend_reply *partial);
/** The reply is complete: what deltas and notes gave. Answered once; later answers are ignored. */
MEND_API void mend_exchange_finish(mend_exchange *exchange);
/** It has failed. after_content is found out, usage and attempts taken from the notes where they are not given. */
MEND_API void mend_exchange_fail(mend_exchange *exchange, const mend_failure *failure);

typedef struct mend_model_vtable {
  size_t size;
  /** Begins to answer; on the loop's thread, as everything here. Required. An error fails the exchange with its
   * sentence. What is wrong with a request whoever is asked was refused before; MEND_EINVAL and MEND_ENOTSUP say that
   * this model cannot be asked it, and a chain asks another. */
  mend_status (*begin)(void *ctx, mend_exchange *exchange, mend_error *error);
  /** Nothing more is wanted: it was cancelled, or one of its clocks has run out. Not called inside a function of the
   * model's (when its delta made somebody cancel, say): then soon after, unless it has answered by then. NULL:
   * nothing to do. */
  void (*cancel)(void *ctx, mend_exchange *exchange);
  void (*destroy)(void *ctx); /**< may be NULL */
} mend_model_vtable;
struct mend_loop;
/** \param loop  referenced; everything happens there. \param allocator  NULL: malloc. Errors: MEND_EINVAL,
 * MEND_ENOMEM; destroy is then not called. */
MEND_API mend_status mend_model_new(struct mend_loop *loop, const mend_allocator *allocator,
                                    const mend_model_vtable *vtable, void *ctx, const char *provider, const char *name,
                                    mend_model **ret_model, mend_error *error);

#ifdef __cplusplus
}
#endif
#endif

/* Private to fallback/: a chain of models. docs/internals/chain.md tells how it works.
 *
 * A target is a model of the chain, a lane is a target with one of its provider's keys: what a request is sent through.
 * Lanes share breakers, each by what it has in common with others: its provider at one address, its model there, its
 * key there, or nothing (key and model). A walk is one request on its way through the chain: chain_walk.c has what
 * happens, chain_decide.c what is done about a failure, chain_targets.c who is asked next, chain_end.c what the caller
 * is told. */
#ifndef MEND_FALLBACK_CHAIN_INTERNAL_H
#define MEND_FALLBACK_CHAIN_INTERNAL_H

#include "core/buffer.h"
#include "fallback/breaker.h"
#include "fallback/fallback_internal.h"
#include "fallback/tables.h"

#include <pthread.h>

typedef enum mend__scope {
  MEND__SCOPE_PROVIDER,
  MEND__SCOPE_MODEL,
  MEND__SCOPE_KEY,
  MEND__SCOPE_KEY_AND_MODEL,
  MEND__SCOPES
} mend__scope;

typedef struct mend__target {
  mend_str name;          /* provider:model_id */
  mend_model_facts facts; /* with the window of the built-in table, where they have none */
  size_t first_lane, lane_count;
  uint64_t requests, failures;
} mend__target;

typedef struct mend__lane {
  mend_model *model;
  size_t target;
  size_t key; /* as of its link */
  mend__breaker *breakers[MEND__SCOPES];
} mend__lane;

typedef struct mend__chain {
  const mend_allocator *allocator;
  mend_loop *loop; /* borrowed: its model has a reference */
  mend_classification *table;
  mend_fallback_profile profile;
  mend_log_fn log;
  void *log_ctx;
  void (*judge)(void *ctx, const mend_failure_signal *signal, mend_failure_class *row);
  void *judge_ctx;
  mend__target *targets;
  size_t target_count;
  mend__lane *lanes;
  size_t lane_count;
  mend__breaker *breakers;
  mend__buffer names;    /* of the targets */
  mend__buffer left_out; /* JSON array */

  pthread_mutex_t lock; /* covers what is below, the breakers and the targets' counters */
  size_t current;       /* seed: where new requests begin; target_count: every target has failed */
  uint64_t age;         /* seed: grows with each change of `current` */
  uint64_t random;
} mend__chain;

/* ---- chain.c ---- */

/* A model of a chain to be. */
typedef struct mend__link {
  mend_model *model; /* referenced by the chain */
  size_t key;        /* links of one server with the same number share their key */
  bool is_next_key;  /* the model before, with another key */
} mend__link;
/* References the rows; takes over `left_out` (a JSON array) when it succeeds. */
mend_status mend__chain_new(const mend__link *links, size_t count, const mend_fallback_options *options,
                            const mend__tables *tables, mend__buffer *left_out, mend_model **ret_model,
                            mend_error *error);
/* NULL of a model that is none. */
mend__chain *mend__chain_of(const mend_model *model);

/* ---- chain_windows.c ---- */

/* Tokens of context of a model by its id, 0 when it is not known. */
uint64_t mend__window_of(mend_str model_id);

/* ---- chain_targets.c: any thread ---- */

/* A request's way through a lane, until its verdict. */
typedef struct mend__entry {
  size_t lane;
  mend__pass passes[MEND__SCOPES];
  uint64_t age; /* seed: of the chain when it was let in */
} mend__entry;

/* What a request has behind it. */
typedef struct mend__search {
  const bool *tried;     /* a lane each; NULL: none */
  bool is_first;         /* nothing was tried yet */
  uint64_t above_window; /* only targets with a larger window; 0: any */
  size_t last_choice;    /* a target that is asked with another key only when no other works; target_count: none */
  size_t from;           /* seed: the target after the one that failed */
} mend__search;

/* Lets a request in where it is to go. False: there is nobody left to ask. */
bool mend__chain_enter(mend__chain *chain, const mend__search *search, mend__entry *ret_entry);
/* The same lane once more. */
void mend__chain_reenter(mend__chain *chain, mend__entry *entry);
/* Whether somebody else could be asked right now. */
bool mend__chain_has_other(mend__chain *chain, const mend__search *search);
/* Verdicts. What it tells is whether the target works again that did not; whether it has stopped working now. */
bool mend__chain_succeed(mend__chain *chain, const mend__entry *entry);
bool mend__chain_fail(mend__chain *chain, const mend__entry *entry, const mend_failure_class *class,
                      double retry_after_s);
void mend__chain_leave(mend__chain *chain, const mend__entry *entry);
/* Seed: it is this target's fault, so new requests begin after it, unless they do already. */
void mend__chain_advance(mend__chain *chain, const mend__entry *entry);
/* How the target stands. */
void mend__chain_state(mend__chain *chain, size_t target, mend_target_state *ret_state);

/* ---- chain_ledger.c: what was tried, for reply and failure ---- */

typedef struct mend__ledger {
  mend__buffer json;  /* array without its closing bracket */
  mend__buffer words; /* "openai:gpt-4.1: overloaded, ..." of those that failed */
  size_t count;
} mend__ledger;

/* One attempt; failure is NULL when it succeeded. */
typedef struct mend__attempt_end {
  mend_str target;
  const char *class;
  mend_failure_action action;
  const mend_failure *failure;
  double ms;
} mend__attempt_end;
void mend__ledger_init(mend__ledger *ledger, const mend_allocator *allocator);
void mend__ledger_free(mend__ledger *ledger);
void mend__ledger_add(mend__ledger *ledger, const mend__attempt_end *end);
/* A JSON array, valid until the next call. Absent without memory. */
mend_str mend__ledger_text(mend__ledger *ledger);
mend_str mend__ledger_words(const mend__ledger *ledger);

/* ---- chain_repair.c ---- */

typedef enum mend__parameter {
  MEND__PARAMETER_TEMPERATURE = 1,
  MEND__PARAMETER_TOP_P = 2,
  MEND__PARAMETER_MAX_TOKENS = 4,
  MEND__PARAMETER_STOP = 8
} mend__parameter;
/* The parameters, of those the request has, which the provider's words name; 0: none. */
unsigned mend__parameters_named(const mend_model_request *request, mend_str words);
void mend__parameters_drop(mend_model_request *request, unsigned parameters);

/* ---- chain_events.c: on the request's run, where there is one ---- */

void mend__publish_retry(const mend_exchange *exchange, mend_str target, const char *class, uint64_t attempt,
                         double delay_ms);
void mend__publish_fallback(const mend_exchange *exchange, mend_str from, mend_str to, const char *class,
                            mend_str message);
void mend__publish_exhausted(const mend_exchange *exchange, const mend__chain *chain, const bool *tried,
                             const char *class, mend_str message);
void mend__publish_recovered(const mend_exchange *exchange, mend_str target);

/* ---- A walk: one request on its way ---- */

/* All of it is on the loop's thread. It ends when it has answered its exchange, or when that was cancelled. */
typedef struct mend__walk {
  mend__chain *chain;
  mend_exchange *outer; /* the caller's */
  mend_exchange *inner; /* the attempt under way; NULL: none */
  mend__entry entry;
  bool *tried;         /* a lane each */
  uint64_t attempt_ns; /* when the last one began */
  bool is_committed;   /* content has been handed on */
  bool is_stopped;     /* nobody wants an answer any more */
  bool is_left;        /* it is freed when its attempt has ended */
  bool has_retried;    /* this lane */
  bool has_repaired;   /* this target */
  bool has_waited;
  bool only_keys_failed;
  unsigned dropped; /* parameters that this target is not sent */
  uint64_t above_window;
  mend_timer *wait;
  mend__ledger ledger;
} mend__walk;

static inline bool mend__walk_is_resilient(const mend__walk *walk) {
  return walk->chain->profile == MEND_FALLBACK_RESILIENT;
}

static inline const mend__target *mend__walk_target(const mend__walk *walk) {
  return &walk->chain->targets[walk->chain->lanes[walk->entry.lane].target];
}

static inline double mend__walk_attempt_ms(const mend__walk *walk) {
  return (double)(mend__exchange_now_ns(walk->outer) - walk->attempt_ns) / 1e6;
}

/* What became of an attempt that failed. It does not move: its failure's sentence may be in it. */
typedef struct mend__ending {
  mend_failure failure; /* called as its row is */
  const mend_failure_signal *signal;
  mend_failure_class class;
  mend_reply *reply; /* well-formed, but empty: the answer when there is nobody else to ask; NULL: there is none */
  char instead[MEND__INSTEAD_MAX];
} mend__ending;

/* ---- chain_walk.c: sends it on its way, hears what comes of it, and moves on ---- */

mend_status mend__chain_begin(void *ctx, mend_exchange *exchange, mend_error *error);
void mend__chain_cancel(void *ctx, mend_exchange *exchange);

/* ---- chain_decide.c: what to do about an attempt that failed ---- */

/* What happens next. */
typedef enum mend__move {
  MEND__MOVE_END,   /* it is the caller's to see */
  MEND__MOVE_AGAIN, /* the same lane */
  MEND__MOVE_WAIT,  /* the same lane when the wait it asked for is over */
  MEND__MOVE_ON     /* another lane */
} mend__move;

/* Which row it is. */
void mend__walk_classify(const mend__walk *walk, const mend_failure *failure, const mend_failure_signal *signal,
                         mend_reply *reply, mend__ending *ret_ending);
/* Decides, and tells the ledger and the breakers, whoever subscribes to that, too. */
mend__move mend__walk_decide(mend__walk *walk, const mend__ending *ending);
/* Of one that nobody wants any more. */
void mend__walk_note_cancelled(mend__walk *walk, const mend_failure *failure, const mend_failure_signal *signal);
/* After MOVE_ON: enters another lane. False: there is nobody left to ask. */
bool mend__walk_enter_next(mend__walk *walk, const mend__ending *ending);

/* ---- chain_end.c: all of them answer the exchange, and free the walk ---- */

void mend__walk_free(mend__walk *walk);
void mend__walk_succeed(mend__walk *walk, mend_reply *reply);
/* The caller is told what the attempt said; or, when nobody is left to ask, what all of them did. */
void mend__walk_propagate(mend__walk *walk, mend__ending *ending);
void mend__walk_exhaust(mend__walk *walk, mend__ending *ending);
void mend__walk_run_out_of_memory(mend__walk *walk);

#endif

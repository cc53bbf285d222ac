/* Private to fallback/: what is inside of models, requests, replies and exchanges, for those who make models here
 * (providers, scripted models, chains). How they fit together is in docs/internals/exchanges.md. */
#ifndef MEND_FALLBACK_INTERNAL_H
#define MEND_FALLBACK_INTERNAL_H

#include "core/buffer.h"
#include "fallback/budget.h"
#include "loop/room.h"
#include "mend/fallback.h"

#include <stdatomic.h>

/* ---- request.c: what was asked, checked and copied ---- */

typedef struct mend__request {
  const mend_allocator *allocator;
  atomic_size_t references;
  mend_model_request given; /* its texts, tools and messages are copies, run is a reference */
  uint64_t call;            /* in events, where the request has no name for it */
  mend_messages *messages;
  mend_tool_spec *tools;
  char *texts;
} mend__request;

mend_status mend__request_new(const mend_model_request *given, const mend_allocator *allocator,
                              mend__request **ret_request, mend_error *error);
mend__request *mend__request_retain(mend__request *request);
void mend__request_release(mend__request *request);

/* ---- draft.c: a reply as it comes together. Out of memory shows in what is returned and in `failed` ---- */

typedef struct mend__draft_part {
  mend_part_kind kind;
  size_t start, len; /* TEXT, THINKING: in the draft's text or thinking */
  uint32_t index;    /* CALL */
  bool is_signed;    /* nothing is added to it */
  mend__buffer call_id, name, args, provider, signature;
} mend__draft_part;

/* Where in a draft its calls are. */
typedef struct mend__draft_calls {
  bool any;
  size_t first, last; /* that was added; that a piece was added to */
  uint32_t highest;   /* index of any */
} mend__draft_calls;

typedef struct mend__draft {
  const mend_allocator *allocator;
  const mend_messages *messages;
  uint64_t next_id; /* for a call that comes without one; 0: not known yet */
  mend__draft_part *drafts;
  size_t count, capacity;
  mend__draft_calls calls;
  mend__buffer text, thinking, raw, log_probs;
  mend__buffer finish_reason, model, target, attempts;
  mend_finish finish;
  mend_usage usage;
  mend_part *parts;     /* of the finished reply */
  void *texts;          /* that were set in it afterwards */
  mend_failure failure; /* why the reply is none; its texts are among those */
} mend__draft;

/* messages: what it answers; borrowed while pieces are added. */
mend__draft *mend__draft_new(const mend_messages *messages, const mend_allocator *allocator);
void mend__draft_free(mend__draft *draft);
/* Adds a piece. A call's first piece gets an id, where it has none, in *delta too; a delta that says nothing is left
 * out: *ret_is_content is false then. MEND_ENOMEM. */
mend_status mend__draft_add(mend__draft *draft, mend_delta *delta, bool *ret_is_content);
/* What mend_exchange_note says. */
mend_status mend__draft_note(mend__draft *draft, const mend_reply *partial);
/* Puts stars over something in its raw reply, where that has come so far. */
void mend__draft_cover_raw(mend__draft *draft, size_t at, size_t len);
/* Gives what has come as a reply, which owns the draft from then on. MEND_ENOMEM leaves the draft as it was. */
mend_status mend__draft_finish(mend__draft *draft, mend_reply *ret_reply);
/* Sets a text of a finished reply (attempts, target, ...). MEND_EINVAL for a reply that owns nothing. */
mend_status mend__reply_set(mend_reply *reply, mend_str *member, mend_str text);

/* ---- model.c ---- */

typedef enum mend__model_sort {
  MEND__MODEL_ANSWERS = 0, /* it gives deltas and notes, of which its exchange makes a reply; it has all four clocks */
  MEND__MODEL_FORWARDS     /* it asks others (mend__attempt_send) and hands their deltas and replies on; of
                              the clocks only the total one is its own, and it publishes nothing: its attempts do */
} mend__model_sort;

struct mend_model {
  const mend_allocator *allocator;
  mend_loop *loop;
  atomic_size_t references;
  mend__model_sort sort;
  mend_model_vtable vtable;
  void *ctx;
  mend_str provider, name;
  mend_model_facts facts;     /* the caller's */
  mend_classification *table; /* what failures without a type are called by; NULL: by their signal */
};

/* As mend_model_new. */
mend_status mend__model_new(mend_loop *loop, const mend_allocator *allocator, mend__model_sort sort,
                            const mend_model_vtable *vtable, void *ctx, const char *provider, const char *name,
                            mend_model **ret_model, mend_error *error);
/* Before its first request. References the table, which may be NULL. */
void mend__model_classify_by(mend_model *model, mend_classification *table);
/* The context of a model that has this `begin`, NULL of any other. */
void *mend__model_ctx(const mend_model *model,
                      mend_status (*begin)(void *ctx, mend_exchange *exchange, mend_error *error));

/* ---- classification.c ---- */

mend_classification *mend__classification_retain(mend_classification *table);

/* ---- clocks.c ---- */

/* One timer for all: it is set when one of the clocks becomes due earlier than it is set to, which is at most twice
 * a request, and when it comes and nothing is due yet. Contents only leave their time. */
typedef struct mend__clocks {
  mend_timer *timer;
  uint64_t set_to_ns;
  uint64_t connect_ns, first_content_ns, idle_ns, total_ns; /* limits; MEND_NEVER: none */
  uint64_t begun_ns;
  uint64_t content_ns; /* the last; MEND_NEVER: none yet */
  bool connected;
} mend__clocks;

/* Makes the timer, which is not set yet. */
mend_status mend__clocks_init(mend__clocks *clocks, mend_loop *loop, void (*ring)(void *ctx), void *ctx);
void mend__clocks_free(mend__clocks *clocks);
void mend__clocks_start(mend__clocks *clocks, const mend_model_clocks *limits, uint64_t now_ns);
void mend__clocks_content(mend__clocks *clocks, uint64_t now_ns);
/* For `ring`: which one had run out at judged_ns: "connect_timeout", "first_content_timeout", "idle_timeout",
 * "total_timeout"; NULL: none, and the timer is set anew. */
const char *mend__clocks_check(mend__clocks *clocks, uint64_t judged_ns, uint64_t now_ns);

/* ---- exchange.c, exchange_end.c ---- */

/* How a request inside the room tells what happens; as mend_model_listener, and: */
typedef struct mend__listener {
  void (*connected)(void *ctx); /* mend_exchange_connected was called */
  void (*delta)(void *ctx, const mend_delta *delta);
  void (*done)(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure,
               const mend_failure_signal *signal); /* signal: with a failure; what classification goes by */
  void (*gone)(void *ctx); /* after done, the very last: the loop's thread is through with the exchange */
  void *ctx;
} mend__listener;

typedef enum mend__exchange_state {
  MEND__EXCHANGE_NEW,
  MEND__EXCHANGE_OPEN,
  MEND__EXCHANGE_ENDED
} mend__exchange_state;

struct mend_exchange {
  const mend_allocator *allocator;
  atomic_size_t references; /* one is the loop's, from when it is sent until after its end */
  mend_model *model;
  mend__request *request;
  mend_model_request asked; /* request->given, or what a chain has made of it for this attempt */
  uint32_t attempt;
  mend_model_listener told; /* a user's, behind `listener` */
  mend__listener listener;
  mend__posted begin, cancel, let_go;
  atomic_bool cancel_is_posted;

  /* Only on the loop's thread. */
  mend__exchange_state state;
  bool has_begun;   /* it was published and the model has heard of it */
  unsigned inside;  /* functions of the model's, and of this exchange called by it, that are under way */
  bool owes_cancel; /* it was ended inside of one: vtable.cancel is called by let_go, unless the model answers first */
  mend__clocks clocks;
  mend__budget budget;
  double first_content_ms;
  mend__draft *draft;
  void *kept; /* by the model */
};

/* Takes over the request, also when it fails. MEND_ENOMEM. */
mend_status mend__exchange_new(mend_model *model, mend__request *request, mend_exchange **ret_exchange);
/* Posts its beginning; cannot fail. \param ret_exchange  a reference; NULL: none is wanted */
void mend__exchange_begin(mend_exchange *exchange, mend_exchange **ret_exchange);

/* ---- send.c ---- */

/* As mend_model_send, for a listener inside the room. */
mend_status mend__exchange_send(mend_model *model, const mend_model_request *request, const mend__listener *listener,
                                mend_exchange **ret_exchange, mend_error *error);

/* One attempt of a chain at a request: another exchange with the same call, on the same loop. */
typedef struct mend__attempt {
  const mend_exchange *of;
  mend_model_request asked; /* of->asked, with the attempt's own settings and limits */
  uint32_t number;          /* from 1, in model.request */
  mend__listener listener;
} mend__attempt;
/* On the loop's thread; nothing is told inside this call. The caller releases *ret_exchange. MEND_ENOMEM. */
mend_status mend__attempt_send(mend_model *model, const mend__attempt *attempt, mend_exchange **ret_exchange);

/* ---- The same, for models ---- */

/* Of a model that forwards: hands a piece on that another exchange's draft has. The last thing it does with it: whoever
 * is told may cancel, and vtable.cancel is then called inside of this call. */
void mend__exchange_forward(mend_exchange *exchange, const mend_delta *delta);
/* The same for a whole reply, which is moved from. */
void mend__exchange_finish_with(mend_exchange *exchange, mend_reply *reply);
/* As mend_exchange_fail, with what classification goes by. A failure without `type` is named after the signal. Its end
 * is MEND_ENOMEM when that says "no_memory". */
void mend__exchange_fail_by(mend_exchange *exchange, const mend_failure *failure, const mend_failure_signal *signal);
/* As mend_exchange_fail, of a model that has no memory. */
void mend__exchange_fail_of_memory(mend_exchange *exchange);
/* Puts stars over something in the raw reply that was noted. */
void mend__exchange_cover_raw(mend_exchange *exchange, size_t at, size_t len);
/* An error has come in place of a reply, and is told soon: the first content is not waited for any more. */
void mend__exchange_refused(mend_exchange *exchange);
/* Whether content has come. */
bool mend__exchange_has_content(const mend_exchange *exchange);
uint64_t mend__exchange_now_ns(const mend_exchange *exchange);
/* Since it has begun. */
double mend__exchange_ms(const mend_exchange *exchange);

/* ---- failure.c ---- */

/* Room for a sentence in place of one that says what nobody is to see. */
enum { MEND__INSTEAD_MAX = 96 };
/* Takes away what the provider said, and what was made of it. `row`: what the failure is called. */
void mend__failure_hide(mend_failure *failure, const char *row, char instead[MEND__INSTEAD_MAX]);
/* Fills in what a failure leaves out and the signal or the table tells: type and message; hides it when the table says
 * so. The table may be NULL. */
void mend__failure_complete(mend_failure *failure, const mend_failure_signal *signal, const mend_classification *table,
                            char instead[MEND__INSTEAD_MAX]);

/* ---- model_events.c: on the request's run, where there is one ---- */

/* As one of the request's call. */
void mend__exchange_publish(const mend_exchange *exchange, mend_event *event);
void mend__exchange_publish_request(const mend_exchange *exchange);
void mend__exchange_publish_delta(const mend_exchange *exchange, const mend_delta *delta);
void mend__exchange_publish_usage(const mend_exchange *exchange, const mend_usage *usage);
void mend__exchange_publish_response(const mend_exchange *exchange, const mend_reply *reply);
void mend__exchange_publish_error(const mend_exchange *exchange, const mend_failure *failure);

#endif

/* Private to fallback/: what tells the providers' dialects apart. A dialect writes requests and reads replies;
 * provider.c does the rest: connections, clocks, keys, signals. A dialect knows no HTTP client and can be tested
 * with texts alone. docs/internals/dialects.md says what each maps to what. */
#ifndef MEND_FALLBACK_DIALECT_H
#define MEND_FALLBACK_DIALECT_H

#include "core/buffer.h"
#include "fallback/veil.h"
#include "mend/fallback.h"

/* ---- What is sent (wire.c) ---- */

typedef struct mend__wire_header {
  const char *name;
  mend__buffer value;
} mend__wire_header;

#define MEND__WIRE_HEADERS 4
/* Init, written by a dialect, free. */
typedef struct mend__wire {
  mend__buffer path;                             /* behind the base URL: "/chat/completions" */
  mend__buffer body;                             /* JSON */
  mend__wire_header headers[MEND__WIRE_HEADERS]; /* content-type is not among them */
  size_t header_count;
} mend__wire;
void mend__wire_init(mend__wire *wire, const mend_allocator *allocator);
/* Wipes the headers: one of them has the key. */
void mend__wire_free(mend__wire *wire);
/* Puts before + value there. Out of memory shows in the header's buffer, and so in mend__wire_finish. */
void mend__wire_header_add(mend__wire *wire, const char *name, const char *before, const char *value);
/* The last step of writing: puts `extra`, which is well-formed or absent, over the body (RFC 7396: objects merge, null
 * takes a member away; what the body has not is added as it is). MEND_EINVAL, MEND_ENOMEM. */
mend_status mend__wire_finish(mend__wire *wire, mend_str extra, mend_error *error);

/* ---- What comes back (decoder.c, decoder_series.c, decoder_calls.c) ---- */

typedef enum mend__reading {
  MEND__READING_MORE,      /* go on */
  MEND__READING_COMPLETE,  /* the provider said that the reply has ended */
  MEND__READING_ERROR,     /* the provider told an error (an error object with status 200, an error event) */
  MEND__READING_MALFORMED, /* nothing this dialect could say */
  MEND__READING_NO_MEMORY
} mend__reading;

/* Whom a decoder tells. */
typedef struct mend__decoder_listener {
  void (*delta)(void *ctx, const mend_delta *delta);
  void (*note)(void *ctx, const mend_reply *partial); /* as of mend_exchange_note; `raw` and `log_probs` in pieces */
  void (*cover)(void *ctx, size_t at, size_t len);    /* that much of all `raw` was a key: put stars over it */
  void *ctx;
} mend__decoder_listener;

/* A text that is told in pieces. */
typedef struct mend__series {
  mend__veil veil;
  mend__buffer sources; /* where in `raw` its last pieces are, while they may be pieces of a key */
} mend__series;

/* In a reply: with more it is MALFORMED. A part takes far more memory than a server has to send for it. */
#define MEND__DECODER_CALLS_MAX 1024
#define MEND__DECODER_PARTS_MAX 16384 /* of text and reasoning */
/* A tool call as far as it has come. */
typedef struct mend__decoder_call {
  int64_t place;               /* what the provider counts it as; -1: it does not */
  mend__buffer id, name, held; /* held: arguments that came before the name */
  mend__series args;
  bool told;      /* its first piece was */
  uint32_t index; /* what it is told as */
  bool any_args;
  bool complete; /* its arguments came whole: pieces repeat them */
} mend__decoder_call;

/* Reads one reply, as a stream's events or whole. */
typedef struct mend__decoder {
  const struct mend__dialect *dialect;
  const mend_allocator *allocator;
  const mend__secrets *secrets; /* that are covered in all that is told; NULL: none */
  mend__decoder_listener listener;
  mend_finish finish; /* how the provider said it ended */
  bool any_content;   /* text, reasoning or a call has come */
  bool any_answer;    /* text or a call */
  bool any_thought;   /* reasoning, or a signature of it */
  bool has_finish;    /* the provider said why it ended */
  bool has_model;     /* which model answers is told */
  bool refused;       /* what came as text is a refusal */
  bool any_raw;       /* of a stream */
  bool no_memory, too_many_calls, too_many_parts;
  mend_part_kind part_kind; /* of the last part that has begun */
  bool part_is_open;        /* it is not signed */
  uint32_t part_count;
  mend__buffer fault;    /* after ERROR: the JSON the provider told it with; after MALFORMED: what it was, cut */
  mend__buffer text;     /* scratch: the piece as it came */
  mend__buffer told;     /* scratch: the piece that is told, when that is another */
  mend__buffer repaired; /* scratch: an event that was not UTF-8 */
  mend__buffer covered;  /* scratch: what is whole, without keys */
  mend__series texts, thoughts;
  mend_str event;           /* that is read */
  size_t event_at, raw_len; /* where it is in `raw`, and how long that is by now */
  mend__decoder_call *calls;
  size_t call_count, call_capacity;
  uint32_t told_count; /* of calls */
  uint64_t next_id;    /* the number of the next call that comes without an id (call_id.h) */
} mend__decoder;

/* secrets: borrowed, may be NULL. */
void mend__decoder_init(mend__decoder *decoder, const struct mend__dialect *dialect, const mend_messages *messages,
                        const mend__secrets *secrets, const mend_allocator *allocator,
                        const mend__decoder_listener *listener);
void mend__decoder_free(mend__decoder *decoder);
/* An event of a stream; name is "message" when it has none. */
mend__reading mend__decoder_event(mend__decoder *decoder, mend_str name, mend_str data);
/* A reply that is no stream. */
mend__reading mend__decoder_whole(mend__decoder *decoder, mend_str body);
/* After COMPLETE, or at a stream's end: closes what is open. COMPLETE when the provider said why the reply ended,
 * else MORE: it was cut off. Or NO_MEMORY. */
mend__reading mend__decoder_end(mend__decoder *decoder);

/* ---- For dialects: telling what was read. Values are JSON as it came; what is of another type says nothing ---- */

/* `kind` is TEXT or THINKING; `value` a string. */
void mend__decoder_piece(mend__decoder *decoder, mend_part_kind kind, mend_str value);
/* Tells what is held back of text and reasoning. */
void mend__decoder_flush(mend__decoder *decoder);
/* The signature of the part that the last pieces of this kind made, as text. */
void mend__decoder_sign(mend__decoder *decoder, mend_part_kind kind, mend_str signature);
/* A refusal is told as text, and the reply is FILTERed however it ends. */
void mend__decoder_refusal(mend__decoder *decoder, mend_str value);
/* Which call a piece belongs to, opened when it is a new one. What servers leave out or get wrong (no id, no place,
 * one place for several calls) is made good. NULL: no memory, or too many. */
mend__decoder_call *mend__decoder_call_at(mend__decoder *decoder, int64_t place, mend_str id, mend_str name);
/* A piece of its arguments, a string. */
void mend__decoder_call_piece(mend__decoder *decoder, mend__decoder_call *call, mend_str value);
/* All of them, JSON; nothing when pieces have come. */
void mend__decoder_call_args(mend__decoder *decoder, mend__decoder_call *call, mend_str args);
void mend__decoder_call_sign(mend__decoder *decoder, mend__decoder_call *call, mend_str signature);
/* Why it ended. `reason`: a string, the provider's word; an empty one says nothing. Told twice, the first stands,
 * unless only a later one says that it was no plain stop. */
void mend__decoder_finish(mend__decoder *decoder, mend_finish finish, mend_str reason);
void mend__decoder_usage(mend__decoder *decoder, const mend_usage *usage);
/* Told once: the first. */
void mend__decoder_model(mend__decoder *decoder, mend_str value);
/* Log probabilities: `member` of each object in an array. */
void mend__decoder_log_probs(mend__decoder *decoder, mend_str array, const char *member);
/* For `return`: fault is `json`. */
mend__reading mend__decoder_fault(mend__decoder *decoder, mend_str json);

/* A provider's word and what it means. */
typedef struct mend__finish_word {
  const char *word;
  mend_finish finish;
} mend__finish_word;
/* UNKNOWN for a word that is not there. The table ends with NULL. */
mend_finish mend__finish_find(const mend__finish_word *words, mend_str value);

/* ---- Dialects ---- */

typedef struct mend__dialect {
  const char *provider;         /* "openai" */
  const char *base_url;         /* the provider's own; NULL: must be given */
  const char *const *variables; /* of the environment that hold a key; ends with NULL */
  bool needs_key;
  bool has_last_event; /* of a stream, close behind the one with the reason of its end; else any may have one */
  /* MEND_ENOTSUP with a sentence for what it cannot take (stop sequences where there are none): never dropped
   * silently. key may be NULL. Does not finish the wire. */
  mend_status (*write)(const mend_model_request *request, mend_str model_id, const char *key, mend__wire *wire,
                       mend_error *error);
  /* Both are given one well-formed JSON object. */
  mend__reading (*event)(mend__decoder *decoder, mend_str name, mend_str data);
  mend__reading (*whole)(mend__decoder *decoder, mend_str body);
} mend__dialect;

extern const mend__dialect mend__dialect_openai, mend__dialect_openai_responses, mend__dialect_anthropic,
    mend__dialect_google, mend__dialect_compatible;
/* NULL for a name that is none. */
const mend__dialect *mend__dialect_find(mend_str provider);
/* NULL beyond the last. */
const mend__dialect *mend__dialect_at(size_t index);
/* Writes the whole request. */
mend_status mend__dialect_write(const mend__dialect *dialect, const mend_model_request *request, mend_str model_id,
                                const char *key, mend__wire *wire, mend_error *error);

#endif

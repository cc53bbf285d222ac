/* Private to fallback/: what tells the providers' dialects apart. A dialect writes requests and reads replies; provider.c does
 * the rest: connections, clocks, keys, signals. A dialect knows no HTTP client and can be tested with texts alone. */
#ifndef MEND_FALLBACK_DIALECT_H
#define MEND_FALLBACK_DIALECT_H

#include "core/buffer.h"
#include "mend/fallback.h"

typedef struct mend__wire_header {
  const char *name;
  mend__buffer value;
} mend__wire_header;

/* What is sent: init, written by a dialect, free. */
typedef struct mend__wire {
  mend__buffer path;            /* behind the base URL: "/chat/completions" */
  mend__buffer body;            /* JSON */
  mend__wire_header headers[8]; /* content-type is not among them */
  size_t header_count;
} mend__wire;
void mend__wire_init(mend__wire *wire, const mend_allocator *allocator);
void mend__wire_free(mend__wire *wire);
/* NULL when there is no room or memory. */
mend__buffer *mend__wire_header_add(mend__wire *wire, const char *name);

typedef enum mend__reading {
  MEND__READING_MORE,     /* go on */
  MEND__READING_COMPLETE, /* the reply has ended as it should */
  MEND__READING_ERROR     /* the provider told an error (an error object with status 200, an error event): decoder->fault has it */
} mend__reading;

/* Reads one reply, as a stream's events or whole, and tells the exchange its deltas and notes. */
typedef struct mend__decoder mend__decoder;
struct mend__decoder {
  const struct mend__dialect *dialect;
  const mend_allocator *allocator;
  mend_exchange *exchange;
  bool any_content; /* text, reasoning or a call has come */
  bool has_finish;  /* the provider said why it ended */
  mend__buffer fault; /* JSON of an error the provider told */
  void *state;      /* the dialect's */
};

typedef struct mend__dialect {
  const char *provider;         /* "openai" */
  const char *base_url;         /* the provider's own; NULL: must be given */
  const char *const *variables; /* of the environment that hold a key; ends with NULL */
  bool needs_key;
  /* MEND_ENOTSUP with a sentence for what it cannot take (an image it cannot see): never dropped silently. key may be NULL. */
  mend_status (*write)(const mend_model_request *request, mend_str model_id, const char *key, mend__wire *wire,
                       mend_error *error);
  mend_status (*open)(mend__decoder *decoder);
  mend__reading (*event)(mend__decoder *decoder, mend_str name, mend_str data); /* of a stream */
  mend__reading (*whole)(mend__decoder *decoder, mend_str body);                /* a reply that is no stream */
  void (*close)(mend__decoder *decoder);
} mend__dialect;

extern const mend__dialect mend__dialect_openai, mend__dialect_openai_responses, mend__dialect_anthropic,
    mend__dialect_google, mend__dialect_compatible;

#endif

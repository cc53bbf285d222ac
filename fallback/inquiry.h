/* Between the parts of inquiry*.c: one HTTP request of a provider's model, for one exchange. inquiry.c begins and ends
 * it, inquiry_reply.c has what comes back, inquiry_failure.c how the exchange is told that it failed. */
#ifndef MEND_FALLBACK_INQUIRY_H
#define MEND_FALLBACK_INQUIRY_H

#include "fallback/provider_internal.h"
#include "http/sse.h"

/* Of an error's body no more is kept. */
#define MEND__ERROR_BODY_MAX (64 * 1024)

typedef enum mend__reply_form {
  MEND__FORM_OPEN = 0, /* its beginning will tell */
  MEND__FORM_STREAM,
  MEND__FORM_DOCUMENT
} mend__reply_form;

typedef struct mend__inquiry {
  mend__provider *provider;
  mend_exchange *exchange;
  mend__http_transfer *transfer;
  mend__decoder decoder;
  mend__sse sse;
  mend__buffer body; /* of a document, or of an error */
  mend__buffer content_type, sentence;
  mend_timer *patience; /* set when hardly anything can be left to come */
  mend__reading reading;
  mend__reply_form form;
  double retry_after_s;
  uint64_t received; /* bytes of the body, decompressed */
  uint32_t status;   /* 0: no head has come */
} mend__inquiry;

static inline bool mend__inquiry_is_good(const mend__inquiry *self) {
  return self->status >= 200 && self->status < 300;
}

/* ---- inquiry.c ---- */

/* The last but one thing that is done with it: the connection is let go of first, for whoever is told may ask again at
 * once. */
void mend__inquiry_leave(mend__inquiry *self);
void mend__inquiry_free(mend__inquiry *self);

/* ---- inquiry_reply.c ---- */

extern const mend__http_listener mend__inquiry_listener;
/* For `patience`: goes by what has come. */
void mend__inquiry_stop_waiting(void *ctx);

/* ---- inquiry_failure.c: all of them end it, and free it ---- */

/* transport: as of mend_failure_signal. body: what the provider said, where it said something. end: NULL when the
 * transfer has not ended. */
void mend__inquiry_fail(mend__inquiry *self, const char *transport, mend__buffer *body, const char *happened,
                        const mend__http_end *end);
/* The same for a reply that is none; what came and what was expected is told behind `happened`. */
void mend__inquiry_fail_reading(mend__inquiry *self, const char *transport, const char *happened,
                                const mend__http_end *end);
void mend__inquiry_fail_of_memory(mend__inquiry *self);

#endif

/* Between provider.c, which is the model, and inquiry.c, which is one request of it. */
#ifndef MEND_FALLBACK_PROVIDER_INTERNAL_H
#define MEND_FALLBACK_PROVIDER_INTERNAL_H

#include "fallback/fallback_internal.h"
#include "fallback/provider.h"
#include "fallback/secret.h"

typedef struct mend__provider {
  const mend_allocator *allocator;
  const mend__dialect *dialect;
  mend_loop *loop;
  mend__http *http;
  char *key; /* NULL: none */
  mend__secrets *secrets;
  char *base_url; /* without a slash at its end */
  char *model_id;
  uint64_t reply_limit;
  bool is_stale; /* the last request found a dead connection: the next one makes a new one */
} mend__provider;

/* Begins to ask; what comes of it, failures too, the exchange is told. MEND_ENOMEM before anything was sent. */
mend_status mend__inquiry_begin(mend__provider *provider, mend_exchange *exchange, mend_error *error);
/* Ends the exchange's request at once, if there is one. */
void mend__inquiry_cancel(mend_exchange *exchange);

#endif

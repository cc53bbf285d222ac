/* Private to fallback/: a model of a provider: a dialect, an HTTP client and a key. */
#ifndef MEND_FALLBACK_PROVIDER_H
#define MEND_FALLBACK_PROVIDER_H

#include "fallback/dialect.h"
#include "http/client.h"

/* A base URL as it is used: http or https with a host, without credentials, query and fragment. MEND_EINVAL with a
 * sentence that has the URL, but no part of a password. */
mend_status mend__base_url_check(const char *base_url, mend_error *error);

typedef struct mend__provider_options {
  const mend_allocator *allocator;
  mend_loop *loop;
  const mend__dialect *dialect;
  const char *model_id;
  const char *base_url;   /* NULL: the provider's own */
  const char *key;        /* copied, wiped when it is let go of; NULL: none */
  mend__secrets *secrets; /* covered in what the provider says; referenced; NULL: only the key is */
  mend__http *http;       /* referenced */
  uint64_t reply_limit;   /* bytes */
} mend__provider_options;
/* Errors: MEND_EINVAL (the base URL, the key; none where the dialect has none of its own), MEND_ENOMEM. */
mend_status mend__provider_new(const mend__provider_options *options, mend_model **ret_model, mend_error *error);

/* Of a model of a provider, without a slash at its end; NULL of any other. */
const char *mend__provider_base_url(const mend_model *model);

/* Whether it has what a header cannot hold: the line end of the file that it was read from, mostly. */
bool mend__key_is_odd(const char *key);

#endif

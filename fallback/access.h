/* Private to fallback/: with which key, and where, a model is asked, as a chain's options have it. What they say of one
 * model goes before what they say of its provider. */
#ifndef MEND_FALLBACK_ACCESS_H
#define MEND_FALLBACK_ACCESS_H

#include "fallback/dialect.h"
#include "fallback/model_name.h"
#include "mend/fallback.h"

/* What is given for a provider that there is not, and two base URLs for one: MEND_EINVAL with a sentence. */
mend_status mend__access_check(const mend_fallback_options *options, mend_error *error);

/* A key. Models with the same number have the same one. */
typedef struct mend__access_key {
  const char *secret; /* borrowed; NULL: there is none */
  size_t number;
} mend__access_key;
/* The index-th of the model's own keys; when it has none, of its provider's, then of those for any, then of the
 * environment, where that may be looked at. */
mend__access_key mend__access_key_of(const mend_fallback_options *options, const mend__model_name *name,
                                     const mend__dialect *dialect, size_t index);
/* NULL: nothing else than the provider's own is given. */
const char *mend__access_base_url(const mend_fallback_options *options, const mend__model_name *name);
/* All keys there are, whoever they are for. MEND_ENOMEM. */
mend_status mend__access_secrets(const mend_fallback_options *options, mend__secrets **ret_secrets);

#endif

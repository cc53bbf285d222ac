/* Private to fallback/: names of models, and of what they belong to, as callers write them. */
#ifndef MEND_FALLBACK_MODEL_NAME_H
#define MEND_FALLBACK_MODEL_NAME_H

#include "mend/core.h"

/* provider:model_id */
typedef struct mend__model_name {
  const char *whole;
  mend_str provider;
  const char *id;
} mend__model_name;

/* MEND_EINVAL with a sentence that names what is nearest, or all that is known. */
mend_status mend__model_name_split(const char *whole, mend__model_name *ret_name, mend_error *error);
/* Whom a key or an endpoint is for: a provider or one of its models. `what` it is for the sentence. */
mend_status mend__owner_check(const char *what, const char *owner, mend_error *error);
bool mend__is_scripted(mend_str provider);

#endif

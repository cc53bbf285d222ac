/* House header: what a public function must be given. */
#ifndef MEND_CORE_GIVEN_H
#define MEND_CORE_GIVEN_H

#include "mend/core.h"

/* MEND_EINVAL: `what`, a handle or an input, is NULL. */
static inline mend_status mend__refuse_null(mend_error *error, const char *what) {
  return mend_error_set(error, MEND_EINVAL, "%s is NULL, expected one", what);
}

#endif

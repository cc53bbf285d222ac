/* House header: taking in an options struct or vtable of any version. */
#ifndef MEND_CORE_OPTIONS_SIZE_H
#define MEND_CORE_OPTIONS_SIZE_H

#include "mend/core.h"

/* Copies what the caller's header knew over the defaults in `target` (whose first member is its size). `given` may be
 * NULL: defaults. `name` is the type's, for the sentence. Size 0, or more than this library knows with non-zero bytes in
 * the unknown part, is MEND_EINVAL. */
mend_status mend__options_take(void *target, const void *given, const char *name, mend_error *error);

#endif

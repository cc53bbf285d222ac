/* House header: options that are arrays of names. */
#ifndef MEND_CORE_OPTION_NAMES_H
#define MEND_CORE_OPTION_NAMES_H

#include "mend/core.h"

/* The names of such an option, which was checked, in one block, to be freed with mend__free(allocator,
 * *ret_names). NULL when there are none. MEND_ENOMEM. */
mend_status mend__option_names(mend_str option, const mend_allocator *allocator, const char ***ret_names,
                               size_t *ret_count);

#endif

/* House header: options structs, vtables and statistics of any version. */
#ifndef MEND_CORE_OPTIONS_SIZE_H
#define MEND_CORE_OPTIONS_SIZE_H

#include "mend/options.h"

/* No struct of any version is larger: such a size was never set, and nothing is read so far behind it. */
enum { MEND__STRUCT_SIZE_MAX = 65536 };

/* Copies what the caller's header knew over the defaults in `target`, whose first member is its size, as is that of
 * `given`. `target` keeps its own size. `given` may be NULL: defaults. `name` is the type's, for the sentence. Size 0,
 * one beyond 64 KiB, or more than this library knows with non-zero bytes in the unknown part, is MEND_EINVAL and leaves
 * `target` as it was. */
mend_status mend__options_take(void *target, const void *given, const char *name, mend_error *error);
/* The same for what has no defaults to stand for all of it: NULL is MEND_EINVAL too. */
mend_status mend__options_require(void *target, const void *given, const char *name, mend_error *error);

/* The same for each element of a list of such structs, all of one version: that of the first. `targets` is room for
 * `count` of this library's, which start from `defaults`; after an error it holds nothing. */
mend_status mend__options_take_list(void *targets, const void *defaults, const void *given, size_t count,
                                    const char *name, mend_error *error);

/* The same for the whole tree, whose groups are of any version too: their sizes say where the next one begins. */
mend_status mend__options_take_tree(mend_options *target, const mend_options *given, mend_error *error);

/* The other way, for what is asked for: copies as much of `own`, whose first member is its size, as the caller's header
 * knows. The size in `ret_struct` becomes that of what was filled in. */
void mend__options_give(void *ret_struct, const void *own);

/* MEND_EINVAL with a sentence for an integer that is not from min to max. */
mend_status mend__options_check_range(const char *name, uint64_t value, uint64_t min, uint64_t max, mend_error *error);
/* MEND_EINVAL with a sentence for a number that is not what was expected: "seconds >= 0". */
mend_status mend__options_refuse_number(const char *name, double value, const char *expected, mend_error *error);

#endif

/* House header: the canonical hash for whoever has no scratch at hand. Small texts are hashed with what the stack has;
 * only what was too much for it gets a block from the allocator. */
#ifndef MEND_CORE_JSON_HASH_H
#define MEND_CORE_JSON_HASH_H

#include "mend/json.h"

/* Raw only for what is raw with all the scratch there may be. Errors: MEND_ENOMEM. */
mend_status mend__json_hash_alloc(mend_str text, const mend_allocator *allocator, mend_json_hash_result *ret_result);
/* The same in loose mode, by its defaults. */
mend_status mend__json_hash_loose_alloc(mend_str text, const mend_allocator *allocator,
                                        mend_json_hash_result *ret_result);

#endif

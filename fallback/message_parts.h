/* Private to fallback/: parts on their way into a conversation: copied, checked, packed. */
#ifndef MEND_FALLBACK_MESSAGE_PARTS_H
#define MEND_FALLBACK_MESSAGE_PARTS_H

#include "core/buffer.h"
#include "mend/model.h"

/* A copy of a list, whose elements may be of another version of mend_part; their texts are borrowed. The caller frees
 * it. MEND_EINVAL, MEND_ENOMEM. */
mend_status mend__parts_take(const mend_part *given, size_t count, const mend_allocator *allocator,
                             mend_part **ret_parts, mend_error *error);
/* Whether a message of this role may have them: MEND_EINVAL with a sentence. */
mend_status mend__parts_check(mend_role role, const mend_part *parts, size_t count, mend_error *error);
/* How long a block of all their texts is; with a block, lets them point to their copies in it. SIZE_MAX: too long. */
size_t mend__parts_pack(mend_part *parts, size_t count, char *block);
/* Takes those of a reply as a turn of a conversation. Arguments of calls that no provider would take back are in
 * `args`, which was empty and whose allocator the list has, too. MEND_EINVAL, MEND_ENOMEM. */
mend_status mend__parts_of_reply(const mend_reply *reply, mend__buffer *args, mend_part **ret_parts);

#endif

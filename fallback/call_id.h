/* Private to fallback/: ids for calls that come without one: call_1, call_2, ... They are unique in a conversation,
 * because other providers insist on that, and known again by their form, so that a provider that gave none is not
 * sent them. */
#ifndef MEND_FALLBACK_CALL_ID_H
#define MEND_FALLBACK_CALL_ID_H

#include "mend/model.h"

#define MEND__CALL_ID_MADE "call_"
/* Whether an id is one of these, and its number. */
bool mend__call_id_is_made(mend_str id, uint64_t *ret_number);
/* The first number behind those in the conversation. */
uint64_t mend__call_id_next(const mend_messages *messages);

#endif

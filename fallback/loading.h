/* Private to fallback/: where the mistakes are in documents that people write: scripts, classifications, facts about
 * models. */
#ifndef MEND_FALLBACK_LOADING_H
#define MEND_FALLBACK_LOADING_H

#include "mend/json.h"

/* Where the token begins that was read last. */
const char *mend__token_place(const mend_json *json);
/* Adds a place in the document to an error whose sentence was written. Returns its status. */
mend_status mend__refuse_at(const mend_json *json, const char *place, mend_status status, mend_error *error);
/* That of the token that was read last. */
mend_status mend__refuse_token(const mend_json *json, mend_status status, mend_error *error);

#endif

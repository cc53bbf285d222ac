/* What a script or a header wants the model to say: a JSON object.
 *   "text": one text, spoken word by word; or "texts": the deltas; "thinking": a text;
 *   "tool_calls": [{"name": "...", "args": {...}, "id": "..."}]; only the name must be there. */
#ifndef MEND_PROGRAM_FAULT_SERVER_GIVEN_H
#define MEND_PROGRAM_FAULT_SERVER_GIVEN_H

#include "program/base/json_fields.h"

/* Whether it is one. ret_place: of a mistake, where it is. Errors: MEND_ESYNTAX with line and column; MEND_EINVAL. */
mend_status given_check(mend_str given, mend_str *ret_place, mend_error *error);

/* The name of the first member of an object that is none of these; absent: there is none. */
mend_str given_unknown_member(mend_str object, const json_field *fields, size_t count);

#endif

/* House header: what a JSON text is. */
#ifndef MEND_CORE_JSON_KIND_H
#define MEND_CORE_JSON_KIND_H

#include "mend/json.h"

/* By its first token: MEND_JSON_OBJECT, ... */
mend_json_token mend__json_kind(mend_str text);
/* For sentences: "an object", "null". */
const char *mend__json_kind_name(mend_json_token kind);
/* MEND_EINVAL unless it is an object. The sentence begins with `what`: "WHAT: expected a JSON object", or "WHAT, line
 * 1, column 5: ..." with the place where it is no JSON. */
mend_status mend__json_check_object(mend_str text, const char *what, mend_error *error);

#endif

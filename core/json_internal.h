/* Private to core/: what the JSON files share beyond mend/json.h. */
#ifndef MEND_CORE_JSON_INTERNAL_H
#define MEND_CORE_JSON_INTERNAL_H

#include "mend/json.h"

/* Moves line and column on to `at`, while the text before it is still there. */
void mend__json_count_consumed(mend_json *json);

/* Unescapes from the front of *rest until it is empty or fewer than 4 bytes of the buffer are left. Returns the number
 * of bytes written; what was read is gone from *rest. The buffer may be the memory of *rest. */
size_t mend__json_unescape_part(mend_str *rest, char *buffer, size_t capacity);

#endif

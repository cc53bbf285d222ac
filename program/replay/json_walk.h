/* A walk through an array or object that has been read before, as part of a row: nothing is checked again. Of text that
 * is not well-formed anything may be handed out, but never more than there is. */
#ifndef MEND_PROGRAM_REPLAY_JSON_WALK_H
#define MEND_PROGRAM_REPLAY_JSON_WALK_H

#include "mend/core.h"

typedef struct json_walk {
  const char *place, *end;
} json_walk;

/* `text` begins with a bracket or brace. */
json_walk json_walk_into(mend_str text);
/* False at the end. The name is without its quotes, and escaped as it stands there. */
bool json_walk_element(json_walk *walk, mend_str *ret_element);
bool json_walk_member(json_walk *walk, mend_str *ret_name, mend_str *ret_value);

#endif

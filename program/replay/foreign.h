/* Recordings that mend knows of and cannot read yet: told by name instead of misread. */
#ifndef MEND_PROGRAM_REPLAY_FOREIGN_H
#define MEND_PROGRAM_REPLAY_FOREIGN_H

#include "mend/core.h"

/* What a row, or the beginning of a document, is one of: "a Codex rollout"; NULL for none of these. */
const char *foreign_name(mend_str object);
/* The same for a message, given its "role" and "content" as JSON. */
const char *foreign_message_name(mend_str role, mend_str content);
/* Whether a message's "content" has blocks of Anthropic Messages that call tools or answer. */
bool foreign_has_tool_blocks(mend_str content);

#endif

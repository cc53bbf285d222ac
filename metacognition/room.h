/* House header: what the rooms above ask of metacognition. */
#ifndef MEND_METACOGNITION_ROOM_H
#define MEND_METACOGNITION_ROOM_H

#include "mend/metacognition.h"

/* Whether mend_hooks_add_metacognition was used. NULL is allowed. */
bool mend__hooks_publish_confidence(mend_hooks *hooks);
/* A model's JSON without blanks around it, "```json" with the rest of its line at the front and "```" at the end. */
mend_str mend__without_fences(mend_str text);

#endif

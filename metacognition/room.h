/* House header: what the rooms above ask of metacognition. */
#ifndef MEND_METACOGNITION_ROOM_H
#define MEND_METACOGNITION_ROOM_H

#include "mend/metacognition.h"

/* Whether mend_hooks_add_metacognition was used. NULL is allowed. */
bool mend__hooks_publish_confidence(mend_hooks *hooks);
/* A model's JSON without blanks around it. Of a text that begins with a code block it is the value in that, whether
 * the fences have lines of their own or not, and what follows the block is left out. A text that is none such is given
 * back, for whoever says what is wrong with it. */
mend_str mend__without_fences(mend_str text);

#endif

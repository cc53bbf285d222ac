/* House header: what a healing scope asks of metacognition. */
#ifndef MEND_METACOGNITION_ROOM_H
#define MEND_METACOGNITION_ROOM_H

#include "mend/metacognition.h"

/* Whether mend_hooks_add_metacognition was used. NULL is allowed. */
bool mend__hooks_publish_confidence(mend_hooks *hooks);

#endif

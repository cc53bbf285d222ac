/* What a provider answers when it is asked for its list of models. */
#ifndef MEND_PROGRAM_DOCTOR_MODEL_LIST_H
#define MEND_PROGRAM_DOCTOR_MODEL_LIST_H

#include "mend/core.h"

/* NULL for a list; else what it is instead: "an HTML page". Static, and no word of the provider's. */
const char *model_list_instead(mend_str body);
/* Whether a model of this id is in a list; true also when the list goes on elsewhere. */
bool model_list_may_have(mend_str body, const char *id);

#endif

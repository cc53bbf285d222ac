/* Private to fallback/: the two halves of OpenAI Responses. */
#ifndef MEND_FALLBACK_OPENAI_RESPONSES_H
#define MEND_FALLBACK_OPENAI_RESPONSES_H

#include "fallback/dialect.h"

mend__reading mend__openai_responses_event(mend__decoder *decoder, mend_str name, mend_str data);
mend__reading mend__openai_responses_whole(mend__decoder *decoder, mend_str body);

#endif

/* Private to fallback/: the two halves of Chat Completions. */
#ifndef MEND_FALLBACK_OPENAI_CHAT_H
#define MEND_FALLBACK_OPENAI_CHAT_H

#include "fallback/dialect.h"

mend__reading mend__openai_chat_event(mend__decoder *decoder, mend_str name, mend_str data);
mend__reading mend__openai_chat_whole(mend__decoder *decoder, mend_str body);

#endif

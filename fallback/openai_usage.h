/* Private to fallback/: usage as OpenAI tells it, which calls the same by two sets of names. */
#ifndef MEND_FALLBACK_OPENAI_USAGE_H
#define MEND_FALLBACK_OPENAI_USAGE_H

#include "fallback/dialect.h"

/* names: of the tokens that went in, of those that came out, and of the details of both. */
void mend__openai_usage(mend__decoder *decoder, mend_str value, const char *const names[4]);

#endif

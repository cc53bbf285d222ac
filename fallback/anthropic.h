/* Private to fallback/: the two halves of Anthropic Messages. */
#ifndef MEND_FALLBACK_ANTHROPIC_H
#define MEND_FALLBACK_ANTHROPIC_H

#include "fallback/dialect.h"

mend__reading mend__anthropic_event(mend__decoder *decoder, mend_str name, mend_str data);
mend__reading mend__anthropic_whole(mend__decoder *decoder, mend_str body);

#endif

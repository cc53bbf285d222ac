/* Private to fallback/: the two halves of Gemini generateContent. */
#ifndef MEND_FALLBACK_GOOGLE_H
#define MEND_FALLBACK_GOOGLE_H

#include "fallback/dialect.h"

mend__reading mend__google_event(mend__decoder *decoder, mend_str name, mend_str data);
mend__reading mend__google_whole(mend__decoder *decoder, mend_str body);

#endif

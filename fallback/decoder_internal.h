/* Between decoder.c and decoder_calls.c. */
#ifndef MEND_FALLBACK_DECODER_INTERNAL_H
#define MEND_FALLBACK_DECODER_INTERNAL_H

#include "fallback/dialect.h"

void mend__decoder_tell(mend__decoder *decoder, const mend_delta *delta);
/* What a string says; valid until the next. Empty for what is none. */
mend_str mend__decoder_unescape(mend__decoder *decoder, mend_str value);

/* Tells what was held back, and "{}" for calls without arguments. */
void mend__decoder_calls_end(mend__decoder *decoder);
void mend__decoder_calls_free(mend__decoder *decoder);

#endif

/* Between decoder.c, decoder_series.c and decoder_calls.c. */
#ifndef MEND_FALLBACK_DECODER_INTERNAL_H
#define MEND_FALLBACK_DECODER_INTERNAL_H

#include "fallback/dialect.h"

void mend__decoder_tell(mend__decoder *decoder, const mend_delta *delta);
/* What a string says; valid until the next. Empty for what is none. */
mend_str mend__decoder_unescape(mend__decoder *decoder, mend_str value);
/* The same of one that is told as a whole: without keys. */
mend_str mend__decoder_word(mend__decoder *decoder, mend_str value);
/* A text that is told as a whole, without keys; valid until the next. */
mend_str mend__decoder_covered(mend__decoder *decoder, mend_str text);

/* ---- decoder_series.c ---- */

void mend__series_init(mend__series *series, const mend__decoder *decoder, bool is_json);
void mend__series_free(mend__series *series);
/* What may be told by now, when `text` is what the string `value` of the event says. Valid until the next. */
mend_str mend__series_take(mend__decoder *decoder, mend__series *series, mend_str value, mend_str text);
/* What was held back, to be told before something else is. */
mend_str mend__series_flush(mend__decoder *decoder, mend__series *series);

/* ---- decoder_calls.c ---- */

/* Tells what was held back, and "{}" for calls without arguments. */
void mend__decoder_calls_end(mend__decoder *decoder);
void mend__decoder_calls_free(mend__decoder *decoder);

#endif

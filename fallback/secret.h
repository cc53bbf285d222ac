/* Private to fallback/: keys in what providers say. */
#ifndef MEND_FALLBACK_SECRET_H
#define MEND_FALLBACK_SECRET_H

#include "core/buffer.h"

/* Pieces of a key this long are covered; shorter ones tell nothing, and so a key that is shorter itself ("none",
 * "EMPTY", for servers that want none) is no secret. */
#define MEND__SECRET_PIECE 8

/* Whether the whole secret, which may be NULL, is in the text. */
bool mend__secret_is_in(mend_str text, const char *secret);
/* Puts stars over the secret, which may be NULL, and over all its pieces: providers cut it, escape it, or cover a part
 * of it themselves. */
void mend__secret_cover(mend__buffer *text, const char *secret);

#endif

/* Private to fallback/: keeps keys out of a text that comes in pieces, however it is cut. What may be the beginning of
 * a key is held back until the next piece tells whether it is, at most all of it but one character; that it is a key's
 * beginning says what it is, so nothing has to be kept. */
#ifndef MEND_FALLBACK_VEIL_H
#define MEND_FALLBACK_VEIL_H

#include "fallback/secret.h"

/* Zeroed but for the secrets, NULL being none: a text has not begun. */
typedef struct mend__veil {
  const mend__secrets *secrets;
  bool is_json;               /* the text is JSON: characters in it may be escaped */
  bool is_found;              /* a key has been covered; for its user to look at and set back */
  mend__secret_place matched; /* what the end of the text is the beginning of */
  size_t shown;               /* of it told already, for something had to be told behind them */
  size_t escape_len;
  char escape[MEND__ESCAPE_MAX]; /* JSON: the beginning of one, behind what is matched */
} mend__veil;

/* What may be told now: of the piece, and before it of what was held. It is the piece itself, or in `told`. */
mend_str mend__veil_take(mend__veil *veil, mend_str piece, mend__buffer *told);
/* What is held, to be told before something else, or at the end. In a JSON text only at the end. */
mend_str mend__veil_flush(mend__veil *veil, mend__buffer *told);
/* Whether there is anything. */
static inline bool mend__veil_holds(const mend__veil *veil) {
  return veil->matched.len > veil->shown || veil->escape_len > 0;
}

#endif

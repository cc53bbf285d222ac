#include "fallback/secret.h"

static mend_str text_of(const char *secret) { return secret != NULL ? mend_str_from(secret) : MEND_STR(""); }

bool mend__secret_is_in(mend_str text, const char *secret) {
  const mend_str whole = text_of(secret);
  return whole.len >= MEND__SECRET_PIECE && text.len > 0 && memmem(text.ptr, text.len, whole.ptr, whole.len) != NULL;
}

/* How many characters at the beginning of the text are a piece of the secret; 0: too few. */
static size_t piece_length(mend_str text, mend_str secret) {
  if (text.len < MEND__SECRET_PIECE) return 0;
  const char *place = memmem(secret.ptr, secret.len, text.ptr, MEND__SECRET_PIECE);
  if (place == NULL) return 0;
  const char *const end = secret.ptr + secret.len;
  size_t len = MEND__SECRET_PIECE;
  while (len < text.len && place + len < end && text.ptr[len] == place[len])
    len++;
  return len;
}

void mend__secret_cover(mend__buffer *text, const char *secret) {
  const mend_str whole = text_of(secret);
  for (size_t i = 0; i < text->len;) {
    const size_t len = piece_length((mend_str){text->data + i, text->len - i}, whole);
    if (len > 0) memset(text->data + i, '*', len);
    i += len > 0 ? len : 1;
  }
}

/* Private to fallback/: a key, and covering it in what is whole: errors, names, documents. Texts that come in pieces
 * are veil.h's. */
#ifndef MEND_FALLBACK_SECRET_H
#define MEND_FALLBACK_SECRET_H

#include "core/buffer.h"

/* Pieces of a key this long are covered in errors; shorter ones tell nothing, and so a key that is shorter itself
 * ("none", "EMPTY", for servers that want none) is no secret. */
#define MEND__SECRET_PIECE 8

typedef struct mend__secret {
  const mend_allocator *allocator;
  char *text;      /* NULL: there is no key */
  size_t len;      /* 0: it is no secret */
  size_t *borders; /* of the first n characters: how many at their end are a beginning of the key, too; to len */
  bool is_word;    /* of letters and underscores only: members of replies may be called so */
  bool is_escaped; /* JSON has short escapes for some of its characters */
} mend__secret;

/* `key` may be NULL and is copied. MEND_ENOMEM leaves nothing behind. */
mend_status mend__secret_init(mend__secret *secret, const mend_allocator *allocator, const char *key);
/* Wipes it. */
void mend__secret_free(mend__secret *secret);

/* The functions below put stars over the key where it is written plainly and where characters of it are JSON escapes;
 * the text keeps its length. `secret` may be NULL. */

/* Over all pieces of it, too: providers cut keys in their errors, or cover a part of them themselves. */
void mend__secret_cover(mend__buffer *text, const mend__secret *secret);
/* Over the whole key. */
void mend__secret_cover_whole(mend__buffer *text, const mend__secret *secret);
/* The same in the strings of a document, which stays well-formed; a word is left in names of members. */
void mend__secret_cover_document(mend__buffer *json, const mend__secret *secret);
/* A quick look: false when the whole key is nowhere in the text. */
bool mend__secret_may_be_in(const mend__secret *secret, mend_str text);

/* ---- Characters, as JSON strings have them ---- */

enum { MEND__ESCAPE_MAX = 6 };
/* How many bytes the first character is written with; more than there are when it is cut off. */
size_t mend__escape_len(mend_str text);
/* What a whole one is; -1: nothing that a key has. */
int mend__escape_value(mend_str character);

#endif

/* Private to fallback/: keys, and covering them in what is whole: errors, names, documents. Texts that come in pieces
 * are veil.h's. */
#ifndef MEND_FALLBACK_SECRET_H
#define MEND_FALLBACK_SECRET_H

#include "core/buffer.h"

#include <stdatomic.h>

/* Pieces of a key this long are covered in errors; shorter ones tell nothing, and so a key that is shorter itself
 * ("none", "EMPTY", for servers that want none) is no secret. */
#define MEND__SECRET_PIECE 8

/* The first `len` characters of a key. */
typedef struct mend__secret_place {
  size_t key, len;
} mend__secret_place;

typedef struct mend__secret {
  char *text;
  size_t len;
  mend__secret_place *borders; /* of the first n characters: the longest beginning of a key at their end, but not all of
                                  them; to len */
  bool is_word;                /* of letters and underscores only: members of replies may be called so */
  bool is_escaped;             /* JSON has short escapes for some of its characters */
} mend__secret;

/* Keys that no text is to show, whoever was sent which. It does not change; reference-counted. */
typedef struct mend__secrets {
  const mend_allocator *allocator;
  atomic_size_t references;
  size_t longest;
  uint8_t pairs[256 * 256 / 8]; /* a bit for each two characters: they are neighbours in a key */
  size_t count;
  mend__secret keys[];
} mend__secrets;

/* Those that are secrets are copied; NULL may be among them. MEND_ENOMEM leaves nothing behind. */
mend_status mend__secrets_new(const mend_allocator *allocator, const char *const *keys, size_t count,
                              mend__secrets **ret_secrets);
mend__secrets *mend__secrets_retain(mend__secrets *secrets);
/* The last one wipes them. NULL is allowed. */
void mend__secrets_release(mend__secrets *secrets);

/* Which bit stands for two characters. */
static inline unsigned mend__secret_pair(const char *text) {
  return (unsigned)(unsigned char)text[0] << 8 | (unsigned char)text[1];
}

/* ---- Going through a text, as of Aho and Corasick ---- */

/* One character on, where a key goes on so. */
bool mend__secrets_extend(const mend__secrets *secrets, mend__secret_place *place, int character);
/* The length of the longest key that ends here; 0: none does. */
size_t mend__secrets_whole(const mend__secrets *secrets, mend__secret_place place);

/* ---- Covering: stars over every key, the text keeps its length. `secrets` may be NULL ---- */

/* Over all pieces of them, too, in characters that are JSON escapes and in backslashes that are none: providers cut
 * keys in their errors, or cover a part of them themselves. A JSON document stays well-formed. */
void mend__secrets_cover(mend__buffer *text, const mend__secrets *secrets);
/* Over whole keys. */
void mend__secrets_cover_whole(mend__buffer *text, const mend__secrets *secrets);
/* The same in the strings of a document, which stays well-formed; a word is left in names of members. */
void mend__secrets_cover_document(mend__buffer *json, const mend__secrets *secrets);
/* A quick look: false when no whole key is anywhere in the text. */
bool mend__secrets_may_be_in(const mend__secrets *secrets, mend_str text);

/* ---- Characters, as JSON strings have them ---- */

enum { MEND__ESCAPE_MAX = 6 };
/* How many bytes the first character is written with; more than there are when it is cut off. */
size_t mend__escape_len(mend_str text);
/* What a whole one is; -1: nothing that a key has. */
int mend__escape_value(mend_str character);

#endif

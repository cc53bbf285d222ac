/* Private to core/: what is a secret, for redact.c. */
#ifndef MEND_CORE_REDACT_INTERNAL_H
#define MEND_CORE_REDACT_INTERNAL_H

#include "mend/core.h"

/* How much of what follows a name is one; each covers what those before it do. */
typedef enum mend__secret_extent {
  MEND__SECRET_NONE,
  MEND__SECRET_QUOTED, /* a string, or the word behind an equals sign; not "unexpected token: x" */
  MEND__SECRET_WORD,   /* a word behind a colon */
  MEND__SECRET_LINE    /* behind a colon all of the line, as in the head of a request */
} mend__secret_extent;

/* In any case, with - _ . between its words or without. */
mend__secret_extent mend__secret_extent_of(mend_str name);

/* A key that the text begins with and that is known by its first characters. */
typedef struct mend__known_secret {
  size_t prefix_len; /* what tells it, and is no secret */
  size_t len;        /* of the rest; 0: there is none */
} mend__known_secret;

mend__known_secret mend__known_secret_at(mend_str text);

static inline bool mend__is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

#endif

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
  size_t prefix_len;  /* what tells it, and is no secret */
  size_t len;         /* of the rest; 0: there is none */
  bool is_long;       /* enough to be a key wherever it stands */
  bool is_plain_word; /* the rest: lower case alone, as in the name of a tool, "npm_install" */
} mend__known_secret;

mend__known_secret mend__known_secret_at(mend_str text);

/* What an escape stands for whose backslashes are before the text, "u0061"; NUL: it begins with none, or not of ASCII. */
enum { MEND__ESCAPE_LEN = 5 };
char mend__escaped_char(mend_str text);

static inline bool mend__is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

#endif

/* Private to core/: a walk over a text that is covered where it stands, for redact.c. */
#ifndef MEND_CORE_REDACT_WALK_INTERNAL_H
#define MEND_CORE_REDACT_WALK_INTERNAL_H

#include "core/redact_internal.h"
#include "core/text.h"

typedef struct mend__text_walk {
  char *text;
  size_t len;
  bool is_json;
  size_t at;     /* the next to be read */
  size_t kept;   /* written, never more than was read; the next two are places in it */
  size_t name;   /* where the word begins that it ends with */
  size_t inside; /* behind its last quote */
} mend__text_walk;

static inline bool mend__is_quote(char c) { return c == '"' || c == '\''; }

/* What is at a place: NUL at the end. */
static inline char mend__walk_at(const mend__text_walk *walk, size_t place) {
  return place < walk->len ? walk->text[place] : '\0';
}

/* Over all that are in the set, or to the next that is. */
size_t mend__walk_skip(const mend__text_walk *walk, size_t place, const char *set);
size_t mend__walk_find(const mend__text_walk *walk, size_t place, const char *set);
/* Behind a character that stands there as it is or as \u00XX, however often that is escaped itself; 0: it does not. */
size_t mend__walk_skip_char(const mend__text_walk *walk, size_t place, char c);

/* As it is, up to a place; behind it another word begins. */
void mend__walk_keep(mend__text_walk *walk, size_t end);
/* The same with stars instead. */
void mend__walk_cover(mend__text_walk *walk, size_t end);

typedef struct mend__quote_mark {
  char quote;   /* NUL: there is none */
  size_t level; /* its backslashes, when it is written as such */
  size_t end;   /* behind it; without one, behind the backslashes */
  bool is_escape;
} mend__quote_mark;

mend__quote_mark mend__quote_at(const mend__text_walk *walk, size_t place);
/* A quote behind so many backslashes ends a string of the document itself, whatever is written in that. */
bool mend__ends_document_string(const mend__text_walk *walk, char quote, size_t backslashes);

/* `first` is its quote. */
void mend__cover_string(mend__text_walk *walk, mend__quote_mark first, bool may_be_name);

/* What a value is written in: the name that stands before it is behind so many backslashes, and in a string, if that is
 * known, of the document. */
typedef struct mend__surroundings {
  size_t level;
  bool in_string;
} mend__surroundings;

/* All strings of a value but for the names in it. */
void mend__cover_strings(mend__text_walk *walk, mend__surroundings around);

#endif

/* Text for people: safe to show on a terminal whatever it holds, in lines. */
#ifndef MEND_PROGRAM_BASE_PLAIN_H
#define MEND_PROGRAM_BASE_PLAIN_H

#include "core/buffer.h"

#include <stdio.h>

/* Appends at most max_chars characters and then "..." when there are more. Control characters and those that change the
 * direction of text become visible escapes, bytes that are not UTF-8 U+FFFD; nothing can move the cursor. */
void plain_text(mend__buffer *buffer, mend_str text, size_t max_chars);
/* The same for a JSON value or an excerpt of one: of a string, its characters without its quotes. */
void plain_json(mend__buffer *buffer, mend_str value, size_t max_chars);
/* Appends that value, or of a string its characters, as they are: nothing to show before it was made plain. */
void plain_unquote(mend__buffer *buffer, mend_str value);

/* Appends sentences on lines of their own as such text, the first with `before`. */
void plain_sentences(mend__buffer *buffer, const char *before, mend_str sentences);
/* A copy, cut between characters where it does not fit, with a NUL behind. */
void plain_keep(char *to, size_t size, mend_str text);

/* Appends JSON text, in whose strings such characters become \u escapes: it stays the same JSON. */
void plain_json_escaped(mend__buffer *buffer, mend_str json);

enum { PLAIN_WIDTH = 80 }; /* of lines that nobody measured a terminal for */
/* Appends plain text as lines no wider than `width` columns, broken at blanks: the first goes on at `column`, the
 * others are indented by `indent`. Ends with a line feed. */
void plain_wrap(mend__buffer *buffer, mend_str plain, size_t width, size_t column, size_t indent);

/* Writes what was appended and flushes. MEND_ENOMEM: the buffer has failed; MEND_ECLOSED: not all of it is written. */
mend_status plain_write(const mend__buffer *buffer, FILE *out);

/* 09:07:31 */
void plain_clock(mend__buffer *buffer, uint64_t wall_ns);
/* 2026-11-30 */
void plain_date(mend__buffer *buffer, uint64_t wall_ns);
/* 0.5 s, 12 s, 7 min 31 s, 2 h 3 min, 3 d 4 h */
void plain_duration(mend__buffer *buffer, uint64_t ns);
/* 12,345 */
void plain_number(mend__buffer *buffer, uint64_t number);
/* 1 call, 2 calls, 1,234 calls */
void plain_count(mend__buffer *buffer, uint64_t count, const char *one);
/* 1.50 USD, 0.0042 USD */
void plain_money(mend__buffer *buffer, double usd);

#endif

/* What the pieces of the report for people are written with. */
#ifndef MEND_PROGRAM_REPORTS_WRITER_H
#define MEND_PROGRAM_REPORTS_WRITER_H

#include "core/buffer.h"
#include "program/reports/facts.h"

/* Of what belongs to an incident: columns before its labels, and before their values. */
enum { WRITER_INDENT = 3, WRITER_VALUE = WRITER_INDENT + 10 };
/* Longer texts are cut. */
enum { WRITER_TEXT_MAX = 4096 };

typedef struct writer {
  bool colour;
  size_t width; /* of lines */
  const replay_file *file;
  mend__buffer line; /* a line that is being put together; must not have failed at the end */
} writer;

typedef enum style { BOLD, DIM, ALARM, GOOD } style;
void writer_styled(const writer *to, mend__buffer *page, style as, const char *text);

/* Clears to->line and returns it. */
mend__buffer *writer_begin(writer *to);
/* to->line becomes the value of a label. */
void writer_put(writer *to, mend__buffer *page, const char *name);
/* to->line becomes an indented line of a list. */
void writer_put_item(writer *to, mend__buffer *page);
/* to->line becomes a paragraph. */
void writer_put_paragraph(writer *to, mend__buffer *page);
/* A text as plain text, which is in to->line. */
mend_str writer_plain(writer *to, mend_str text, size_t max_chars);
/* Appends "line 12" or "element 12". */
void writer_row(writer *to, mend__buffer *page, uint64_t row);
/* "and 12 more", as an item; nothing for 0. */
void writer_put_more(mend__buffer *page, uint64_t more);

#endif

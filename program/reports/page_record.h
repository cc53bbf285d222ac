/* The records of a page: JSON that may stand in an HTML element, whatever the texts hold that it is made of. Texts are
 * plain as plain.h makes them, but keep their lines; nothing in them can end the element or move the text around it. */
#ifndef MEND_PROGRAM_REPORTS_PAGE_RECORD_H
#define MEND_PROGRAM_REPORTS_PAGE_RECORD_H

#include "core/buffer.h"
#include "program/reports/facts.h"

/* What stands before a record, which is never the first of its page. */
void page_record_begin(mend__buffer *record);

/* ---- Values: at most max_bytes of a text, and "..." when it is longer -------------------------------------- */

void page_text(mend__buffer *record, mend_str text, size_t max_bytes);
/* The characters of a JSON string, of any other JSON value its text. */
void page_json(mend__buffer *record, mend_str value, size_t max_bytes);
/* A text that is plain already. */
void page_plain(mend__buffer *record, const mend__buffer *plain);

/* ---- Members of an object, each with its comma; texts only when they are not empty ------------------------- */

void page_add_text(mend__buffer *record, const char *key, mend_str text, size_t max_bytes);
void page_add_plain(mend__buffer *record, const char *key, const mend__buffer *plain);
void page_add_count(mend__buffer *record, const char *key, uint64_t count);
/* From 0 to 1, in four decimals. */
void page_add_fraction(mend__buffer *record, const char *key, double number);
void page_add_seconds(mend__buffer *record, const char *key, uint64_t ns);
void page_add_flag(mend__buffer *record, const char *key, bool is);
/* An amount of work, and what people call it. */
void page_add_use(mend__buffer *record, const char *key, const replay_use *use);

#endif

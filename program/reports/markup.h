/* Text in XML and HTML. */
#ifndef MEND_PROGRAM_REPORTS_MARKUP_H
#define MEND_PROGRAM_REPORTS_MARKUP_H

#include "core/buffer.h"

/* Appends at most max_chars characters as plain_text does, with what is markup escaped: fit for the inside of elements
 * and of quoted attributes. */
void markup_text(mend__buffer *buffer, mend_str text, size_t max_chars);
/* Appends text that is plain already, with what is markup escaped. */
void markup_plain(mend__buffer *buffer, mend_str plain);

#endif

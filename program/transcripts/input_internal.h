/* Private to input*.c: the shape of a file, and the two ways rows are found. */
#ifndef MEND_PROGRAM_TRANSCRIPTS_INPUT_INTERNAL_H
#define MEND_PROGRAM_TRANSCRIPTS_INPUT_INTERNAL_H

#include "program/transcripts/input.h"

/* Makes *ret_row a row that cannot be read, for a reason; always MEND_OK. */
mend_status input_bad_row(input *in, input_row *ret_row, const char *format, ...) MEND_PRINTF(3, 4);
mend_status input_long_row(input *in, input_row *ret_row);
/* Whether the KEY just read is one of the members that hold rows. */
bool input_is_container(const input *in, const mend_json *json);

/* Tells lines from a document, and what is neither. Errors of input_open. */
mend_status input_find_shape(input *in);

mend_status input_next_line(input *in, input_row *ret_row);

void input_start_document(input *in);
mend_status input_next_element(input *in, input_row *ret_row);

#endif

/* What Python prints of a dictionary, which some recordings hold in place of JSON: {'city': 'Ulm', 'days': None}. */
#ifndef MEND_PROGRAM_TRANSCRIPTS_PYTHON_TEXT_H
#define MEND_PROGRAM_TRANSCRIPTS_PYTHON_TEXT_H

#include "core/buffer.h"

/* Appends it as JSON: of strings, numbers, True, False, None, lists, tuples and dictionaries with strings as keys.
 * False for anything else; then what was appended is of no use. */
bool python_text_to_json(mend_str text, mend__buffer *json);

#endif

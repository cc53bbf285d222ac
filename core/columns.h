/* House header: how wide text is on a terminal. */
#ifndef MEND_CORE_COLUMNS_H
#define MEND_CORE_COLUMNS_H

#include "mend/core.h"

/* How many columns a text takes: a combining mark none, a wide character (CJK, Hangul, emoji) two, every other one. By
 * whole blocks of Unicode, for terminals do not agree on single characters. What is not UTF-8 counts as one character,
 * as does what is no character that shows. */
size_t mend__columns(mend_str text);

#endif

/* House header: a double as text, the same in any locale. */
#ifndef MEND_CORE_DOUBLE_TEXT_H
#define MEND_CORE_DOUBLE_TEXT_H

#include "mend/core.h"

#define MEND__DOUBLE_TEXT_SIZE 32

/* The shortest of 15, 16 or 17 digits that read back as the same double; "NaN", "infinity", "-infinity". Returns the
 * length without the NUL. */
size_t mend__double_text(double value, char ret_text[MEND__DOUBLE_TEXT_SIZE]);

#endif

/* JSON from templates that one can read: {'model':$s,'index':$n}. */
#ifndef MEND_PROGRAM_FAULT_SERVER_JSON_TEMPLATE_H
#define MEND_PROGRAM_FAULT_SERVER_JSON_TEMPLATE_H

#include "core/buffer.h"

#include <stdarg.h>

/* Appends the template with " for each ' and, in turn, for $s a mend_str as a JSON string, for $j a mend_str as it is
 * (JSON), for $n a uint64_t, for $m an int that is thousandths. The compiler cannot check the arguments: cast what is
 * not of these types already. */
void json_put(mend__buffer *buffer, const char *template, ...);
void json_put_list(mend__buffer *buffer, const char *template, va_list *arguments);

#endif

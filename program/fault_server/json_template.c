#include "program/fault_server/json_template.h"

#include <stdlib.h>

static void put_thousandths(mend__buffer *buffer, int value) {
  mend__buffer_printf(buffer, "%s%d.%03d", value < 0 ? "-" : "", abs(value) / 1000, abs(value) % 1000);
}

static void put_argument(mend__buffer *buffer, char kind, va_list *arguments) {
  switch (kind) {
  case 's': mend__buffer_json_string(buffer, va_arg(*arguments, mend_str)); break;
  case 'j': mend__buffer_str(buffer, va_arg(*arguments, mend_str)); break;
  case 'm': put_thousandths(buffer, va_arg(*arguments, int)); break;
  default: mend__buffer_u64(buffer, va_arg(*arguments, uint64_t));
  }
}

void json_put_list(mend__buffer *buffer, const char *template, va_list *arguments) {
  for (const char *place = template; *place != '\0'; place++) {
    if (*place == '$') {
      put_argument(buffer, *++place, arguments);
    } else {
      mend__buffer_char(buffer, *place == '\'' ? '"' : *place);
    }
  }
}

void json_put(mend__buffer *buffer, const char *template, ...) {
  va_list arguments;
  va_start(arguments, template);
  json_put_list(buffer, template, &arguments);
  va_end(arguments);
}

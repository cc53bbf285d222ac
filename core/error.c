#include "core/memory.h"

#include <stdarg.h>
#include <stdio.h>

/* Formats into a buffer of its own, so that a sentence may quote the one it replaces, and one byte larger than the
 * message, so that the cut sees whether it falls inside a character. */
static void write_message(mend_error *error, const char *format, va_list arguments) {
  char text[sizeof error->message + 1];
  const int printed = vsnprintf(text, sizeof text, format, arguments);
  mend_str sentence = printed >= 0 ? mend_str_from(text) : mend_str_from(mend_status_message(error->status));
  const size_t kept = mend__utf8_cut(sentence, sizeof error->message - 1);
  memcpy(error->message, sentence.ptr, kept);
  error->message[kept] = '\0';
}

static void fill_in(mend_error *error, mend_status status, unsigned line, unsigned column, const char *format,
                    va_list arguments) {
  if (error == NULL) return;
  error->status = status;
  error->line = line;
  error->column = column;
  write_message(error, format, arguments);
}

mend_status mend_error_set(mend_error *error, mend_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fill_in(error, status, 0, 0, format, arguments);
  va_end(arguments);
  return status;
}

mend_status mend_error_set_at(mend_error *error, mend_status status, unsigned line, unsigned column, const char *format,
                              ...) {
  va_list arguments;
  va_start(arguments, format);
  fill_in(error, status, line, column, format, arguments);
  va_end(arguments);
  return status;
}

const char *mend_error_sentence(const mend_error *error, mend_status status) {
  const bool is_about_it = error != NULL && error->status == status && error->message[0] != '\0';
  return is_about_it ? error->message : mend_status_message(status);
}

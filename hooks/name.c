#include "core/text.h"
#include "hooks/hooks_internal.h"

enum { SHOWN_LEN = 40 };

mend_status mend__name_check(const char *what, mend_str name, size_t len_max, mend_error *error) {
  if (name.len == 0) {
    return mend_error_set(error, MEND_EINVAL, "%s: none, expected 1 to %zu bytes", what, len_max);
  }
  const mend_str shown = {name.ptr, mend__utf8_cut(name, SHOWN_LEN)};
  if (!mend__is_printable(name.len > len_max ? shown : name)) {
    return mend_error_set(error, MEND_EINVAL, "%s: expected UTF-8 without control characters", what);
  }
  if (name.len <= len_max) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL, "%s: \"%.*s...\", expected 1 to %zu bytes", what, MEND_STR_ARG(shown),
                        len_max);
}

mend_status mend__name_check_c(const char *what, const char *name, size_t len_max, mend_error *error) {
  return mend__name_check(what, (mend_str){name, name != NULL ? strnlen(name, len_max + 1) : 0}, len_max, error);
}

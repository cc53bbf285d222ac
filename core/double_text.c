#include "core/double_text.h"

#include "mend/json.h"

#include <math.h>
#include <stdio.h>

/* printf with the decimal point of the locale, whatever it is, made a point again. */
static size_t print_finite(double value, int digits, char ret_text[MEND__DOUBLE_TEXT_SIZE]) {
  char printed[MEND__DOUBLE_TEXT_SIZE + 16];
  size_t len = 0;
  snprintf(printed, sizeof printed, "%.*g", digits, value);
  for (const char *at = printed; *at != '\0'; at++) {
    const bool radix = strchr("+-0123456789e", *at) == NULL;
    if (!radix) {
      ret_text[len++] = *at;
    } else if (ret_text[len - 1] != '.') {
      ret_text[len++] = '.';
    }
  }
  ret_text[len] = '\0';
  return len;
}

size_t mend__double_text(double value, char ret_text[MEND__DOUBLE_TEXT_SIZE]) {
  if (!isfinite(value)) {
    const char *const name = isnan(value) ? "NaN" : value > 0 ? "infinity" : "-infinity";
    return (size_t)snprintf(ret_text, MEND__DOUBLE_TEXT_SIZE, "%s", name);
  }
  size_t len = 0;
  for (int digits = 15; digits <= 17; digits++) {
    len = print_finite(value, digits, ret_text);
    if (mend_json_double((mend_str){ret_text, len}) == value) break;
  }
  return len;
}

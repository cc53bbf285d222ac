/* Text files of sections, each behind a mark at the beginning of a line. */
#ifndef MEND_TEST_SECTIONS_H
#define MEND_TEST_SECTIONS_H

#include "mend/core.h"

/* Takes the text up to the mark, which is at the beginning of a line, and the mark away. */
static inline mend_str take_until(mend_str *rest, const char *mark) {
  const char *found = memmem(rest->ptr, rest->len, mark, strlen(mark));
  const mend_str taken = {rest->ptr, found != NULL ? (size_t)(found + 1 - rest->ptr) : rest->len};
  const size_t used = found != NULL ? taken.len + strlen(mark) - 1 : rest->len;
  *rest = (mend_str){rest->ptr + used, rest->len - used};
  return taken;
}

#endif

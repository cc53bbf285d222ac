#include "program/replay/tally.h"

#include "core/memory.h"
#include "program/replay/plain.h"

#include <stdio.h>

void tally_add(tally *of, mend_str name) {
  char cut[sizeof of->names[0].name];
  name.len = mend__utf8_cut(name, sizeof cut - 1);
  snprintf(cut, sizeof cut, "%.*s", MEND_STR_ARG(name));
  for (size_t i = 0; i < of->len; i++) {
    if (strcmp(of->names[i].name, cut) != 0) continue;
    of->names[i].count++;
    return;
  }
  if (of->len == TALLY_NAMES) {
    of->others++;
    return;
  }
  memcpy(of->names[of->len].name, cut, sizeof cut);
  of->names[of->len++].count = 1;
}

void tally_write(mend__buffer *buffer, const tally *of) {
  for (size_t i = 0; i < of->len; i++) {
    if (i > 0) mend__buffer_str(buffer, MEND_STR(", "));
    plain_text(buffer, mend_str_from(of->names[i].name), sizeof of->names[i].name);
    mend__buffer_printf(buffer, " %llu", (unsigned long long)of->names[i].count);
  }
  if (of->others > 0) mend__buffer_printf(buffer, ", others %llu", (unsigned long long)of->others);
}

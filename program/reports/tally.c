#include "program/reports/tally.h"

#include "program/base/plain.h"

static void add(tally *of, mend_str name, uint64_t count) {
  char cut[sizeof of->names[0].name];
  plain_keep(cut, sizeof cut, name);
  for (size_t i = 0; i < of->len; i++) {
    if (strcmp(of->names[i].name, cut) != 0) continue;
    of->names[i].count += count;
    return;
  }
  if (of->len == TALLY_NAMES) {
    of->others += count;
    return;
  }
  memcpy(of->names[of->len].name, cut, sizeof cut);
  of->names[of->len++].count = count;
}

void tally_add(tally *of, mend_str name) { add(of, name, 1); }

void tally_merge(tally *of, const tally *more) {
  for (size_t i = 0; i < more->len; i++)
    add(of, mend_str_from(more->names[i].name), more->names[i].count);
  of->others += more->others;
}

void tally_write(mend__buffer *buffer, const tally *of) {
  for (size_t i = 0; i < of->len; i++) {
    if (i > 0) mend__buffer_str(buffer, MEND_STR(", "));
    plain_text(buffer, mend_str_from(of->names[i].name), sizeof of->names[i].name);
    mend__buffer_printf(buffer, " %llu", (unsigned long long)of->names[i].count);
  }
  if (of->others > 0) mend__buffer_printf(buffer, ", others %llu", (unsigned long long)of->others);
}

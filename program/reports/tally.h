/* How often each of a few names came. */
#ifndef MEND_PROGRAM_REPORTS_TALLY_H
#define MEND_PROGRAM_REPORTS_TALLY_H

#include "core/buffer.h"

enum { TALLY_NAMES = 16 };

typedef struct tally {
  struct {
    char name[64]; /* longer names are cut */
    uint64_t count;
  } names[TALLY_NAMES];
  size_t len;
  uint64_t others; /* names there was no room for */
} tally;

void tally_add(tally *of, mend_str name);
/* Adds what another has counted. */
void tally_merge(tally *of, const tally *more);
/* Appends "loop 9, stall 5, others 2" as plain text, in the order in which the names came first. */
void tally_write(mend__buffer *buffer, const tally *of);

#endif

/* The bytes of a file or pipe, looked at before they are taken. Memory holds what was looked at and not taken. */
#ifndef MEND_PROGRAM_TRANSCRIPTS_SOURCE_H
#define MEND_PROGRAM_TRANSCRIPTS_SOURCE_H

#include "mend/journal.h"

/* How much can be looked at: the longest row and what ends it. */
#define SOURCE_WINDOW_MAX (MEND_JOURNAL_LINE_MAX + (size_t)4096)

typedef struct source {
  int fd; /* borrowed */
  char *data;
  size_t begin, end, capacity;
  bool ended;
  uint64_t taken;
} source;

void source_init(source *bytes, int fd);
void source_free(source *bytes);
/* What comes next: at least `want` bytes unless the input ends before, valid until the next peek. MEND_ELIMIT for more
 * than SOURCE_WINDOW_MAX, MEND_EIO (errno kept), MEND_ENOMEM. */
mend_status source_peek(source *bytes, size_t want, mend_str *ret_window);
/* Takes the first `len` bytes of what was peeked at; they stay readable until the next peek. */
void source_take(source *bytes, size_t len);

#endif

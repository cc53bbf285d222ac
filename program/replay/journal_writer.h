/* Events as a journal, of a recording that may have no clock, or not tell what a call puts out while it runs. */
#ifndef MEND_PROGRAM_REPLAY_JOURNAL_WRITER_H
#define MEND_PROGRAM_REPLAY_JOURNAL_WRITER_H

#include "core/buffer.h"
#include "mend.h"

#include <stdio.h>

typedef struct journal_writer {
  FILE *out; /* borrowed */
  bool has_clock;
  uint64_t last_ns; /* the time of the last line */
  mend__buffer line;
} journal_writer;

void journal_writer_init(journal_writer *writer, FILE *out);
void journal_writer_free(journal_writer *writer);
/* Before the first event. MEND_ENOMEM, MEND_ECLOSED when it cannot be written (errno kept). */
mend_status journal_writer_begin(journal_writer *writer, bool has_clock, bool tells_progress);
/* Takes an event, on one thread. Errors as above. */
mend_status journal_writer_event(void *writer, const mend_event *event);
/* Time passes. Errors as above. */
mend_status journal_writer_tick(journal_writer *writer, uint64_t wall_ns);
/* The recording ended then, which may be after its last event. Errors as above. */
mend_status journal_writer_finish(journal_writer *writer, uint64_t end_ns);

#endif

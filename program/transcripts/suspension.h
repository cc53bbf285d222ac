/* A host that was suspended while its run was recorded: time that passed, and in which nothing could happen. A recorder
 * that polls writes a tick where nothing happens; where ticks stop for far longer than they ever were apart, it stood
 * still itself. What mend itself noticed while it recorded is a line of its own (clock.rebased). */
#ifndef MEND_PROGRAM_TRANSCRIPTS_SUSPENSION_H
#define MEND_PROGRAM_TRANSCRIPTS_SUSPENSION_H

#include "bus/event_json.h"
#include "program/stage/stage.h"

/* Of one recording. Zero it before first use. */
typedef struct suspension {
  uint64_t last_ns;    /* wall time of the last line */
  uint64_t longest_ns; /* that lines with a tick among them have been apart so far */
  bool was_tick;
} suspension;

/* Moves the stage's time to that of the line. When the host stood still between the line before and this one, the
 * watchdogs of all runs are told before, since deadlines move, and whoever listens after, once. */
mend_status suspension_move_time(suspension *seen, stage *on, const mend__event_line *line);

#endif

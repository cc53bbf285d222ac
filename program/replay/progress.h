/* How far a long file has been read, on a terminal. */
#ifndef MEND_PROGRAM_REPLAY_PROGRESS_H
#define MEND_PROGRAM_REPLAY_PROGRESS_H

#include "mend/core.h"

typedef struct progress {
  bool on;
  bool shown;
  uint64_t size;     /* of the file, 0 when it is not known */
  uint64_t next_at;  /* bytes read when the clock is looked at again */
  uint64_t begun_ns; /* monotonic */
  uint64_t last_ns;
} progress;

void progress_begin(progress *of, int fd, bool wanted);
/* Cheap; writes a line over the last one a few times a second, once the file has taken a second. */
void progress_show(progress *of, uint64_t bytes);
/* Takes the line away. */
void progress_end(progress *of);

#endif

/* How far long files have been read, in a line on a terminal. */
#ifndef MEND_PROGRAM_BASE_PROGRESS_H
#define MEND_PROGRAM_BASE_PROGRESS_H

#include "mend/core.h"

#include <pthread.h>
#include <stdatomic.h>

/* Of all files of a replay, which may be read by several threads. */
typedef struct progress_line {
  size_t files;        /* how many there are */
  uint64_t size;       /* of all of them, 0 when it is not known */
  uint64_t begun_ns;   /* monotonic */
  _Atomic size_t done; /* files */
  _Atomic uint64_t bytes, next_at;
  pthread_mutex_t lock; /* for what is below, and the terminal */
  uint64_t last_ns;
  bool shown;
} progress_line;

/* Of a file; 0 for what is none. */
uint64_t progress_size_of(const char *path);
void progress_begin(progress_line *of, size_t files, uint64_t size);
/* More was read. Cheap; writes the line anew a few times a second, once a second has passed. `of` may be NULL here and
 * in the following. */
void progress_add(progress_line *of, uint64_t bytes);
void progress_file_done(progress_line *of);
/* Takes the line away: something else is going to be written. */
void progress_hide(progress_line *of);
void progress_end(progress_line *of);

#endif

/* Streams, files in their order, and the outlets that the files have on the streams. */
#ifndef MEND_PROGRAM_REPORTS_OUTLETS_H
#define MEND_PROGRAM_REPORTS_OUTLETS_H

#include "program/base/progress.h"
#include "program/reports/outlet.h"

#include <pthread.h>
#include <stdio.h>

enum { OUTLET_STREAMS_MAX = 8 };

/* A file may write at once while it is its turn. What others write is held, up to a limit, and then they wait. */
typedef struct outlets {
  pthread_mutex_t lock;
  pthread_cond_t turned;
  struct outlet_stream {
    FILE *file;
    outlet_shape last; /* of what was written last */
    bool empty;        /* nothing was written yet */
    mend_status status;
    int reason; /* errno, once it cannot be written any more */
  } streams[OUTLET_STREAMS_MAX];
  size_t stream_count;
  size_t turn; /* the file whose turn it is */
  progress_line *progress;
} outlets;

struct outlet {
  struct file_outlets *file;
  struct outlet_stream *stream;
  outlet_shape shape;
  bool begun; /* something of it was written */
};

/* A file's outlets, one a stream. What they hold comes out in the order in which it was written, on any stream. */
typedef struct file_outlets {
  outlets *of;
  size_t turn;
  outlet each[OUTLET_STREAMS_MAX];
  mend__buffer held; /* pieces, each behind its piece_head */
  size_t last_head;  /* where that of the last piece is */
} file_outlets;

/* `shown` may be NULL; it is hidden whenever something is written. */
void outlets_init(outlets *of, progress_line *shown);
void outlets_free(outlets *of);
/* The number of the new stream; all are added before any file writes. */
size_t outlets_add(outlets *of, FILE *file);
/* Why the first stream that failed did; 0 when none has. */
int outlets_reason(const outlets *of);

/* The outlets of the file whose turn comes as number `turn`, from 0; they stay where they are. */
void file_outlets_open(file_outlets *file, outlets *of, size_t turn);
void file_outlets_close(file_outlets *file);
/* To be called when the file is done and it is its turn: writes what it holds, and then it is the next file's turn. */
mend_status file_outlets_finish(file_outlets *file);

#endif

/* House header: a file read line by line in flat memory. */
#ifndef MEND_CORE_LINES_H
#define MEND_CORE_LINES_H

#include "mend/core.h"

typedef struct mend__lines mend__lines;

typedef struct mend__line {
  mend_str text;   /* without line feed (and the carriage return before it); valid until the next call */
  uint64_t number; /* from 1 */
  bool unfinished; /* the last line of the file, without a line feed */
} mend__line;

/* fd is borrowed. max_line: longer lines are skipped and told by MEND_ELIMIT. */
mend_status mend__lines_new(const mend_allocator *allocator, int fd, size_t max_line, mend__lines **ret_lines);
void mend__lines_free(mend__lines *lines);
/* MEND_ENOENT at the end, MEND_ELIMIT (number set, text absent), MEND_EIO (errno kept), MEND_ENOMEM. */
mend_status mend__lines_next(mend__lines *lines, mend__line *ret_line);
/* Opens a file for reading: "-" is standard input (dup). Errors name the path and the reason; a folder is refused. */
mend_status mend__open_input(const char *path, int *ret_fd, mend_error *error);

#endif

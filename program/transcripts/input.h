/* A recorded run as rows: the lines of a JSONL file, or the elements of a JSON document's array. Only one is held. */
#ifndef MEND_PROGRAM_TRANSCRIPTS_INPUT_H
#define MEND_PROGRAM_TRANSCRIPTS_INPUT_H

#include "mend/journal.h"
#include "mend/json.h"
#include "program/transcripts/source.h"

/* Longer rows are skipped and told by number, as in journals. */
#define INPUT_ROW_MAX MEND_JOURNAL_LINE_MAX

/* So many rows may be read ahead. */
enum { INPUT_AHEAD_MAX = 64 };

typedef enum input_shape { INPUT_LINES, INPUT_DOCUMENT } input_shape;

/* One row; what it points to is valid until the next call. */
typedef struct input_row {
  mend_str text;       /* absent when `problem` is set */
  uint64_t number;     /* of the line or element, from 1 */
  bool unfinished;     /* the last line, without a line feed */
  bool loses_rest;     /* of a document, in which what follows a mistake cannot be told apart */
  const char *problem; /* why the row cannot be read; NULL when it can */
} input_row;

typedef struct input {
  source bytes;
  input_shape shape;
  mend_str beginning;            /* of a document, as much as was looked at; valid until the first row is read */
  const char *const *containers; /* members of a document's object that hold the rows, ended by NULL; borrowed */
  const char *other[2];          /* in their place when the document has none: its first member with objects */
  char other_name[64];
  uint64_t number;   /* of the last row read */
  char problem[320]; /* what a row's problem points to, and the file's */

  /* A document. The scanner's text begins `kept` bytes into the window: the bytes before belong to the element. */
  mend_json json;
  size_t kept;
  uint8_t place;

  struct input_head *head; /* rows that input_look_ahead read and input_next has not handed out yet */
} input;

/* Looks at the beginning of the file to tell lines from a document. fd is borrowed. MEND_ENOENT when there is nothing
 * but white space, MEND_EINVAL when it is no text (`problem` says what it is), MEND_EIO (errno kept), MEND_ENOMEM. */
mend_status input_open(input *in, int fd, const char *const *containers);
void input_close(input *in);

/* The next row that is not blank. MEND_ENOENT at the end, MEND_EIO (errno kept), MEND_ENOMEM. */
mend_status input_next(input *in, input_row *ret_row);
/* Reads one more row and keeps it for input_next. Errors as above, and MEND_ELIMIT after INPUT_AHEAD_MAX rows. */
mend_status input_look_ahead(input *in, input_row *ret_row);
/* At the end: whether the document's array of rows was there and had no elements. */
bool input_array_was_empty(const input *in);
/* Bytes taken so far. */
uint64_t input_offset(const input *in);

#endif

/* Kinds of recorded runs. A format is one file and one line in formats.c. */
#ifndef MEND_PROGRAM_REPLAY_FORMAT_H
#define MEND_PROGRAM_REPLAY_FORMAT_H

#include "program/replay/input.h"
#include "program/replay/stage.h"

/* What a row says about the file's format. */
typedef enum fit {
  FIT_NO,    /* it is none of this format's rows; a file may hold some */
  FIT_MAYBE, /* it could be one */
  FIT_YES,   /* it is one */
  FIT_NEVER  /* a file with this row has another format */
} fit;

typedef struct format_view {
  fit fit;
  const char *reason; /* why not; static */
  bool has_ts;
  uint64_t ts_ns; /* the row's wall time */
} format_view;

typedef struct format {
  const char *name;      /* in --json */
  const char *title;     /* for people */
  const char *container; /* the member of a JSON document that holds the rows; NULL when documents are arrays at most */
  bool has_clock;
  format_view (*look)(mend_str row);
  /* Plays one row. MEND_ESYNTAX, MEND_EINVAL, MEND_ELIMIT: the row is broken, `error` says how; others end the file. */
  mend_status (*play)(stage *on, const input_row *row, mend_error *error);
} format;

extern const format journal_format;
extern const format openai_chat_format;
extern const format claude_code_format;

/* All formats, ended by NULL. */
extern const format *const formats[];
/* The members of documents that hold rows, of all formats, ended by NULL. */
enum { FORMAT_CONTAINERS_MAX = 32 };
void format_containers(const char *ret_names[FORMAT_CONTAINERS_MAX]);

/* What the first rows of a file fit best. */
typedef struct format_choice {
  const format *format; /* NULL: none */
  const char *foreign;  /* then: what it is that cannot be read yet; NULL when nobody knows */
  bool has_ts;
  uint64_t first_ts_ns;
} format_choice;

/* Looks ahead until it is sure or has seen enough. Why each format does not fit goes to `reasons`, a line each, when
 * none does. Errors of input_look_ahead but MEND_ENOENT. */
mend_status format_choose(input *in, format_choice *ret_choice, mend__buffer *reasons);

#endif

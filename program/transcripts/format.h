/* Kinds of recorded runs. A format is one file and one line in formats.c. */
#ifndef MEND_PROGRAM_TRANSCRIPTS_FORMAT_H
#define MEND_PROGRAM_TRANSCRIPTS_FORMAT_H

#include "program/stage/stage.h"
#include "program/transcripts/input.h"

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
  uint64_t ts_ns;        /* the row's wall time */
  bool says_no_progress; /* the file does not tell what calls put out, whatever its format could */
} format_view;

typedef struct format {
  const char *name;  /* in --json */
  const char *title; /* for people */
  /* The members of a JSON document that may hold the rows, ended by NULL; NULL when documents are arrays at most. */
  const char *const *containers;
  bool has_clock;
  bool tells_progress; /* what a call puts out while it runs: else its silence says little */
  bool any_order;      /* rows are not in order of time: they are played by stage_later */
  /* What the beginning of a document says that is an object: FIT_YES, it is one, whatever its rows look like;
   * FIT_NEVER; anything else, ask the rows. The text may be cut anywhere: json_fields_peek. NULL: ask the rows. */
  fit (*look_at_document)(mend_str beginning);
  format_view (*look)(mend_str row);
  /* Plays one row. MEND_ESYNTAX, MEND_EINVAL, MEND_ELIMIT: the row is broken, `error` says how; others end the file. */
  mend_status (*play)(stage *on, const input_row *row, mend_error *error);
  /* After the last row: plays what the format itself held back; NULL when it holds nothing. */
  mend_status (*finish)(stage *on);
} format;

extern const format journal_format;
extern const format openai_chat_format;
extern const format anthropic_format;
extern const format responses_format;
extern const format claude_code_format;
extern const format codex_format;
extern const format openhands_v0_format;
extern const format openhands_v1_format;
extern const format gemini_format;
extern const format otlp_format;
extern const format langsmith_format;
extern const format sweagent_format;
extern const format mini_swe_format;

/* All formats, ended by NULL. */
extern const format *const formats[];

/* The other format that a row is of, NULL when it may be one of this format, or of none. */
const format *format_of_stranger(const format *as, mend_str row);

/* What the rows say that one row holds as an array: the best of it. */
format_view format_look_inside(mend_str rows, format_view (*look)(mend_str row));

/* The members of documents that hold rows, of all formats, ended by NULL. */
enum { FORMAT_CONTAINERS_MAX = 64 };
void format_containers(const char *ret_names[FORMAT_CONTAINERS_MAX]);

/* What the first rows of a file fit best. */
typedef struct format_choice {
  const format *format; /* NULL: none */
  bool has_ts;
  uint64_t first_ts_ns;
  bool tells_progress; /* see format */
} format_choice;

/* Looks ahead until it is sure or has seen enough. Why each format does not fit goes to `reasons`, a line each, when
 * none does. Errors of input_look_ahead but MEND_ENOENT. */
mend_status format_choose(input *in, format_choice *ret_choice, mend__buffer *reasons);

#endif

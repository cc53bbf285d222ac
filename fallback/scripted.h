/* Private to fallback/: replies from a file. docs/scripted-models.md says what is in it. */
#ifndef MEND_FALLBACK_SCRIPTED_H
#define MEND_FALLBACK_SCRIPTED_H

#include "core/buffer.h"
#include "http/client.h"
#include "mend/fallback.h"

/* ---- scripted_load.c ---- */

enum { MEND__SCRIPT_MAX = 8 * 1024 * 1024 }; /* bytes of a file */

/* Some of a script's pieces, calls, headers or log_probs. */
typedef struct mend__script_range {
  size_t first, count;
} mend__script_range;

/* A text as one piece, which is cut for the stream, or as the pieces that are sent. */
typedef struct mend__script_text {
  mend__script_range pieces;
  bool is_whole;
} mend__script_text;

typedef struct mend__script_call {
  mend_str id, name, args;
} mend__script_call;

/* What goes wrong, and what a failure says of it. */
typedef struct mend__script_fault {
  const char *name;
  const char *transport; /* of the signal; NULL: the provider tells an error, or nothing is told */
  bool connects;         /* before it goes wrong */
  bool is_silent;        /* nothing comes any more: one of the four clocks ends it */
  const char *sentence;
} mend__script_fault;

typedef struct mend__script_reply {
  mend_str when_user_says, when_tool_says; /* absent: whatever they say */
  mend_str model, finish_reason, body;
  mend_str source; /* its JSON */
  mend__script_text thinking, text;
  mend__script_range calls, headers, log_probs;
  uint64_t delay_ns, every_ns; /* before the first piece, and before each later one */
  uint64_t cut;                /* characters of a piece; 0: whole */
  mend_usage usage;
  mend_finish finish;
  uint64_t status;
  const mend__script_fault *fault; /* NULL: none */
  uint64_t after;                  /* pieces before the fault */
  bool reused;
} mend__script_reply;

typedef enum mend__script_end { MEND__SCRIPT_REPEATS = 0, MEND__SCRIPT_LOOPS, MEND__SCRIPT_ENDS } mend__script_end;

typedef struct mend__script {
  const mend_allocator *allocator;
  mend__buffer source; /* the whole file */
  char *arena;         /* as long as the source, so that no text of it can be too much */
  size_t arena_used;
  mend__script_reply *replies;
  size_t reply_count, reply_capacity;
  mend_str *pieces;
  size_t piece_count, piece_capacity;
  mend__script_call *calls;
  size_t call_count, call_capacity;
  mend__http_header *headers;
  size_t header_count, header_capacity;
  double *log_probs;
  size_t log_prob_count, log_prob_capacity;
  mend__script_end after_last;
} mend__script;

/* Errors have line and column: MEND_ESYNTAX; MEND_EINVAL; MEND_ENOMEM. */
mend_status mend__script_read(mend_str source, const mend_allocator *allocator, mend__script **ret_script,
                              mend_error *error);
void mend__script_free(mend__script *script);

/* ---- scripted_pieces.c: a reply's pieces, one after the other ---- */

typedef struct mend__script_cursor {
  const mend__script *script;
  const mend__script_reply *reply;
  unsigned stage; /* thinking, text, calls */
  size_t piece;   /* of that stage, which of them */
  size_t offset;  /* in it */
} mend__script_cursor;

/* False: there are no more. The delta points into the script. */
bool mend__script_next(mend__script_cursor *cursor, mend_delta *ret_delta);

/* ---- scripted.c ---- */

/* A model of a script that is there already. Sentences begin with its name. */
mend_status mend__scripted_new(const char *name, mend_str source, mend_loop *loop, const mend_allocator *allocator,
                               mend_classification *table, mend_model **ret_model, mend_error *error);
/* The model scripted:path. \param table  how failures are called; NULL: by their signal. Errors: as above,
 * MEND_ENOENT and MEND_EIO of the file, MEND_ELIMIT when it is too long; sentences begin with the path. */
mend_status mend__scripted_open(const char *path, mend_loop *loop, const mend_allocator *allocator,
                                mend_classification *table, mend_model **ret_model, mend_error *error);

#endif

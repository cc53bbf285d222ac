/**
 * mend/journal.h: events on disk, one JSON object a line, appended.
 *
 *   mend_journal *journal;
 *   mend_journal_options options = MEND_JOURNAL_OPTIONS_INIT;
 *   options.path = "run.jsonl";
 *   mend_journal_open(bus, &options, &journal, &error);   // from here on every event of the bus is written
 *   mend_run_emit(run, "tool.before", "{\"tool_name\":\"search\"}", NULL);
 *   mend_journal_close(journal, &error);
 *
 *   mend_journal_reader *reader;
 *   mend_journal_reader_open(NULL, "run.jsonl", &reader, &error);
 *   mend_journal_line line = MEND_JOURNAL_LINE_INIT;
 *   while (mend_journal_reader_next(reader, &line, &error) == MEND_OK) printf("%.*s\n", MEND_STR_ARG(line.run_id));
 *
 * Each event is written with one write() to a descriptor opened for appending, so a process that is killed loses at
 * most the line it was writing. A reader takes a torn last line for what it is; a writer that goes on in such a file
 * ends that line first, so nothing before it is lost and nothing is glued to it. Several processes may write to one
 * file, on file systems that append in one piece, as local ones do; there may be blank lines between theirs.
 *
 * Threads: a journal may be written to from any thread that publishes; a reader belongs to one thread at a time.
 */
#ifndef MEND_JOURNAL_H
#define MEND_JOURNAL_H

#include "mend/bus.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Writing ----------------------------------------------------------------------------------------------- */

typedef struct mend_journal mend_journal;

/** When the file is forced to the disk. */
typedef enum mend_fsync {
  MEND_FSYNC_NONE = 0, /**< when the system likes */
  MEND_FSYNC_INTERVAL, /**< with the first event after interval_s, and at close */
  MEND_FSYNC_EVERY     /**< after every event */
} mend_fsync;

typedef struct mend_journal_options {
  size_t size;
  const char *path;    /**< created with mode 0600 when it does not exist; NULL: `fd` is used */
  int fd;              /**< an open descriptor, borrowed, when path is NULL; default -1 */
  const char *pattern; /**< one pattern, as for mend_bus_subscribe: a topic, "tool.*" or "*"; NULL is "*", all events */
  bool content;        /**< full arguments and results; default true. Off: as in mend_json_view_options, which saves
                            space and is no privacy */
  mend_fsync fsync;    /**< default none */
  double interval_s;   /**< for MEND_FSYNC_INTERVAL; > 0; default 1 */
} mend_journal_options;
#define MEND_JOURNAL_OPTIONS_INIT                                                                                      \
  { sizeof(mend_journal_options), NULL, -1, NULL, true, MEND_FSYNC_NONE, 1.0 }

/**
 * Subscribes a writer to the bus, which it keeps a reference to. Errors: MEND_EINVAL, MEND_EIO (the sentence names the
 * path and the reason), MEND_ENOMEM, MEND_ELIMIT. An event that cannot be written is counted and, as for any handler,
 * reported as `bus.handler_failed`; a line that was written in part is overwritten with blanks or, where that cannot
 * be (a pipe, a borrowed descriptor that appends), ended before the next one. An event that would be longer than
 * MEND_JOURNAL_LINE_MAX is written as without content.
 *
 * A pipe at `path` must have a reader (else MEND_EIO) and is never waited for: an event that finds it full is lost. A
 * borrowed descriptor is written to as it is: where such a write waits, every thread that publishes does. Writing to a
 * pipe that nobody reads any more raises SIGPIPE, as ever: it is the program's to ignore.
 */
MEND_API mend_status mend_journal_open(mend_bus *bus, const mend_journal_options *options, mend_journal **ret_journal,
                                       mend_error *error);
/** Unsubscribes, syncs as the policy says, closes the file and frees. NULL is allowed. Returns MEND_EIO when any event
 * was lost, the last sync failed, or the file at `path` was deleted while it was written, so that its lines are gone;
 * the policies that sync tell that with the next event too, as a failed sync. A file that was moved is written on
 * where it is. Not from a handler: MEND_EDEADLK, nothing is closed. */
MEND_API mend_status mend_journal_close(mend_journal *journal, mend_error *error);

typedef struct mend_journal_stats {
  size_t size;
  uint64_t lines; /**< events written */
  uint64_t bytes;
  uint64_t lost; /**< events that could not be written */
} mend_journal_stats;
/** Set ret_stats->size before the call: with size 0 nothing is filled in. */
MEND_API void mend_journal_get_stats(mend_journal *journal, mend_journal_stats *ret_stats);

/* ---- Reading ----------------------------------------------------------------------------------------------- */

typedef struct mend_journal_reader mend_journal_reader;

/** The longest line a reader takes and a writer makes, in bytes; longer ones are skipped and told by number. */
#define MEND_JOURNAL_LINE_MAX (MEND_CAST(size_t, 64) * 1024 * 1024)

/** One line. Everything is borrowed and valid until the next call. Start from MEND_JOURNAL_LINE_INIT. */
typedef struct mend_journal_line {
  size_t size;
  uint64_t number; /**< from 1 */
  mend_str text;   /**< the line as it is, without its line feed; absent when too long */
  bool torn;       /**< the last line, without a line feed and not whole: its writer was killed, or is at work in it */
  mend_str topic;
  bool has_ts;
  uint64_t ts_ns;  /**< wall time; exact to the nanosecond */
  mend_str run_id; /**< these are absent when the line has none */
  mend_str parent_run_id;
  mend_str parent_call;
  mend_str agent;
  mend_str session_id;
  mend_str project_id;
  uint64_t seq;          /**< 0 when the line has none */
  mend_any_event *event; /**< the event, with seq, wall_ns, trace_id and span_id as the line has them, without run and
                              mono_ns; NULL for a topic of one's own, whose line goes back on a bus by
                              mend_run_emit_text(run, topic, text, error) */
} mend_journal_line;
#define MEND_JOURNAL_LINE_INIT                                                                                         \
  {                                                                                                                    \
    sizeof(mend_journal_line), 0, {NULL, 0}, false, {NULL, 0}, false, 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0},   \
        {NULL, 0}, {NULL, 0}, 0, NULL                                                                                  \
  }

/** \param path  "-" is standard input. Errors: MEND_ENOENT when there is no such file, MEND_EIO (the sentence names the
 * path and the reason; a folder too), MEND_ENOMEM. */
MEND_API mend_status mend_journal_reader_open(const mend_allocator *allocator, const char *path,
                                              mend_journal_reader **ret_reader, mend_error *error);
/** NULL is allowed. */
MEND_API void mend_journal_reader_free(mend_journal_reader *reader);
/**
 * The next line that is not blank. A member whose value is of the wrong type is as good as absent. MEND_ENOENT after
 * the last, also when more has been appended since the end was read; MEND_ESYNTAX for a broken line, which is not JSON
 * or no event (error tells line and column; ret_line holds number and text; call again to go on), MEND_ELIMIT for one
 * that is too long (likewise), MEND_EIO when reading fails, MEND_ENOMEM, MEND_EINVAL for a ret_line of size 0. A last
 * line without a line feed that is not whole is MEND_ESYNTAX with ret_line->torn set.
 */
MEND_API mend_status mend_journal_reader_next(mend_journal_reader *reader, mend_journal_line *ret_line,
                                              mend_error *error);

#ifdef __cplusplus
}
#endif
#endif

#include "program/replay/replay.h"

#include "core/lines.h"
#include "core/reason.h"
#include "program/base/interrupt.h"
#include "program/transcripts/format.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* A file on its way. */
typedef struct play {
  const char *path;
  const char *name; /* for people */
  const replay_settings *settings;
  const char *containers[FORMAT_CONTAINERS_MAX];
  input in;
  format_choice choice;
  stage on;
  uint64_t shown; /* bytes that progress knows of */
} play;

static mend_status cannot_read(const play *of, mend_status status, mend__buffer *failure) {
  const char *reason = status == MEND_EIO ? mend__reason(errno) : mend_status_message(status);
  mend__buffer_printf(failure, "%s: %s", of->name, reason);
  return status;
}

/* ---- Before the first row ---------------------------------------------------------------------------------- */

static mend_status choose_format(play *of, int fd, mend__buffer *failure) {
  format_containers(of->containers);
  mend_status status = input_open(&of->in, fd, of->containers);
  if (status == MEND_ENOENT) {
    mend__buffer_printf(failure, "%s: it is empty", of->name);
    return status;
  }
  if (status == MEND_EINVAL) {
    mend__buffer_printf(failure, "%s: %s", of->name, of->in.problem);
    return status;
  }
  mend__buffer reasons;
  mend__buffer_init(&reasons, NULL);
  if (status == MEND_OK) status = format_choose(&of->in, &of->choice, &reasons);
  if (status != MEND_OK) {
    cannot_read(of, status, failure);
  } else if (of->choice.format == NULL && input_array_was_empty(&of->in)) {
    mend__buffer_printf(failure, "%s: the array is empty", of->name);
    status = MEND_ENOENT;
  } else if (of->choice.format == NULL) {
    mend__buffer_printf(failure, "%s: not a recorded run that mend knows", of->name);
    mend__buffer_bytes(failure, reasons.data, reasons.len);
    status = MEND_EINVAL;
  }
  mend__buffer_free(&reasons);
  return status;
}

static mend_status open_stage(play *of, mend__buffer *failure) {
  mend_error error = MEND_ERROR_INIT;
  const format *as = of->choice.format;
  const stage_start start = {of->choice.first_ts_ns, of->choice.tells_progress, as->any_order};
  const mend_status status = stage_open(&of->on, of->settings, of->path, of->choice.has_ts ? &start : NULL, &error);
  of->on.name = of->name;
  if (status == MEND_OK) return MEND_OK;
  const char *reason = error.message[0] != '\0' ? error.message : mend_status_message(status);
  mend__buffer_printf(failure, "%s: %s", of->name, reason);
  return status;
}

/* ---- Row by row -------------------------------------------------------------------------------------------- */

static bool is_broken_row(mend_status status) {
  return status == MEND_ESYNTAX || status == MEND_EINVAL || status == MEND_ELIMIT;
}

static mend_status tell_broken(play *of, const input_row *row, const char *problem) {
  of->on.counts.broken++;
  return reports_broken(of->settings->reports, row->number, problem);
}

/* A row of which nothing was published may be none of this file's. Where rows are held back that is not known. */
static mend_status check_kind(play *of, const input_row *row) {
  const format *as = of->choice.format;
  if (as->any_order || as->finish != NULL) return MEND_OK;
  const format *other = format_of_stranger(as, row->text);
  if (other == NULL) return MEND_OK;
  char problem[128];
  snprintf(problem, sizeof problem, "a row of another kind: %s", other->title);
  return tell_broken(of, row, problem);
}

static mend_status play_row(play *of, const input_row *row) {
  of->on.counts.rows++;
  if (row->problem != NULL) return tell_broken(of, row, row->problem);
  mend_error error = MEND_ERROR_INIT;
  mend_status status = stage_begin_row(&of->on, row->number, row->text);
  const uint64_t published = of->on.published;
  if (status == MEND_OK) status = of->choice.format->play(&of->on, row, &error);
  if (status == MEND_OK && of->on.published == published) return check_kind(of, row);
  if (!is_broken_row(status)) return status;
  if (row->unfinished && status == MEND_ESYNTAX) return tell_broken(of, row, "cut off: whoever wrote it was stopped");
  if (error.message[0] == '\0') return tell_broken(of, row, mend_status_message(status));
  if (error.column == 0) return tell_broken(of, row, error.message);
  char problem[sizeof error.message + 32];
  snprintf(problem, sizeof problem, "column %u: %s", error.column, error.message);
  return tell_broken(of, row, problem);
}

static void show_progress(play *of, uint64_t step) {
  const uint64_t offset = input_offset(&of->in);
  if (of->settings->progress == NULL || offset - of->shown < step) return;
  progress_add(of->settings->progress, offset - of->shown);
  of->shown = offset;
}

static mend_status finish_rows(play *of) {
  const format *as = of->choice.format;
  const mend_status status = as->finish != NULL ? as->finish(&of->on) : MEND_OK;
  return status == MEND_OK ? stage_finish(&of->on) : status;
}

static mend_status tell_lost(const play *of, const input_row *at, mend__buffer *failure) {
  mend__buffer_printf(failure, "%s: nothing could be read from element %llu on", of->name,
                      (unsigned long long)at->number);
  return MEND_ESYNTAX;
}

static mend_status play_rows(play *of, mend__buffer *failure) {
  enum { STEP = 256 * 1024 };
  input_row row = {.number = 0};
  mend_status status = MEND_OK;
  while (status == MEND_OK) {
    status = input_next(&of->in, &row);
    if (status == MEND_ENOENT) break;
    if (status == MEND_OK && row.unfinished && interrupt_came()) break; /* it was being written */
    if (status == MEND_OK) status = play_row(of, &row);
    show_progress(of, STEP);
  }
  show_progress(of, 1);
  if (status == MEND_OK || status == MEND_ENOENT) status = finish_rows(of);
  if (status == MEND_OK && row.loses_rest) return tell_lost(of, &row, failure);
  if (status == MEND_OK) return MEND_OK;
  return status == MEND_ECLOSED ? status : cannot_read(of, status, failure);
}

static mend_status play_file(play *of, replay_summary *ret_summary, mend__buffer *failure) {
  const reports *to = of->settings->reports;
  const format *as = of->choice.format;
  const char *row = of->in.shape == INPUT_LINES ? "line" : "element";
  const replay_file file = {of->path, of->name, as->name, as->title, row, of->on.has_clock};
  mend_status status = reports_begin(to, &file);
  if (status == MEND_OK) status = play_rows(of, failure);
  mend_status ended = stage_sum_up(&of->on, ret_summary);
  ret_summary->interrupted = interrupt_came();
  if (ended == MEND_OK) ended = reports_end(to, ret_summary);
  return status != MEND_OK ? status : ended;
}

mend_status replay_play(const char *path, const replay_settings *settings, replay_summary *ret_summary,
                        mend__buffer *failure) {
  play of = {.path = path, .settings = settings};
  of.name = strcmp(path, "-") == 0 ? "standard input" : path;
  mend_error error;
  int fd;
  *ret_summary = (replay_summary){0};
  mend_status status = mend__open_input(path, &fd, &error);
  if (status != MEND_OK) {
    mend__buffer_printf(failure, "%s", error.message);
    return status;
  }
  status = choose_format(&of, fd, failure);
  if (status == MEND_OK) status = open_stage(&of, failure);
  if (status == MEND_OK) {
    status = play_file(&of, ret_summary, failure);
    stage_close(&of.on);
  }
  input_close(&of.in);
  close(fd);
  return status;
}

/* What a replay is to do with a file. */
#ifndef MEND_PROGRAM_STAGE_SETTINGS_H
#define MEND_PROGRAM_STAGE_SETTINGS_H

#include "program/base/progress.h"
#include "program/reports/fail_on.h"
#include "program/reports/reports.h"

struct stage;

typedef struct replay_settings {
  const mend_options *watch;
  const fail_on *fails;           /* which detections decide about the exit status */
  const mend_model_table *models; /* prices, for usage that is told without costs; NULL: none are known */
  /* stall.timeout_s for recordings that do not tell what a call puts out while it runs; 0: the same. */
  double silent_timeout_s;
  size_t content_bytes;    /* how much of arguments and results is kept for the reports */
  const reports *reports;  /* who is told */
  progress_line *progress; /* NULL: nobody looks */
  /* Before the first event of a file; may subscribe to its bus. NULL: nothing. */
  mend_status (*attach)(void *ctx, struct stage *on);
  /* Time passes and nothing else: a row says so (stage_tick). NULL: nothing. */
  mend_status (*tick)(void *ctx, const struct stage *on);
  void *attach_ctx;
} replay_settings;

#endif

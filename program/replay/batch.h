/* Many files, several at a time, told of in their order. */
#ifndef MEND_PROGRAM_REPLAY_BATCH_H
#define MEND_PROGRAM_REPLAY_BATCH_H

#include "program/replay/paths.h"
#include "program/reports/fail_on.h"
#include "program/reports/reports.h"

#include <stdio.h>

typedef struct replay_plan {
  const replay_paths *paths;
  const mend_options *watch;
  const fail_on *fails;
  const mend_model_table *models; /* may be NULL */
  double silent_timeout_s;        /* see settings.h */
  size_t content_bytes;
  size_t jobs;   /* so many files at a time, from 1 */
  bool progress; /* on standard error */
  struct {
    report_kind *kind;
    FILE *out;
    const char *path; /* of `out`; NULL for a standard stream */
  } outputs[REPORTS_MAX];
  size_t output_count;
  FILE *notes; /* what cannot be read is told here */
} replay_plan;

/* Plays all files; an interrupt leaves out those that have not been begun. MEND_ENOMEM; MEND_ECLOSED when an output
 * cannot be written any more (errno kept). */
mend_status replay_batch(const replay_plan *plan, replay_totals *ret_totals);

#endif

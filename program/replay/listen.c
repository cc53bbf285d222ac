#include "program/replay/listen.h"

#include "core/memory.h"
#include "program/replay/replay.h"
#include "program/reports/outlets.h"
#include "program/reports/report_kinds.h"

/* As in a report without --content: what formats make of a call must not depend on who listens. */
enum { EXCERPT_BYTES = 120 };

static mend_status open_notes(outlet *to, reports *told) {
  report_kind *kind = report_notes_kind();
  report *notes = kind != NULL ? kind->open(kind, to) : NULL;
  mend__free(NULL, kind);
  if (notes == NULL) return MEND_ENOMEM;
  reports_add(told, notes);
  return MEND_OK;
}

mend_status replay_listen(const char *path, mend_status (*attach)(void *ctx, stage *on), void *ctx, bool progress,
                          mend__buffer *failure) {
  mend_options nothing = MEND_OPTIONS_INIT;
  nothing.loop.enable = nothing.stall.enable = false;
  progress_line shown;
  outlets streams;
  file_outlets outs;
  reports told = {.count = 0};
  if (progress) progress_begin(&shown, 1, progress_size_of(path));
  outlets_init(&streams, progress ? &shown : NULL);
  const size_t notes = outlets_add(&streams, stderr);
  file_outlets_open(&outs, &streams, 0);
  const replay_settings settings = {.watch = &nothing,
                                    .content_bytes = EXCERPT_BYTES,
                                    .reports = &told,
                                    .progress = streams.progress,
                                    .attach = attach,
                                    .attach_ctx = ctx};
  replay_summary summary;
  mend_status status = open_notes(&outs.each[notes], &told);
  if (status == MEND_OK) status = replay_play(path, &settings, &summary, failure);
  reports_free(&told);
  file_outlets_close(&outs);
  outlets_free(&streams);
  progress_end(settings.progress);
  return status;
}

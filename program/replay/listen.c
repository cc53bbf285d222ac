#include "program/replay/listen.h"

#include "core/memory.h"
#include "program/replay/replay.h"
#include "program/reports/outlets.h"
#include "program/reports/report_kinds.h"

/* As in a report without --content: what formats make of a call must not depend on who listens. */
enum { EXCERPT_BYTES = 120 };

/* A listener and the stage it listens to. */
typedef struct listening {
  const replay_listener *to;
  stage *on;
  mend_subscription *subscription; /* lives as long as the bus */
  mend_status failure;             /* the listener's first */
} listening;

/* The bus would only count what a subscriber could not do. */
static mend_status hear(void *ctx, const mend_event *event) {
  listening *of = ctx;
  if (of->failure == MEND_OK) of->failure = of->to->event(of->to->ctx, event);
  if (of->on->failure == MEND_OK) of->on->failure = of->failure;
  return of->failure;
}

static mend_status pass_tick(void *ctx, const stage *on) {
  listening *of = ctx;
  if (of->failure == MEND_OK) of->failure = of->to->tick(of->to->ctx, on);
  return of->failure;
}

static mend_status attach(void *ctx, stage *on) {
  listening *of = ctx;
  of->on = on;
  const mend_status status = of->to->begin != NULL ? of->to->begin(of->to->ctx, on) : MEND_OK;
  if (status != MEND_OK) return status;
  return mend_bus_subscribe(on->bus, of->to->topics, hear, of, NULL, &of->subscription, NULL);
}

static mend_status open_notes(outlet *to, reports *told) {
  report_kind *kind = report_notes_kind();
  report *notes = kind != NULL ? kind->open(kind, to) : NULL;
  mend__free(NULL, kind);
  if (notes == NULL) return MEND_ENOMEM;
  reports_add(told, notes);
  return MEND_OK;
}

mend_status replay_listen(const char *path, const replay_listener *listener, bool progress, mend__buffer *failure) {
  listening of = {.to = listener};
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
                                    .tick = listener->tick != NULL ? pass_tick : NULL,
                                    .attach_ctx = &of};
  replay_summary summary;
  mend_status status = open_notes(&outs.each[notes], &told);
  if (status == MEND_OK) status = replay_play(path, &settings, &summary, failure);
  if (status == MEND_OK) status = of.failure;
  if (status == MEND_OK && listener->end != NULL) listener->end(listener->ctx, summary.end_ns);
  reports_free(&told);
  file_outlets_close(&outs);
  outlets_free(&streams);
  progress_end(settings.progress);
  return status;
}

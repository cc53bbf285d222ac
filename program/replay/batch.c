#include "program/replay/batch.h"

#include "core/memory.h"
#include "program/base/interrupt.h"
#include "program/base/plain.h"
#include "program/replay/replay.h"
#include "program/reports/outlets.h"
#include "program/reports/totals.h"

#include <errno.h>

/* So many files for each that is being read may be done before it is their turn. */
enum { AHEAD = 16 };

/* A file that is being read, or that waits for its turn. */
typedef struct slot {
  const replay_path *path;
  file_outlets outs; /* one for each output, and the notes */
  replay_summary summary;
  mend_status status;
  bool done;
} slot;

typedef struct batch {
  const replay_plan *plan;
  outlets outlets;
  size_t notes; /* the stream */
  progress_line shown, *progress;
  pthread_mutex_t lock;
  pthread_cond_t room;
  slot *slots;
  size_t slot_count;
  size_t next; /* the file to be begun next */
  size_t turn; /* the first that is not told of */
  replay_totals totals;
  mend_status status; /* what ends all */
} batch;

/* ---- One file ---------------------------------------------------------------------------------------------- */

static slot *slot_of(batch *of, size_t index) { return &of->slots[index % of->slot_count]; }

static void open_slot(batch *of, slot *at, size_t index) {
  *at = (slot){.path = &of->plan->paths->each[index]};
  file_outlets_open(&at->outs, &of->outlets, index);
}

static mend_status open_reports(batch *of, slot *at, reports *to) {
  for (size_t i = 0; i < of->plan->output_count; i++) {
    const report_kind *kind = of->plan->outputs[i].kind;
    report *one = kind->open(kind, &at->outs.each[i]);
    if (one == NULL) return MEND_ENOMEM;
    reports_add(to, one);
  }
  return MEND_OK;
}

static bool is_passed_over(const slot *at) {
  return !at->path->named && (at->status == MEND_EINVAL || at->status == MEND_ENOENT);
}

/* Of several files each has one line. */
static mend_str first_line(mend_str text) {
  const char *feed = text.len > 0 ? memchr(text.ptr, '\n', text.len) : NULL;
  if (feed != NULL) text.len = (size_t)(feed - text.ptr);
  return text;
}

static mend_status tell_failure(const batch *of, slot *at, const reports *to, const mend__buffer *failure) {
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  const mend_str sentences = mend__buffer_text(failure);
  plain_sentences(&text, "mend: ", of->plan->paths->count > 1 ? first_line(sentences) : sentences);
  const char *name = strcmp(at->path->text, "-") == 0 ? "standard input" : at->path->text;
  mend_status status = failure->failed ? MEND_ENOMEM : outlet_put(&at->outs.each[of->notes], &text);
  if (status == MEND_ECLOSED) status = MEND_OK; /* what is lost there is no reason to stop */
  if (status == MEND_OK) status = reports_unreadable(to, name, sentences);
  mend__buffer_free(&text);
  return status;
}

static mend_status play_path(batch *of, slot *at, const reports *to, mend__buffer *failure) {
  const replay_settings settings = {.watch = of->plan->watch,
                                    .fails = of->plan->fails,
                                    .models = of->plan->models,
                                    .silent_timeout_s = of->plan->silent_timeout_s,
                                    .content_bytes = of->plan->content_bytes,
                                    .reports = to,
                                    .progress = of->progress};
  if (at->path->problem == NULL) return replay_play(at->path->text, &settings, &at->summary, failure);
  mend__buffer_printf(failure, "%s: %s", at->path->text, at->path->problem);
  return MEND_EIO;
}

/* Errors are those that end all. */
static mend_status play_slot(batch *of, slot *at) {
  mend__buffer failure;
  reports to = {.count = 0};
  mend__buffer_init(&failure, NULL);
  mend_status status = open_reports(of, at, &to);
  if (status == MEND_OK) {
    at->status = play_path(of, at, &to, &failure);
    if (at->status == MEND_ECLOSED || at->status == MEND_ENOMEM) status = at->status;
    if (failure.len > 0 && !is_passed_over(at)) status = tell_failure(of, at, &to, &failure);
  }
  reports_free(&to);
  mend__buffer_free(&failure);
  return status;
}

/* ---- All files --------------------------------------------------------------------------------------------- */

static bool take_next(batch *of, size_t *ret_index) {
  const size_t count = of->plan->paths->count;
  pthread_mutex_lock(&of->lock);
  while (of->status == MEND_OK && of->next < count && of->next - of->turn >= of->slot_count)
    pthread_cond_wait(&of->room, &of->lock);
  const bool more = of->status == MEND_OK && of->next < count && !interrupt_came();
  if (more) {
    *ret_index = of->next++;
    open_slot(of, slot_of(of, *ret_index), *ret_index);
  }
  pthread_mutex_unlock(&of->lock);
  return more;
}

/* It is the turn of a file that is done. */
static mend_status settle(batch *of, slot *at) {
  const mend_status status = file_outlets_finish(&at->outs);
  file_outlets_close(&at->outs);
  of->totals.files++;
  if (is_passed_over(at)) {
    of->totals.passed_over++;
  } else {
    of->totals.unreadable += at->status != MEND_OK;
    replay_totals_add(&of->totals, &at->summary);
  }
  progress_file_done(of->progress);
  return status;
}

static void finish(batch *of, size_t index, mend_status status) {
  pthread_mutex_lock(&of->lock);
  slot_of(of, index)->done = true;
  while (of->turn < of->next && slot_of(of, of->turn)->done) {
    slot *at = slot_of(of, of->turn);
    const mend_status settled = settle(of, at);
    if (status == MEND_OK) status = settled;
    at->done = false;
    of->turn++;
  }
  if (of->status == MEND_OK) of->status = status;
  pthread_cond_broadcast(&of->room);
  pthread_mutex_unlock(&of->lock);
}

static void *work(void *ctx) {
  batch *of = ctx;
  size_t index;
  while (take_next(of, &index))
    finish(of, index, play_slot(of, slot_of(of, index)));
  return NULL;
}

/* The calling thread is one of the workers, and the only one where no other can be had. */
static mend_status work_together(batch *of) {
  const size_t files = of->plan->paths->count;
  const size_t others = (files < of->plan->jobs ? files : of->plan->jobs) - (files > 0);
  pthread_t *threads = mend__alloc_zero(NULL, (others + 1) * sizeof *threads);
  if (threads == NULL) return MEND_ENOMEM;
  size_t begun = 0;
  while (begun < others && pthread_create(&threads[begun], NULL, work, of) == 0)
    begun++;
  work(of);
  for (size_t i = 0; i < begun; i++)
    pthread_join(threads[i], NULL);
  mend__free(NULL, threads);
  return of->status;
}

/* ---- Before and after -------------------------------------------------------------------------------------- */

static uint64_t size_of_all(const replay_paths *paths) {
  uint64_t size = 0;
  for (size_t i = 0; i < paths->count; i++)
    size += progress_size_of(paths->each[i].text);
  return size;
}

/* What stands before and after all files. */
static mend_status frame(batch *of, bool at_end) {
  mend_status status = MEND_OK;
  file_outlets outs;
  file_outlets_open(&outs, &of->outlets, of->turn);
  for (size_t i = 0; i < of->plan->output_count && status == MEND_OK; i++) {
    report_kind *kind = of->plan->outputs[i].kind;
    if (!at_end && kind->start != NULL) status = kind->start(kind, &outs.each[i]);
    if (at_end && kind->finish != NULL) status = kind->finish(kind, &of->totals, &outs.each[i]);
  }
  file_outlets_close(&outs);
  return status;
}

static mend_status open_batch(batch *of, const replay_plan *plan) {
  *of = (batch){.plan = plan, .slot_count = plan->jobs * AHEAD};
  if (of->slot_count > plan->paths->count) of->slot_count = plan->paths->count;
  of->slots = mend__alloc_zero(NULL, of->slot_count * sizeof *of->slots);
  if (of->slots == NULL && of->slot_count > 0) return MEND_ENOMEM;
  if (plan->progress) {
    of->progress = &of->shown;
    progress_begin(&of->shown, plan->paths->count, size_of_all(plan->paths));
  }
  outlets_init(&of->outlets, of->progress);
  for (size_t i = 0; i < plan->output_count; i++)
    outlets_add(&of->outlets, plan->outputs[i].out);
  of->notes = outlets_add(&of->outlets, plan->notes);
  pthread_mutex_init(&of->lock, NULL);
  pthread_cond_init(&of->room, NULL);
  return MEND_OK;
}

static void close_batch(batch *of) {
  pthread_cond_destroy(&of->room);
  pthread_mutex_destroy(&of->lock);
  outlets_free(&of->outlets);
  progress_end(of->progress);
  mend__free(NULL, of->slots);
}

mend_status replay_batch(const replay_plan *plan, replay_totals *ret_totals) {
  batch of;
  mend_status status = open_batch(&of, plan);
  if (status != MEND_OK) return status;
  status = frame(&of, false);
  if (status == MEND_OK) status = work_together(&of);
  if (status == MEND_OK) status = frame(&of, true);
  const int reason = outlets_reason(&of.outlets);
  *ret_totals = of.totals;
  close_batch(&of);
  errno = reason;
  return status;
}

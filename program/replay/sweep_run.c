/* A sweep at work: threads that take one setting after the other. */
#include "program/replay/sweep_run.h"

#include "core/memory.h"
#include "program/base/interrupt.h"

#include <pthread.h>

enum { JOBS_MAX = 256 };

typedef struct sweep_work {
  sweep *sweep;
  const replay_plan *plan;
  report_kind *files; /* of the first setting */
  FILE *nowhere;      /* what the first setting has told already goes here */
  pthread_mutex_t lock;
  size_t next, done; /* settings */
  mend_status status;
  uint64_t shown_ns;    /* when it was last told how many are done */
  replay_totals totals; /* of the first setting */
} sweep_work;

static bool take_next(sweep_work *of, size_t *ret_setting) {
  pthread_mutex_lock(&of->lock);
  const bool more = of->status == MEND_OK && of->next < of->sweep->cell_count && !interrupt_came();
  if (more) *ret_setting = of->next++;
  pthread_mutex_unlock(&of->lock);
  return more;
}

/* One setting tells which files there are. */
static void tell_files(const sweep_work *of, replay_plan *plan) {
  plan->outputs[0].kind = of->files;
  plan->outputs[0].out = of->nowhere;
  plan->output_count = 1;
}

static mend_status play(sweep_work *of, size_t setting, const mend_options *options) {
  replay_plan plan = *of->plan;
  replay_totals totals;
  plan.watch = options;
  plan.jobs = 1;
  plan.progress = false;
  if (sweep_varies(of->sweep, MEND_STR("stall.timeout_s"))) plan.silent_timeout_s = 0;
  if (setting == 0) {
    tell_files(of, &plan);
  } else {
    plan.notes = of->nowhere;
  }
  const mend_status status = replay_batch(&plan, &totals);
  if (status != MEND_OK) return status;
  sweep_cell *cell = &of->sweep->cells[setting];
  cell->incidents = totals.incidents;
  cell->files = totals.troubled;
  cell->reasons = totals.by_reason;
  if (setting == 0) of->totals = totals;
  return MEND_OK;
}

/* The first setting is played even when its options contradict each other: somebody has to tell what cannot be read. */
static mend_status play_setting(sweep_work *of, size_t setting) {
  mend_option_tree *tree = NULL;
  const mend_status status = sweep_options(of->sweep, setting, of->plan->watch, &tree, NULL);
  if (status == MEND_ENOMEM) return status;
  const bool left_out = status != MEND_OK;
  mend_status played = MEND_OK;
  if (!left_out || setting == 0) played = play(of, setting, left_out ? of->plan->watch : mend_option_tree_get(tree));
  if (left_out) of->sweep->cells[setting] = (sweep_cell){.left_out = true};
  mend_option_tree_free(tree);
  return played;
}

/* On a terminal, a few times a second once a second has passed. */
static void tell_progress(sweep_work *of) {
  const uint64_t now_ns = mend_clock_now(mend_clock_real()).mono_ns;
  if (!of->plan->progress || now_ns < of->shown_ns + MEND_SECOND_NS / 4) return;
  of->shown_ns = now_ns;
  fprintf(stderr, "\r%zu of %zu settings ", of->done, of->sweep->cell_count);
}

static void *work(void *ctx) {
  sweep_work *of = ctx;
  size_t setting;
  while (take_next(of, &setting)) {
    const mend_status status = play_setting(of, setting);
    pthread_mutex_lock(&of->lock);
    if (of->status == MEND_OK) of->status = status;
    of->done++;
    tell_progress(of);
    pthread_mutex_unlock(&of->lock);
  }
  return NULL;
}

static void work_together(sweep_work *todo) {
  pthread_t threads[JOBS_MAX];
  size_t started = 0;
  const uint64_t begun_ns = mend_clock_now(mend_clock_real()).mono_ns;
  todo->shown_ns = begun_ns + MEND_SECOND_NS;
  const size_t settings = todo->sweep->cell_count, wanted = todo->plan->jobs < settings ? todo->plan->jobs : settings;
  while (started + 1 < wanted && started < JOBS_MAX && pthread_create(&threads[started], NULL, work, todo) == 0)
    started++;
  work(todo);
  while (started > 0)
    pthread_join(threads[--started], NULL);
  if (todo->shown_ns > begun_ns + MEND_SECOND_NS) fputs("\r\33[K", stderr);
}

mend_status sweep_run(sweep *of, const replay_plan *plan, sweep_files *files, replay_totals *ret_totals) {
  sweep_work todo = {.sweep = of,
                     .plan = plan,
                     .files = sweep_files_kind(files),
                     .nowhere = fopen("/dev/null", "we"),
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .status = MEND_OK};
  if (todo.nowhere == NULL) todo.status = MEND_EIO;
  if (todo.files == NULL) todo.status = MEND_ENOMEM;
  if (todo.status == MEND_OK) work_together(&todo);
  if (todo.nowhere != NULL) fclose(todo.nowhere);
  mend__free(NULL, todo.files);
  *ret_totals = todo.totals;
  return todo.status;
}

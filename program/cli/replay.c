#include "core/reason.h"
#include "program/base/interrupt.h"
#include "program/cli/replay_commands.h"
#include "program/cli/replay_options.h"
#include "program/cli/replay_outputs.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

/* How much of arguments and results the reports keep, in bytes. */
enum { EXCERPT_BYTES = 120, CONTENT_BYTES = 4096 };

/* A call that says nothing may be a build. Where a recording would not tell either way, it is given longer. */
static const double SILENT_TIMEOUT_S = 600;

static double silent_timeout_s(const replay_arguments *of) {
  const bool given = mend_option_tree_given(of->tree, MEND_STR("stall.timeout_s"));
  return given || mend_option_tree_get(of->tree)->mode == MEND_WATCH_MODE_SEED ? 0 : SILENT_TIMEOUT_S;
}

static size_t processors(void) {
  cpu_set_t ours;
  const int count = sched_getaffinity(0, sizeof ours, &ours) == 0 ? CPU_COUNT(&ours) : 1;
  return count < 1 ? 1 : count > REPLAY_JOBS_MAX ? REPLAY_JOBS_MAX : (size_t)count;
}

/* Who watches a run as it is written ends that with Ctrl-C, and still wants the report. */
static int catch_interrupt(const replay_arguments *of) {
  bool watches = false;
  for (size_t i = 0; i < of->file_count && !of->json; i++)
    watches |= strcmp(of->files[i], "-") == 0;
  return !watches || interrupt_catch() == MEND_OK ? CLI_FINE : cli_fail("SIGINT: %s", mend__reason(errno));
}

static int exit_status(const replay_totals *totals) {
  if (totals->failing > 0) return CLI_FOUND;
  const uint64_t read = totals->files - totals->unreadable - totals->passed_over;
  if (read > 0) return CLI_FINE;
  if (totals->passed_over == 0) return CLI_FAILED;
  return cli_fail("no transcripts: %llu files were looked at", (unsigned long long)totals->passed_over);
}

static void tell_unused_prices(void) {
  cli_remark("--prices had no effect: no usage without a cost is of a model that it names");
}

static int play(const replay_arguments *of, replay_plan *plan,
                int (*open_outputs)(replay_plan *plan, const replay_arguments *given)) {
  replay_totals totals;
  int result = open_outputs(plan, of);
  if (result == CLI_FINE) {
    const mend_status status = replay_batch(plan, &totals);
    if (status == MEND_OK && of->models != NULL && totals.priced == 0) tell_unused_prices();
    result = status == MEND_OK ? exit_status(&totals) : status == MEND_ENOMEM ? cli_out_of_memory() : CLI_FAILED;
  }
  const int reason = errno; /* of standard output, which cli_finish tells */
  const int closed = replay_outputs_close(plan);
  errno = reason;
  return closed != CLI_FINE ? closed : result;
}

/* Plays all once more, as it is without the sweep; what cannot be read was told. */
static int write_swept_page(const replay_arguments *of, replay_plan *plan) {
  plan->notes = fopen("/dev/null", "we");
  if (plan->notes == NULL) return cli_fail("/dev/null: %s", mend__reason(errno));
  const int result = play(of, plan, replay_outputs_open_swept);
  fclose(plan->notes);
  return result == CLI_FOUND ? CLI_FINE : result;
}

static int sweep_paths(replay_arguments *of, replay_plan *plan) {
  replay_totals totals;
  const int swept = cli_replay_sweep(&of->sweep, plan, of->json, &totals);
  if (swept != CLI_FINE) return swept;
  if (of->html != NULL) return write_swept_page(of, plan);
  const int status = exit_status(&totals);
  return status == CLI_FOUND ? CLI_FINE : status;
}

static int replay_paths_found(replay_arguments *of, const replay_paths *paths) {
  replay_plan plan = {.paths = paths,
                      .watch = mend_option_tree_get(of->tree),
                      .fails = &of->fails,
                      .models = of->models,
                      .silent_timeout_s = silent_timeout_s(of),
                      .content_bytes = of->content ? CONTENT_BYTES : EXCERPT_BYTES,
                      .jobs = of->jobs > 0 ? of->jobs : processors(),
                      .progress = isatty(STDERR_FILENO) == 1,
                      .notes = stderr};
  return of->sweep.axis_count > 0 ? sweep_paths(of, &plan) : play(of, &plan, replay_outputs_open);
}

static int replay(replay_arguments *of) {
  replay_paths paths = {0};
  mend_status status = replay_options_tell(of->tree);
  for (size_t i = 0; i < of->file_count && status == MEND_OK; i++)
    status = replay_paths_add(&paths, of->files[i]);
  int result = status == MEND_OK ? catch_interrupt(of) : cli_out_of_memory();
  if (result == CLI_FINE) result = replay_paths_found(of, &paths);
  replay_paths_free(&paths);
  return result;
}

static int run_replay(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "diff") == 0) return cli_replay_diff(argc - 1, argv + 1);
  if (argc > 1 && strcmp(argv[1], "convert") == 0) return cli_replay_convert(argc - 1, argv + 1);
  replay_arguments given;
  int result = replay_arguments_take(&given, argc, argv);
  if (result == CLI_FINE && given.help) {
    replay_help(stdout);
  } else if (result == CLI_FINE && given.version) {
    result = cli_show_version();
  } else if (result == CLI_FINE) {
    result = replay_arguments_check(&given);
    if (result == CLI_FINE) result = replay(&given);
  }
  replay_arguments_free(&given);
  return result;
}

const cli_command cli_replay = {"replay", "tell what went wrong in a recorded run", run_replay, replay_help,
                                &replay_syntax};

/* What docs/api/workbench.md quotes. */
#include "mend/workbench.h"

#include <stdio.h>

/* ---- A workbench ------------------------------------------------------------------------------------------- */

bool print_line(void *ctx, mend_str line);
mend_status use_a_workbench(mend_tools *tools, mend_str args, mend_error *error);

bool print_line(void *ctx, mend_str line) {
  (void)ctx;
  printf("%.*s\n", MEND_STR_ARG(line));
  return true;
}

mend_status use_a_workbench(mend_tools *tools, mend_str args, mend_error *error) {
  mend_workbench *workbench;
  mend_status status = mend_workbench_new(NULL, &workbench, error);
  if (status != MEND_OK) return status;
  mend_healing_runner *runner;
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.tools = tools;
  status = mend_workbench_with_healing(workbench, &options, &runner, error);
  if (status == MEND_OK) {
    MEND_HEALING_SCOPE(runner, NULL) {
      mend_result result = MEND_RESULT_INIT;
      status = mend_boundary_call(mend_healing_boundary(runner), MEND_STR("search"), args, NULL, &result);
      mend_result_clear(&result);
    }
    mend_healing_runner_release(runner);
  }
  mend_workbench_each_recent(workbench, print_line, NULL);
  char *picture;
  if (mend_tracer_draw(mend_workbench_tracer(workbench), NULL, NULL, &picture) == MEND_OK) {
    fputs(picture, stdout);
    mend_free(NULL, picture);
  }
  mend_workbench_release(workbench);
  return status;
}

/* ---- A tracer that tells somebody -------------------------------------------------------------------------- */

void note_slow_calls(void *ctx, const mend_span *span);
mend_status trace_slow_calls(mend_bus *bus, mend_tracer **ret_tracer, mend_error *error);
void write_span(void *ctx, const mend_span *span);

void note_slow_calls(void *ctx, const mend_span *span) {
  const double *limit_ms = ctx;
  if (span->call == 0 || span->duration_ms < *limit_ms) return;
  fprintf(stderr, "%s %.*s took %.0f ms (%.*s)\n", span->kind, MEND_STR_ARG(span->name), span->duration_ms,
          MEND_STR_ARG(span->status));
}

mend_status trace_slow_calls(mend_bus *bus, mend_tracer **ret_tracer, mend_error *error) {
  static double limit_ms = 5000;
  mend_tracer_options options = MEND_TRACER_OPTIONS_INIT;
  options.finished_limit = 0;
  options.finished = note_slow_calls;
  options.finished_ctx = &limit_ms;
  return mend_tracer_new(bus, &options, ret_tracer, error);
}

void write_span(void *ctx, const mend_span *span) {
  FILE *file = ctx;
  char *json;
  if (mend_span_to_json(span, NULL, &json, NULL) != MEND_OK) return;
  fprintf(file, "%s\n", json);
  mend_free(NULL, json);
}

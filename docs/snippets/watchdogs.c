/* What docs/api/watchdogs.md quotes. */
#include <mend/watchdogs.h>

#include <stdio.h>

static void print_detections(mend_run *run) {
  mend_watch *watch;
  if (mend_run_watch(run, &watch) != MEND_OK) return;
  mend_detection_cursor cursor = MEND_DETECTION_CURSOR_INIT; /* keep it to read on later */
  const mend_detection *detection;
  while (mend_watch_next(watch, &cursor, &detection) == MEND_OK) {
    mend_action action;
    mend_default_policy(NULL, detection, &action);
    printf("%s; would %s: %s\n", detection->summary.ptr, mend_action_kind_name(action.kind), action.text);
    mend_detection_release(detection);
  }
}

int main(void) {
  mend_error error = MEND_ERROR_INIT;
  mend_bus *bus = NULL;
  mend_run *run = NULL;
  mend_status status = mend_bus_new(NULL, &bus, &error);
  if (status == MEND_OK) status = mend_bus_watch(bus, NULL, &error); /* stall and loop, on every run */
  if (status == MEND_OK) status = mend_run_new(bus, NULL, &run, NULL);
  for (int i = 0; i < 4 && status == MEND_OK; i++)
    status = mend_run_emit(run, "tool.before", "{\"tool\": \"search\", \"args\": {\"q\": \"rain\"}}", &error);
  if (status == MEND_OK) print_detections(run);
  if (status != MEND_OK) fprintf(stderr, "%s\n", mend_error_sentence(&error, status));
  mend_run_release(run);
  mend_bus_release(bus);
  return status == MEND_OK ? 0 : 1;
}

/* ---- For people who debug ---------------------------------------------------------------------------------- */

void print_watch(mend_run *run);

void print_watch(mend_run *run) {
  char *text;
  if (mend_run_watch_dump(run, NULL, &text) != MEND_OK) return;
  fputs(text, stderr);
  mend_free(NULL, text);
}

/* The shortest way to a detection: a bus, its watchdogs, a run, and an agent that asks the same thing over and over. */
#include <mend.h>

#include <stdatomic.h>
#include <stdio.h>

/* Called on the thread that publishes. Here that is main's; where a loop or pooled tools publish as well, several
 * threads are in it at once, so what it writes to is atomic or has a lock. */
static mend_status on_detection(void *ctx, const mend_event *event) {
  const mend_detection_event *found = (const mend_detection_event *)event;
  printf("%.*s: %.*s\n", MEND_STR_ARG(found->detector), MEND_STR_ARG(found->summary));
  atomic_fetch_add((atomic_int *)ctx, 1);
  return MEND_OK;
}

int main(void) {
  mend_error error = MEND_ERROR_INIT;
  mend_bus *bus = NULL;
  mend_run *run = NULL;
  atomic_int detections = 0;

  mend_status status = mend_bus_new(NULL, &bus, &error);
  if (status == MEND_OK) status = mend_bus_watch(bus, NULL, &error); /* Stall and Loop, on every run of the bus */
  if (status == MEND_OK) {
    status = mend_bus_subscribe(bus, "healing.detection", on_detection, &detections, NULL, NULL, NULL);
  }
  if (status == MEND_OK) status = mend_run_new(bus, NULL, &run, NULL);

  for (int i = 0; i < 5 && status == MEND_OK; i++) {
    mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
    before.event.call = mend_run_next_call(run);
    before.tool_name = MEND_STR("search");
    before.args = MEND_STR("{\"q\": \"weather\"}");
    status = mend_run_publish(run, &before.event);
    /* ... the tool runs ... */
    mend_tool_after_event after = MEND_TOOL_AFTER_EVENT_INIT;
    after.event.call = before.event.call;
    if (status == MEND_OK) status = mend_run_publish(run, &after.event);
  }

  if (status != MEND_OK) fprintf(stderr, "watch_a_run: %s\n", mend_error_sentence(&error, status));
  mend_run_release(run);
  mend_bus_release(bus);
  return status == MEND_OK && detections == 1 ? 0 : 1;
}

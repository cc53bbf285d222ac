/* A program of somebody who has mend installed: the same call four times, which the Loop watchdog must notice once. */
#include <mend.h>

#include <stdio.h>
#include <string.h>

static mend_status count_event(void *ctx, const mend_event *event) {
  (void)event;
  ++*(int *)ctx;
  return MEND_OK;
}

static mend_status call_again_and_again(mend_run *run, mend_error *error) {
  mend_status status = MEND_OK;
  for (int i = 0; i < 4 && status == MEND_OK; i++) {
    status = mend_run_emit(run, "tool.before", "{\"tool_name\":\"search\",\"args\":{\"query\":\"mend\"}}", error);
  }
  return status;
}

int main(void) {
  mend_error error = MEND_ERROR_INIT;
  mend_bus *bus = NULL;
  mend_run *run = NULL;
  mend_watchdog *loop = NULL;
  mend_watch *watch = NULL;
  mend_subscription *subscription = NULL;
  int calls = 0;
  uint64_t detections = 0;
  mend_status status = mend_bus_new(NULL, &bus, &error);
  if (status == MEND_OK) status = mend_loop_watchdog_new(NULL, NULL, &loop, &error);
  if (status == MEND_OK) status = mend_watchdog_watch_bus(loop, bus);
  if (status == MEND_OK) status = mend_bus_subscribe(bus, "tool.*", count_event, &calls, NULL, &subscription, NULL);
  if (status == MEND_OK) status = mend_run_new(bus, NULL, &run, NULL);
  if (status == MEND_OK) status = call_again_and_again(run, &error);
  if (status == MEND_OK) status = mend_run_watch(run, &watch);
  if (status == MEND_OK) detections = mend_watch_count(watch);
  mend_subscription_close(&subscription);
  mend_run_release(run);
  mend_watchdog_release(loop);
  mend_bus_release(bus);

  if (status != MEND_OK) fprintf(stderr, "%s: %s\n", mend_status_name(status), error.message);
  printf("mend %s: %d calls, %d detections\n", mend_version(), calls, (int)detections);
  return status == MEND_OK && calls == 4 && detections == 1 && strcmp(mend_version(), MEND_VERSION) == 0 ? 0 : 1;
}

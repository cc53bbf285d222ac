#include "mend/watchdogs.h"
#include "torture/torture.h"

static mend_status call(mend_run *run, uint64_t number, const char *args) {
  mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
  before.event.call = number;
  before.tool_name = MEND_STR("a tool whose name is too long to be kept inside of a record of a call");
  before.args = mend_str_from(args);
  return mend_run_publish(run, &before.event);
}

static mend_status answer(mend_run *run, uint64_t number) {
  mend_tool_after_event after = MEND_TOOL_AFTER_EVENT_INIT;
  after.event.call = number;
  return mend_run_publish(run, &after.event);
}

static mend_status say_confidence(mend_run *run, uint64_t number, double confidence) {
  mend_confidence_event event = MEND_CONFIDENCE_EVENT_INIT;
  event.event.call = number;
  event.confidence = confidence;
  return mend_run_publish(run, &event.event);
}

static mend_status watch_bus(mend_bus *bus) {
  mend_options options = MEND_OPTIONS_INIT;
  options.regression.enable = true;
  return mend_bus_watch(bus, &options, NULL);
}

/* What the run's log says of these detectors: each found something, once. */
static mend_status count_detections(mend_run *run, uint64_t *ret_count) {
  mend_watch *watch;
  mend_detection_cursor cursor = MEND_DETECTION_CURSOR_INIT;
  const mend_detection *detection;
  const mend_status status = mend_run_watch(run, &watch);
  *ret_count = 0;
  if (status != MEND_OK) return status;
  for (; mend_watch_next(watch, &cursor, &detection) == MEND_OK; mend_detection_release(detection))
    ++*ret_count;
  return MEND_OK;
}

/* A loop, a regression and a stall in one run. */
static mend_status detect(torture *t) {
  uint64_t detections;
  mend_status status = torture_open_bus(t);
  if (status == MEND_OK) status = watch_bus(t->bus);
  if (status != MEND_OK) goto end;
  for (uint64_t number = 1; number <= 10; number++) {
    TRY(call(t->run, number, "{\"a\": [1, {\"b\": 2}]}"));
    TRY(answer(t->run, number));
    TRY(say_confidence(t->run, number, number <= 5 ? 0.9 : 0.2));
  }
  TRY(call(t->run, 11, "{}"));
  TRY(mend_clock_advance(t->clock, 100 * MEND_SECOND_NS));
  TRY(count_detections(t->run, &detections));
  torture_claim(t, detections == 3, "loop, regression and stall are found");
end:
  torture_close_bus(t);
  return status;
}

static void open_bus(torture *t) { torture_must(t, torture_open_bus(t) == MEND_OK, "a bus is made"); }

/* Watching a bus in use: all of it, or nothing, which can be tried again. */
static mend_status watch_all_or_nothing(torture *t) {
  const mend_status status = watch_bus(t->bus);
  mend_watchdog *watchdog = NULL;
  const bool watched = mend_bus_watchdog(t->bus, "stall", &watchdog) == MEND_OK;
  torture_must(t, watched == (status == MEND_OK), "the bus is watched or it is not");
  mend_watchdog_release(watchdog);
  return status;
}

static mend_status open_state(void *ctx, mend_run *run, void **ret_state) {
  (void)run;
  *ret_state = ctx;
  return MEND_OK;
}

static mend_status emit_on_event(void *state, const mend_event *event, mend_emitter *emitter) {
  (void)event;
  mend_detection detection = MEND_DETECTION_INIT;
  ((torture *)state)->events++;
  detection.reason = MEND_STR("seen");
  detection.summary = MEND_STR("an event was seen");
  detection.evidence = MEND_STR("[{\"seen\": true}]");
  detection.payload = MEND_STR("{\"times\": 1}");
  return mend_emit(emitter, &detection);
}

static mend_status use_custom_watchdog(torture *t) {
  static const mend_watchdog_vtable vtable = {
      .size = sizeof vtable, .name = "seen", .topics = "own.*", .open = open_state, .event = emit_on_event};
  uint64_t detections;
  mend_watchdog *watchdog = NULL;
  mend_status status = torture_open_bus(t);
  if (status == MEND_OK) status = mend_watchdog_new(&vtable, t, t->allocator, &watchdog, NULL);
  if (status != MEND_OK) goto end;
  TRY(mend_watchdog_watch_run(watchdog, t->run));
  TRY(mend_run_emit(t->run, "own.topic", "{}", NULL));
  TRY(count_detections(t->run, &detections));
  torture_claim(t, t->events == 1 && detections == 1, "what it emitted is in the log");
end:
  mend_watchdog_release(watchdog);
  torture_close_bus(t);
  return status;
}

static const torture_scenario scenarios[] = {
    {"a loop, a regression and a stall", detect, NULL, NULL},
    {"watching a bus in use", watch_all_or_nothing, open_bus, torture_close_bus},
    {"a watchdog of one's own", use_custom_watchdog, NULL, NULL},
};
const torture_room torture_watchdogs = TORTURE_ROOM("watchdogs", scenarios);

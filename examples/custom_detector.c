/* A watchdog of one's own: it notices when a run spends more tokens than it was given.
 *
 * A watchdog is a vtable and a context. The context here is the budget, shared by all runs; what is known of one run,
 * the tokens it has used, is a state that `open` makes and `close` frees. mend calls these functions under the run's
 * lock, so there is no locking here. What a watchdog finds it hands to mend_emit; acting on it is somebody else's
 * business.
 */
#include <mend.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct budget {
  uint64_t tokens;
} budget;

typedef struct spending {
  const budget *limit;
  uint64_t tokens;
  bool told; /* once a run is enough */
} spending;

static mend_status spending_open(void *ctx, mend_run *run, void **ret_state) {
  (void)run;
  spending *state = calloc(1, sizeof *state);
  if (state == NULL) return MEND_ENOMEM;
  state->limit = ctx;
  *ret_state = state;
  return MEND_OK;
}

static mend_status spending_event(void *ctx, const mend_event *event, mend_emitter *emitter) {
  spending *state = ctx;
  const mend_model_usage_event *usage = (const mend_model_usage_event *)event; /* the only topic we asked for */
  if (usage->tokens == MEND_NONE) return MEND_OK;
  state->tokens += usage->tokens;
  if (state->told || state->tokens <= state->limit->tokens) return MEND_OK;
  state->told = true;

  char summary[128], payload[128];
  const unsigned long long used = state->tokens, limit = state->limit->tokens;
  snprintf(summary, sizeof summary, "the run has used %llu tokens, its budget is %llu", used, limit);
  snprintf(payload, sizeof payload, "{\"tokens\":%llu,\"limit\":%llu}", used, limit);
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = MEND_STR("tokens");
  detection.severity = (double)used / (2.0 * (double)limit);
  detection.summary = mend_str_from(summary);
  detection.payload = mend_str_from(payload);
  return mend_emit(emitter, &detection); /* copies it all */
}

static void spending_reset(void *ctx) {
  spending *state = ctx;
  state->tokens = 0;
  state->told = false;
}

static const mend_watchdog_vtable token_budget = {
    .size = sizeof(mend_watchdog_vtable),
    .name = "token_budget",
    .topics = "model.usage",
    .open = spending_open,
    .event = spending_event,
    .reset = spending_reset,
    .close = free,
};

/* The agent: ten turns, each a model call that reports what it used. */
static mend_status run_agent(mend_run *run, mend_clock *clock) {
  mend_status status = mend_run_emit(run, "agent.start", "{\"name\":\"writer\"}", NULL);
  for (int turn = 1; turn <= 10 && status == MEND_OK; turn++) {
    mend_clock_advance(clock, 3 * MEND_SECOND_NS);
    mend_model_usage_event usage = MEND_MODEL_USAGE_EVENT_INIT;
    usage.model = MEND_STR("claude-sonnet-4-6");
    usage.tokens = 1000 + 150 * (uint64_t)turn;
    status = mend_run_publish(run, &usage.event);
  }
  return status;
}

/* Everything is in the run's log, for whoever comes with a cursor. */
static int print_detections(mend_run *run) {
  mend_watch *watch;
  if (mend_run_watch(run, &watch) != MEND_OK) return 0;
  int count = 0;
  mend_detection_cursor cursor = MEND_DETECTION_CURSOR_INIT;
  const mend_detection *found;
  while (mend_watch_next(watch, &cursor, &found) == MEND_OK) {
    printf("%s (%s): %s\n  %s\n", found->detector.ptr, found->reason.ptr, found->summary.ptr, found->payload.ptr);
    mend_detection_release(found);
    count++;
  }
  return count;
}

int main(void) {
  budget limit = {.tokens = 8000};
  mend_error error = MEND_ERROR_INIT;
  mend_clock *clock = NULL;
  mend_bus *bus = NULL;
  mend_run *run = NULL;
  mend_watchdog *watchdog = NULL;

  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  mend_status status = mend_clock_new_virtual(NULL, (mend_time){0, 0}, &clock);
  options.clock = clock; /* so that thirty seconds take no time */
  if (status == MEND_OK) status = mend_bus_new(&options, &bus, &error);
  if (status == MEND_OK) status = mend_watchdog_new(&token_budget, &limit, NULL, &watchdog, &error);
  if (status == MEND_OK) status = mend_watchdog_watch_bus(watchdog, bus);
  if (status == MEND_OK) status = mend_run_new(bus, NULL, &run, NULL);
  if (status == MEND_OK) status = run_agent(run, clock);
  if (status != MEND_OK) fprintf(stderr, "custom_detector: %s\n", mend_error_sentence(&error, status));
  const bool noticed = status == MEND_OK && print_detections(run) == 1;

  mend_run_release(run);
  mend_watchdog_release(watchdog);
  mend_bus_release(bus);
  mend_clock_release(clock);
  return noticed ? EXIT_SUCCESS : EXIT_FAILURE;
}

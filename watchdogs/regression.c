/* Regression, mode seed: the older half of the last n readings of a run against the newer one. */
#include "core/memory.h"
#include "watchdogs/regression_rule.h"
#include "watchdogs/seen_readings.h"

#include <stdio.h>

typedef struct regression_state {
  mend__regression_watchdog *watchdog;
  mend__half_window window;
  mend__seen_readings seen;
  bool silent; /* reported, and the difference has not been below drop since */
} regression_state;

/* ---- Reporting ---- */

static void write_payload(mend__buffer *text, const regression_state *state, mend__fall fall) {
  mend__fall_write_number(text, "{\"head_mean\":", fall.from);
  mend__fall_write_number(text, ",\"tail_mean\":", fall.to);
  mend__buffer_str(text, MEND_STR(",\"scores\":"));
  mend__half_window_write(&state->window, text);
  mend__buffer_char(text, '}');
}

static mend_status report(const regression_state *state, const mend_event *event, double drop, mend_emitter *emitter) {
  const mend__regression_watchdog *watchdog = state->watchdog;
  const mend__fall fall = mend__half_window_fall(&state->window);
  char digits[MEND__CALL_DIGITS];
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = MEND_STR("half_window");
  detection.severity = mend__fall_severity(drop, watchdog->drop);
  detection.tool_name = ((const mend_confidence_event *)event)->tool_name;
  detection.last_call = mend__call_text(event->call, event->call_name, digits);
  detection.count = watchdog->n;
  detection.steer = mend__fall_steer();

  mend__buffer text;
  mend__buffer_init(&text, watchdog->allocator);
  mend__buffer_str(&text, MEND_STR("confidence fell from "));
  mend__fall_write(fall, &text);
  const size_t payload_at = text.len;
  write_payload(&text, state, fall);
  const mend_status status = mend__emit_written(emitter, &detection, &text, payload_at);
  mend__buffer_free(&text);
  return status;
}

static mend_status compare_halves(regression_state *state, const mend_event *event, mend_emitter *emitter) {
  if (!mend__half_window_is_full(&state->window)) return MEND_OK;
  const double drop = mend__half_window_drop(&state->window);
  if (drop < state->watchdog->drop - MEND__DROP_TOLERANCE) {
    state->silent = false;
    return MEND_OK;
  }
  if (state->silent) return MEND_OK;
  const mend_status status = report(state, event, drop, emitter);
  state->silent = status == MEND_OK;
  return status;
}

static mend_status regression_event(void *ctx, const mend_event *event, mend_emitter *emitter) {
  regression_state *state = ctx;
  const mend_confidence_event *reading = (const mend_confidence_event *)event;
  const mend_allocator *allocator = state->watchdog->allocator;
  if (!mend__reading_is_usable(state->watchdog, reading)) return MEND_OK;
  const uint64_t key = mend__reading_key(reading);
  if (mend__seen_readings_has(&state->seen, key)) {
    mend__count(&state->watchdog->counters.duplicates);
    return MEND_OK;
  }
  mend_status status = key != 0 ? mend__seen_readings_reserve(&state->seen, allocator) : MEND_OK;
  if (status == MEND_OK) status = mend__half_window_add(&state->window, reading->confidence, allocator);
  if (status != MEND_OK) return status;
  mend__seen_readings_add(&state->seen, key);
  return compare_halves(state, event, emitter);
}

/* ---- States ---- */

static mend_status regression_open(void *ctx, mend_run *run, void **ret_state) {
  (void)run;
  mend__regression_watchdog *watchdog = ctx;
  regression_state *state = mend__alloc_zero(watchdog->allocator, sizeof *state);
  if (state == NULL) return MEND_ENOMEM;
  state->watchdog = watchdog;
  state->window.n = watchdog->n;
  *ret_state = state;
  return MEND_OK;
}

static void regression_reset(void *ctx) {
  regression_state *state = ctx;
  mend__half_window_free(&state->window, state->watchdog->allocator);
  mend__seen_readings_free(&state->seen, state->watchdog->allocator);
  state->silent = false;
}

static void regression_close(void *ctx) {
  regression_state *state = ctx;
  regression_reset(state);
  mend__free(state->watchdog->allocator, state);
}

static void regression_describe(void *ctx, char *text, size_t size) {
  const regression_state *state = ctx;
  snprintf(text, size, "readings %u of %u%s", state->window.count, state->watchdog->n,
           state->silent ? ", silent until they recover" : "");
}

static const mend_watchdog_vtable regression_vtable = {
    .size = sizeof regression_vtable,
    .name = "regression",
    .topics = "metacognition.confidence",
    .open = regression_open,
    .event = regression_event,
    .reset = regression_reset,
    .close = regression_close,
    .destroy = mend__regression_watchdog_destroy,
    .describe = regression_describe,
};

mend_status mend_regression_watchdog_new(const mend_regression_watchdog_options *options,
                                         const mend_allocator *allocator, mend_watchdog **ret_watchdog,
                                         mend_error *error) {
  return mend__regression_watchdog_new(&regression_vtable, options, allocator, ret_watchdog, error);
}

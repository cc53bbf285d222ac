/* Regression in mode evidence: the watchdog, and which series a reading belongs to. */
#include "watchdogs/evidence_regression.h"

#include "mend/json.h"
#include "watchdogs/regression_rule.h"
#include "watchdogs/seen_readings.h"
#include "watchdogs/table.h"

#include <stdio.h>

/* So many sources of a run are followed. */
enum { SERIES_MAX = 64 };

/* A place of the table. */
typedef struct series_place {
  mend_hash source;
  mend__readings *series;
} series_place;

typedef struct regression_state {
  mend__regression_watchdog *watchdog;
  mend__table series;
  mend__seen_readings seen;
} regression_state;

/* ---- Series ---- */

static mend__readings *make_series(const mend__regression_watchdog *watchdog, mend_str source) {
  mend__readings *series = mend__alloc_zero(watchdog->allocator, sizeof *series);
  if (series == NULL) return NULL;
  series->window.n = watchdog->n;
  if (mend__kept_text_set(&series->source, source, (mend_str){NULL, 0}, watchdog->allocator)) return series;
  mend__free(watchdog->allocator, series);
  return NULL;
}

/* NULL with MEND_OK: there are as many as are followed. */
static mend_status find_series(regression_state *state, mend_str source, mend__readings **ret_series) {
  const mend_allocator *allocator = state->watchdog->allocator;
  const mend_hash key = mend_hash_bytes(source);
  series_place *place = mend__table_find(&state->series, sizeof *place, key);
  *ret_series = place != NULL ? place->series : NULL;
  if (place != NULL || state->series.count >= SERIES_MAX) return MEND_OK;
  if (mend__table_reserve(&state->series, sizeof *place, allocator) != MEND_OK) return MEND_ENOMEM;
  *ret_series = make_series(state->watchdog, source);
  if (*ret_series == NULL) return MEND_ENOMEM;
  place = mend__table_add(&state->series, sizeof *place, key);
  place->series = *ret_series;
  return MEND_OK;
}

static void each_series(const regression_state *state, void (*visit)(mend__readings *series)) {
  const series_place *places = state->series.items;
  for (size_t i = 0; i < state->series.capacity; i++) {
    if (!mend_hash_is_none(places[i].source)) visit(places[i].series);
  }
}

/* ---- Events ---- */

static bool is_usable(const regression_state *state, const mend_confidence_event *reading) {
  if (!mend__reading_is_usable(state->watchdog, reading)) return false;
  const bool is_second = mend__seen_readings_has(&state->seen, mend__reading_key(reading)) ||
                         mend__seen_readings_has(&state->seen, mend__reading_id_key(reading));
  if (is_second) mend__count(&state->watchdog->counters.duplicates);
  return !is_second;
}

static mend_status take_reading(regression_state *state, const mend_confidence_event *reading, mend_emitter *emitter) {
  const mend__regression_watchdog *watchdog = state->watchdog;
  if (!is_usable(state, reading)) return MEND_OK;
  mend__readings *series;
  mend__decline decline;
  mend_status status = mend__seen_readings_reserve(&state->seen, watchdog->allocator);
  if (status == MEND_OK) status = find_series(state, reading->source, &series);
  if (status != MEND_OK) return status;
  if (series == NULL) {
    mend__count(&state->watchdog->counters.unwatched);
    return MEND_OK;
  }
  status = mend__readings_add(series, watchdog->drop, reading, watchdog->allocator, &decline);
  if (status != MEND_OK) return status;
  mend__seen_readings_add(&state->seen, mend__reading_key(reading));
  mend__seen_readings_add(&state->seen, mend__reading_id_key(reading));
  if (decline == MEND__DECLINE_NONE) return MEND_OK;
  status = mend__readings_report(series, watchdog->drop, decline, reading, watchdog->allocator, emitter);
  if (status == MEND_OK) mend__readings_told(series);
  return status;
}

/* Another model is as sure of itself as it is. */
static mend_status regression_event(void *ctx, const mend_event *event, mend_emitter *emitter) {
  regression_state *state = ctx;
  if (event->kind == MEND_EVENT_CONFIDENCE) return take_reading(state, (const mend_confidence_event *)event, emitter);
  each_series(state, mend__readings_clear);
  return MEND_OK;
}

/* ---- States ---- */

static mend_status regression_open(void *ctx, mend_run *run, void **ret_state) {
  (void)run;
  mend__regression_watchdog *watchdog = ctx;
  regression_state *state = mend__alloc_zero(watchdog->allocator, sizeof *state);
  if (state == NULL) return MEND_ENOMEM;
  state->watchdog = watchdog;
  *ret_state = state;
  return MEND_OK;
}

static void regression_reset(void *ctx) {
  regression_state *state = ctx;
  const mend_allocator *allocator = state->watchdog->allocator;
  const series_place *places = state->series.items;
  for (size_t i = 0; i < state->series.capacity; i++) {
    if (mend_hash_is_none(places[i].source)) continue;
    mend__readings_free(places[i].series, allocator);
    mend__free(allocator, places[i].series);
  }
  mend__free(allocator, state->series.items);
  mend__seen_readings_free(&state->seen, allocator);
  *state = (regression_state){.watchdog = state->watchdog};
}

static void regression_close(void *ctx) {
  regression_state *state = ctx;
  regression_reset(state);
  mend__free(state->watchdog->allocator, state);
}

static void regression_describe(void *ctx, char *text, size_t size) {
  const regression_state *state = ctx;
  snprintf(text, size, "sources %zu, window %u", state->series.count, state->watchdog->n);
}

static const mend_watchdog_vtable regression_vtable = {
    .size = sizeof regression_vtable,
    .name = "regression",
    .topics = "metacognition.confidence healing.model_fallback",
    .open = regression_open,
    .event = regression_event,
    .reset = regression_reset,
    .close = regression_close,
    .destroy = mend__regression_watchdog_destroy,
    .describe = regression_describe,
};

mend_status mend_evidence_regression_watchdog_new(const mend_regression_watchdog_options *options,
                                                  const mend_allocator *allocator, mend_watchdog **ret_watchdog,
                                                  mend_error *error) {
  return mend__regression_watchdog_new(&regression_vtable, options, allocator, ret_watchdog, error);
}

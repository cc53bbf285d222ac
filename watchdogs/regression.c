/* Regression: the last n readings of confidence in a ring, and the sums of its older and newer half. The sums are
 * integers in units of 2^-47 (n / 2 readings of at most 1 fit in 63 bits), so that adding and taking away is exact and
 * a million readings later nothing has drifted; what rounding to the unit costs, 2^-48 a reading, is far below the
 * tolerance. */
#include "core/options_size.h"
#include "mend/json.h"
#include "watchdogs/watchdogs_internal.h"

#include <stdio.h>

static const double UNIT = 0x1p47;
static const double TOLERANCE = 1e-9;

/* How many readings are remembered to notice that one is told twice, and how many a report shows. */
enum { SEEN_MAX = 256, SCORES_MAX = 256 };

typedef struct regression_watchdog {
  const mend_allocator *allocator;
  mend__counters counters;
  uint32_t n;
  double drop;
} regression_watchdog;

typedef struct regression_state {
  regression_watchdog *watchdog;
  double *ring;
  uint32_t capacity, count, oldest;
  bool silent;                 /* reported, and the difference has not been below drop since */
  uint64_t head_sum, tail_sum; /* of the full window */
  uint64_t *seen;              /* what the latest readings were of; NULL until one says it */
  uint64_t seen_count;
} regression_state;

/* ---- The window ---- */

static uint64_t in_units(double reading) { return (uint64_t)(reading * UNIT + 0.5); }

/* The reading at `index` from the oldest. */
static double at(const regression_state *state, uint32_t index) {
  return state->ring[(state->oldest + index) % state->capacity];
}

/* The ring has not gone round before it holds n readings, so a longer one begins the same. */
static mend_status reserve(regression_state *state) {
  const uint32_t n = state->watchdog->n;
  if (state->count < state->capacity || state->capacity == n) return MEND_OK;
  uint32_t capacity = state->capacity == 0 ? 8 : state->capacity * 2;
  if (capacity > n) capacity = n;
  double *ring = mend__realloc(state->watchdog->allocator, state->ring, capacity * sizeof *ring);
  if (ring == NULL) return MEND_ENOMEM;
  state->ring = ring;
  state->capacity = capacity;
  return MEND_OK;
}

static void sum_halves(regression_state *state) {
  const uint32_t n = state->watchdog->n, half = n / 2;
  for (uint32_t i = 0; i < half; i++) {
    state->head_sum += in_units(at(state, i));
    state->tail_sum += in_units(at(state, n - half + i));
  }
}

/* The window moves on by one: of an odd window the middle reading is in neither half. */
static void move_on(regression_state *state, double reading) {
  const uint32_t n = state->watchdog->n, half = n / 2;
  state->head_sum += in_units(at(state, half)) - in_units(at(state, 0));
  state->tail_sum += in_units(reading) - in_units(at(state, n - half));
  state->ring[state->oldest] = reading;
  state->oldest = (state->oldest + 1) % n;
}

static mend_status add_reading(regression_state *state, double reading) {
  const mend_status status = reserve(state);
  if (status != MEND_OK) return status;
  if (state->count == state->watchdog->n) {
    move_on(state, reading);
    return MEND_OK;
  }
  state->ring[state->count++] = reading;
  if (state->count == state->watchdog->n) sum_halves(state);
  return MEND_OK;
}

/* By how much the older half's mean exceeds the newer one's. */
static double difference(const regression_state *state) {
  const double units = (double)((int64_t)state->head_sum - (int64_t)state->tail_sum);
  return units / UNIT / (state->watchdog->n / 2);
}

/* ---- Readings told twice ---- */

static uint64_t reading_key(const mend_confidence_event *reading) {
  const uint64_t attempt = reading->attempt != MEND_NONE ? reading->attempt : 1;
  const uint64_t parts[3] = {reading->event.call, attempt, mend_hash_bytes(reading->source).lo};
  return mend_hash_bytes((mend_str){(const char *)parts, sizeof parts}).lo;
}

static bool was_seen(const regression_state *state, uint64_t key) {
  const uint64_t kept = state->seen_count < SEEN_MAX ? state->seen_count : SEEN_MAX;
  for (uint64_t i = 0; i < kept; i++) {
    if (state->seen[i] == key) return true;
  }
  return false;
}

static mend_status reserve_seen(regression_state *state) {
  if (state->seen == NULL) state->seen = mend__alloc(state->watchdog->allocator, SEEN_MAX * sizeof *state->seen);
  return state->seen != NULL ? MEND_OK : MEND_ENOMEM;
}

/* ---- Reporting ---- */

static double mean(const regression_state *state, uint32_t first, uint32_t count) {
  double sum = 0;
  for (uint32_t i = 0; i < count; i++)
    sum += at(state, first + i);
  return sum / count;
}

static double rounded(double value) { return (double)(int64_t)(value * 1000 + 0.5) / 1000; }

static void write_summary(mend__buffer *text, double head_mean, double tail_mean) {
  mend__buffer_str(text, MEND_STR("confidence fell from "));
  mend__buffer_f64(text, rounded(head_mean));
  mend__buffer_str(text, MEND_STR(" to "));
  mend__buffer_f64(text, rounded(tail_mean));
}

static void write_payload(mend__buffer *text, const regression_state *state, double head_mean, double tail_mean) {
  const uint32_t n = state->watchdog->n;
  mend__buffer_str(text, MEND_STR("{\"head_mean\":"));
  mend__buffer_f64(text, head_mean);
  mend__buffer_str(text, MEND_STR(",\"tail_mean\":"));
  mend__buffer_f64(text, tail_mean);
  mend__buffer_str(text, MEND_STR(",\"scores\":["));
  const uint32_t first = n > SCORES_MAX ? n - SCORES_MAX : 0;
  for (uint32_t i = first; i < n; i++) {
    if (i > first) mend__buffer_char(text, ',');
    mend__buffer_f64(text, at(state, i));
  }
  mend__buffer_str(text, MEND_STR("]}"));
}

static mend_status report(const regression_state *state, const mend_event *event, double drop, mend_emitter *emitter) {
  const regression_watchdog *watchdog = state->watchdog;
  const uint32_t half = watchdog->n / 2;
  const double head_mean = mean(state, 0, half), tail_mean = mean(state, watchdog->n - half, half);
  char digits[MEND__CALL_DIGITS];
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = MEND_STR("half_window");
  detection.severity = drop / (watchdog->drop > 0.001 ? watchdog->drop : 0.001);
  detection.tool_name = ((const mend_confidence_event *)event)->tool_name;
  detection.last_call = mend__call_text(event->call, event->call_name, digits);
  detection.count = watchdog->n;
  detection.steer = MEND_STR("go back to what was last certain and check it before going on");

  mend__buffer text;
  mend__buffer_init(&text, watchdog->allocator);
  write_summary(&text, head_mean, tail_mean);
  const size_t payload_at = text.len;
  write_payload(&text, state, head_mean, tail_mean);
  const mend_status status = mend__emit_written(emitter, &detection, &text, payload_at);
  mend__buffer_free(&text);
  return status;
}

static mend_status compare_halves(regression_state *state, const mend_event *event, mend_emitter *emitter) {
  if (state->count < state->watchdog->n) return MEND_OK;
  const double drop = difference(state);
  if (drop < state->watchdog->drop - TOLERANCE) {
    state->silent = false;
    return MEND_OK;
  }
  if (state->silent) return MEND_OK;
  const mend_status status = report(state, event, drop, emitter);
  state->silent = status == MEND_OK;
  return status;
}

/* Readings are told apart by their call; one without cannot be told twice. */
static mend_status regression_event(void *ctx, const mend_event *event, mend_emitter *emitter) {
  regression_state *state = ctx;
  const mend_confidence_event *reading = (const mend_confidence_event *)event;
  if (!(reading->confidence >= 0 && reading->confidence <= 1)) {
    mend__count(&state->watchdog->counters.ignored);
    return MEND_OK;
  }
  const bool has_key = event->call != 0;
  const uint64_t key = has_key ? reading_key(reading) : 0;
  if (has_key && was_seen(state, key)) {
    mend__count(&state->watchdog->counters.duplicates);
    return MEND_OK;
  }
  mend_status status = has_key ? reserve_seen(state) : MEND_OK;
  if (status == MEND_OK) status = add_reading(state, reading->confidence);
  if (status != MEND_OK) return status;
  if (has_key) state->seen[state->seen_count++ % SEEN_MAX] = key;
  return compare_halves(state, event, emitter);
}

/* ---- States ---- */

static mend_status regression_open(void *ctx, mend_run *run, void **ret_state) {
  (void)run;
  regression_watchdog *watchdog = ctx;
  regression_state *state = mend__alloc_zero(watchdog->allocator, sizeof *state);
  if (state == NULL) return MEND_ENOMEM;
  state->watchdog = watchdog;
  *ret_state = state;
  return MEND_OK;
}

static void free_memory(regression_state *state) {
  mend__free(state->watchdog->allocator, state->ring);
  mend__free(state->watchdog->allocator, state->seen);
}

static void regression_reset(void *ctx) {
  regression_state *state = ctx;
  free_memory(state);
  *state = (regression_state){.watchdog = state->watchdog};
}

static void regression_close(void *ctx) {
  regression_state *state = ctx;
  free_memory(state);
  mend__free(state->watchdog->allocator, state);
}

static void regression_destroy(void *ctx) {
  regression_watchdog *watchdog = ctx;
  mend__free(watchdog->allocator, watchdog);
}

static void regression_describe(void *ctx, char *text, size_t size) {
  const regression_state *state = ctx;
  snprintf(text, size, "readings %u of %u%s", state->count, state->watchdog->n,
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
    .destroy = regression_destroy,
    .describe = regression_describe,
};

mend_status mend_regression_watchdog_new(const mend_regression_watchdog_options *given, const mend_allocator *allocator,
                                         mend_watchdog **ret_watchdog, mend_error *error) {
  mend_options options = MEND_OPTIONS_INIT;
  mend_status status = mend__options_take(&options.regression, given, "mend_regression_watchdog_options", error);
  if (status == MEND_OK) status = mend_options_check(&options, error);
  if (status != MEND_OK) return status;
  regression_watchdog *watchdog = mend__alloc_zero(allocator, sizeof *watchdog);
  if (watchdog == NULL) return mend_error_set(error, MEND_ENOMEM, "watchdog regression: out of memory");
  watchdog->allocator = allocator;
  watchdog->n = options.regression.window_n;
  watchdog->drop = options.regression.drop;
  status =
      mend__watchdog_new_counting(&regression_vtable, watchdog, &watchdog->counters, allocator, ret_watchdog, error);
  if (status != MEND_OK) mend__free(allocator, watchdog);
  return status;
}

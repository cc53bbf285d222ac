/* The sums are integers in units of 2^-47 (n / 2 readings of at most 1 fit in 63 bits), so that adding and taking away
 * is exact and a million readings later nothing has drifted; what rounding to the unit costs, 2^-48 a reading, is far
 * below the tolerance. */
#include "watchdogs/half_window.h"

#include "core/memory.h"

#include <math.h>

static const double UNIT = 0x1p47;

enum { SCORES_MAX = 256 };

static uint64_t in_units(double reading) { return (uint64_t)(reading * UNIT + 0.5); }

/* The ring has not gone round before it holds n readings, so a longer one begins the same. */
static mend_status reserve(mend__half_window *window, const mend_allocator *allocator) {
  if (window->count < window->capacity || window->capacity == window->n) return MEND_OK;
  uint32_t capacity = window->capacity == 0 ? 8 : window->capacity * 2;
  if (capacity > window->n) capacity = window->n;
  double *ring = mend__realloc(allocator, window->ring, capacity * sizeof *ring);
  if (ring == NULL) return MEND_ENOMEM;
  window->ring = ring;
  window->capacity = capacity;
  return MEND_OK;
}

static void sum_halves(mend__half_window *window) {
  const uint32_t n = window->n, half = n / 2;
  for (uint32_t i = 0; i < half; i++) {
    window->head_sum += in_units(mend__half_window_at(window, i));
    window->tail_sum += in_units(mend__half_window_at(window, n - half + i));
  }
}

/* The window moves on by one: of an odd window the middle reading is in neither half. */
static void move_on(mend__half_window *window, double reading) {
  const uint32_t n = window->n, half = n / 2;
  window->head_sum += in_units(mend__half_window_at(window, half)) - in_units(mend__half_window_at(window, 0));
  window->tail_sum += in_units(reading) - in_units(mend__half_window_at(window, n - half));
  window->ring[window->oldest] = reading;
  window->oldest = (window->oldest + 1) % n;
}

mend_status mend__half_window_add(mend__half_window *window, double reading, const mend_allocator *allocator) {
  const mend_status status = reserve(window, allocator);
  if (status != MEND_OK) return status;
  if (mend__half_window_is_full(window)) {
    move_on(window, reading);
    return MEND_OK;
  }
  window->ring[window->count++] = reading;
  if (mend__half_window_is_full(window)) sum_halves(window);
  return MEND_OK;
}

void mend__half_window_clear(mend__half_window *window) {
  window->count = window->oldest = 0;
  window->head_sum = window->tail_sum = 0;
}

void mend__half_window_free(mend__half_window *window, const mend_allocator *allocator) {
  mend__free(allocator, window->ring);
  *window = (mend__half_window){.n = window->n};
}

double mend__half_window_drop(const mend__half_window *window) {
  const double units = (double)((int64_t)window->head_sum - (int64_t)window->tail_sum);
  return units / UNIT / (window->n / 2);
}

double mend__half_window_mean(const mend__half_window *window, uint32_t first, uint32_t count) {
  double sum = 0;
  for (uint32_t i = 0; i < count; i++)
    sum += mend__half_window_at(window, first + i);
  return sum / count;
}

mend__fall mend__half_window_fall(const mend__half_window *window) {
  const uint32_t half = window->n / 2;
  return (mend__fall){mend__half_window_mean(window, 0, half), mend__half_window_mean(window, window->n - half, half)};
}

/* Sum of the squared distances of `count` readings from their mean. */
static double squares(const mend__half_window *window, uint32_t first, uint32_t count) {
  const double mean = mend__half_window_mean(window, first, count);
  double sum = 0;
  for (uint32_t i = 0; i < count; i++) {
    const double distance = mend__half_window_at(window, first + i) - mean;
    sum += distance * distance;
  }
  return sum;
}

double mend__half_window_error(const mend__half_window *window) {
  const uint32_t half = window->n / 2;
  if (half < 2) return INFINITY;
  const double variance = (squares(window, 0, half) + squares(window, window->n - half, half)) / (2.0 * (half - 1));
  return sqrt(variance * 2 / half);
}

void mend__half_window_write(const mend__half_window *window, mend__buffer *text) {
  const uint32_t first = window->count > SCORES_MAX ? window->count - SCORES_MAX : 0;
  mend__buffer_char(text, '[');
  for (uint32_t i = first; i < window->count; i++) {
    if (i > first) mend__buffer_char(text, ',');
    mend__buffer_f64(text, mend__half_window_at(window, i));
  }
  mend__buffer_char(text, ']');
}
